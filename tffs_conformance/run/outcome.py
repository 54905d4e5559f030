"""What pytest shows of a case: the outcome and the text that its record comes to."""

import warnings
from collections.abc import Generator
from typing import Any

import pytest

from ..reports.escape import printable
from ..reports.model.records import CaseRecord
from ..reports.model.verdicts import Verdict


class ConformanceWarning(UserWarning):
    """A SHOULD clause is not kept."""


class WarningsAside:
    """Keeps our warnings out of pytest's list of warnings, for the summary has them by clause; they count as before."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        """Take them out before pytest lists warnings, and put them back."""
        every = terminalreporter.stats.get("warnings", [])
        ours = [one for one in every if f" {ConformanceWarning.__name__}: " in one.message]
        every[:] = [one for one in every if one not in ours]
        try:
            return (yield)
        finally:
            every += ours


def warn(item: pytest.Item, record: CaseRecord) -> None:
    """Have pytest list the SHOULD clauses that a case found not kept, each once.

    The warnings are not raised, for what a user's filters make of warnings is not meant for these: `--fail-on` is.
    """
    broken = dict.fromkeys(check.clause for check in record.checks if check.verdict is Verdict.WARNING)
    for clause in broken:
        message = warnings.WarningMessage(
            ConformanceWarning(f"{printable(clause)} is not kept"), ConformanceWarning, str(item.path), 0
        )
        item.ihook.pytest_warning_recorded.call_historic(
            kwargs={"warning_message": message, "when": "runtest", "nodeid": item.nodeid, "location": None}
        )


def tell(report: pytest.TestReport, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Put on a report what went wrong before or after a case, which has no record that could say so."""
    assert call.excinfo is not None
    said = printable(f"{call.excinfo.typename}: {call.excinfo.value}")
    report.tffs_trouble = f"{item.nodeid}: {report.when}: {said}"  # type: ignore[attr-defined]


def present(report: pytest.TestReport, record: CaseRecord, item: pytest.Item) -> None:
    """Set outcome and text of a report from a record."""
    path, line, _ = item.location
    reason = record.reason or ""
    # For JUnit's XML and whoever else reads pytest's own reports.
    item.user_properties += [
        ("tffs_case", record.id),
        ("tffs_clauses", " ".join(record.clauses)),
        ("tffs_verdict", record.verdict.value),
    ]
    match record.verdict:
        case Verdict.VIOLATION | Verdict.ERROR:
            report.outcome = "failed"
            broken = [
                f"{c.clause}: expected {c.expected}, got {c.got}" for c in record.checks if c.verdict == "violation"
            ]
            report.longrepr = "\n".join(map(printable, broken + ([reason] if reason else [])))
        case Verdict.ABSENT | Verdict.NOT_RUN | Verdict.DOES_NOT_APPLY:
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
