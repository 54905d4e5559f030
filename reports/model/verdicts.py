"""Verdicts: of a check, of a case, of a class and of the target, and how one follows from the other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What one check says about one clause."""

    CONFORM = "conform"
    TOLERATED = "tolerated"
    INFORMATIONAL = "informational"
    WARNING = "warning"
    VIOLATION = "violation"
    ABSENT = "absent"
    WAIVED = "waived"
    NOT_RUN = "not run"
    ERROR = "error"


class ClauseVerdict(StrEnum):
    """What a run says of one clause: the worst of its checks, or that no check was made for it."""

    CONFORM = Verdict.CONFORM.value
    TOLERATED = Verdict.TOLERATED.value
    INFORMATIONAL = Verdict.INFORMATIONAL.value
    WARNING = Verdict.WARNING.value
    VIOLATION = Verdict.VIOLATION.value
    ABSENT = Verdict.ABSENT.value
    WAIVED = Verdict.WAIVED.value
    NOT_RUN = Verdict.NOT_RUN.value
    ERROR = Verdict.ERROR.value
    UNCHECKED = "unchecked"


#: From worst to best: what always fails a run, what fails it on request, what never does. Inside the last group an
#: accepted breach stands before an op that is not there, that before an answer worth a look, that before a plain pass:
#: whatever a reader should know about a case is never hidden by something better in the same case.
WORST_FIRST: tuple[Verdict, ...] = (
    Verdict.ERROR,
    Verdict.VIOLATION,
    Verdict.WARNING,
    Verdict.NOT_RUN,
    Verdict.WAIVED,
    Verdict.ABSENT,
    Verdict.TOLERATED,
    Verdict.INFORMATIONAL,
    Verdict.CONFORM,
)

_RANK = {verdict: rank for rank, verdict in enumerate(WORST_FIRST)}

#: The verdicts of checks that compared something with an answer of the plugin.
JUDGED: frozenset[Verdict] = frozenset(
    {
        Verdict.CONFORM,
        Verdict.TOLERATED,
        Verdict.INFORMATIONAL,
        Verdict.WARNING,
        Verdict.VIOLATION,
        Verdict.WAIVED,
    }
)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a case with these checks. Raises ValueError for none: a case without a check says why itself."""
    return min(verdicts, key=_RANK.__getitem__)


def checks_made(counts: Mapping[Verdict, int]) -> int:
    """How many checks compared something with an answer of the plugin."""
    return sum(counts[verdict] for verdict in JUDGED)


def no_counts() -> dict[Verdict, int]:
    """All nine counts, at zero, in the order of `Verdict`."""
    return dict.fromkeys(Verdict, 0)


class TargetVerdict(StrEnum):
    """What a run says about the target, or about one class of it."""

    CONFORMANT = "conformant"
    WITH_WAIVERS = "conformant with waivers"
    NOT_CONFORMANT = "not conformant"
    NOT_CLAIMED = "not claimed"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and, in a few words, what decided it."""

    verdict: TargetVerdict
    reason: str


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _flaw(counts: Mapping[Verdict, int], left_out: str | None) -> Judgement | None:
    """What decides before anything good is looked at.

    A violation stands whatever else is missing. An error is the suite's own: what it hides is unknown, and not held
    against the plugin.
    """
    if counts[Verdict.VIOLATION]:
        return Judgement(TargetVerdict.NOT_CONFORMANT, _number(counts[Verdict.VIOLATION], "violation"))
    if left_out is not None:
        return Judgement(TargetVerdict.INCOMPLETE, left_out)
    if counts[Verdict.ERROR]:
        return Judgement(TargetVerdict.INCOMPLETE, _number(counts[Verdict.ERROR], "error"))
    return None


def _kept(counts: Mapping[Verdict, int], reason: str) -> Judgement:
    if counts[Verdict.WAIVED]:
        return Judgement(TargetVerdict.WITH_WAIVERS, f"{_number(counts[Verdict.WAIVED], 'violation')} waived")
    return Judgement(TargetVerdict.CONFORMANT, reason)


def judge_target(
    counts: Mapping[Verdict, int],
    *,
    cases: int,
    executed_must: int,
    left_out: str | None,
    blocked: Sequence[str] = (),
) -> Judgement:
    """Judge the target.

    `counts` are of checks; `cases` is how many cases ended; `executed_must` counts the checks of MUST clauses, outside
    the class registration, that were made on an answer of the plugin. `left_out` says why something was left out
    (a selection, an interrupt), or is None for a whole run. A whole run that executed nothing is a failure. `blocked`
    names the classes of which the plugin has ops and most could not be run: whoever keeps the rest is not known to keep
    these.
    """
    nothing = "zero cases" if not cases else "" if executed_must else "nothing executed"
    if flaw := _flaw(counts, f"{nothing}; {left_out}" if left_out is not None and nothing else left_out):
        return flaw
    if nothing:
        return Judgement(TargetVerdict.NOT_CONFORMANT, nothing)
    if blocked:
        return Judgement(TargetVerdict.INCOMPLETE, f"most could not be run of {', '.join(blocked)}")
    return _kept(counts, f"{_number(executed_must, 'check')} of MUST clauses kept")


def judge_class(counts: Mapping[Verdict, int], *, left_out: str | None, lacking: bool = False) -> Judgement:
    """Judge one class by the counts of its checks; `left_out` as for the target.

    A class of which every op is absent, which `lacking` knows from the tables, is not claimed. A class of which nothing
    or little could be looked at is incomplete: it was neither kept nor broken.
    """
    if flaw := _flaw(counts, left_out):
        return flaw
    made = checks_made(counts)
    if made >= counts[Verdict.NOT_RUN] and made:
        return _kept(counts, f"no violation in {_number(made, 'check')}")
    if made:
        return Judgement(TargetVerdict.INCOMPLETE, f"{counts[Verdict.NOT_RUN]} not run, {_number(made, 'check')} made")
    if lacking:
        return Judgement(TargetVerdict.NOT_CLAIMED, "every op it needs is absent")
    if counts[Verdict.NOT_RUN]:
        return Judgement(TargetVerdict.INCOMPLETE, f"{_number(counts[Verdict.NOT_RUN], 'check')} not run")
    if counts[Verdict.ABSENT]:
        return Judgement(TargetVerdict.NOT_CLAIMED, "every op it needs is absent")
    return Judgement(TargetVerdict.INCOMPLETE, "no case checks it")
