"""The report: what it says follows from the records, and a damaged one is named for what it is."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tffs_conformance.reports import document as documents
from tffs_conformance.reports.document import Document, build, load, render, validate, write
from tffs_conformance.reports.errors import (
    AlteredReport,
    DuplicateCase,
    EmptyReport,
    NotAReport,
    ReportError,
    TruncatedReport,
    UnknownClause,
    WrongSchema,
)
from tffs_conformance.reports.header import ClauseFacts, Header, ReadingFacts, SuiteFacts, TargetFacts
from tffs_conformance.reports.records import CaseRecord, CheckRecord
from tffs_conformance.reports.verdicts import Verdict

CLAUSES = (
    ClauseFacts("read.succeeds", "MUST", "read", "A read gives bytes.", ("interface",), "The offset.", op="read"),
    ClauseFacts("read.hint", "SHOULD", "read", "A read may hint.", ("interface",), "The hint.", op="read"),
    ClauseFacts("init.once", "MUST", "registration", "It is called once.", ("interface",), "The caller.", op="init"),
    ClauseFacts(
        "stat.odd",
        "MUST",
        "paths",
        "Two sources disagree.",
        ("interface", "host"),
        "Nothing.",
        op="stat",
        disputed="A1",
        readings=(ReadingFacts("header", "this"), ReadingFacts("host", "that", "it copes")),
    ),
    ClauseFacts("sync.durable", "MUST", "write", "It lasts.", ("interface",), "fsync.", untested="needs a power cut"),
)
HEADER = Header(
    contract="test/1",
    suite=SuiteFacts(
        version="0",
        tier="full",
        seed=7,
        python="3.11",
        platform="linux",
        started="2026-01-01T00:00:00+00:00",
        command=("pytest", "--plugin=mine.so"),
        options={"call_timeout": 10.0},
    ),
    target=TargetFacts(
        plugin="/tmp/mine.so",
        name="mine.so",
        sha256="0" * 64,
        size=10,
        scheme="mine",
        root="mine:///tmp/x",
        runtime="stand-in",
        environment=("B", "A"),
        tables={"read": "plugin", "copy_file": "default", "stat": "absent"},
    ),
    clauses=CLAUSES,
).to_json()


def case(name: str, *checks: tuple[str, str], executed: bool = True, **more: Any) -> CaseRecord:
    """A case with these checks, as (clause, verdict)."""
    records = tuple(CheckRecord(clause, Verdict(verdict), "code=OK", "code=OK") for clause, verdict in checks)
    verdict = more.pop("verdict", None) or Verdict(checks[0][1])
    clauses = more.pop("clauses", tuple(clause for clause, _ in checks))
    return CaseRecord(name, clauses, verdict, records, executed=executed, **more)


def report(*cases: CaseRecord, left_out: str | None = None) -> Document:
    """The report of these cases."""
    return build(HEADER, cases, duration=1.5, left_out=left_out)


GOOD = (case("read/a", ("read.succeeds", "conform")), case("init/a", ("init.once", "conform"), executed=False))


def test_the_keys_stand_in_their_order() -> None:
    document = report(*GOOD)
    validate(document)
    assert list(document)[:4] == ["schema", "contract", "suite", "target"]
    assert list(document)[-1] == "end"
    assert list(json.loads(render(document))) == list(document)
    assert document["target"]["environment"] == ["A", "B"]


def test_the_same_records_give_the_same_bytes_in_any_order() -> None:
    assert render(report(*GOOD)) == render(report(*reversed(GOOD)))
    assert [each["id"] for each in report(*GOOD)["cases"]] == ["init/a", "read/a"]


def test_counts_verdicts_and_classes() -> None:
    document = report(
        *GOOD,
        case("read/b", ("read.succeeds", "violation"), ("read.hint", "warning")),
        case("stat/a", clauses=("stat.odd",), verdict=Verdict.ABSENT, executed=False),
        case("read/c", ("read.succeeds", "conform"), verdict=Verdict.ERROR),
    )
    validate(document)
    assert (document["verdict"], document["reason"]) == ("not conformant", "1 violation")
    expected = {"conform": 3, "violation": 1, "warning": 1, "absent": 1, "error": 1}
    assert document["counts"] == dict.fromkeys((verdict.value for verdict in Verdict), 0) | expected
    assert {name: each["verdict"] for name, each in document["classes"].items()} == {
        "read": "not conformant",
        "registration": "conformant",
        "paths": "not claimed",
        "write": "incomplete",
    }
    assert {name: each["verdict"] for name, each in document["clauses"].items()} == {
        "read.succeeds": "error",
        "read.hint": "warning",
        "init.once": "conform",
        "stat.odd": "absent",
        "sync.durable": "unchecked",
    }
    assert document["executed"] == {"cases": 3, "must": 3}


def test_registration_alone_executes_nothing() -> None:
    document = report(case("init/a", ("init.once", "conform")), case("read/a", ("read.hint", "conform")))
    assert (document["verdict"], document["reason"]) == ("not conformant", "nothing executed")


def test_a_check_through_a_default_that_reached_no_op_executes_nothing() -> None:
    assert report(case("read/a", ("read.succeeds", "conform"), executed=False))["reason"] == "nothing executed"


def test_the_readings_seen_are_counted() -> None:
    seen = CheckRecord("stat.odd", Verdict.TOLERATED, "code=OK", "code=OK", reading="host")
    document = report(*GOOD, CaseRecord("stat/a", ("stat.odd",), Verdict.TOLERATED, (seen,), executed=True))
    validate(document)
    assert document["clauses"]["stat.odd"]["readings_seen"] == {"host": 1}


def test_a_case_twice_and_a_clause_nobody_knows_are_refused() -> None:
    with pytest.raises(DuplicateCase, match="read/a"):
        report(GOOD[0], GOOD[0])
    with pytest.raises(UnknownClause, match=r"read\.magic"):
        report(case("read/a", ("read.magic", "conform")))


def test_a_report_survives_the_disk(tmp_path: Path) -> None:
    document = report(*GOOD, case("read/odd", ("read.hint", "conform"), output="\x1b[31m \udcff \u202e"))
    path = write(document, tmp_path)
    assert load(path) == document
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.json"]


def test_a_report_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = write(report(*GOOD), tmp_path).read_bytes()

    def full(path: Path, text: str, encoding: str) -> int:
        path.write_bytes(text.encode(encoding)[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        write(report(), tmp_path)
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == {"report.json": old}


def test_a_report_cut_anywhere_says_so(tmp_path: Path) -> None:
    text = render(report(GOOD[0])).rstrip().encode()
    path = tmp_path / "report.json"
    for length in range(len(text)):
        path.write_bytes(text[:length])
        with pytest.raises(TruncatedReport if length else EmptyReport):
            load(path)


@pytest.mark.parametrize("text", ["\xff\xfe", "hello", "[]", "3", "{}", '{"schema": 3}', "<html>", "{" * 100_000])
def test_something_else_is_not_a_report(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(NotAReport, match="not a report"):
        load(path)


def changed(change: str, value: Any) -> Document:
    """A good report with the thing at the dotted path replaced, or removed where `value` is None."""
    document: Any = json.loads(render(report(*GOOD)))
    *parents, last = [int(part) if part.isdigit() else part for part in change.split(".")]
    place = document
    for part in parents:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return document  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("change", "value", "error"),
    [
        ("schema", "tffs-conformance/report/2", WrongSchema),
        ("verdict", "fine", WrongSchema),
        ("surprise", 1, WrongSchema),
        ("target", None, WrongSchema),
        ("counts.not run", None, WrongSchema),
        ("counts.conform", -1, WrongSchema),
        ("suite.tier", "all", WrongSchema),
        ("target.sha256", "0", WrongSchema),
        ("target.tables.read", "maybe", WrongSchema),
        ("cases.0.checks.0.verdict", "passed", WrongSchema),
        ("cases.0.extra", "x", WrongSchema),
        ("end", None, TruncatedReport),
        ("end.cases", 3, TruncatedReport),
        ("cases.0", None, TruncatedReport),
        ("cases.0.checks.0.got", "code=NOT_FOUND", AlteredReport),
        ("cases.0.id", "read/a", DuplicateCase),
    ],
)
def test_a_damaged_report_is_named(tmp_path: Path, change: str, value: Any, error: type[ReportError]) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(changed(change, value)))
    with pytest.raises(error) as raised:
        load(path)
    assert type(raised.value) is error
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_the_schema_is_one() -> None:
    validator = documents._validator()
    type(validator).check_schema(validator.schema)


RECORDS = st.lists(
    st.builds(
        case,
        st.text(st.characters()),
        st.tuples(st.sampled_from([clause.id for clause in CLAUSES]), st.sampled_from([*Verdict])),
        executed=st.booleans(),
        reason=st.none() | st.text(st.characters()),
        stimulus=st.text(st.characters()),
        verdict=st.sampled_from(Verdict),
    ),
    max_size=4,
    unique_by=lambda record: record.id,
)


@given(RECORDS, st.none() | st.text(st.characters(), min_size=1))
def test_any_records_give_a_valid_report(records: list[CaseRecord], left_out: str | None) -> None:
    document = report(*records, left_out=left_out)
    validate(json.loads(render(document)))
    assert sum(document["counts"].values()) >= len(records)
    if left_out is not None:
        assert document["verdict"] in {"incomplete", "not conformant"}
