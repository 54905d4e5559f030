"""The exit code of a run that was not interrupted; docs/report.md has the table."""

from collections.abc import Collection, Mapping

from ...reports.model.report import Report
from ...reports.model.verdicts import TargetVerdict, Verdict
from .course import Course
from .gate import GateResult
from .tried import anything
from .waivers import stale

#: As pytest has them.
OK, FAILED, USAGE_ERROR = 0, 1, 4
#: And one that neither pytest nor a campaign has, where there is no report to decide by.
UNWRITABLE = 6


def exit_code(
    reports: Mapping[str, Report],
    course: Course,
    fail_on: Collection[str],
    gate: Mapping[str, GateResult],
    failed: bool,
) -> int:
    """What the reports, by the name of their target, come to.

    `fail_on` are verdicts of cases that fail a run. `gate` has the targets that are held to a baseline. `failed` says
    that something failed for pytest that is no violation of a plugin held to one.
    """
    if not course.collected:
        return USAGE_ERROR
    bad = any(
        gate[name].reasons if name in gate else _fails(report, course, fail_on) for name, report in reports.items()
    )
    bad = bad or failed or bool(stale(report.waivers for report in reports.values()))
    return FAILED if bad else OK


def _fails(report: Report, course: Course, fail_on: Collection[str]) -> bool:
    """Whether a report makes the run fail."""
    return (
        report.verdict is TargetVerdict.NOT_CONFORMANT
        # A part of the suite is good enough only for who asked for just that part.
        or (report.verdict is TargetVerdict.INCOMPLETE and not course.is_as_asked)
        # Nothing was executed: what remains are cases that were not run.
        or not anything(report.cases)
        or any(report.counts[Verdict(kind)] for kind in (Verdict.ERROR, *fail_on))
        or (report.services is not None and report.services.failure is not None)
    )
