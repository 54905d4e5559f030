"""Verdicts: of a check, of a case, of a class and of the target, and how one follows from the other."""

from collections.abc import Iterable, Mapping
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
    DOES_NOT_APPLY = "does not apply"


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
    DOES_NOT_APPLY = Verdict.DOES_NOT_APPLY.value
    UNCHECKED = "unchecked"


#: From worst to best: what always fails a run, what fails it on request, what never does. Inside the last group an
#: accepted breach stands before an op that is not there, that before an answer worth a look, that before a plain pass:
#: whatever a reader should know about a case is never hidden by something better in the same case. Last comes
#: what says nothing of the plugin: its answer made the clause empty.
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
    Verdict.DOES_NOT_APPLY,
)

_RANK = {verdict: rank for rank, verdict in enumerate(WORST_FIRST)}

#: The verdicts of checks that compared something with an answer of the plugin.
JUDGED = frozenset(Verdict) - {Verdict.ABSENT, Verdict.NOT_RUN, Verdict.ERROR, Verdict.DOES_NOT_APPLY}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a case with these checks. Raises ValueError for none: a case without a check says why itself."""
    return min(verdicts, key=_RANK.__getitem__)


def checks_made(counts: Mapping[Verdict, int]) -> int:
    """How many checks compared something with an answer of the plugin."""
    return sum(counts[verdict] for verdict in JUDGED)


def no_counts() -> dict[Verdict, int]:
    """All ten counts, at zero, in the order of `Verdict`."""
    return dict.fromkeys(Verdict, 0)


class TargetVerdict(StrEnum):
    """What a run says about the target, or about one class of it."""

    CONFORMANT = "conformant"
    WITH_WAIVERS = "conformant with waivers"
    NOT_CONFORMANT = "not conformant"
    NOT_CLAIMED = "not claimed"
    INCOMPLETE = "incomplete"
