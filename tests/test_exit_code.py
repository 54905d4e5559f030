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


def report(*cases: CaseRecord, left_out: str | None = None, failure: str | None = None, waived: bool = False) -> Report:
    services = Figures(images=(), size=0, figures=(), failure=failure)
    return report_of(*cases, left_out=left_out, services=services, waivers=(waiver(expired=True),) if waived else ())


def code(*reports: Report, course: Course = COURSE, fail_on: tuple[str, ...] = (), failed: bool = False) -> int:
    return exit_code({str(number): one for number, one in enumerate(reports)}, course, fail_on, {}, failed)


def test_a_whole_run_without_a_violation_is_0() -> None:
    assert report(KEPT).verdict is TargetVerdict.CONFORMANT
    assert code(report(KEPT)) == code(report(KEPT), report(KEPT)) == 0


def test_a_violation_of_any_target_is_1() -> None:
    assert code(report(BROKEN)) == code(report(KEPT), report(BROKEN)) == code(report(BROKEN), report(KEPT)) == 1


@pytest.mark.parametrize("failed", [True, False])
def test_what_failed_for_pytest_alone_counts(failed: bool) -> None:
    assert code(report(KEPT), failed=failed) == failed


def test_no_case_at_all_is_a_usage_error() -> None:
    assert code(course=replace(COURSE, collected=0, ended=0)) == 4
    assert code(report(KEPT), course=replace(COURSE, collected=1, ended=1, selected=("-k a",))) == 0


def test_what_was_left_out_is_good_enough_only_for_who_asked_for_it() -> None:
    part = report(KEPT, left_out="a part")
    assert part.verdict is TargetVerdict.INCOMPLETE
    assert code(part) == 1
    assert code(part, course=SELECTED) == 0
    assert code(part, course=replace(SELECTED, ended=1)) == 1
    assert code(part, course=replace(SELECTED, selected=())) == 1


def test_where_nothing_was_judged_nobody_passes() -> None:
    assert code(report(WAITING, left_out="a part"), course=SELECTED) == 1
    assert code(report(KEPT, WAITING, left_out="a part"), course=SELECTED) == 0


def test_what_a_must_clause_leaves_open_fails_a_whole_run_and_is_told_of_a_selection() -> None:
    """Who asks for a part is told what is not known of it, and may make that fail with --fail-on=not-run."""
    open_ = case("c", clauses=("read.succeeds",), verdict=Verdict.NOT_RUN, reason="x")
    assert code(report(KEPT, open_)) == 1
    part = report(KEPT, open_, left_out="only a selection was run: -k read")
    assert part.reason == "only a selection was run: -k read; 1 MUST clause not run in a case: read.succeeds"
    assert part.classes["read"].reason == part.reason
    assert (code(part, course=SELECTED), code(part, course=SELECTED, fail_on=("not run",))) == (0, 1)


def test_an_error_fails_the_run_and_more_where_it_is_asked_for() -> None:
    error = case("e", clauses=("read.hint",), verdict=Verdict.ERROR, reason="KeyError")
    assert code(report(KEPT, error, left_out="a part"), course=SELECTED) == 1
    assert code(report(KEPT, WAITING)) == 0
    assert code(report(KEPT, WAITING), fail_on=("warning",)) == 0
    assert code(report(KEPT, WAITING), fail_on=("warning", "not run")) == 1


def test_figures_that_could_not_be_had_fail_the_run() -> None:
    assert code(report(KEPT, failure="no route")) == 1


def test_a_waiver_that_is_over_fails_the_run() -> None:
    assert code(report(KEPT, waived=True)) == 1
    assert code(report(KEPT, waived=True), report(KEPT)) == 1


def test_unwritable_report_has_its_documented_exit_code() -> None:
    assert UNWRITABLE == 6
