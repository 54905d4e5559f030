"""The exit code of a run that was not interrupted: what its reports, its selection and pytest itself make of it."""

from dataclasses import replace

import pytest

from tests.records import case, report_of, waiver
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.services import Figures
from tffs_conformance.reports.model.verdicts import TargetVerdict, Verdict
from tffs_conformance.suite.judge.course import Course
from tffs_conformance.suite.judge.exit_code import UNWRITABLE, exit_code

COURSE = Course(
    tier="quick", cases=frozenset("abc"), targets=1, collected=3, ended=3, selected=(), stops=(), interrupted=False
)  # fmt: skip
SELECTED = replace(COURSE, collected=2, ended=2, selected=("-k read",))
KEPT = case("a", ("read.succeeds", "conform"))
BROKEN = case("b", ("read.succeeds", "violation"))
WAITING = case("c", clauses=("read.hint",), verdict=Verdict.NOT_RUN, reason="x")
OPEN = case("c", clauses=("read.succeeds",), verdict=Verdict.NOT_RUN, reason="x")
ERROR = case("e", clauses=("read.hint",), verdict=Verdict.ERROR, reason="KeyError")


def report(*cases: CaseRecord, left_out: str | None = None, failure: str | None = None, waived: bool = False) -> Report:
    services = Figures(images=(), size=0, figures=(), failure=failure)
    return report_of(*cases, left_out=left_out, services=services, waivers=(waiver(expired=True),) if waived else ())


WHOLE, PART = report(KEPT), report(KEPT, left_out="a part")
#: A selection that says what is not known of it.
OPEN_PART = report(KEPT, OPEN, left_out="only a selection was run: -k read")


@pytest.mark.parametrize(
    ("reports", "course", "fail_on", "code"),
    [
        ([WHOLE], COURSE, (), 0),
        ([WHOLE, WHOLE], COURSE, (), 0),
        # A violation of any target.
        ([report(BROKEN)], COURSE, (), 1),
        ([WHOLE, report(BROKEN)], COURSE, (), 1),
        ([report(BROKEN), WHOLE], COURSE, (), 1),
        # No case at all is a usage error.
        ([], replace(COURSE, collected=0, ended=0), (), 4),
        ([WHOLE], replace(COURSE, collected=1, ended=1, selected=("-k a",)), (), 0),
        # A part is good enough only where a user asked for it, and all of it ended.
        ([PART], COURSE, (), 1),
        ([PART], SELECTED, (), 0),
        ([PART], replace(SELECTED, ended=1), (), 1),
        ([PART], replace(SELECTED, selected=()), (), 1),
        # Where nothing was judged, nothing passes.
        ([report(WAITING, left_out="a part")], SELECTED, (), 1),
        ([report(KEPT, WAITING, left_out="a part")], SELECTED, (), 0),
        # What a MUST clause leaves open fails a whole run; a selection may be made to fail.
        ([report(KEPT, OPEN)], COURSE, (), 1),
        ([OPEN_PART], SELECTED, (), 0),
        ([OPEN_PART], SELECTED, ("not run",), 1),
        # An error fails, and more where it is asked for.
        ([report(KEPT, ERROR, left_out="a part")], SELECTED, (), 1),
        ([report(KEPT, WAITING)], COURSE, (), 0),
        ([report(KEPT, WAITING)], COURSE, ("warning",), 0),
        ([report(KEPT, WAITING)], COURSE, ("warning", "not run"), 1),
        # Figures that could not be had, and a waiver that is over.
        ([report(KEPT, failure="no route")], COURSE, (), 1),
        ([report(KEPT, waived=True)], COURSE, (), 1),
        ([report(KEPT, waived=True), WHOLE], COURSE, (), 1),
    ],
)
def test_reports_and_their_course_decide(
    reports: list[Report], course: Course, fail_on: tuple[str, ...], code: int
) -> None:
    named = {str(number): one for number, one in enumerate(reports)}
    assert exit_code(named, course, fail_on, {}, False) == code
    # What failed for pytest alone counts.
    assert exit_code(named, course, fail_on, {}, True) == (code or 1)


def test_reports_and_codes_are_what_is_said_of_them() -> None:
    assert UNWRITABLE == 6
    assert (WHOLE.verdict, PART.verdict) == (TargetVerdict.CONFORMANT, TargetVerdict.INCOMPLETE)
    said = "only a selection was run: -k read; 1 MUST clause not run in a case: read.succeeds"
    assert OPEN_PART.reason == OPEN_PART.classes["read"].reason == said
