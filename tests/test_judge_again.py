"""A report judged again: today's stays as it is, and an older one gets today's rules on what its cases saw."""

import json
from pathlib import Path

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.commands import output_of
from tests.records import HEADER, record, waiver
from tests.test_judge_cases import evidence
from tffs_conformance.reports.document import load, write
from tffs_conformance.reports.model.header import digest
from tffs_conformance.reports.model.records import CheckRecord, Ending
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import Verdict, worst
from tffs_conformance.reports.plain import plain
from tffs_conformance.suite.contract.catalogue import CONTRACT_VERSION, for_report
from tffs_conformance.suite.contract.claims import Claims
from tffs_conformance.suite.judge.again import again
from tffs_conformance.suite.judge.cases import judge
from tffs_conformance.suite.judge.evidence import Evidence
from tffs_conformance.suite.judge.reports import build

PUBLISHED = sorted((Path(__file__).parent.parent / "reports" / "published").glob("*/*/report.json"))
CLAUSES = for_report()
TODAY = replace(
    HEADER,
    contract=CONTRACT_VERSION,
    clauses=CLAUSES,
    suite=replace(HEADER.suite, catalogue=digest(plain(CLAUSES))),
)


def report(*seen: Evidence) -> Report:
    """The report of today of cases that saw this."""
    made = []
    for place, one in enumerate(seen):
        found = judge(one, Claims())
        case = record(f"a/{place}", found.verdict, *found.checks, clauses=one.clauses, reason=found.reason)
        made.append(replace(case, ended=found.ended))
    return build(TODAY, made, duration=1, left_out=None)


@seed(1)
@settings(max_examples=60, deadline=None, database=None)
@given(st.lists(evidence(), min_size=1, max_size=3))
def test_a_report_of_today_judges_to_itself(seen: list[Evidence]) -> None:
    found = report(*seen)
    assert again(found) == found


@pytest.mark.parametrize("left_out", [None, "only a selection was run: -k x"], ids=["a smaller tier", "a selection"])
def test_a_waiver_whose_case_never_ran_stays_not_judged(left_out: str | None) -> None:
    kept, broken = (
        record(f"a/{name}", verdict, CheckRecord("read.succeeds", verdict, "code=OK", got))
        for name, verdict, got in (("kept", Verdict.CONFORM, "code=OK"), ("broken", Verdict.VIOLATION, "code=UNKNOWN"))
    )
    header = replace(TODAY, waivers=(waiver(case="a/*", fingerprint="code=UNKNOWN", cases=2),))
    then = build(header, [kept], duration=1, left_out=left_out)
    assert [entry.state for entry in (*then.waivers, *again(then).waivers)] == ["not judged", "not judged"]
    # Judged again as often as one likes it is what it was, and where all of its cases ran it is known to be unneeded.
    assert again(again(then)) == again(then)
    mended = replace(broken, checks=kept.checks, verdict=Verdict.CONFORM)
    then = build(header, [kept, mended], duration=1, left_out=left_out)
    assert [entry.state for entry in (*then.waivers, *again(then).waivers)] == ["unneeded", "unneeded"]


def said(*arguments: str | Path, code: int = 0) -> str:
    return output_of("report", "judge", *arguments, code=code)


def test_the_command_says_that_nothing_changed(tmp_path: Path) -> None:
    found = report(Evidence(clauses=("read.succeeds",), ended=Ending.UNABLE, reason="no disk"))
    output = said(write(found, tmp_path), f"--out={tmp_path / 'new'}")
    assert "nothing is broken that was not, and nothing fixed" in output
    assert "class " not in output
    assert f"today: {found.verdict}: {found.reason}\nwritten: {tmp_path}/new/report.json\n" in output
    assert load(tmp_path / "new" / "report.json") == found


def test_the_command_tells_the_classes_with_another_verdict(tmp_path: Path) -> None:
    """A report whose version called a class conformant of which a MUST was not run."""
    found = report(Evidence(clauses=("read.succeeds",), ended=Ending.UNABLE, reason="no disk"))
    better = replace(found.classes["read"], verdict="conformant", reason="so they say")
    path = write(replace(found, classes={**found.classes, "read": better}), tmp_path)
    assert "class read: conformant → incomplete: 1 MUST clause not run in a case: read.succeeds\n" in said(path)


@pytest.mark.parametrize("path", [path for path in PUBLISHED if path.parts[-3] in ("posix", "az-as-it-comes")],
                         ids=lambda path: path.parts[-3])  # fmt: skip
def test_a_published_report_is_judged_by_todays_rules(path: Path, tmp_path: Path) -> None:
    output = said(path, f"--out={tmp_path}")
    then, now = load(path), load(tmp_path / "report.json")
    assert (now.contract, now.suite.version, now.end.cases) == (CONTRACT_VERSION, then.suite.version, then.end.cases)
    changed = [name for name in then.classes if then.classes[name].verdict is not now.classes[name].verdict]
    assert [line for line in output.splitlines() if line.startswith("class ")] == [
        line for line in output.splitlines() if line.startswith(tuple(f"class {name}: " for name in changed))
    ]
    assert output.count("\nclass ") == len(changed)
    assert f"\ntoday: {now.verdict}: {now.reason}\n" in output
    for case in now.cases:
        assert case.verdict is worst(check.verdict for check in case.checks)
        assert {*case.clauses} <= {check.clause for check in case.checks}
    # Judged once more it stays.
    assert again(now) == now


def test_a_violation_that_only_informs_today_is_known_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clause that became MAY may become MUST again: what was seen stays."""
    broken = CheckRecord("read.succeeds", Verdict.VIOLATION, "code=OK", "code=UNKNOWN")
    found = build(TODAY, [record("a", Verdict.VIOLATION, broken)], duration=1, left_out=None)
    with monkeypatch.context() as patched:
        patched.setattr("tffs_conformance.suite.judge.checks.verdict", lambda said, claims: Verdict.INFORMATIONAL)
        (milder,) = again(found).cases[0].checks
    assert (milder.verdict, milder.holds) == ("informational", False)
    mild = replace(found.cases[0], checks=(milder,), verdict=Verdict.INFORMATIONAL)
    assert again(build(TODAY, [mild], duration=1, left_out=None)).cases == found.cases


def test_what_is_no_report_is_said(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"a": 1}))
    assert "not a report" in said(path, code=2)
