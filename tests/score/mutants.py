"""Mutants of right plugins that a tool draws: which of them does the suite not see?

Judges a sample of the mutants of posix, memory and objectstore_minimal, the same every time; --all judges each, which
takes a day. survivors.toml excuses some, each with its reason: these are judged with --all only. Fails if another one
survives. Needs universalmutator and bubblewrap.
"""

import os
import shutil
import tomllib
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.score.mutations import PLUGINS, PluginMutant, build, drawn
from tests.score.sandboxed_judge import MutantVerdict, SandboxedJudge
from tffs_conformance.reports.model.verdicts import Verdict

SURVIVORS = Path(__file__).with_name("survivors.toml")
SAMPLE_OF_EACH_PLUGIN = 34
FATES = ("killed", "excused", "warned", "survived", "error")


@dataclass(frozen=True, slots=True)
class MutantResult:
    """A mutant, the verdict on it, and why it may survive; an excused one has no verdict if it was not judged."""

    mutant: PluginMutant
    verdict: MutantVerdict | None
    reason: str = ""

    @property
    def fate(self) -> str:
        """One of FATES."""
        if self.verdict is None:
            return "excused"
        # A run of which most cases are not run is refused.
        if self.verdict.verdict == Verdict.VIOLATION or 2 * self.verdict.not_run > self.verdict.cases:
            return "killed"
        if self.verdict.verdict == Verdict.ERROR:
            return "error"
        if self.reason:
            return "excused"
        return "warned" if self.verdict.verdict == Verdict.WARNING else "survived"

    def __str__(self) -> str:
        mutant, verdict = self.mutant, self.verdict
        shown = f": {verdict.clause} in {verdict.case}" if verdict and verdict.clause else ""
        return f"{self.fate} {mutant.source}:{mutant.line} {mutant.out!r} -> {mutant.put_in!r}{shown}"


def excuses() -> dict[tuple[str, str, str, str, int], str]:
    """The reasons why mutants may survive, by their keys."""
    return {
        (source, function, one["out"], put_in, one.get("nth", 0)): one["reason"]
        for source, functions in tomllib.loads(SURVIVORS.read_text(encoding="utf-8")).items()
        for function, survivors in functions.items()
        for one in survivors
        for put_in in ([one["in"]] if isinstance(one["in"], str) else one["in"])
    }


def judged(sample: Sequence[tuple[PluginMutant, Path]], workers: int, *, with_excused: bool) -> Iterator[MutantResult]:
    """The results of mutants, in the order in which they are ready."""
    reasons = excuses()
    with ExitStack() as stack:
        judges: SimpleQueue[SandboxedJudge] = SimpleQueue()
        for _ in range(workers):
            judges.put(stack.enter_context(SandboxedJudge()))

        def result(mutant: PluginMutant, shared_object: Path) -> MutantResult:
            reason = reasons.get(mutant.key, "")
            if reason and not with_excused:
                return MutantResult(mutant, None, reason)
            judge = judges.get()
            verdict = judge.ask(shared_object, mutant.plugin, mutant.ops)
            judges.put(judge)
            return MutantResult(mutant, verdict, reason)

        pool = stack.enter_context(ThreadPoolExecutor(workers))
        for done in as_completed([pool.submit(result, *one) for one in sample]):
            yield done.result()


def report(results: Sequence[MutantResult]) -> Iterator[str]:
    """A line for each mutant that survives, and the score of each plugin and of all: killed, of those not excused."""
    yield from (str(one) for one in results if one.fate not in ("killed", "excused"))
    for name in (*sorted({one.mutant.plugin for one in results}), "all"):
        fates = [one.fate for one in results if name in (one.mutant.plugin, "all")]
        counts = ", ".join(f"{fates.count(fate)} {fate}" for fate in FATES)
        score = fates.count("killed") / max(len(fates) - fates.count("excused"), 1)
        yield f"{name}: {len(fates)} mutants: {counts}; score {score:.0%}"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    names = [plugin.name for plugin in PLUGINS]
    parser.add_argument("--all", action="store_true", help="every mutant, and not a sample")
    parser.add_argument("--sample", type=int, default=SAMPLE_OF_EACH_PLUGIN, metavar="N", help="default: %(default)s")
    parser.add_argument("--only", action="append", choices=names, help="this plugin; may be given again")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1), metavar="N")


def run(given: Namespace) -> bool:
    """Judge the mutants, print the score, and return whether all that survive are excused or warned of."""
    if shutil.which("bwrap") is None:
        raise SystemExit("a mutant may delete any tree without bubblewrap: apt-get install bubblewrap")
    build()
    sample = []
    for plugin in PLUGINS:
        if not given.only or plugin.name in given.only:
            with SandboxedJudge() as judge:
                verdict = judge.ask(plugin.library, plugin.name)
            if verdict.clause:
                raise SystemExit(f"{plugin.name} itself is wrong: {verdict.clause} in {verdict.case}: {verdict.got}")
            sample += drawn(plugin, None if given.all else given.sample, given.workers)
            print(f"{plugin.name} is right; {len(sample)} mutants are drawn", flush=True)
    results = []
    for result in judged(sample, given.workers, with_excused=given.all):
        results.append(result)
        print(f"{len(results)}/{len(sample)} {result}", flush=True)
    print(*report(results), sep="\n")
    return all(one.fate in ("killed", "excused", "warned") for one in results)
