"""A report as GitLab's code quality: each check that is not kept, known again from run to run."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.hostile_report import HARM, LONG, hostile_report
from tests.records import GOOD, HEADER, case, record
from tffs_conformance.reports.forms.gitlab import LONGEST, render
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.judge.reports import build

BROKEN = CheckRecord("read.succeeds", Verdict.VIOLATION, "code=OK", "code=UNKNOWN")


def problems(report: Report) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(render(report, Path()))
    return found


def of(*cases: CaseRecord, name: str = "mine.so") -> list[dict[str, Any]]:
    header = replace(HEADER, target=replace(HEADER.target, name=name))
    return problems(build(header, [*GOOD, *cases], duration=1, left_out=None))


def test_a_good_run_has_no_problem() -> None:
    assert of() == []


def test_what_is_not_kept_is_a_problem() -> None:
    odd = case("read/a-warning", ("read.hint", "warning"))
    waived = case("read/waived", ("read.succeeds", "waived"))
    first, second = of(odd, waived, record("read/b", Verdict.VIOLATION, BROKEN))
    assert first.pop("fingerprint") != second.pop("fingerprint")
    assert first == {
        "description": "It is so. In read/b: expected code=OK, got code=UNKNOWN",
        "check_name": "read.succeeds",
        "severity": "major",
        "location": {"path": "mine.so", "lines": {"begin": 1}},
    }
    assert (second["check_name"], second["severity"]) == ("read.hint", "minor")


def test_a_problem_is_known_again_though_the_plugin_answers_otherwise() -> None:
    def fingerprints(got: str, name: str = "mine.so", *before: CaseRecord) -> set[str]:
        broken = replace(BROKEN, got=got)
        twice = record("read/b", Verdict.VIOLATION, broken, broken)
        found = of(*before, twice, record("read/c", Verdict.VIOLATION, broken), name=name)
        return {problem["fingerprint"] for problem in found}

    assert len(fingerprints("a")) == 3
    assert fingerprints("a") == fingerprints("b")
    assert fingerprints("a") < fingerprints("a", "mine.so", record("read/a2", Verdict.VIOLATION, BROKEN))
    assert not fingerprints("a") & fingerprints("a", "other.so")


@pytest.mark.parametrize("harm", HARM)
def test_no_text_steers_anything(harm: str) -> None:
    found = problems(hostile_report(harm, long=10))
    assert len(found) == 6
    for problem in found:
        assert problem.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        shown = (problem["description"], problem["check_name"], problem["location"]["path"])
        assert all(text.isprintable() for text in shown)
        assert "/" not in problem["location"]["path"]


def test_no_text_is_too_long() -> None:
    text = render(hostile_report(), Path())
    assert len(text) < LONG
    assert max(len(problem["description"]) for problem in json.loads(text)) < LONGEST + 50
