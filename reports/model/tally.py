"""From the cases of a run to its report: counts, then verdicts."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..errors import DuplicateCaseError, UndeclaredClauseError
from .header import ClauseFacts
from .records import CaseRecord
from .report import Executed
from .verdicts import JUDGED, ClauseVerdict, Verdict, no_counts, worst

#: The class whose checks need no op of the plugin: keeping them alone makes nobody conformant.
REGISTRATION = "registration"


class Roll:
    """Which cases one report takes: each once, and only those that name clauses of its header."""

    def __init__(self, clauses: Iterable[str], path: Path | None = None) -> None:
        self._clauses = frozenset(clauses)
        self._path = path
        self._cases: set[str] = set()

    def enter(self, case: CaseRecord) -> None:
        """Take a case. Raises DuplicateCaseError and UndeclaredClauseError, both defects of the suite."""
        if case.id in self._cases:
            raise DuplicateCaseError(self._path, f"the case {case.id!r} stands in it twice")
        self.known(case)
        self._cases.add(case.id)

    def known(self, case: CaseRecord) -> None:
        """Raise UndeclaredClauseError where a case names a clause that is none."""
        for clause in (*case.clauses, *(check.clause for check in case.checks)):
            if clause not in self._clauses:
                raise UndeclaredClauseError(self._path, f"the case {case.id!r} names the unknown clause {clause!r}")


class Tally:
    """Counts of checks: in all, by class and by clause. `path` is for the errors."""

    def __init__(self, clauses: Mapping[str, ClauseFacts], path: Path | None = None) -> None:
        self.facts = clauses
        self._roll = Roll(clauses, path)
        self.counts = no_counts()
        self.classes = {facts.conformance_class: no_counts() for facts in clauses.values()}
        self.clauses = {name: no_counts() for name in clauses}
        #: The class of each op, which a violation of another class counts for, too.
        self._of_op = {one.op: one.conformance_class for name, one in clauses.items() if name == f"{one.op}.succeeds"}
        self._readings: dict[str, dict[str, int]] = {name: {} for name in clauses}
        self._executed_cases = 0
        self.executed_must = self.selected_must = 0
        #: The MUST clauses that were not run in a case, by class.
        self.not_run: dict[str, dict[str, None]] = {name: {} for name in self.classes}

    def add(self, case: CaseRecord) -> None:
        """Count one case. Raises DuplicateCaseError and UndeclaredClauseError."""
        self._roll.enter(case)
        self._executed_cases += case.executed
        for check in case.checks:
            facts = self.facts[check.clause]
            for counts in (self.counts, self.classes[facts.conformance_class], self.clauses[check.clause]):
                counts[check.verdict] += check.times
            at_fault = self._of_op.get(check.op, facts.conformance_class)
            if check.verdict in (Verdict.VIOLATION, Verdict.WAIVED) and at_fault != facts.conformance_class:
                self.classes[at_fault][check.verdict] += check.times
            if check.reading is not None:
                readings = self._readings[check.clause]
                readings[check.reading] = readings.get(check.reading, 0) + check.times
            if facts.level == "MUST" and facts.conformance_class != REGISTRATION:
                self.selected_must += check.times
                self.executed_must += check.times * (case.executed and check.verdict in JUDGED)
            if check.verdict is Verdict.NOT_RUN and facts.level == "MUST":
                self.not_run[facts.conformance_class][check.clause] = None

    @property
    def untried(self) -> dict[str, int]:
        """By class, how many MUST clauses have no case in the tier of the run."""
        names = (name for name, counts in self.clauses.items() if not any(counts.values()))
        facts = (self.facts[name] for name in names)
        return Counter(one.conformance_class for one in facts if one.level == "MUST" and not one.untested)

    @property
    def executed(self) -> Executed:
        """What of the plugin was executed."""
        return Executed(cases=self._executed_cases, must=self.executed_must)

    def verdict(self, clause: str) -> ClauseVerdict:
        """The worst verdict of a clause's checks."""
        seen = [verdict for verdict, count in self.clauses[clause].items() if count]
        return ClauseVerdict(worst(seen)) if seen else ClauseVerdict.UNCHECKED

    def readings(self, clause: str) -> dict[str, int] | None:
        """How many checks of a disputed clause saw which reading; None for a clause that nobody disputes."""
        if self.facts[clause].disputed is None:
            return None
        return dict(sorted(self._readings[clause].items()))
