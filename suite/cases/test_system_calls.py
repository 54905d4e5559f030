"""System calls: what an op does of which one fails. Each fails once, with each error that it can have."""

from collections.abc import Mapping

import pytest

from ...harness.ops.codes import Code
from ..contract.system_calls import allowed, codes
from ..engine.case import Case
from ..engine.contents import harmed
from ..engine.failing import Failure, Trials, lacking, untold
from ..engine.marks import clauses, condition, over_tables
from ..engine.stimulus import Performance, Stimulus

pytestmark = over_tables

TOLD, KEPT, AGAIN = "system-calls.failure-is-told", "system-calls.keeps-what-was-there", "system-calls.works-again"
CLOSED = "system-calls.closes-once"
CODE, INTERRUPTED = "system-calls.code", "system-calls.interruption-changes-nothing"

#: What a file has before, and what is written to one, in pieces.
OLD, PIECES = b"what was there", (b"the first piece, ", b"the second one, ", b"the third")
#: More files of a directory.
FILES: Mapping[str, bytes | None] = {"d": None, "d/a": b"a", "d/b": b"b", "d/in": None, "d/in/c": b"c"}


def _append(do: Performance, *, appending: bool = False, name: str = "file", then: tuple[str, ...] = ()) -> None:
    opens = do.fs.new_appendable_file if appending else do.fs.new_writable_file
    file = do.opened(opens(do.uri(name)))
    for piece in PIECES:
        do.done(file.append(piece))
    for op in then:
        do.done(getattr(file, op)())
    do.done(file.close())


def _read(do: Performance) -> None:
    file = do.opened(do.fs.new_random_access_file(do.uri("file")))
    do.done(file.read(0, 4))
    do.done(file.read(4, 100), Code.OUT_OF_RANGE)


def _map(do: Performance) -> None:
    region = do.opened(do.fs.new_read_only_memory_region_from_file(do.uri("file")))
    do.done(region.length())
    do.done(region.data(0, len(OLD)))


def _match(do: Performance) -> None:
    for pattern in ("?", "a"):
        found = do.fs.get_matching_paths(do.uri("*", pattern))
        do.done(found)
        # The names are those of another directory each time, as URIs or translated.
        above, translated = do.uri(), do.fs.translate(do.uri())
        do.values[-1] = sorted(name.removeprefix(above).removeprefix(translated) for name in found.value.names)


STIMULI: Mapping[str, Stimulus] = {
    "write": Stimulus(_append, anew=True),
    "write-over": Stimulus(_append, {"file": OLD}, gives_up=frozenset({"file"}), anew=True),
    "append": Stimulus(lambda do: _append(do, appending=True), {"file": OLD}),
    "flush": Stimulus(lambda do: _append(do, then=("flush",)), anew=True),
    "sync": Stimulus(lambda do: _append(do, then=("sync",)), durable=True, anew=True),
    "read": Stimulus(_read, {"file": OLD}),
    "region": Stimulus(_map, {"file": OLD}),
    "stat": Stimulus(lambda do: do.done(do.fs.stat(do.uri("file"))), {"file": OLD}),
    "path_exists": Stimulus(lambda do: do.done(do.fs.path_exists(do.uri("file"))), {"file": OLD}),
    "is_directory": Stimulus(lambda do: do.done(do.fs.is_directory(do.uri("d"))), {"d": None}),
    "get_file_size": Stimulus(lambda do: do.done(do.fs.get_file_size(do.uri("file"))), {"file": OLD}),
    "get_children": Stimulus(lambda do: do.done(do.fs.get_children(do.uri("d"))), FILES),
    "get_matching_paths": Stimulus(_match, FILES),
    "create_dir": Stimulus(lambda do: do.done(do.fs.create_dir(do.uri("new")))),
    "recursively_create_dir": Stimulus(
        lambda do: do.done(do.fs.recursively_create_dir(do.uri("new", "in", "it"))), anew=True
    ),
    "delete_file": Stimulus(lambda do: do.done(do.fs.delete_file(do.uri("file"))), {"file": OLD}),
    "delete_dir": Stimulus(lambda do: do.done(do.fs.delete_dir(do.uri("empty"))), {"empty": None}),
    "delete_recursively": Stimulus(lambda do: do.done(do.fs.delete_recursively(do.uri("d"))), FILES, anew=True),
    "rename": Stimulus(lambda do: do.done(do.fs.rename_file(do.uri("file"), do.uri("new"))), {"file": OLD}),
    "rename-over": Stimulus(
        lambda do: do.done(do.fs.rename_file(do.uri("file"), do.uri("target"))), {"file": OLD, "target": b"other"}
    ),
    "copy": Stimulus(lambda do: do.done(do.fs.copy_file(do.uri("file"), do.uri("new"))), {"file": OLD}, anew=True),
    "copy-over": Stimulus(
        lambda do: do.done(do.fs.copy_file(do.uri("file"), do.uri("target"))),
        {"file": OLD, "target": b"other"},
        gives_up=frozenset({"target"}),
        anew=True,
    ),
}


@condition("syscalls")
@clauses(TOLD, KEPT, AGAIN, CLOSED, CODE, INTERRUPTED)
@pytest.mark.parametrize("name", STIMULI)
def test_one_fails(case: Case, name: str) -> None:
    """Each system call of an op on files of the case fails once, with each error that it can have."""
    stimulus = STIMULI[name]
    broken: set[tuple[str, str]] = set()

    def check(clause: str, failure: Failure, expected: str, wrong: str | None) -> None:
        """One statement for each clause and call: what else the call can have breaks it for the same cause."""
        if wrong is None:
            case.check.that(clause, True, expected, "so it was")
        elif (clause, failure.call) not in broken:
            broken.add((clause, failure.call))
            case.check.that(clause, False, expected, f"{name}: {failure}: {wrong}")

    with Trials(case, stimulus) as trials:
        whole = trials.whole
        for failure, attempt, once_more in trials.attempts():
            went = attempt.went
            lacks = lacking(trials.before, whole, went, attempt.there)
            if lacks is None and went.ok and untold(failure, attempt, durable=stimulus.durable):
                lacks = "nobody says so"
            may_lack = (name, failure.error) in allowed()
            wrong = went.died or (f"OK, but {lacks}" if went.ok and lacks and not may_lack else None)
            check(TOLD, failure, "an error, or all of its work", wrong)
            check(KEPT, failure, "what was there", harmed(trials.before, whole.there, attempt.there, stimulus.gives_up))
            if went.died is not None:
                continue
            check(CLOSED, failure, "each descriptor closed once", attempt.closed_wrongly(whole))
            lacks = lacking(trials.before, whole, attempt.again, attempt.there_again)
            check(AGAIN, failure, "it works again", lacks if attempt.again.ok else attempt.again.told)
            if once_more is not None:
                lacks = lacking(trials.before, whole, once_more.again, once_more.there)
                lacks = lacks if once_more.again.ok else once_more.again.told
                check(AGAIN, failure, "it works again", lacks and f"on the same files: {lacks}")
            if failure.is_transparent:
                check(INTERRUPTED, failure, "OK", None if went.ok else went.told)
            elif went.failed is not None:
                expected = codes()[failure.error]
                got = None if went.failed.code is expected else went.told
                check(CODE, failure, "the code of the error", got and f"{got} instead of {expected}")
