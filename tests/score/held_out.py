"""Faults without the cases that declare their clauses: what does the rest of the suite see?

Takes 60 faults of tests/faults.toml that break a MUST, the same every time. Which cases were written for a fault is
written down nowhere, so more are held out: all cases that declare a clause which it breaks. A case is one row of a test
function; its other rows stay. Fails if fewer than GOAL of the faults are seen by the rest.
"""

import random
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import NamedTuple

from tests import fakes
from tests.faults.driven import BUSY, all_cases, judge, ordered
from tests.score.faults import KnownFault, known
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract.catalogue import Level, clause
from tffs_conformance.suite.engine.collect import Listed

SAMPLE_FAULTS = 60
SEED = "held-out"
#: The share that the rest has to see. It must not fall: it is what the rest saw when rows were first held out.
GOAL = 32 / 60


class Sighting(NamedTuple):
    """A case that found a violation, and the clause of the first that it found."""

    case: str
    clause: str

    @property
    def function(self) -> str:
        """The test function of the case."""
        return self.case.partition("[")[0]


@dataclass(frozen=True, slots=True)
class HeldOutResult:
    """The sightings of a fault in order, and how many cases ran."""

    fault: KnownFault
    held_out: frozenset[str]
    sightings: tuple[Sighting, ...]
    cases: int
    seconds: float

    @property
    def rest(self) -> Sighting | None:
        """The first sighting by a case that is not held out."""
        return next((one for one in self.sightings if one.case not in self.held_out), None)

    @property
    def functions(self) -> set[str]:
        """The test functions that see the fault. If it is one, only that guards against the fault."""
        return {one.function for one in self.sightings}

    def __str__(self) -> str:
        rest = f"{self.rest.clause} in {self.rest.case}" if self.rest else "NOT SEEN by the rest"
        alone = f"; only {self.sightings[0].function} sees it" if len(self.functions) == 1 else ""
        return f"{self.fault}: {rest}{alone}; {self.cases} cases, {self.seconds:.0f} s"


class Search:
    """Which cases a fault still needs: it ends after sightings by two test functions and by the rest."""

    def __init__(self, fault: KnownFault, cases: Sequence[Listed]) -> None:
        self.held_out = held_out(fault, cases)
        self.sightings: list[Sighting] = []

    def is_over(self, record: CaseRecord) -> bool:
        """Take the record of a case, and return whether it was the last that is needed."""
        if broken := next((one.clause for one in record.checks if one.verdict is Verdict.VIOLATION), ""):
            self.sightings.append(Sighting(record.id, broken))
        is_seen_by_rest = any(one.case not in self.held_out for one in self.sightings)
        return is_seen_by_rest and len({one.function for one in self.sightings}) > 1


def held_out(fault: KnownFault, cases: Sequence[Listed]) -> frozenset[str]:
    """The cases that declare a clause of the fault."""
    return frozenset(one.id for one in cases if not set(fault.clauses).isdisjoint(one.clauses))


def drawn(sample: int, only: Collection[str] = ()) -> list[KnownFault]:
    """A sample of the faults that break a MUST, or `only` these; a smaller sample is a part of a larger one.

    Faults that hang are left out, because each of their cases waits. Raises SystemExit if one of `only` is unknown.
    """
    faults = [
        one
        for one in known()
        if " hang:" not in one.name and any(clause(name).level is Level.MUST for name in one.clauses)
    ]
    if unknown := set(only) - set(map(str, faults)):
        raise SystemExit(f"no fault that breaks a MUST: {', '.join(sorted(unknown))}")
    random.Random(SEED).shuffle(faults)
    return [one for one in faults if str(one) in only] if only else faults[:sample]


def result(fault: KnownFault) -> HeldOutResult:
    """Run cases of the tier full on a fault, those of its ops first, until its sightings suffice."""
    cases = all_cases("full")
    search = Search(fault, cases)
    judged = judge(f"fakes/{fault.fake}", fault.value, ordered(cases, fault.ops), BUSY, search.is_over)
    return HeldOutResult(fault, search.held_out, tuple(search.sightings), len(judged.records), judged.seconds)


def score(results: Sequence[HeldOutResult]) -> float:
    """The share of the faults that the rest sees."""
    return sum(one.rest is not None for one in results) / len(results)


def report(results: Sequence[HeldOutResult]) -> Iterator[str]:
    """The lines of the score, of what the rest misses, and of what only one test function guards."""
    by_rest = sum(one.rest is not None for one in results)
    by_two = sum(len(one.functions) > 1 for one in results)
    yield f"{len(results)} faults, {by_rest} seen by the rest: {score(results):.0%} (at least {GOAL:.0%})"
    yield f"{by_two} seen by two test functions"
    for one in results:
        if not one.rest:
            yield f"not seen by the rest: {one.fault}, of {', '.join(one.fault.clauses)}"
    for one in results:
        if len(one.functions) == 1:
            yield f"only {one.sightings[0].function} sees {one.fault}"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("--sample", type=int, default=SAMPLE_FAULTS, metavar="N", help="default: %(default)s")
    parser.add_argument("--only", action="append", default=[], metavar="FAULT", help="may be given again")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="default: %(default)s")


def run(given: Namespace) -> bool:
    """Judge the faults, print the score, and return whether it reaches the goal."""
    fakes.build()
    faults = drawn(given.sample, given.only)
    results = []
    with ProcessPoolExecutor(given.workers) as workers:
        for done in as_completed([workers.submit(result, one) for one in faults]):
            results.append(done.result())
            print(f"{len(results)}/{len(faults)} {results[-1]}", flush=True)
    print(*report(sorted(results, key=lambda one: one.fault)), sep="\n")
    return score(results) >= GOAL
