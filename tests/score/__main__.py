"""Draws mutants, has them judged, and says what came of it.

`python -m tests.score` judges a sample, the same every time, in about ten minutes on two cores; `--all` judges every
mutant, which takes a day. Those in survivors.toml are judged with `--all` only. It fails where another one survives.

`--held-out` judges faults of tests/faults.toml instead, without the cases that were written for them.
"""

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

from tests import fakes
from tests.score import held_out
from tests.score.building import Build
from tests.score.judging import Judge
from tests.score.scoring import HEADINGS, Result, accepted, page, table
from tests.score.sources import CLONE, PLUGINS, Mutant, Plugin, mutants

BUILD = Build(CLONE / "build" / "score")
PAGE = CLONE / "docs" / "score.md"
#: Mutants of each plugin in a sample.
SAMPLE = 34
#: So many are compiled, and judged, at a time.
WORKERS = min(2, os.cpu_count() or 1)


def draw(plugin: Plugin, most: int | None) -> tuple[list[tuple[Mutant, Path]], str]:
    """Mutants of a plugin in their order until `most` differ, each with its shared object; and what was left out."""
    folder = BUILD.folder / "mutants" / plugin.name
    shutil.rmtree(folder, ignore_errors=True)

    def made(one: Mutant) -> bytes | None:
        return BUILD.compiled(one.source, one.text(), folder / one.digest)

    codes = {BUILD.compiled(source, text, folder / "unchanged") for source, text in plugin.units()}
    kept: list[tuple[Mutant, Path]] = []
    broken = alike = 0
    waiting = mutants(plugin)
    with ThreadPoolExecutor(WORKERS) as pool:
        while waiting and len(kept) != most:
            now, waiting = waiting[:WORKERS], waiting[WORKERS:]
            for one, code in zip(now, pool.map(made, now), strict=True):
                shared_object = None
                if code is not None and code not in codes and len(kept) != most:
                    shared_object = BUILD.linked(plugin.name, one.source, folder / one.digest)
                if shared_object is not None:
                    kept.append((one, shared_object))
                else:
                    shutil.rmtree(folder / one.digest)
                    alike, broken = alike + (code in codes), broken + (code is None)
                codes |= {code} - {None}
    return kept, f"{broken} that are no C++ and {alike} with the code of another are left out"


def judged(drawn: Sequence[tuple[Mutant, Path]], whole: bool) -> Iterator[Result]:
    """What the suite says of mutants, as it comes; of those that are excused only where it is the `whole`."""
    reasons = accepted()
    with ExitStack() as stack:
        judges: SimpleQueue[Judge] = SimpleQueue()
        for _ in range(WORKERS):
            judges.put(stack.enter_context(Judge()))

        def result(one: Mutant, shared_object: Path) -> Result:
            reason = reasons.get(one.key, "")
            if reason and not whole:
                return Result(one, None, reason)
            judge = judges.get()
            said = judge.ask(shared_object, one.plugin, one.ops or one.near)
            judges.put(judge)
            return Result(one, said, reason)

        pool = stack.enter_context(ThreadPoolExecutor(WORKERS))
        for done in as_completed(pool.submit(result, *one) for one in drawn):
            yield done.result()


def hold(plugin: Plugin, judge: Judge) -> None:
    """See that a plugin itself passes, judged as mutants are. Raises SystemExit."""
    said = judge.ask(BUILD.unchanged(plugin.name), plugin.name)
    print(f"{plugin.name}: {said.verdict}, {said.cases} cases, {said.not_run} not run, {said.seconds} s", flush=True)
    if said.clause:
        sys.exit(f"{plugin.name} itself is not right here: {said.clause} in {said.case}: {said.got}")


def without_their_cases(faults: Sequence[held_out.Fault], at_a_time: int, where: Path, on_page: bool) -> int:
    """Judge faults without the cases written for them; 1 where the rest sees too few. They are kept as they come."""
    fakes.build()
    where.parent.mkdir(parents=True, exist_ok=True)
    outcomes: list[held_out.Outcome] = []
    for one in held_out.judged(faults, at_a_time):
        outcomes.append(one)
        print(f"{len(outcomes)}/{len(faults)} {one}", flush=True)
        outcomes.sort(key=lambda one: one.fault)
        where.write_text(json.dumps([one.plain for one in outcomes], indent=1) + "\n")
    print(*held_out.section(outcomes), sep="\n")
    if on_page:
        PAGE.write_text(held_out.page(PAGE.read_text(), outcomes))
    return held_out.score(outcomes) < held_out.GOAL


def main() -> int:
    """Judge a sample, or all; 1 where a mutant survives that must not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every mutant, and not a sample")
    sizes = f"of each plugin (default: {SAMPLE}), or of faults held out (default: {held_out.SAMPLE})"
    parser.add_argument("--sample", type=int, metavar="N", help=sizes)
    parser.add_argument("--held-out", action="store_true", help="faults without the cases written for them")
    only = "the mutants of this plugin, or this fault held out; may be given again"
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help=only)
    parser.add_argument("--workers", type=int, default=WORKERS, metavar="N", help=f"at a time (default: {WORKERS})")
    parser.add_argument("--json", type=Path, help=f"where results go (default: in {BUILD.folder.relative_to(CLONE)})")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(CLONE)}, too")
    given = parser.parse_args()
    where = given.json or BUILD.folder / ("held-out.json" if given.held_out else "score.json")
    if given.held_out:
        try:
            faults = held_out.drawn(None if given.all else given.sample or held_out.SAMPLE, given.only)
        except ValueError as unknown:
            parser.error(str(unknown))
        return without_their_cases(faults, given.workers, where, given.page)
    if not {plugin.name for plugin in PLUGINS}.issuperset(given.only):
        parser.error(f"--only: mutants are of {', '.join(plugin.name for plugin in PLUGINS)}")
    if shutil.which("bwrap") is None:
        sys.exit("a mutant that deletes trees may delete any: apt-get install bubblewrap, which keeps it from that")
    started = time.monotonic()
    BUILD.prepare()
    drawn = []
    with Judge() as judge:
        for plugin in PLUGINS:
            if not given.only or plugin.name in given.only:
                hold(plugin, judge)
                kept, left_out = draw(plugin, None if given.all else given.sample or SAMPLE)
                print(f"{plugin.name}: {len(kept)} mutants; {left_out}", flush=True)
                drawn += kept
    results = []
    for result in judged(drawn, whole=given.all):
        results.append(result)
        print(f"{len(results)}/{len(drawn)} {result}", flush=True)
    results.sort(key=lambda one: (one.mutant.source, one.mutant.line, one.mutant.put_in))
    where.write_text(json.dumps([one.plain for one in results], indent=1) + "\n")
    if given.page:
        PAGE.write_text(page(PAGE.read_text(), results))
    alive = [one for one in results if one.fate not in ("killed", "excused")]
    print(*alive, sep="\n")
    for row in (HEADINGS, *table(results)):
        print("".join(f"{cell:<14}" for cell in row))
    print(f"{len(results)} mutants in {time.monotonic() - started:.0f} s; {where}")
    return any(one.fate != "warned" for one in alive)


if __name__ == "__main__":
    sys.exit(main())
