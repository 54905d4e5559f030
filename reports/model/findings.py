"""Findings: the broken clauses of a report in the order in which a person should look at them.

One cause shows in many checks. What is more likely a cause is told first (`CAUSES_FIRST`), and what only follows from
it is told with it, and is no finding of its own (`TOLD_WITH`). Each is a table of rules, read in order. What several
ops do wrong in one situation, in the same words, is told once (`Finding.is_alike`).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from .records import CaseRecord, CheckRecord, Ending
from .report import Report
from .verdicts import Verdict
from .wrongs import CLAIMED, OWN, STORED, answering_op, bits, named_op, wrongs

#: How one begins that compares a return code.
_CODE = "code="
#: A number in the id of a case.
_NUMBER = re.compile(r"([0-9]+)")

#: The end of a rule about what an op answers in a situation in which others answer so as well: 'Deleting a file, where
#: a parent of the path is a file, answers FAILED_PRECONDITION.'
_SITUATION = re.compile(r", where (.+)")

#: The ops of whose answer one value may be wrong and the others right: a length, a time, a kind.
ANSWERS_SEVERAL = frozenset({"stat"})

#: A check, and the case that made it.
Made = tuple[CaseRecord, CheckRecord]


@dataclass(frozen=True, slots=True)
class Finding:
    """A clause, its checks with the verdict asked for, the plainest first, and the clauses that are told with it.

    `op` is the op that the clause is about, or that its checks name; None where that is the plugin, or many ops.
    `situation` is where its rule holds and what is answered there, in words that say nothing of the op; None where the
    rule has none. `alike` are the ops that do the same wrong in it. `spoilt` are cases that show the clauses told with
    it and not this one, because its op went wrong before.
    """

    clause: str
    checks: tuple[Made, ...]
    op: str | None = None
    situation: str | None = None
    beside: list[str] = field(default_factory=list)
    spoilt: set[str] = field(default_factory=set)
    alike: list[str] = field(default_factory=list)

    @property
    def cases(self) -> dict[str, CaseRecord]:
        """Its cases by id, the plainest first."""
        return {case.id: case for case, _ in self.checks}

    @property
    def times(self) -> int:
        """How many checks there are, those included that stand for several."""
        return sum(check.times for _, check in self.checks)

    @property
    def is_first(self) -> bool:
        """Whether nothing else was wrong before it in one of its cases."""
        return any(_first_wrong(case, check.verdict) == self.clause for case, check in self.checks)

    @property
    def is_asked(self) -> bool:
        """Whether one of its cases is about it, died of it, or was spoilt by it; others met it on their way."""
        cases = self.cases.values()
        return any(self.clause in one.clauses or one.ended is Ending.DIED or _is_spoilt(one, self) for one in cases)

    @property
    def is_stored(self) -> bool:
        """Whether all of its checks compare what other ops find in the storage."""
        return all(STORED.match(check.expected) for _, check in self.checks)

    @property
    def is_code(self) -> bool:
        """Whether all of its checks compare return codes."""
        return all(check.expected.startswith(_CODE) for _, check in self.checks)

    @property
    def kinds(self) -> set[str]:
        """What may be wrong in its checks, by the kinds that clauses have in common."""
        return {one.kind for case, check in self.checks for one in wrongs(case, check)} - {OWN}

    @property
    def calls(self) -> int:
        """How many calls its smallest case makes."""
        return min(len(case.ops) for case, _ in self.checks)

    @property
    def shown(self) -> frozenset[tuple[str, str]]:
        """What was expected, whichever claim of the profile it rests on, and what was seen instead."""
        return frozenset((check.expected.partition(CLAIMED)[0], check.got) for _, check in self.checks)

    def is_alike(self, other: "Finding") -> bool:
        """Whether the op of the other did the same wrong in the same situation, word for word."""
        named, of_other = (one.clause.removeprefix(f"{one.op}.") for one in (self, other))
        return (
            self.op is not None
            and self.op != other.op
            and self.situation is not None
            and (named, self.situation, self.shown) == (of_other, other.situation, other.shown)
        )

    def is_apart(self, other: "Finding") -> bool:
        """Whether it is of another op, or of what is stored."""
        return self.op != other.op or self.is_stored

    def is_spoilt_by(self, other: "Finding") -> bool:
        """Whether what was prepared was wrong in all of its cases, due to the op of the other."""
        return all(_is_spoilt(case, other) for case, _ in self.checks)

    def is_covered_by(self, other: "Finding") -> bool:
        """Whether it shows only where the other does, or where that one's op spoilt what was prepared."""
        return all(name in other.cases or _is_spoilt(case, other) for name, case in self.cases.items())

    def is_akin(self, other: "Finding") -> bool:
        """Whether what is wrong of the same op may be one wrong: not two of the values that it answers side by side."""
        if self.op not in ANSWERS_SEVERAL or self.is_code or other.is_code or self.kinds & other.kinds:
            return True
        cases = self.cases.values()
        return any(other.clause in one.clauses or one.ended is Ending.DIED or _is_spoilt(one, other) for one in cases)

    def is_kept_in(self, case: CaseRecord) -> bool:
        """Whether a case looked at what the clause demands, and found nothing else."""
        return {check.verdict for check in case.checks if check.clause == self.clause} == {Verdict.CONFORM}

    def shows_what(self, other: "Finding") -> bool:
        """Whether in each of its cases both show the same wrong value. That of two ops a code is one is no value."""
        if self.is_code and self.op and other.op and self.op != other.op:
            return False
        shown = {(case.id, check.got) for case, check in other.checks}
        return {case.id for case, check in self.checks if (case.id, check.got) in shown} == set(self.cases)


#: Of two findings the one is told first that keeps the first rule that only one of them keeps. Where they agree in all
#: the smaller input decides, then the order of the catalogue.
CAUSES_FIRST: tuple[tuple[str, Callable[[Finding], bool]], ...] = (
    ("it shows before an op is called", lambda it: not all(case.executed for case in it.cases.values())),
    ("nothing was wrong before it", lambda it: it.is_first),
    ("a case is about it", lambda it: it.is_asked),
    ("an op itself answers it", lambda it: it.op is not None and not it.is_stored),
)


def _is_spoilt(case: CaseRecord, cause: Finding) -> bool:
    return f"{case.cause}.succeeds" == cause.clause


def _first_wrong(case: CaseRecord, verdict: Verdict) -> str:
    """What a case found broken first; where what it prepared was wrong, `succeeds` of the op to which that is due."""
    if case.cause is not None:
        return f"{case.cause}.succeeds"
    return next(check.clause for check in case.checks if check.verdict is verdict)


def by_clause(report: Report, verdict: Verdict) -> list[Finding]:
    """Each clause that has checks with this verdict, whatever it is a consequence of, in the order of `grouped`."""
    return grouped(
        report, ((case, check) for case in report.cases for check in case.checks if check.verdict is verdict)
    )


def grouped(report: Report, checks: Iterable[Made]) -> list[Finding]:
    """These checks of a report by clause, causes first."""
    made: dict[str, list[Made]] = {}
    for case, check in checks:
        made.setdefault(check.clause, []).append((case, check))
    places = {name: place for place, name in enumerate(report.clauses)}
    ops = {facts.op for facts in report.clauses.values()}

    def op_of(name: str, those: Sequence[Made]) -> str | None:
        own, checks = report.clauses[name].op, [check for _, check in those]
        return answering_op(checks, own, ops) if own else named_op(checks, ops)

    def place(one: Finding) -> tuple[object, ...]:
        rules = [not keeps(one) for _, keeps in CAUSES_FIRST]
        facts = report.clauses[one.clause]
        return *rules, facts.op not in (None, one.op), one.calls, facts.order, -len(one.cases), places[one.clause]

    found = (
        Finding(
            name,
            tuple(_plainest_first(report, name, those)),
            op_of(name, those),
            _situation(report, name),
        )
        for name, those in made.items()
    )
    return sorted(found, key=place)


def _situation(report: Report, clause: str) -> str | None:
    found = _SITUATION.search(report.clauses[clause].rule)
    return found and found[1]


def _plainest_first(report: Report, clause: str, made: Iterable[Made]) -> list[Made]:
    """First the way through an op once, then cases that are about the clause or its op, the small ones first.

    Of others the one with the fewest calls, of cases that differ in a number alone the one with the smallest. Last come
    those that another op spoilt.
    """
    op = report.clauses[clause].op

    def place(one: Made) -> tuple[object, ...]:
        case, check = one
        about_op = any(report.clauses[name].op == op for name in case.clauses)
        is_spoilt = case.cause is not None and f"{case.cause}.succeeds" != clause
        smoke = case.tier == "smoke"
        asked = (clause not in case.clauses, not about_op, bits(check), len(case.clauses) if about_op else 0)
        return is_spoilt, not smoke, *asked, len(case.ops), _natural(case.id)

    return sorted(made, key=place)


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts numbers in names by what they are: 4097 before 1048575."""
    parts = _NUMBER.split(name)
    return [(int(part), "") if place % 2 else (-1, part) for place, part in enumerate(parts)]
