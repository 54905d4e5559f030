"""From the cases of a run to its report: counts, then verdicts."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import fields, replace

from ..errors import DuplicateCase, UnknownClause
from ..plain import digest_of_all
from . import claims, waivers
from .costs import Costs
from .counts import Counts
from .header import ClauseFacts, Header
from .records import CaseRecord
from .report import SCHEMA, ClassAccount, ClauseAccount, End, Executed, Report
from .services import Figures
from .verdicts import (
    JUDGED,
    ClauseVerdict,
    TargetVerdict,
    Verdict,
    checks_made,
    judge_class,
    judge_target,
    no_counts,
    worst,
)

#: The class whose checks need no op of the plugin: keeping them alone makes nobody conformant.
REGISTRATION = "registration"
# Found out once: it takes longer than the rest of a clause.
_FACTS = tuple(field.name for field in fields(ClauseFacts))


def build(
    header: Header,
    cases: Iterable[CaseRecord],
    *,
    duration: float | None,
    left_out: str | None,
    services: Figures | None = None,
    costs: Costs | None = None,
) -> Report:
    """The report of a run: its header and its cases, in any order: a report sorts them by id.

    `duration` is in seconds, None where nobody knows; `left_out` says why something was left out, None for a whole
    run; `services` is what was measured of them, `costs` what the plugin costs. Raises
    DuplicateCase, and UnknownClause where a case names a clause that the header lacks.
    """
    ordered = tuple(sorted(cases, key=lambda case: case.id))
    tally = Tally(header.clauses)
    for case in ordered:
        tally.add(case)
    classes = _classes(tally, header.target.tables, left_out)
    judgement = judge_target(
        tally.counts,
        cases=len(ordered),
        executed_must=tally.executed_must,
        left_out=left_out,
        blocked=[name for name, account in classes.items() if _is_blocked(account)],
    )
    return Report(
        schema=SCHEMA,
        contract=header.contract,
        suite=replace(header.suite, duration=duration),
        target=header.target,
        verdict=judgement.verdict,
        reason=judgement.reason,
        left_out=left_out,
        counts=Counts.of(tally.counts),
        executed=tally.executed,
        classes=classes,
        clauses={name: _clause(tally, name) for name in header.clauses},
        claims=claims.accounts(header.claims, ordered),
        waivers=waivers.accounts(header.waivers, ordered),
        services=services,
        costs=costs,
        cases=ordered,
        end=End(cases=len(ordered), sha256=digest_of_all(ordered)),
    )


class Roll:
    """Which cases one report takes: each once, and only those that name clauses of its header."""

    def __init__(self, clauses: Iterable[str], path: Path | None = None) -> None:
        self._clauses = frozenset(clauses)
        self._path = path
        self._cases: set[str] = set()

    def __len__(self) -> int:
        return len(self._cases)

    def enter(self, case: CaseRecord) -> None:
        """Take a case. Raises DuplicateCase and UnknownClause, both defects of the suite."""
        if case.id in self._cases:
            raise DuplicateCase(self._path, f"the case {case.id!r} stands in it twice")
        self.known(case)
        self._cases.add(case.id)

    def known(self, case: CaseRecord) -> None:
        """Raise UnknownClause where a case names a clause that is none."""
        for clause in (*case.clauses, *(check.clause for check in case.checks)):
            if clause not in self._clauses:
                raise UnknownClause(self._path, f"the case {case.id!r} names the unknown clause {clause!r}")


class Tally:
    """Counts of checks: in all, by class and by clause. `path` is for the errors."""

    def __init__(self, clauses: Mapping[str, ClauseFacts], path: Path | None = None) -> None:
        self.facts = clauses
        self._roll = Roll(clauses, path)
        self.counts = no_counts()
        self.classes = {facts.conformance_class: no_counts() for facts in clauses.values()}
        self.clauses = {name: no_counts() for name in clauses}
        self._readings: dict[str, dict[str, int]] = {name: {} for name in clauses}
        self._executed_cases = 0
        self.executed_must = 0

    def add(self, case: CaseRecord) -> None:
        """Count one case. Raises DuplicateCase and UnknownClause."""
        self._roll.enter(case)
        self._executed_cases += case.executed
        for check in case.checks:
            facts = self.facts[check.clause]
            for counts in (self.counts, self.classes[facts.conformance_class], self.clauses[check.clause]):
                counts[check.verdict] += check.times
            if check.reading is not None:
                readings = self._readings[check.clause]
                readings[check.reading] = readings.get(check.reading, 0) + check.times
            if case.executed and check.verdict in JUDGED and facts.level == "MUST":
                self.executed_must += check.times * (facts.conformance_class != REGISTRATION)
        if all(check.verdict is not case.verdict for check in case.checks):
            # The case ended in a way none of its checks shows: it counts once, wherever it was to check something.
            self.counts[case.verdict] += 1
            for conformance_class in {self.facts[clause].conformance_class for clause in case.clauses}:
                self.classes[conformance_class][case.verdict] += 1
            for clause in set(case.clauses):
                self.clauses[clause][case.verdict] += 1

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


def _classes(tally: Tally, tables: Mapping[str, str], left_out: str | None) -> dict[str, ClassAccount]:
    """Each class with its verdict, in the order of the catalogue."""
    accounts = {}
    for name, counts in tally.classes.items():
        ops = {facts.op for facts in tally.facts.values() if facts.conformance_class == name and facts.op}
        # The plugin was loaded, and has none of the ops that the class is about.
        lacking = bool(ops) and all(tables.get(op) == "absent" for op in ops)
        judgement = judge_class(counts, left_out=left_out, lacking=lacking)
        accounts[name] = ClassAccount(verdict=judgement.verdict, reason=judgement.reason, counts=Counts.of(counts))
    return accounts


def _is_blocked(account: ClassAccount) -> bool:
    """Whether most of a class could not be run, and not because of ops in it that are absent."""
    counts, idle = account.counts, account.counts[Verdict.NOT_RUN]
    if account.verdict is not TargetVerdict.INCOMPLETE or counts[Verdict.ABSENT] > idle:
        return False
    made = checks_made(counts.by_verdict())
    return idle > made if made else idle > 0 and not counts[Verdict.ABSENT]


def _clause(tally: Tally, name: str) -> ClauseAccount:
    facts = tally.facts[name]
    return ClauseAccount(
        **{name: getattr(facts, name) for name in _FACTS},
        verdict=tally.verdict(name),
        counts=Counts.of(tally.clauses[name]),
        readings_seen=tally.readings(name),
    )
