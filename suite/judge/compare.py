"""What changed from one report to another: by case and clause.

A case can check a clause more than once: its checks of one clause are compared together. Nothing is called fixed that
was not looked at, and what is new comes with what the older run knew of it. What the newer run was not to run, because
its tier is smaller or because its user asked for a part, is not missed.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, get_args

from msgspec import Meta, Struct

from ...reports.model.findings import Finding
from ...reports.model.header import DEMANDS, Tier
from ...reports.model.records import CaseRecord, CheckRecord
from ...reports.model.report import Report
from ...reports.model.verdicts import WORST_FIRST, TargetVerdict, Verdict
from ...reports.plain import plain
from . import findings
from .differences import Difference, differences
from .tried import TRIED, is_looked_at, tried


class Kind(StrEnum):
    """What happened to a clause in a case."""

    BROKEN = "broken"
    CHANGED = "changed"
    FIXED = "fixed"
    WAIVED = "waived"
    UNSEEN = "unseen"
    WARNED = "warned"
    NO_WARNING = "no warning"
    UNCHECKED = "unchecked"
    OTHER = "other"


class Before(StrEnum):
    """What the older report knew of a clause in a case."""

    NO_CLAUSE = "the clause is new"
    OTHER_CLAUSE = "the clause demands something else now"
    NO_CASE = "the case is new"
    LEFT_OUT = "the case was not run then"
    UNCHECKED = "it was not checked then"
    CHECKED = "it was checked then"

    @property
    def is_of_the_suite(self) -> bool:
        """Whether a newer suite brought it: the plugin may have been so before."""
        return self in (Before.NO_CLAUSE, Before.OTHER_CLAUSE, Before.NO_CASE)


class Change(Struct, frozen=True):
    """A clause in a case of which the two reports say something else."""

    case: str
    clause: str
    kind: Annotated[Kind, Meta(description="Unseen: a violation then, and not checked now.")]
    before: Before
    then: Annotated[tuple[Verdict, ...], Meta(description="The verdicts of its checks, from worst to best.")]
    now: tuple[Verdict, ...]
    got_then: Annotated[
        tuple[str, ...], Meta(description="What its violations got, or else those with the worst verdict.")
    ]
    got_now: tuple[str, ...]

    @property
    def is_broken_otherwise(self) -> bool:
        """Whether it is a violation that was there before, and got something that it did not get then."""
        both = Verdict.VIOLATION in self.then and Verdict.VIOLATION in self.now
        return both and not set(self.got_now) <= set(self.got_then)


class Comparison(Struct, frozen=True, kw_only=True):
    """What changed from one report to another."""

    verdict_then: TargetVerdict
    verdict_now: TargetVerdict
    differences: Annotated[tuple[Difference, ...], Meta(description="Of the suites, the targets and the options.")]
    changes: Annotated[tuple[Change, ...], Meta(description="In the order of the cases.")]
    cases_added: tuple[str, ...]
    cases_removed: tuple[str, ...]
    clauses_added: tuple[str, ...]
    clauses_removed: tuple[str, ...]
    clauses_changed: Annotated[tuple[str, ...], Meta(description="Those that demand something else.")]
    clauses_no_longer_executed: Annotated[
        tuple[str, ...], Meta(description="Those that a case declares and tried then, and none now.")
    ]
    clauses_newly_not_run: Annotated[
        tuple[str, ...],
        Meta(description="Those of level MUST that are not run in a case in which they were neither that nor broken."),
    ]

    def of_kinds(self, *kinds: Kind) -> list[Change]:
        """The changes of these kinds."""
        return [change for change in self.changes if change.kind in kinds]

    @property
    def is_worse(self) -> bool:
        """Whether something is broken, or not looked at any more that would have to be."""
        return bool(self.of_kinds(Kind.BROKEN) or self.clauses_no_longer_executed or self.clauses_newly_not_run)


class Spot(Struct, frozen=True):
    """What a case says of a clause: its verdicts from worst to best, and what those that decide got."""

    verdicts: tuple[Verdict, ...] = ()
    got: tuple[str, ...] = ()

    @property
    def is_tried(self) -> bool:
        """Whether an answer of the plugin was looked at."""
        return not TRIED.isdisjoint(self.verdicts)


def compare(then: Report, now: Report) -> Comparison:
    """What changed from one report to another, in what the newer one was to run."""
    cases_now = {case.id: case for case in now.cases}
    # A case that names no tier counts for that of its run.
    tiers = _tiers(now) if now.left_out is None else ()
    cases_then = {
        case.id: case for case in then.cases if case.id in cases_now or (case.tier or then.suite.tier) in tiers
    }
    demanding = frozenset(name for name in then.clauses.keys() & now.clauses.keys() if _demands_else(then, now, name))
    changes: list[Change] = []
    for name in sorted(cases_then.keys() | cases_now.keys()):
        spots_then, spots_now = _spots(cases_then.get(name)), _spots(cases_now.get(name))
        for clause in sorted(spots_then.keys() | spots_now.keys()):
            was, found = spots_then.get(clause, Spot()), spots_now.get(clause, Spot())
            ended = cases_now.get(name)
            looked_at = ended is not None and clause in now.clauses and is_looked_at(ended, clause)
            kind = _kind(was, found, looked_at)
            if kind is None:
                continue
            if clause not in then.clauses:
                before = Before.NO_CLAUSE
            elif clause in demanding:
                before = Before.OTHER_CLAUSE
            elif name not in cases_then:
                before = _of_a_missing_case(then, cases_now[name])
            else:
                before = Before.CHECKED if was.is_tried else Before.UNCHECKED
            changes.append(Change(name, clause, kind, before, was.verdicts, found.verdicts, was.got, found.got))
    executed, ceased = tried(now.cases), tried(cases_then.values())
    passed = frozenset(Verdict) - {Verdict.NOT_RUN, Verdict.VIOLATION}
    not_run = {one.clause for one in changes if Verdict.NOT_RUN in one.now and passed.issuperset(one.then)}
    return Comparison(
        verdict_then=then.verdict,
        verdict_now=now.verdict,
        differences=tuple(differences(then, now)),
        changes=tuple(changes),
        cases_added=tuple(name for name in cases_now if name not in cases_then),
        cases_removed=tuple(name for name in cases_then if name not in cases_now),
        clauses_added=tuple(name for name in now.clauses if name not in then.clauses),
        clauses_removed=tuple(name for name in then.clauses if name not in now.clauses),
        clauses_changed=tuple(name for name in now.clauses if name in demanding),
        clauses_no_longer_executed=tuple(name for name in ceased if name not in executed),
        clauses_newly_not_run=tuple(
            name for name, facts in now.clauses.items() if facts.level == "MUST" and name in not_run
        ),
    )


def findings_of(report: Report, changes: Iterable[Change]) -> list[Finding]:
    """The violations that changes of the newer report are about, by clause, causes first."""
    meant = {(change.case, change.clause) for change in changes}
    made = findings.broken(report, Verdict.VIOLATION)
    return findings.findings_of(report, [one for one in made if (one[0].id, one[1].clause) in meant])


def _spots(case: CaseRecord | None) -> Mapping[str, Spot]:
    """What a case says of each clause."""
    if case is None:
        return {}
    checks: dict[str, list[CheckRecord]] = {}
    for check in case.checks:
        checks.setdefault(check.clause, []).append(check)
    return {clause: _spot(made) for clause, made in checks.items()}


def _spot(checks: Sequence[CheckRecord]) -> Spot:
    seen = {check.verdict for check in checks}
    verdicts = tuple(verdict for verdict in WORST_FIRST if verdict in seen)
    decides = Verdict.VIOLATION if Verdict.VIOLATION in seen else verdicts[0]
    # What conforms may do so with other values each time.
    compared = [
        check for check in checks if check.verdict is decides and (decides is not Verdict.CONFORM or check.reading)
    ]
    got = {_answer(check) for check in compared}
    return Spot(verdicts, tuple(sorted(got)))


def _answer(check: CheckRecord) -> str:
    if check.reading is None:
        return check.got
    return check.reading if check.verdict is Verdict.CONFORM else f"{check.reading}: {check.got}"


def _kind(then: Spot, now: Spot, looked_at: bool) -> Kind | None:
    """What happened from the one to the other; None where they say the same."""
    was, found = frozenset(then.verdicts), frozenset(now.verdicts)
    if Verdict.VIOLATION in found - was:
        return Kind.BROKEN
    if Verdict.VIOLATION in was - found:
        return Kind.WAIVED if Verdict.WAIVED in found else Kind.FIXED if looked_at else Kind.UNSEEN
    if Verdict.WARNING in found - was:
        return Kind.WARNED
    if Verdict.WARNING in was - found and looked_at:
        return Kind.NO_WARNING
    if then.is_tried and not now.is_tried:
        return Kind.UNCHECKED
    if then.verdicts[:1] == now.verdicts[:1] and then.got != now.got:
        return Kind.CHANGED
    return None if was == found else Kind.OTHER


def _tiers(report: Report) -> tuple[Any, ...]:
    """The tiers that a report is of."""
    tiers: tuple[Any, ...] = get_args(Tier)
    return tiers[: tiers.index(report.suite.tier) + 1]


def _of_a_missing_case(then: Report, case: CaseRecord) -> Before:
    within = case.tier is None or case.tier in _tiers(then)
    return Before.NO_CASE if within and then.left_out is None else Before.LEFT_OUT


def _demands_else(then: Report, now: Report, clause: str) -> bool:
    before, after = plain(then.clauses[clause]), plain(now.clauses[clause])
    return any(before.get(key) != after.get(key) for key in DEMANDS)
