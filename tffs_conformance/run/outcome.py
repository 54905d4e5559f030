"""What pytest shows of a case: the outcome and the text that its record comes to."""

import pytest

from ..reports.escape import printable
from ..reports.records import CaseRecord
from ..reports.verdicts import Verdict


class ConformanceWarning(UserWarning):
    """A SHOULD clause is not kept."""


def present(report: pytest.TestReport, record: CaseRecord, item: pytest.Item) -> None:
    """Set outcome and text of a report from a record."""
    path, line, _ = item.location
    reason = record.reason or ""
    match record.verdict:
        case Verdict.VIOLATION | Verdict.ERROR:
            report.outcome = "failed"
            broken = [
                f"{c.clause}: expected {c.expected}, got {c.got}" for c in record.checks if c.verdict == "violation"
            ]
            report.longrepr = "\n".join(map(printable, broken + ([reason] if reason else [])))
        case Verdict.ABSENT | Verdict.NOT_RUN:
            report.outcome = "skipped"
            report.longrepr = (path, line or 0, printable(f"Skipped: {record.verdict}: {reason}"))
        case Verdict.WAIVED:
            report.outcome = "skipped"
            accepted = [f"{c.clause}: {c.got}" for c in record.checks if c.verdict is Verdict.WAIVED]
            report.wasxfail = printable("; ".join(accepted))
            report.longrepr = None
        case _:
            report.outcome = "passed"
            report.longrepr = None
