"""Findings: an op at fault and what it does wrong, with all statements that show it, the plainest first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .records import CaseRecord, CheckRecord
from .report import Report

#: A check, and the case that made it.
Made = tuple[CaseRecord, CheckRecord]


@dataclass(frozen=True, slots=True)
class Finding:
    """What `op` does wrong, in `checks`, the plainest first; `op` is None for the plugin as a whole.

    `folded` are breaches of other ops after it in the same case. `alike` are the ops that do the same wrong in the same
    situation, and `also` their checks.
    """

    op: str | None
    does: str
    checks: tuple[Made, ...]
    folded: list[Made] = field(default_factory=list)
    alike: list[str] = field(default_factory=list)
    also: list[Made] = field(default_factory=list)

    @property
    def clause(self) -> str:
        """The clause that its plainest check is about."""
        return self.checks[0][1].clause

    @property
    def cases(self) -> dict[str, CaseRecord]:
        """Its cases by id, the plainest first."""
        return {case.id: case for case, _ in self.checks}

    @property
    def times(self) -> int:
        """How many checks there are, those included that stand for several."""
        return sum(check.times for _, check in self.checks)

    @property
    def clauses(self) -> list[str]:
        """The clauses of its checks, the plainest first."""
        return list(dict.fromkeys(check.clause for _, check in self.checks))

    @property
    def beside(self) -> list[str]:
        """The other clauses that its checks and those under it are about."""
        every = dict.fromkeys([*self.clauses, *(check.clause for _, check in self.folded)])
        return [name for name in every if name != self.clause]


@dataclass(frozen=True, slots=True)
class Findings:
    """A report and what its run found, causes first: what each form is made of.

    `warnings` are those of which no violation is one finding with them. `plainest` has a breach of each clause.
    """

    report: Report
    violations: Sequence[Finding]
    warnings: Sequence[Finding]
    waived: Sequence[Finding]
    plainest: Mapping[str, Made]
