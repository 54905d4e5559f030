"""A case that ran more than once: in several parts of a run, or on several workers. It counts once."""

from msgspec.structs import replace

from .records import CaseRecord, CheckRecord
from .verdicts import WORST_FIRST, Verdict

#: What is wrong, accepted or not.
BREACHES = (Verdict.VIOLATION, Verdict.WARNING, Verdict.WAIVED)


def breaches(case: CaseRecord) -> set[tuple[str, str, Verdict]]:
    """What a case found wrong, accepted or not: clause, what was got, and the verdict."""
    return {_told(check) for check in case.checks if check.verdict in BREACHES}


def united(one: CaseRecord, other: CaseRecord) -> CaseRecord:
    """A case that ran twice: as it ended worse, the first of the same, with what the other one found wrong as well."""
    worse, better = (other, one) if is_worse(other, one) else (one, other)
    known = breaches(worse)
    more = [c for c in better.checks if c.verdict in BREACHES and _told(c) not in known]
    return replace(worse, checks=(*worse.checks, *more)) if more else worse


def is_worse(one: CaseRecord, other: CaseRecord) -> bool:
    """Whether a case ended worse than the other one."""
    return WORST_FIRST.index(one.verdict) < WORST_FIRST.index(other.verdict)


def _told(check: CheckRecord) -> tuple[str, str, Verdict]:
    # A waiver may have expired from one run to the other.
    verdict = Verdict.VIOLATION if check.verdict is Verdict.WAIVED else check.verdict
    return check.clause, check.got, verdict
