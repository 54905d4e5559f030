"""Faults of the table without the cases that were written for them: what does the rest of the suite see?

`tests/faults.toml` says of a fault which clause it breaks. The cases that were written for it are not known by name, so
more than these are held out: all that declare such a clause. A case is one row of a test function, by its parameters:
the other rows of the same function stay. A fault is seen where a case that is left finds a violation.
"""

import random
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from typing import Any

from tests.faults.driven import BUSY, all_cases, judge
from tests.score.judging import order
from tests.score.scoring import LAST, wrap
from tests.verdict_runs import TABLES, Run, liars
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract.catalogue import Level, catalogue, clause
from tffs_conformance.suite.engine.collect import Listed

#: Faults in a sample.
SAMPLE = 60
#: What they are drawn by.
DRAW = "held-out"
#: The share of the faults that the rest has to see.
GOAL = 0.85
#: What the generated part of the page begins with.
HEADING = "## The last score of faults held out\n"
#: The cases of this tier judge them.
TIER = "full"


@dataclass(frozen=True, order=True, slots=True)
class Fault:
    """A fault by its plugin and its TFFS_FAULT, the clauses that it stands for, and the ops whose fault it is."""

    name: str
    clauses: tuple[str, ...]
    ops: tuple[str, ...]

    def __str__(self) -> str:
        return self.name.removeprefix("faulty ")


@dataclass(frozen=True, slots=True)
class Seen:
    """A case that found a violation, and the clause of the first that it found."""

    case: str
    clause: str

    @property
    def family(self) -> str:
        """The test function."""
        return family(self.case)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a fault: the cases that are held out, and those that saw it, in order: of each family one.

    A second one of a family is there where only that is left of all that saw it. `cases` is how many ran.
    """

    fault: Fault
    held: frozenset[str]
    seen: tuple[Seen, ...]
    cases: int
    seconds: float

    @property
    def rest(self) -> Seen | None:
        """Where it was first seen by cases that are left."""
        return next((one for one in self.seen if one.case not in self.held), None)

    @property
    def guard(self) -> str:
        """The family that alone sees it, if there is one."""
        return self.seen[0].family if self.families == 1 else ""

    @property
    def families(self) -> int:
        """How many families saw it."""
        return len({one.family for one in self.seen})

    @property
    def told(self) -> str:
        """Whether what the rest saw first is of an op at fault: `yes`, `no`, or nothing where it is of no op."""
        op = clause(self.rest.clause).op if self.rest else ""
        return "" if not op or not self.fault.ops else "yes" if op in self.fault.ops else "no"

    @property
    def plain(self) -> dict[str, Any]:
        """As it stands in a JSON file."""
        rest = asdict(self.rest) if self.rest else None
        return {**asdict(self), "held": len(self.held), "rest": rest, "guard": self.guard, "told": self.told}

    def __str__(self) -> str:
        rest = f"{self.rest.clause} in {self.rest.case}" if self.rest else "NOT SEEN by the rest"
        alone = f"; {self.guard} alone sees it" if self.guard else "" if self.seen else "; no case sees it"
        return f"{self.fault}: {rest}{alone}; {self.cases} cases, {self.seconds:.0f} s"


class Search:
    """What is still to be run on a fault: until two families have seen it, and a case that is left."""

    def __init__(self, fault: Fault, cases: Sequence[Listed]) -> None:
        self.held = held_out(fault, cases)
        self.seen: list[Seen] = []
        self._cases = order(cases, fault.ops)

    @property
    def _is_seen_by_the_rest(self) -> bool:
        return any(one.case not in self.held for one in self.seen)

    def _is_of_use(self, case: str) -> bool:
        """Whether more is known where this case sees it."""
        is_new = family(case) not in {one.family for one in self.seen}
        return is_new or not (self._is_seen_by_the_rest or case in self.held)

    def cases(self) -> Iterator[Listed]:
        """Those by which more can be known, its op's first."""
        return (one for one in self._cases if self._is_of_use(one.id))

    def is_over(self, record: CaseRecord) -> bool:
        """Take the record of a case, and say whether it was the last that is needed."""
        broken = next((one.clause for one in record.checks if one.verdict is Verdict.VIOLATION), "")
        if broken and self._is_of_use(record.id):
            self.seen.append(Seen(record.id, broken))
        return len({one.family for one in self.seen}) > 1 and self._is_seen_by_the_rest


def family(case: str) -> str:
    """The test function of a case, by its id without the parameters."""
    return case.partition("[")[0]


def held_out(fault: Fault, cases: Sequence[Listed]) -> frozenset[str]:
    """The cases that declare a clause of the fault."""
    return frozenset(one.id for one in cases if not set(fault.clauses).isdisjoint(one.clauses))


def known() -> list[Fault]:
    """The faults of the table that break a MUST, by name. Those that hang are left out: each case of theirs waits."""
    clauses: dict[str, set[str]] = {}
    for name, fake in TABLES["faults"].items():
        clauses.setdefault(fake, set()).add(name)
    for fault, name in TABLES["further"].items():
        clauses.setdefault(f"faulty {fault}", set()).add(name)
    facts = {"clauses": {one.id: {"op": one.op} for one in catalogue().values()}}
    return [
        Fault(fake, tuple(sorted(broken)), tuple(sorted(op for op in liars(Run(fake, (), broken), facts) if op)))
        for fake, broken in sorted(clauses.items())
        if " hang:" not in fake and any(clause(name).level is Level.MUST for name in broken)
    ]


def drawn(most: int | None, only: Collection[str] = ()) -> list[Fault]:
    """So many faults, or `only` these, the same every time; of a larger sample a smaller one is a part.

    Raises ValueError where one of these is not in the table.
    """
    faults = known()
    if unknown := set(only) - set(map(str, faults)):
        raise ValueError(f"no fault that breaks a MUST: {', '.join(sorted(unknown))}")
    random.Random(DRAW).shuffle(faults)
    return [one for one in faults if str(one) in only] if only else faults[:most]


def judged(faults: Sequence[Fault], at_a_time: int) -> Iterator[Outcome]:
    """What the suite sees of faults, as it comes. The fakes have to be built."""
    with ProcessPoolExecutor(at_a_time) as workers:
        for done in as_completed([workers.submit(outcome, one) for one in faults]):
            yield done.result()


def outcome(fault: Fault) -> Outcome:
    """Run cases on a fault until it is known who sees it."""
    search = Search(fault, all_cases(TIER))
    plugin, _, value = fault.name.partition(" ")
    done = judge(f"fakes/{plugin}", value, search.cases(), BUSY, search.is_over)
    return Outcome(fault, search.held, tuple(search.seen), len(done.records), round(done.seconds, 1))


def score(outcomes: Sequence[Outcome]) -> float:
    """The share of the faults that the rest sees."""
    return sum(one.rest is not None for one in outcomes) / len(outcomes)


def section(outcomes: Sequence[Outcome]) -> list[str]:
    """The lines of the page: the figures, what the rest does not see, and who alone guards something."""
    number = len(outcomes)
    unseen = [one for one in outcomes if one.rest is None]
    several = sum(one.families > 1 for one in outcomes)
    told = Counter(one.told for one in outcomes)
    seconds = sorted(one.seconds for one in outcomes)
    rows = [
        ("faults", str(number)),
        ("seen without the cases of their clauses", f"{number - len(unseen)} ({score(outcomes):.0%})"),
        ("seen without the test function that finds them first", f"{several} ({several / number:.0%})"),
        ("first seen by the rest on their own op", f"{told['yes']} of {told['yes'] + told['no']}"),
        ("median, longest", f"{seconds[number // 2]} s, {seconds[-1]} s"),
    ]
    guards: dict[str, list[str]] = {}
    for one in outcomes:
        if one.guard:
            guards.setdefault(one.guard, []).append(str(one.fault))
    return [
        *("| what | number |", "| --- | --- |", *(f"| {what} | {figure} |" for what, figure in rows)),
        *("", "### What the rest does not see", ""),
        *(wrap(f"- {_unseen(one)}") for one in unseen),
        *("", "### What alone guards something", ""),
        *(wrap(f"- `{name}`: {_code(sorted(faults))}") for name, faults in sorted(guards.items())),
    ]  # fmt: skip


def _unseen(one: Outcome) -> str:
    return f"`{one.fault}` of {_code(one.fault.clauses)}{'' if one.seen else ', nor does any case'}"


def _code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def page(text: str, outcomes: Sequence[Outcome]) -> str:
    """The page with these in place of the last."""
    before, _, after = text.partition(HEADING)
    return "\n".join((before + HEADING, *section(outcomes), "", LAST + after.partition(LAST)[2]))
