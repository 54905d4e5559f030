"""The summary says what a person can act on, and nothing that a plugin said steers the terminal."""

import tomllib
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.records import CLAUSES, GOOD, HEADER, case, clause, record
from tffs_conformance.reports.claims import StatedClaim
from tffs_conformance.reports.header import ReadingFacts
from tffs_conformance.reports.records import CaseRecord, CheckRecord
from tffs_conformance.reports.services import Figure, Figures
from tffs_conformance.reports.tally import build
from tffs_conformance.reports.terminal import CASES_SHOWN, summary
from tffs_conformance.reports.verdicts import Verdict
from tffs_conformance.reports.waivers import Waiver

EVIL = "\x1b]0;title\x07 \x9b31m\r\n\u202e \udcff"
BROKEN = CheckRecord("read.succeeds", Verdict.VIOLATION, "code=OK", "code=UNKNOWN", plugin_said="no luck")


def shown(
    *cases: CaseRecord, header: Any = HEADER, services: Figures | None = None, left_out: str | None = None
) -> str:
    found = build(header, cases, duration=1.0, left_out=left_out, services=services)
    return "\n".join(text for text, _ in summary(found, width=100, directory=Path("out")))


def waiver(**given: Any) -> Waiver:
    fields: dict[str, Any] = {"clause": "read.succeeds", "case": "*", "fingerprint": "code=UNKNOWN", "reason": "known",
                              "owner": "team", "issue": None, "expires": None, "cases": 1}  # fmt: skip
    return Waiver(**(fields | given))


def test_a_good_run_is_told_in_a_few_lines() -> None:
    text = shown(*GOOD)
    assert "conformance of mine.so (mine://)" in text
    assert "conformant: 1 check of MUST clauses kept" in text
    assert "2 cases; checks: 2 conform" in text
    assert "answered by core's default: copy_file" in text
    assert "absent: stat" in text
    assert "VIOLATION" not in text
    assert text.endswith("report: out/report.json")


def test_a_violation_has_what_is_needed_to_act_on_it() -> None:
    text = shown(*GOOD, record("read/b", Verdict.VIOLATION, BROKEN, stimulus="A file is read.", reason="found; /x.cc"))
    for part in (
        "not conformant: 1 violation",
        "VIOLATION read.succeeds",
        "rule      It is so.",
        "source    interface; host",
        "stimulus  read/b: A file is read.",
        "expected  code=OK",
        "got       code=UNKNOWN (no luck)",
        "re-run    pytest --plugin=mine.so --case=read/b",
        "found     found",
        "/x.cc",
        "check     The read.",
    ):
        assert part in text


def test_the_waiver_it_offers_is_one() -> None:
    odd = CheckRecord("read.succeeds", Verdict.VIOLATION, "x", 'a "quoted" \\ \x1b')
    text = shown(record("read/b", Verdict.VIOLATION, odd))
    entry = text.partition("waive it with\n")[2].partition("\n# expires")[0]
    (parsed,) = tomllib.loads(entry)["waiver"]
    made = {key: value for key, value in parsed.items() if value != "…"}
    assert waiver(**made).fits("read.succeeds", "read/b")
    assert waiver(**made).is_of(odd.got)


def test_of_many_cases_some_are_shown_and_the_rest_is_counted() -> None:
    text = shown(*(record(f"read/{number}", Verdict.VIOLATION, BROKEN) for number in range(CASES_SHOWN + 2)))
    assert text.count("stimulus") == CASES_SHOWN
    assert "… and 2 more in report.json" in text


def test_what_was_not_run_is_told_with_its_reasons() -> None:
    text = shown(
        *GOOD,
        case("read/c", clauses=("read.hint",), verdict=Verdict.NOT_RUN, reason="blocked by read"),
        case("read/d", clauses=("read.hint",), verdict=Verdict.NOT_RUN, reason="blocked by read"),
        case("read/e", clauses=("read.hint",), verdict=Verdict.ERROR, reason="KeyError: 1"),
        case("stat/a", clauses=("stat.odd",), verdict=Verdict.ABSENT, reason="stat is NULL"),
    )
    assert "not run:\n     2 × blocked by read" in text
    assert "error:\n     1 × KeyError: 1" in text
    assert "absent:\n     1 × stat is NULL" in text


def test_warnings_readings_claims_waivers_and_services_are_told() -> None:
    claim = StatedClaim(name="append", value=False, text="It does not.", supported=False, clauses=("read.hint",))
    header = replace(HEADER, claims=(claim,), waivers=(waiver(), waiver(case="stat/*", cases=1)))
    text = shown(
        case("read/a", ("read.succeeds", "waived"), ("read.hint", "conform")),
        case("read/b", ("read.succeeds", "conform"), ("read.hint", "warning"), verdict=Verdict.WARNING),
        record("stat/a", Verdict.TOLERATED, CheckRecord("stat.odd", Verdict.TOLERATED, "x", "y", reading="host")),
        header=replace(header, waivers=(waiver(fingerprint="code=OK", cases=3), waiver(case="stat/*"))),
        services=Figures(("store:1",), 1000, (Figure("served", 2000),), None),
    )
    assert "WARNING read.hint (1 cases)" in text
    assert "stat.odd: host: it copes" in text
    assert "under-declared: append = false, but everything it gives up is kept" in text
    assert "waiver 1 (read.succeeds, *)\n    1 × code=OK: known (owner: team)" in text
    assert "waiver 2 (read.succeeds, stat/*)\n    unneeded: its cases ran and there was nothing to waive" in text
    assert "services: store:1" in text
    assert "2,000  served" in text


def test_nothing_that_a_plugin_or_a_file_says_steers_the_terminal() -> None:
    said = CheckRecord("read.succeeds", Verdict.VIOLATION, EVIL, EVIL, plugin_said=EVIL)
    warned = CheckRecord("read.hint", Verdict.WARNING, EVIL, EVIL)
    waived = CheckRecord("read.succeeds", Verdict.WAIVED, EVIL, "code=UNKNOWN")
    reading = ReadingFacts(EVIL, EVIL, EVIL)
    read = CheckRecord(EVIL, Verdict.TOLERATED, EVIL, EVIL, reading=EVIL)
    header = replace(
        HEADER,
        clauses=CLAUSES | {EVIL: clause("MUST", EVIL, EVIL, rule=EVIL, disputed=EVIL, readings=(reading,))},
        target=replace(HEADER.target, name=EVIL, scheme=EVIL),
        suite=replace(HEADER.suite, command=("pytest", EVIL)),
        claims=(StatedClaim(name="a", value=EVIL, text=EVIL, supported=False, clauses=("read.hint",)),),
        waivers=(waiver(reason=EVIL, owner=EVIL, case="read/w"), waiver(clause="read.hint", case=EVIL)),
    )
    cases = [
        record(f"read/{EVIL}", Verdict.VIOLATION, said, warned, stimulus=EVIL, reason=f"{EVIL}; {EVIL}"),
        record("read/w", Verdict.WAIVED, waived),
        record("stat/a", Verdict.TOLERATED, read),
        record("b/a", Verdict.VIOLATION, replace(said, clause=EVIL), replace(warned, clause=EVIL)),
        *(case(name, clauses=("read.hint",), verdict=verdict, reason=EVIL)
          for name, verdict in (("a", Verdict.NOT_RUN), ("b", Verdict.ERROR), ("c", Verdict.ABSENT))),
    ]  # fmt: skip
    for services in (Figures((EVIL,), 1, (Figure(EVIL, 1),), None), Figures((EVIL,), 1, (), EVIL)):
        text = shown(*cases, header=header, services=services)
        text += shown(header=header, left_out=EVIL)
        assert [c for c in text.replace("\n", "") if unicodedata.category(c)[0] == "C"] == []
        assert text.count("]0;title") >= 15


@pytest.mark.parametrize("width", [0, 40, 100, 1000])
def test_lines_are_as_wide_as_the_terminal(width: int) -> None:
    found = build(HEADER, [case("a", clauses=("read.hint",), verdict=Verdict.ERROR, reason="word " * 100)],
                  duration=1.0, left_out=None)  # fmt: skip
    widest = max(len(text) for text, _ in summary(found, width=width, directory=Path("out")))
    assert widest <= max(60, min(width, 120))
