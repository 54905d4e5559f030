"""What a person decides by: whether data sets, checkpoints, logs and models work on a target, break, or are lost.

All of it follows from a report and the tables of `uses.toml`. `USES` says which clauses tell of a use, and which of
them have to be seen kept before it works. `LOSSES` says which checks show that stored data is gone. What was not run
never makes a use work. A person adds in words what the causes of violations do to a use.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from ... import typed_toml
from .records import OF_OTHERS, CaseRecord, CheckRecord, Ending
from .report import Report
from .verdicts import Verdict


class Use(StrEnum):
    """What people keep in a storage for TensorFlow."""

    DATA_SETS = "datasets"
    CHECKPOINTS = "checkpoints"
    LOGS = "logs"
    MODELS = "models"


class Word(StrEnum):
    """What is said of a use."""

    WORKS = "works"
    BREAKS = "breaks"
    LOSES = "loses data"
    NOT_KNOWN = "not known"


class Rule(Struct, frozen=True):
    """A clause that tells of a use. `does` is what its cases do, in words for a sentence.

    Of a clause about all ops `expected` says which checks count: those that expect this.
    """

    clause: str
    does: str
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """How a use is decided. Of each group in `needs` one clause at least has to be seen kept, in all of its cases."""

    rules: tuple[Rule, ...]
    needs: tuple[tuple[str, ...], ...]


class DataLoss(Struct, frozen=True, forbid_unknown_fields=True):
    """A check that shows that stored data is gone: what is expected names `data`, and what was seen lacks it."""

    clause: str
    case: str
    data: str
    says: dict[Use, str]


class Cause(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a cause that a person confirmed does to data: it `loses` it in some uses, and `breaks` others.

    `note` is its number in the notes of the newest release. It holds for a report in which `clause` is broken, in
    `case` if that is given. A cause that no check shows has no clause, and holds for every report.
    """

    note: int
    says: str
    clause: str | None = None
    case: str | None = None
    loses: tuple[Use, ...] = ()
    breaks: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a word stands: a sentence, the clause and the case that show it, and the number of the cause in the notes."""

    says: str
    clause: str | None
    case: str | None = None
    note: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What is said of one use, the plainest reason first. Where it works the reasons say what was tried."""

    use: Use
    word: Word
    reasons: tuple[Reason, ...]


class _CommonRule(Rule, frozen=True, kw_only=True, forbid_unknown_fields=True):
    of: tuple[Use, ...] = tuple(Use)


class _UseTable(Struct, forbid_unknown_fields=True):
    needs: tuple[tuple[str, ...], ...]
    does: dict[str, str]


class _UsesFile(Struct, forbid_unknown_fields=True):
    use: dict[Use, _UseTable]
    common: tuple[_CommonRule, ...]
    loss: tuple[DataLoss, ...]

    def rules(self, use: Use) -> Rules:
        """How a use is decided: its own rules, then those that it has in common with others."""
        own = tuple(Rule(clause, does) for clause, does in self.use[use].does.items())
        return Rules((*own, *(rule for rule in self.common if use in rule.of)), self.use[use].needs)


_FILE = typed_toml.read(Path(__file__).with_suffix(".toml"), _UsesFile)
USES: Mapping[Use, Rules] = {use: _FILE.rules(use) for use in Use}
LOSSES = _FILE.loss

#: A breach of a SHOULD counts too: for who uses the storage it is a breach.
_BROKEN = frozenset({Verdict.VIOLATION, Verdict.WARNING, Verdict.WAIVED})
_UNKNOWN = frozenset({Verdict.NOT_RUN, Verdict.ABSENT, Verdict.ERROR})


#: What a training run cannot do without: it reads data sets, and writes checkpoints and reads them.
TRAINING = (Use.DATA_SETS, Use.CHECKPOINTS)


def hinders(decided: Iterable[Decision]) -> tuple[Decision, ...]:
    """What speaks against a training run, or keeps it from being known; nothing, where all that it needs works."""
    return tuple(one for one in decided if one.use in TRAINING and one.word is not Word.WORKS)


def answer(decided: Sequence[Decision]) -> str:
    """May a training run use it? `yes`, `no`, `not known`, or for what it may not."""
    if words := {one.word for one in hinders(decided)}:
        return "not known" if words == {Word.NOT_KNOWN} else "no"
    others = [one.use for one in decided if one.word in (Word.LOSES, Word.BREAKS)]
    return f"not for {' and '.join(others)}" if others else "yes"


def decisions(report: Report, causes: Iterable[Cause] = ()) -> tuple[Decision, ...]:
    """What the report says of each use; `causes` are what a person knows."""
    holding = [one for one in causes if one.clause is None or any(map(_is_broken, _checks_of(report, one)))]
    return tuple(_decision(report, use, holding) for use in Use)


def _decision(report: Report, use: Use, causes: Sequence[Cause]) -> Decision:
    known = [Reason(one.says, one.clause, one.case, one.note) for one in causes if use in one.loses]
    places = {(one.clause, one.case) for one in known}
    lost = [*known, *(one for one in _lost(report, use) if (one.clause, one.case) not in places)]
    broken = [Reason(one.says, one.clause, one.case, one.note) for one in causes if use in one.breaks]
    broken += _broken(report, USES[use])
    if lost or broken:
        return Decision(use, Word.LOSES if lost else Word.BREAKS, (*lost, *broken))
    missing = [group for group in USES[use].needs if not any(_is_kept(report, clause) for clause in group)]
    if missing:
        return Decision(use, Word.NOT_KNOWN, tuple(_not_known(report, USES[use], missing)))
    kept = (rule for rule in USES[use].rules if _is_kept(report, rule.clause))
    works = (Reason(f"{rule.does.rstrip(',')}: tried, and works.", rule.clause) for rule in kept)
    return Decision(use, Word.WORKS, tuple(works))


def _lost(report: Report, use: Use) -> Iterator[Reason]:
    for loss in LOSSES:
        if use in loss.says and any(_shows(check, loss.data) for check in _checks_of(report, loss)):
            yield Reason(loss.says[use], loss.clause, loss.case)


def _is_broken(check: CheckRecord) -> bool:
    return check.verdict in _BROKEN


def _shows(check: CheckRecord, data: str) -> bool:
    return check.verdict in _BROKEN and data in check.expected and data not in check.got


def _broken(report: Report, rules: Rules) -> Iterator[Reason]:
    """The first of what shows that a rule is broken, and of what breaks several rules only the first."""
    shown = set()
    for rule in rules.rules:
        reason = next((one for case in report.cases for one in _wrong(rule, case)), None)
        if reason is not None and (reason.clause, reason.case) not in shown:
            shown.add((reason.clause, reason.case))
            yield reason


def _wrong(rule: Rule, case: CaseRecord) -> Iterator[Reason]:
    """What went wrong in a case that is about the clause, and what a check of the clause saw elsewhere.

    In a scenario whatever goes wrong counts: it is what TensorFlow does. So does an op that it needs and that does not
    work, of which another case has the check.
    """
    about = rule.clause.startswith("scenarios.") and rule.clause in case.clauses
    # What another op spoilt says nothing of it, as a file that keeps what was in it when it is written anew.
    shows = case.cause is None or rule.clause == f"{case.cause}.succeeds"
    for check in case.checks:
        if (
            check.verdict in _BROKEN
            and check.expected != OF_OTHERS
            and (about or (shows and check.clause == rule.clause and rule.expected in (None, check.expected)))
        ):
            yield Reason(f"{rule.does} fails.", check.clause, case.id)
    if about and case.ended is Ending.BLOCKED and case.reason:
        op, _, _ = case.reason.removeprefix("blocked by ").partition(":")
        yield Reason(f"{rule.does} cannot be done: {op} does not work.", rule.clause, case.id)


def _is_kept(report: Report, clause: str) -> bool:
    """Whether a clause was tried in all of its cases, and kept."""
    verdicts = {check.verdict for _, check in _checks(report, clause)}
    return Verdict.CONFORM in verdicts and not verdicts & (_BROKEN | _UNKNOWN)


def _not_known(report: Report, rules: Rules, missing: Iterable[tuple[str, ...]]) -> Iterator[Reason]:
    does = {rule.clause: rule.does.rstrip(",") for rule in rules.rules}
    for group in missing:
        why = next((case.reason for clause in group for case, _ in _checks(report, clause) if case.reason), None)
        yield Reason(f"{does[group[0]]}: not tried{f', {why}' if why else ''}.", group[0])


def _checks(report: Report, clause: str) -> Iterator[tuple[CaseRecord, CheckRecord]]:
    return ((case, check) for case in report.cases for check in case.checks if check.clause == clause)


def _checks_of(report: Report, one: Cause | DataLoss) -> Iterator[CheckRecord]:
    return (check for case, check in _checks(report, one.clause or "") if one.case in (None, case.id))
