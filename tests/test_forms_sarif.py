"""A report as SARIF: it is what the schema and GitHub take, and its messages have no links or placeholders."""

import gzip
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from jsonschema import Draft4Validator
from msgspec.structs import replace

from tests.hostile_report import HARM, LONG, hostile_report, texts
from tests.records import GOOD, HEADER, case, clause, record, report_of, waiver
from tffs_conformance.reports.forms import sarif
from tffs_conformance.reports.model.records import CheckRecord
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.judge.findings import conclude

BROKEN = CheckRecord("read.succeeds", Verdict.VIOLATION, "code=OK", "code=UNKNOWN {x}", plugin_said="no luck")
#: That of OASIS, as it is.
SCHEMA = json.loads(gzip.decompress((Path(__file__).parent / "reports" / "sarif-2.1.0.schema.json.gz").read_bytes()))


def run_of(report: Report) -> dict[str, Any]:
    """The one run of the file, which is as the schema says."""
    document = json.loads(sarif.render(conclude(report)))
    Draft4Validator(SCHEMA, format_checker=Draft4Validator.FORMAT_CHECKER).validate(document)
    (run,) = document["runs"]
    found: dict[str, Any] = run
    return found


def notes(run: dict[str, Any]) -> list[str]:
    """What a run says of itself."""
    return [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]


def test_a_check_that_is_not_kept_is_a_result_of_its_clause() -> None:
    run = run_of(report_of(*GOOD, record("read/b", Verdict.VIOLATION, BROKEN, stimulus="A file is read.")))
    (result,) = run["results"]
    assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "read.succeeds"
    assert result["level"] == "error"
    assert result["message"]["text"].splitlines() == [
        "In read/b: expected code=OK, got code=UNKNOWN {{x}}.",
        "A file is read.",
        "Again: pytest --plugin=mine.so --case=read/b",
    ]
    assert result["properties"] == {"case": "read/b", "expected": "code=OK", "got": "code=UNKNOWN {x} (no luck)"}
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "mine.so"


def test_what_breaks_a_clause_alike_is_one_result() -> None:
    other = replace(BROKEN, got="code=OK", times=3)
    cases = [record(f"read/{name}", Verdict.VIOLATION, BROKEN) for name in "bcd"]
    second, first = run_of(report_of(*GOOD, *cases, record("read/e", Verdict.VIOLATION, other)))["results"]
    assert (first["occurrenceCount"], second["occurrenceCount"]) == (3, 3)
    assert "read/b: expected code=OK, got code=UNKNOWN {{x}}. So it is in 2 other cases.\n" in first["message"]["text"]
    assert "other case" not in second["message"]["text"]


def test_every_clause_is_a_rule() -> None:
    # The schema is the one that the file names.
    assert SCHEMA["id"] == sarif.SCHEMA
    rules = run_of(report_of(*GOOD))["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(HEADER.clauses)
    assert rules[0] == {
        "id": "read.succeeds",
        "shortDescription": {"text": "It is so."},
        "fullDescription": {"text": "It is so. Source: interface; host"},
        "help": {"text": "The read."},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["read", "MUST"]},
    }


def test_violations_stand_before_warnings_and_causes_before_their_consequences() -> None:
    clauses = {name: clause("MUST", "read", "read", order=k) for k, name in enumerate(("read.late", "read.cause"))}
    odd = case("read/odd", ("read.late", "warning"))
    broken = case("read/b", ("read.cause", "violation"), ("read.late", "violation"))
    found = [(one["ruleId"], one["level"]) for one in run_of(report_of(odd, broken, clauses=clauses))["results"]]
    assert found == [("read.cause", "error"), ("read.late", "error"), ("read.late", "warning")]


def test_a_waived_violation_is_suppressed() -> None:
    run = run_of(report_of(*GOOD, case("read/b", ("read.succeeds", "waived")), waivers=(waiver(),)))
    (result,) = run["results"]
    suppressed = {"kind": "external", "status": "accepted", "justification": "known (owner: team)"}
    assert result["suppressions"] == [suppressed]


def test_identities_stay_and_are_never_twice() -> None:
    def identities(got: str) -> list[str]:
        broken, other = (replace(BROKEN, got=f"{got} {k}") for k in range(2))
        twice = record("read/b", Verdict.VIOLATION, broken, other, replace(broken, verdict=Verdict.WARNING))
        elsewhere = record("read/c", Verdict.VIOLATION, replace(broken, got=f"{got} 2"))
        results = run_of(report_of(*GOOD, twice, elsewhere))["results"]
        return [result["partialFingerprints"]["primaryLocationLineHash"] for result in results]

    assert len(set(identities("a"))) == 4
    assert identities("a") == identities("b")


def test_what_went_wrong_beside_the_plugin_is_told() -> None:
    broken = record("read/b", Verdict.ERROR, clauses=("read.hint",), reason="no disk")
    run = run_of(report_of(*GOOD, broken))
    assert (run["invocations"][0]["executionSuccessful"], notes(run)) == (False, ["1 case ended in an error: no disk"])
    cut_short = run_of(report_of(*GOOD, left_out="3 cases did not end"))
    assert notes(cut_short) == ["Not a whole run: 3 cases did not end"]


def test_what_github_does_not_take_is_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MOST", 3)
    broken = [record(f"read/{k}", Verdict.VIOLATION, replace(BROKEN, got=str(k))) for k in range(5)]
    run = run_of(report_of(*GOOD, *broken))
    assert (len(run["results"]), notes(run)) == (3, ["2 results left out of this file"])


def messages(value: Any) -> list[str]:
    """The texts in plain values in which SARIF knows links and placeholders."""
    if isinstance(value, dict):
        own = [value["text"]] if isinstance(value.get("text"), str) else []
        return own + [text for one in value.values() for text in messages(one)]
    return [text for one in value for text in messages(one)] if isinstance(value, list) else []


@pytest.mark.parametrize("harm", HARM)
def test_no_text_is_a_link_a_placeholder_or_another_file(harm: str) -> None:
    (run,) = json.loads(sarif.render(conclude(hostile_report(harm, long=10))))["runs"]
    assert len(run["results"]) > 5
    for text in messages(run):
        assert "](" not in text
        assert not re.search(r"[{}]", text.replace("{{", "").replace("}}", ""))
    for text in texts(run):
        assert all(one.isprintable() or one == "\n" for one in text)
    for result in run["results"]:
        uri = urlsplit(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        assert (uri.scheme, uri.netloc, uri.query, uri.fragment) == ("", "", "", "")
        assert "/" not in uri.path


def test_no_text_is_longer_than_github_takes() -> None:
    hostile = hostile_report()
    run = run_of(hostile)
    assert len(sarif.render(conclude(hostile))) < LONG
    for rule in run["tool"]["driver"]["rules"]:
        assert len(rule["id"]) <= 255
        assert max(len(rule[key]["text"]) for key in ("shortDescription", "fullDescription")) <= 1024
