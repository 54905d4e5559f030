"""Findings: the broken clauses of a report in the order in which a person should look at them.

One cause shows in many checks. A clause that is broken only in cases in which a clause that others depend on is broken
as well is told with that one, and is no finding of its own. So is one that is broken only where what was prepared was
wrong already, with the op to which that is due.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from .records import CaseRecord, CheckRecord
from .report import Report
from .verdicts import Verdict

#: A check, and the case that made it.
Made = tuple[CaseRecord, CheckRecord]


@dataclass(frozen=True, slots=True)
class Finding:
    """A clause, its checks with the verdict asked for, the plainest first, and the clauses that are told with it."""

    clause: str
    checks: tuple[Made, ...]
    beside: list[str] = field(default_factory=list)

    @property
    def cases(self) -> dict[str, CaseRecord]:
        """Its cases by id, the plainest first."""
        return {case.id: case for case, _ in self.checks}

    @property
    def times(self) -> int:
        """How many checks there are, those included that stand for several."""
        return sum(check.times for _, check in self.checks)


def findings(report: Report, verdict: Verdict = Verdict.VIOLATION) -> list[Finding]:
    """What a run found, causes first."""
    return with_consequences(by_clause(report, verdict))


def with_consequences(ordered: Iterable[Finding]) -> list[Finding]:
    """The findings of which none is told with another; causes come first in `ordered`."""
    found: list[Finding] = []
    for finding in ordered:
        cause = next((other for other in found if _is_told_with(finding, other)), None)
        if cause is None:
            found.append(finding)
        else:
            cause.beside.append(finding.clause)
    return found


def _is_told_with(finding: Finding, cause: Finding) -> bool:
    """Whether a finding shows only where another one does, or where that one's op spoilt what was prepared."""
    return all(name in cause.cases or f"{case.cause}.succeeds" == cause.clause for name, case in finding.cases.items())


def by_clause(report: Report, verdict: Verdict) -> list[Finding]:
    """Each clause that has checks with this verdict, whatever it is a consequence of, in the order of `grouped`."""
    return grouped(
        report, ((case, check) for case in report.cases for check in case.checks if check.verdict is verdict)
    )


def grouped(report: Report, checks: Iterable[Made]) -> list[Finding]:
    """These checks of a report by clause.

    Causes come first: what spoilt the set-up of other cases, then in the order of the clauses; of those in one place of
    it, first what shows in more cases.
    """
    made: dict[str, list[Made]] = {}
    for case, check in checks:
        made.setdefault(check.clause, []).append((case, check))
    places = {name: place for place, name in enumerate(report.clauses)}
    spoilt = {f"{case.cause}.succeeds" for those in made.values() for case, _ in those if case.cause is not None}
    found = [Finding(name, tuple(_plainest_first(report, name, those))) for name, those in made.items()]

    def place(one: Finding) -> tuple[bool, int, int, int]:
        order = report.clauses[one.clause].order
        return one.clause not in spoilt, order, -len(one.cases), places[one.clause]

    return sorted(found, key=place)


def _plainest_first(report: Report, clause: str, made: Iterable[Made]) -> list[Made]:
    """First the way through an op once, and cases that are about the clause or its op; then cases about few clauses."""
    op = report.clauses[clause].op

    def place(one: Made) -> tuple[bool, bool, bool, int, int, str]:
        case, _ = one
        about_op = any(report.clauses[name].op == op for name in case.clauses)
        smoke = case.tier == "smoke"
        return not smoke, clause not in case.clauses, not about_op, len(case.clauses), len(case.ops), case.id

    return sorted(made, key=place)
