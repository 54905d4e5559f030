"""What the types of a report cannot say: that its parts agree with one another."""

from pathlib import Path

from .errors import AlteredReportError, TruncatedReportError
from .model.claims import accounts
from .model.counts import Counts
from .model.header import digest
from .model.records import CaseRecord
from .model.report import Report
from .model.tally import Tally
from .model.verdicts import TargetVerdict, Verdict, worst
from .plain import plain

_GOOD = (TargetVerdict.CONFORMANT, TargetVerdict.WITH_WAIVERS)


def hold(report: Report, path: Path | None = None) -> None:
    """Hold a report to its own cases and clauses; `path` is for the error.

    What is counted must be what the cases have, and no verdict may be better than what is counted. How a verdict
    follows from the counts is the business of the version that wrote the report. Raises TruncatedReportError,
    DuplicateCaseError, UndeclaredClauseError or AlteredReportError.
    """
    if report.end.cases != len(report.cases):
        raise TruncatedReportError(
            path, f"the end marker counts {report.end.cases} cases, the report has {len(report.cases)}"
        )
    tally = Tally(report.clauses, path)
    for case in report.cases:
        tally.add(case)
        _hold_case(case, path)
    if report.suite.catalogue != digest(plain(report.clauses)):
        raise AlteredReportError(path, "the clauses are not those of the catalogue it names")
    if report.counts.by_verdict() != tally.counts or report.executed != tally.executed:
        raise AlteredReportError(path, "the counts are not those of its checks")
    if {name: account.counts.by_verdict() for name, account in report.classes.items()} != tally.classes:
        raise AlteredReportError(path, "the counts of a class are not those of its checks")
    for name, clause in report.clauses.items():
        found = (tally.clauses[name], tally.verdict(name), tally.readings(name))
        if (clause.counts.by_verdict(), clause.verdict, clause.readings_seen) != found:
            raise AlteredReportError(path, f"what it says of the clause {name!r} is not what its checks say")
    for claim, counted in zip(report.claims, accounts(report.claims, report.cases), strict=True):
        if claim.checks != counted.checks:
            raise AlteredReportError(path, f"what it says of the claim {claim.name!r} is not what its checks say")
    judged = {"the target": (report.verdict, report.counts)} | {
        f"the class {name!r}": (account.verdict, account.counts) for name, account in report.classes.items()
    }
    for what, (verdict, counts) in judged.items():
        if better := _better(verdict, counts, report.left_out):
            raise AlteredReportError(path, f"{what} is called {verdict}, and {better}")


def _hold_case(case: CaseRecord, path: Path | None) -> None:
    """Each clause that a case declares has a check, and its verdict is the worst of them."""
    if missing := {*case.clauses} - {check.clause for check in case.checks}:
        raise AlteredReportError(path, f"the case {case.id!r} has no check of {min(missing)}")
    if case.checks and worst(check.verdict for check in case.checks) is not case.verdict:
        raise AlteredReportError(path, f"the verdict of the case {case.id!r} is not the worst of its checks")


def _better(verdict: TargetVerdict, counts: Counts, left_out: str | None) -> str | None:
    """What keeps a verdict from being so good, if anything does."""
    if counts[Verdict.VIOLATION] and verdict is not TargetVerdict.NOT_CONFORMANT:
        return "its checks have violations"
    if verdict not in _GOOD:
        return None
    if left_out is not None:
        return "something was left out"
    if counts[Verdict.ERROR]:
        return "its checks have errors"
    if (verdict is TargetVerdict.WITH_WAIVERS) != bool(counts[Verdict.WAIVED]):
        return "its waived checks say otherwise"
    return None
