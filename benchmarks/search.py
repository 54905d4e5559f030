"""`python benchmarks/search.py`: what the histories of properties/tree meet, and after how many they find a fault.

They are drawn as they are, so that paths that were met seldom are likelier, and with all paths alike.
"""

import argparse
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import hypothesis
from hypothesis.stateful import run_state_machine_as_test

from tffs_conformance.harness.ops.tables import OPS
from tffs_conformance.run.targets import only_target
from tffs_conformance.suite.contract.model import Model
from tffs_conformance.suite.engine.case import Case
from tffs_conformance.suite.engine.collect import cases
from tffs_conformance.suite.engine.first_look import first_look
from tffs_conformance.suite.engine.workbench import Workbench
from tffs_conformance.suite.properties import search
from tffs_conformance.suite.properties.crowd import Crowd
from tffs_conformance.suite.properties.machines import Tree
from tffs_conformance.suite.properties.making import Making
from tffs_conformance.suite.properties.rarity import Meeting, Past, Rarity
from tffs_conformance.suite.properties.small import Small, look_at_all

AFTER = (25, 250, 2500)
#: Faults of fakes/faulty that take several ops to show.
FAULTS = (
    *("history.stays-deleted", "history.stays-a-file", "history.refused-create-counts"),
    *("history.refused-rename-counts", "history.parents-go-too", "history.append-revives"),
    *("history.copies-before-append", "history.copies-later", "history.copy-takes-its-original"),
    *("history.delete-hides-directories", "history.copy-shares", "history.crash"),
    *("scenario.content-outlives-rename", "scenario.one-match-less", "scenario.no-empty-directories"),
)


class Even(Past):
    """All paths are alike."""

    def _meeting(self, op: str, paths: tuple[str, ...]) -> Meeting:
        return (op,)


def made(past: type[Past], seed: int, count: int) -> list[Making]:
    """The first histories of a seed. The plugin takes no part in it."""
    histories: list[Making] = []
    rarity = Rarity()

    class Made(Tree):
        def __init__(self) -> None:
            super().__init__(lambda _: histories.append(self._making), OPS, (), rarity)
            self._past = past(self.model, rarity)

    hypothesis.seed(seed)(Made)
    run_state_machine_as_test(Made, settings=search.settings(count))
    return histories[:count]


def met(making: Making) -> Iterator[tuple[str, object]]:
    """What a right plugin shows: an op in a situation, with its answer, and what follows on what on one path."""
    model = Model()
    rows: dict[str, tuple[object, ...]] = {}
    for step, expectation in zip(making.steps, making.expectations, strict=True):
        situations = () if step.op == "get_matching_paths" else tuple(map(model.situation, step.paths))
        model.take(step)
        if situations:
            yield "pairs", (step.op, situations)
            yield "triples", (step.op, situations, expectation.codes)
        for path in step.paths if situations else ():
            rows[path] = (*rows.get(path, ())[-2:], (step.op, situations, expectation.codes))
            if rows[path][1:]:
                yield "two in a row", rows[path][-2:]
            if rows[path][2:]:
                yield "three in a row", rows[path]


def curve(histories: Sequence[Making]) -> Iterator[str]:
    """How many different ones were met, after so many histories."""
    known: dict[str, set[object]] = {}
    for number, making in enumerate(histories, 1):
        for name, what in met(making):
            known.setdefault(name, set()).add(what)
        if number in AFTER:
            yield f"{number} histories: " + ", ".join(f"{len(some)} {name}" for name, some in known.items())


def first(fault: str, histories: Sequence[Making]) -> int | None:
    """The number of the history that finds a fault."""
    target = replace(only_target("fakes/faulty", None, None, {"TFFS_FAULT": fault}, 10), backing="file://{path}")
    bench = Workbench(target, first_look(target))
    (tree,) = (case for case in cases() if case.id == "properties/tree")
    case = Case(bench, tree.id, tree.clauses, tree.doc)
    waiting = [small(making) for making in histories]
    numbers = {id(one): number for number, one in enumerate(waiting, 1)}
    crowd = Crowd(case, lambda *_: None)
    try:
        while waiting and not crowd.suspects and not crowd.ended:
            del waiting[: crowd.perform(waiting)]
    finally:
        crowd.close()
        case.surroundings.clear()
        bench.remove_root()
        bench.close()
    return numbers[id(crowd.suspects[0].small)] if crowd.suspects else None


def small(making: Making) -> Small:
    """The history, and a look at what it left, as it is performed among others."""
    whole = Making(OPS)
    for step in making.steps:
        whole.add(step)
    look = len(whole.steps)
    look_at_all(whole)
    return Small(whole, look, ("",) * len(whole.steps))


def main() -> None:
    """Print the curves, and for each fault the median of the seeds."""
    arguments = argparse.ArgumentParser(prog="python benchmarks/search.py", description=__doc__)
    arguments.add_argument("--histories", type=int, default=250, help="as many are drawn for a seed")
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("--faults", nargs="*", default=FAULTS, help="of fakes/faulty; none for the curves alone")
    options = arguments.parse_args()
    found: Counter[str] = Counter()
    for name, past in (("as they are", Past), ("all paths alike", Even)):
        streams = [made(past, seed, options.histories) for seed in range(options.seeds)]
        for seed, stream in enumerate(streams):
            for line in curve(stream):
                print(f"{name}, seed {seed}, {line}", flush=True)
        for fault in options.faults:
            after = [first(fault, stream) for stream in streams]
            found[name] += sum(one is not None for one in after)
            middle = statistics.median(one or options.histories + 1 for one in after)
            print(f"{name}, {fault}: {middle:g}, of {after}", flush=True)
        print(f"{name}: {found[name]} of {len(options.faults) * options.seeds} found", flush=True)


if __name__ == "__main__":
    main()
