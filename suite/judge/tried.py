"""What a run looked at: the clauses that its cases tried, and those of which a case can say that nothing is wrong.

What is broken is told wherever it shows, and what is kept only where a case declares the clause. So what was looked at
is known by what was tried, and not by what was broken.
"""

from collections.abc import Iterable

from ...reports.model.records import REST, CaseRecord, Ending
from ...reports.model.verdicts import JUDGED, Verdict

#: The verdicts of checks that looked at an answer of the plugin, also where it left nothing to compare.
TRIED = JUDGED | {Verdict.DOES_NOT_APPLY}
#: The verdicts that hide what would have been seen.
UNKNOWN = frozenset({Verdict.NOT_RUN, Verdict.ERROR})


def tried(cases: Iterable[CaseRecord]) -> dict[str, None]:
    """The clauses that a case declares and tried, in the order of the cases."""
    return {
        check.clause: None
        for case in cases
        for check in case.checks
        if check.verdict in TRIED and check.clause in case.clauses
    }


def is_known(case: CaseRecord) -> bool:
    """Whether nothing that a case was to try is unknown: it did not end early, and says so of no clause."""
    return REST[case.ended] not in UNKNOWN and all(check.verdict not in UNKNOWN for check in case.checks)


def is_looked_at(case: CaseRecord, clause: str) -> bool:
    """Whether a case shows all there is to see of a clause. Any of its calls may break one that it does not declare."""
    about = [check for check in case.checks if check.clause == clause or clause not in case.clauses]
    return is_known(case) and bool(about) and all(check.verdict in TRIED for check in about)


def anything(cases: Iterable[CaseRecord]) -> bool:
    """Whether a case compared something with an answer, and was not cut short by what is missing here.

    One in which an op did not come back ran, also where that is waived.
    """
    missing = {Verdict.NOT_RUN, Ending.UNWITNESSED}
    ran = (case for case in cases if case.ended is Ending.DIED or missing.isdisjoint((case.verdict, case.ended)))
    return any(check.verdict in JUDGED for case in ran for check in case.checks)
