"""The report: what it says follows from the records, and a damaged one is named for what it is."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.records import CLAUSES, GOOD, case, record, report_of
from tffs_conformance.reports import errors
from tffs_conformance.reports.document import load, render, validate, write
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict, worst
from tffs_conformance.reports.plain import digest_of, parse


def document(*cases: CaseRecord, left_out: str | None = None) -> dict[str, Any]:
    """Their report as JSON has it, held to its types and to itself."""
    found: dict[str, Any] = json.loads(render(report_of(*cases, left_out=left_out)))
    assert validate(found) == report_of(*cases, left_out=left_out)
    return found


def test_the_keys_stand_in_their_order() -> None:
    found = document(*GOOD)
    assert list(found) == [
        *("schema", "contract", "suite", "target", "verdict", "reason", "left_out", "counts", "executed", "classes"),
        *("clauses", "claims", "waivers", "services", "cases", "end"),
    ]
    assert list(found["counts"]) == [verdict.value for verdict in Verdict]
    assert list(found["clauses"]) == list(CLAUSES)
    keys = ["id", "clauses", "verdict", "reason", "stimulus", "checks", "ops", "executed", "duration", "output"]
    assert list(found["cases"][0]) == keys
    # The same records give the same bytes in any order.
    assert render(report_of(*GOOD)) == render(report_of(*reversed(GOOD)))
    assert [each.id for each in report_of(*GOOD).cases] == ["init/a", "read/a"]


def test_counts_verdicts_and_classes() -> None:
    found = document(
        *GOOD,
        case("read/b", ("read.succeeds", "violation"), ("read.hint", "warning")),
        case("stat/a", clauses=("stat.odd",), verdict=Verdict.ABSENT, executed=False),
        case("read/c", ("read.succeeds", "conform"), clauses=("read.hint", "read.succeeds"), verdict=Verdict.ERROR),
        case("write/a", ("read.succeeds", "conform"), clauses=("sync.durable", "read.succeeds")),
    )
    assert (found["verdict"], found["reason"]) == ("not conformant", "1 violation")
    expected = {"conform": 4, "violation": 1, "warning": 1, "absent": 1, "error": 1, "does not apply": 1}
    assert found["counts"] == dict.fromkeys((verdict.value for verdict in Verdict), 0) | expected
    classes, clauses = ({name: one["verdict"] for name, one in found[kind].items()} for kind in ("classes", "clauses"))
    assert classes == {
        "read": "not conformant", "registration": "conformant", "paths": "not claimed", "write": "incomplete",
    }  # fmt: skip
    assert clauses == {
        "read.succeeds": "violation", "read.hint": "error", "init.once": "conform", "stat.odd": "absent",
        "sync.durable": "does not apply",
    }  # fmt: skip
    assert found["executed"] == {"cases": 4, "must": 4}
    seen = CheckRecord("stat.odd", Verdict.TOLERATED, "code=OK", "code=OK", reading="host")
    clauses = document(*GOOD, record("stat/a", Verdict.TOLERATED, seen))["clauses"]
    assert (clauses["stat.odd"]["readings_seen"], clauses["read.succeeds"].get("readings_seen")) == ({"host": 1}, None)
    verdicts = [case["verdict"] for case in found["cases"]]
    assert verdicts == ["conform", "conform", "violation", "error", "absent", "conform"]


def test_registration_alone_executes_nothing() -> None:
    found = document(case("init/a", ("init.once", "conform")), case("read/a", ("read.hint", "conform")))
    assert (found["verdict"], found["reason"]) == ("not conformant", "nothing executed")
    # Nor does a check through a default that reached no op.
    assert report_of(case("read/a", ("read.succeeds", "conform"), executed=False)).reason == "nothing executed"


def test_a_report_survives_the_disk(tmp_path: Path) -> None:
    found = report_of(*GOOD, case("read/odd", ("read.hint", "conform"), output="\x1b[31m \udcff \u202e"))
    path = write(found, tmp_path)
    assert path.read_bytes().isascii()
    assert load(path) == found
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.json"]


def test_a_report_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = write(report_of(*GOOD), tmp_path).read_bytes()

    def full(_: object) -> str:
        raise OSError(28, "No space left on device")

    # By the first case something is written.
    monkeypatch.setattr("tffs_conformance.reports.document.text", full)
    with pytest.raises(OSError, match="No space"):
        write(report_of(*GOOD), tmp_path)
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == {"report.json": old}


def test_a_report_cut_anywhere_says_so(tmp_path: Path) -> None:
    text = render(report_of(GOOD[0])).rstrip().encode()
    path = tmp_path / "report.json"
    for length in range(len(text)):
        path.write_bytes(text[:length])
        with pytest.raises(errors.TruncatedReportError if length else errors.EmptyReportError):
            load(path)


@pytest.mark.parametrize(
    "text", ["\xff\xfe", "hello", "[]", "3", "{}", '{"schema": 3}', "<html>", "{" * 100_000, "[" * 100_000]
)
def test_something_else_is_not_a_report(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(errors.NotAReportError, match="not a report"):
        load(path)


def changed(change: str, value: Any) -> dict[str, Any]:
    """A good report with the thing at the path replaced, or removed where `value` is None."""
    found: dict[str, Any] = document(*GOOD)
    *parents, last = [int(part) if part.isdigit() else part for part in change.split("/")]
    place: Any = found
    for part in parents:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return found


#: What is changed in a good report, as `changed` takes it, by the error that names it.
DAMAGE: dict[type[errors.ReportError], list[tuple[str, Any]]] = {
    errors.WrongSchemaError: [
        ("schema", "tffs-conformance/report/4.1"), ("surprise", 1), ("verdict", "fine"), ("target", None),
        ("counts/does not apply", None), ("counts/conform", -1), ("clauses/stat\udcff", 1),
        ("suite/tier", "all"), ("suite/commit", "HEAD"), ("suite/duration", "long"),
        ("target/sha256", "0"), ("target/tables/read", "maybe"),
        ("cases/0/ended", "well"), ("cases/0/checks/0/verdict", "passed"), ("cases/0/\udcff", "x"),
        ("cases/0/verdict", "\udcff"), ("cases/0/output", None), ("cases/0/id", 3), ("cases/0/clauses", "read.x"),
        ("cases/0/checks", [{}]), ("cases/0/duration", -1.0), ("cases/0/executed", 1),
    ],
    errors.AlteredReportError: [
        ("suite/catalogue", "0" * 64), ("verdict", "conformant with waivers"), ("left_out", "something"),
        ("counts/conform", 3), ("counts/violation", 1), ("executed/must", 2), ("executed/cases", 2),
        ("classes/read", None), ("classes/read/counts/conform", 2),
        ("classes/write/verdict", "conformant with waivers"),
        ("cases/0/ended", "died"), ("cases/0/checks/0/got", "code=NOT_FOUND"),
    ],
    errors.TruncatedReportError: [("end", None), ("end/cases", 3), ("cases/0", None)],
    errors.DuplicateCaseError: [("cases/0/id", "read/a")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "value", "error"), [(*change, error) for error, changes in DAMAGE.items() for change in changes]
)
def test_a_damaged_report_is_named(tmp_path: Path, change: str, value: Any, error: type[errors.ReportError]) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(changed(change, value)))
    with pytest.raises(error) as raised:
        load(path)
    assert type(raised.value) is error
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


DISPUTE = ("readings", "readings_seen", "disputed")


@pytest.mark.parametrize(
    ("change", "value", "error", "said"),
    [
        ("read.succeeds/verdict", "violation", errors.AlteredReportError, "clause"),
        ("read.succeeds/rule", "Something else.", errors.AlteredReportError, "clause"),
        ("sync.durable/verdict", "conform", errors.AlteredReportError, "clause"),
        ("stat.odd/readings_seen", {"host": 1}, errors.AlteredReportError, "clause"),
        # What is said of a dispute is said whole.
        *((f"stat.odd/{key}", None, errors.WrongSchemaError, "stand together") for key in DISPUTE),
    ],
)
def test_a_clause_that_says_what_no_check_says_is_named(
    change: str, value: Any, error: type[errors.ReportError], said: str
) -> None:
    with pytest.raises(error, match=said):
        validate(changed(f"clauses/{change}", value))


def forged(*cases: CaseRecord, change: dict[str, Any]) -> dict[str, Any]:
    """A report whose cases were changed by somebody who knows of the end marker."""
    found = document(*cases)
    found["cases"][0] |= change
    found["end"]["sha256"] = digest_of(found["cases"])
    return found


def test_a_case_better_than_its_checks_is_named() -> None:
    broken = case("read/b", ("read.succeeds", "violation"))
    for other in {*Verdict} - {Verdict.VIOLATION}:
        with pytest.raises(
            errors.AlteredReportError, match="the verdict of the case 'read/b' is not the worst of its checks"
        ):
            validate(forged(broken, change={"verdict": other.value}))


def test_a_case_without_a_check_of_a_clause_that_it_declares_is_named() -> None:
    """What was not run, and what the answer made empty, has a check that says so."""
    whole = case("read/b", ("read.succeeds", "conform"), clauses=("read.succeeds", "read.hint"))
    checks = json.loads(render(report_of(whole)))["cases"][0]["checks"]
    assert checks[1:] == [{"clause": "read.hint", "verdict": "does not apply"}]
    with pytest.raises(errors.AlteredReportError, match=r"the case 'read/b' has no check of read\.hint"):
        validate(forged(whole, change={"checks": checks[:1]}))


def test_cases_other_than_what_is_counted_are_named() -> None:
    with pytest.raises(errors.AlteredReportError, match="counts"):
        validate(forged(*GOOD, change={"executed": True}))
    with pytest.raises(errors.UndeclaredClauseError, match=r"'read\.magic'"):
        validate(forged(*GOOD, change={"clauses": ["read.magic"]}))


def test_a_verdict_better_than_the_counts_is_named() -> None:
    found = document(case("read/b", ("read.succeeds", "violation")))
    failed = document(*GOOD, case("read/c", clauses=("read.succeeds",), verdict=Verdict.ERROR))
    for better, what in ((found, "violations"), (failed, "errors")):
        with pytest.raises(
            errors.AlteredReportError, match=f"the target is called conformant, and its checks have {what}"
        ):
            validate(better | {"verdict": "conformant"})
    found["classes"]["read"]["verdict"] = "incomplete"
    said = "the class 'read' is called incomplete, and its checks have violations"
    with pytest.raises(errors.AlteredReportError, match=said):
        validate(found)


NAMES, TEXT = st.sampled_from(list(CLAUSES)), st.text(st.characters())
RECORD = st.builds(
    lambda name, checks, verdict, **more: case(name, *checks, verdict=verdict, **more),
    TEXT, st.lists(st.tuples(NAMES, st.sampled_from(Verdict)), max_size=3), st.sampled_from(Verdict),
    clauses=st.lists(NAMES, unique=True).map(tuple), executed=st.booleans(), reason=st.none() | TEXT, stimulus=TEXT,
)  # fmt: skip


@settings(deadline=None)
@given(
    st.lists(RECORD, max_size=4, unique_by=lambda record: record.id), st.none() | st.text(st.characters(), min_size=1)
)
def test_any_records_give_a_valid_report(records: list[CaseRecord], left_out: str | None) -> None:
    found = document(*records, left_out=left_out)
    assert sum(found["counts"].values()) == sum(len(each.checks) for each in records)
    for each in found["cases"]:
        assert {check["clause"] for check in each["checks"]} >= {*each["clauses"]}
        assert not each["checks"] or each["verdict"] == worst(Verdict(check["verdict"]) for check in each["checks"])


def test_a_report_in_another_layout_is_the_same_and_ours_is_never_plain_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = report_of(*(case(f"read/{number}", ("read.succeeds", "conform")) for number in range(100)))
    path = write(written, tmp_path)
    lengths: list[int] = []

    def noted(source: str) -> Any:
        lengths.append(len(source))
        return parse(source)

    monkeypatch.setattr("tffs_conformance.reports.document.parse", noted)
    assert load(path) == written
    assert max(lengths) < path.stat().st_size / 2
    path.write_text(json.dumps(json.loads(path.read_text()), indent=1))
    assert load(path) == written
    assert max(lengths) == path.stat().st_size
