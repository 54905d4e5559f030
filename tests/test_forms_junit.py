"""A report as JUnit XML: each case is what its verdict says, and the file is XML whatever a plugin said."""

import re
from xml.etree import ElementTree

import pytest

from tests.hostile_report import HARM, LONG, hostile_report
from tests.records import GOOD, case, record, report_of, waiver
from tests.records import NO_LUCK as BROKEN
from tffs_conformance.reports.forms.junit import LONGEST, LONGEST_LINE, MOST, render
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.judge.findings import conclude

ODD = CheckRecord("stat.odd", Verdict.WARNING, "one of two", "that", reading="host")


def suite(*cases: CaseRecord) -> ElementTree.Element:
    """The one test suite of a report with these cases beside good ones."""
    (found,) = ElementTree.fromstring(render(conclude(report_of(*GOOD, *cases, duration=2))))
    return found


def written(one: CaseRecord) -> ElementTree.Element:
    """The test case of a case."""
    return next(test for test in suite(one).iter("testcase") if test.get("name") == one.id)


def results(found: ElementTree.Element) -> list[tuple[str, str | None]]:
    """The results of a test case, none where it passed: each with its message."""
    return [(one.tag, one.get("message")) for one in found if one.tag in ("failure", "error", "skipped")]


@pytest.mark.parametrize("verdict", [Verdict.CONFORM, Verdict.TOLERATED, Verdict.INFORMATIONAL])
def test_what_is_good_passes(verdict: Verdict) -> None:
    found = written(case("read/c", ("read.hint", verdict), output="plugin's"))
    assert (found.get("classname"), found.get("time"), results(found)) == ("read", "0.5", [])
    assert found.findtext("system-out") == "output:\nplugin's"
    # So does a warning, and says so.
    odd = written(record("stat/a", Verdict.WARNING, ODD))
    assert (results(odd), odd.findtext("system-out")) == ([], "warning stat.odd: host: it copes")


def test_a_violation_is_a_failure_that_says_what_to_do() -> None:
    found = written(record("read/b", Verdict.VIOLATION, BROKEN, stimulus="A file is read.", ops=("read() -> OK",)))
    assert results(found) == [("failure", "read.succeeds: expected code=OK, got code=UNKNOWN (no luck)")]
    assert found.findtext("failure", "").splitlines() == [
        "stimulus  A file is read.",
        "clause    read.succeeds",
        "rule      It is so.",
        "source    interface; host",
        "expected  code=OK",
        "got       code=UNKNOWN (no luck)",
        "look at   The read.",
        "again     pytest --plugin=mine.so --case=read/b",
    ]
    assert found.findtext("system-out") == "calls:\nread() -> OK"


def test_an_error_is_an_error_and_its_violations_are_told() -> None:
    found = written(record("read/b", Verdict.ERROR, BROKEN, clauses=("read.succeeds", "read.hint"), reason="no disk"))
    assert results(found) == [("error", "no disk")]
    assert "clause    read.succeeds\n" in found.findtext("error", "")


@pytest.mark.parametrize("verdict", [Verdict.ABSENT, Verdict.NOT_RUN, Verdict.DOES_NOT_APPLY])
def test_what_was_not_looked_at_is_skipped_with_its_reason(verdict: Verdict) -> None:
    found = written(record("read/b", verdict, clauses=("read.hint",), reason="there is none"))
    assert results(found) == [("skipped", f"{verdict}: there is none")]


def test_a_waived_case_is_skipped_with_the_reason_of_the_waiver() -> None:
    report = report_of(case("read/b", ("read.succeeds", "waived")), waivers=(waiver(),))
    found = next(ElementTree.fromstring(render(conclude(report))).iter("testcase"))
    assert results(found) == [("skipped", "waived: known (owner: team)")]


def test_clauses_and_verdicts_are_properties() -> None:
    found = written(case("read/b", ("read.succeeds", "conform"), ("read.hint", "conform")))
    properties = [(one.get("name"), one.get("value")) for one in found.iter("property")]
    assert properties == [("clause", "read.succeeds"), ("clause", "read.hint"), ("verdict", "conform")]
    said = {one.get("name"): one.get("value") for one in suite().findall("./properties/property")}
    assert said["verdict"] == "conformant"
    assert said["contract"] == "test/1"


def test_the_suite_counts_what_the_report_counts() -> None:
    found = suite(
        record("read/b", Verdict.VIOLATION, BROKEN),
        record("read/c", Verdict.ERROR, clauses=(), reason="x"),
        record("read/d", Verdict.NOT_RUN, clauses=(), reason="x"),
    )
    counts = {name: found.get(name) for name in ("tests", "failures", "errors", "skipped", "time", "name")}
    assert counts == {"tests": "5", "failures": "1", "errors": "1", "skipped": "1", "time": "2", "name": "mine.so"}


@pytest.mark.parametrize("harm", HARM)
def test_the_file_is_xml_whatever_was_said(harm: str) -> None:
    report = hostile_report(harm, long=10)
    text = render(conclude(report))
    assert text.isascii()
    found = ElementTree.fromstring(text)
    known = "testsuites testsuite testcase properties property failure error skipped system-out"
    assert {one.tag for one in found.iter()} == {*known.split()}
    assert len(list(found.iter("testcase"))) == len(report.cases)


def test_the_calls_and_the_output_of_a_case_have_an_end() -> None:
    one = record("read/b", Verdict.VIOLATION, BROKEN, ops=("o" * 5000,) * 900, output="u\n" * 900)
    found = written(one).findtext("system-out", "")
    cut = f"{'o' * LONGEST_LINE}… (5000 characters in report.json)"
    assert found.startswith(f"calls: … {900 - MOST} before these\n{cut}\n")
    assert found.endswith(" lines left out")
    assert len(found) < 2 * LONGEST


def test_the_longest_names_are_cut() -> None:
    text = render(conclude(hostile_report()))
    assert len(text) < LONG
    assert re.search(r"&#8230; \(1\d{6} characters in report\.json\)", text)
