"""The exit code of a run that was not interrupted; docs/verdicts.md has the table."""

from collections.abc import Collection

import pytest

from ..reports.report import Report
from ..reports.verdicts import JUDGED, TargetVerdict, Verdict
from ..reports.waivers import stale
from .selection import Course


def exit_code(reports: Collection[Report], course: Course, fail_on: Collection[str], exitstatus: int) -> int:
    """What the reports make of `exitstatus`, which is pytest's own. `fail_on` are verdicts of cases that fail a run."""
    if not course.collected:
        return pytest.ExitCode.USAGE_ERROR
    bad = any(_fails(report, course, fail_on) for report in reports)
    bad = bad or bool(stale(report.waivers for report in reports))
    return pytest.ExitCode.TESTS_FAILED if bad or exitstatus == pytest.ExitCode.TESTS_FAILED else pytest.ExitCode.OK


def _fails(report: Report, course: Course, fail_on: Collection[str]) -> bool:
    """Whether a report makes the run fail."""
    return (
        report.verdict is TargetVerdict.NOT_CONFORMANT
        # A part of the suite is good enough only for who asked for just that part.
        or (report.verdict is TargetVerdict.INCOMPLETE and not (course.is_selection and course.is_done))
        # Nothing was executed: what remains are cases that were not run.
        or not any(case.verdict in JUDGED for case in report.cases)
        or any(report.counts[Verdict(kind)] for kind in (Verdict.ERROR, *fail_on))
        or (report.services is not None and report.services.failure is not None)
    )
