"""The summary says what a person can act on, and nothing that a plugin said steers the terminal."""

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.hostile_report import HOSTILE, hostile_report
from tests.records import CLAUSES, GOOD, HEADER, case, clause, record, report_of, waiver
from tests.records import NO_LUCK as BROKEN
from tffs_conformance.reports.forms import words
from tffs_conformance.reports.forms.terminal import CALLS_SHOWN, CASES_SHOWN, FINDINGS_SHOWN, HANG, summary
from tffs_conformance.reports.model.claims import ClaimState, StatedClaim
from tffs_conformance.reports.model.records import REST, CaseRecord, CheckRecord, Ending
from tffs_conformance.reports.model.services import Figure, Figures
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.judge.findings import conclude


def shown(*cases: CaseRecord, verbosity: int = 0, **more: Any) -> str:
    found = conclude(report_of(*cases, **more))
    return "\n".join(text for text, _ in summary(found, width=100, directory=Path("out"), verbosity=verbosity))


def test_a_good_run_is_told_in_a_few_lines() -> None:
    text = shown(*GOOD)
    for part in (
        "conformance of mine.so (mine://)",
        "conformant: 1 check of MUST clauses passed; 1 MUST clause not tried, of paths (tier full)",
        "2 cases; checks of all clauses: 2 conform",
        "answered by core's default: copy_file",
        "absent: stat",
        "loads in TensorFlow 2.2 to 2.3; not in 2.1, which lacks TF_New (-v says more)\n",
    ):
        assert part in text
    assert "VIOLATION" not in text
    assert text.endswith("report: out/report.json")
    assert "loads in TensorFlow 2.2 to 2.3\n  not in 2.1, which lacks TF_New\n" in shown(*GOOD, verbosity=1)
    # A report below the working directory is named from there.
    for directory, path in ((Path.cwd() / "out", "out/report.json"), (Path("/x y"), "/x y/report.json")):
        assert list(summary(conclude(report_of(*GOOD)), width=100, directory=directory))[-1][0] == f"report: {path}"


def test_a_symbol_that_two_releases_lack_for_two_reasons_counts_once() -> None:
    known = HEADER.target.abi
    assert known is not None
    (one,) = known.missing
    for count, said in ((2, "TF_New and 1 more"), (3, "TF_New and others")):
        named = replace(one, symbols=("TF_New", "TF_Newer"), count=count)
        abi = replace(known, missing=(named, replace(named, library="libt.so", releases=("2.2",))), loads=("2.3",))
        text = shown(*GOOD, target=replace(HEADER.target, abi=abi))
        assert f"not in 2.1 to 2.2, which lacks {said} (-v says more)" in " ".join(text.split())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, ""),
        ({"loads": ("2.1", "2.2", "2.3"), "missing": ()}, "loads in TensorFlow 2.1 to 2.3\n"),
        ({"loads": ("2.1", "2.3")}, "loads in TensorFlow 2.1, 2.3; not in 2.2, which lacks"),
        ({"loads": ()}, "loads in no release of TensorFlow; not in 2.1 to 2.3, which lacks TF_New"),
    ],
)
def test_what_needs_no_words_has_none(given: dict[str, Any] | None, said: str) -> None:
    known = HEADER.target.abi
    target = replace(HEADER.target, abi=replace(known, **given) if known and given else None)
    text = shown(*GOOD, target=target)
    assert said in text
    assert ("loads in" in text) == bool(said)


def test_a_violation_has_what_is_needed_to_act_on_it() -> None:
    text = shown(*GOOD, record("read/b", Verdict.VIOLATION, BROKEN, stimulus="A file is read.", reason="found; /x.cc"))
    for part in (
        "not conformant: 1 violation",
        "VIOLATION read.succeeds: read answers UNKNOWN (1 check in 1 case)",
        "rule      It is so.",
        "source    interface; host",
        "stimulus  read/b: A file is read.",
        "expected  code=OK",
        "got       code=UNKNOWN (no luck)",
        "again     pytest --plugin=mine.so --case=read/b",
        "\n1 finding; each with all of its cases in report.json\n",
        "more on the first rule: tffs-conformance explain read.succeeds\n",
        "to accept them: tffs-conformance waive out/report.json --owner=WHO --reason=WHY",
        "found     found",
        "/x.cc",
        "look at   The read.",
    ):
        assert part in text


def test_of_many_cases_one_is_shown_and_others_are_named() -> None:
    cases = [record(f"read/{number}", Verdict.VIOLATION, BROKEN) for number in range(10)]
    text = shown(*cases)
    assert text.count("stimulus") == 1
    assert "also in   read/1, read/2, read/3, read/4, read/5, read/6, … and 3 more" in text
    assert shown(*cases, verbosity=1).count("stimulus") == CASES_SHOWN


def with_findings(count: int, verbosity: int = 0) -> str:
    """What is shown of so many clauses, each broken in a case of its own."""
    names = [f"read.{number:02}" for number in range(count)]
    clauses = CLAUSES | {name: clause("MUST", "read", "read") for name in names}
    cases = [record(f"c/{name}", Verdict.VIOLATION, replace(BROKEN, clause=name, code=name)) for name in names]
    return shown(*cases, clauses=clauses, verbosity=verbosity)


def test_ten_findings_are_shown_and_the_rest_is_one_line() -> None:
    text = with_findings(FINDINGS_SHOWN + 3)
    assert text.count("VIOLATION") == text.count("pytest --plugin") == FINDINGS_SHOWN
    assert "… and 3 more findings: read answers read.10, read answers read.11, read answers read.12; -v" in text
    # A quiet run says no less.
    assert with_findings(FINDINGS_SHOWN + 3, verbosity=-1) == text
    assert with_findings(FINDINGS_SHOWN + 3, verbosity=1).count("VIOLATION") == FINDINGS_SHOWN + 3
    assert "more finding" not in with_findings(FINDINGS_SHOWN)


def test_where_something_hung_it_is_said_how_to_wait_longer() -> None:
    clauses = CLAUSES | {HANG: clause("MUST", "robustness", None)}
    suite = replace(HEADER.suite, options={"call-timeout": 7.0})
    hung = replace(BROKEN, clause=HANG)
    for checks, is_said in (([hung], True), ([BROKEN, hung], True), ([BROKEN], False)):
        text = shown(record("a", Verdict.VIOLATION, *checks), clauses=clauses, suite=suite)
        assert ("--call-timeout=SECONDS waits longer for each call; it was 7.0" in text) is is_said


def test_the_calls_of_the_first_finding_are_shown_with_v_and_of_all_with_vv() -> None:
    cases = [
        record(op, Verdict.VIOLATION, replace(BROKEN, clause=name, op=op), ops=(*["x()"] * 50, f"{op}() -> OK"))
        for name, op in (("init.once", "init"), ("read.succeeds", "read"))
    ]
    plainly, once, twice = (shown(*cases, verbosity=k) for k in range(3))
    assert [text.count("init() -> OK") for text in (plainly, once, twice)] == [0, 1, 1]
    assert [text.count("read() -> OK") for text in (plainly, once, twice)] == [0, 0, 1]
    assert once.count("call      x()") == CALLS_SHOWN - 1
    assert "calls     … 11 before these" in once


def test_what_tensorflow_makes_of_a_breach_is_told_where_it_is_known() -> None:
    loops = CLAUSES | {"read.succeeds": clause("MUST", "read", "read", tensorflow="It loops.")}
    assert "TensorFlow It loops." in shown(record("a", Verdict.VIOLATION, BROKEN), clauses=loops)
    assert "  TensorFlow " not in shown(record("a", Verdict.VIOLATION, BROKEN))
    # A reading that loses data is a warning that says it, too.
    read = CheckRecord("stat.odd", Verdict.WARNING, "header or host", "y", reading="host")
    text = shown(*GOOD, record("stat/a", Verdict.WARNING, read))
    assert ("\n    reading   host: it copes\n" in text, "disputed" in text) == (True, False)


def test_what_was_not_run_is_told_with_its_reasons() -> None:
    blocked = [case(f"read/{k}", ("read.hint", "not run"), reason="blocked by read") for k in "cd"]
    log = "log\n" * 99 + "Traceback:\n  at\nKeyError: 1\n"
    error = case("read/e", ("read.hint", "error"), reason="KeyError: 1", output=log)
    absent = case("stat/a", ("stat.odd", "absent"), reason="stat is NULL")
    text = shown(*GOOD, *blocked, error, absent)
    assert "not run:\n     2 × blocked by read" in text
    assert "error:\n     1 × KeyError: 1\n         log\n" in text
    assert text.count("log\n") < 40
    assert "         Traceback:\n           at\n         KeyError: 1\n" in text
    assert "absent: 1 case (-v says why)\n" in text
    assert "NULL" not in text
    assert "--backing" not in text
    seen = case("storage/a", clauses=("stat.odd",), verdict=Verdict.ABSENT, ended=Ending.UNWITNESSED)
    line = "absent: 1 case (-v says why)\n  of these: --backing=URL names another way to the storage and adds 1 case\n"
    assert line in shown(*GOOD, seen)
    assert "absent:\n     1 × stat is NULL" in shown(*GOOD, absent, verbosity=1)


def test_of_many_waivers_those_that_fail_the_run_are_all_told() -> None:
    names = [f"read/{number}" for number in range(30)]
    needed = [waiver(case=name, cases=1) for name in names]
    stale = waiver(case="stat/*", cases=1)
    cases = [*(case(name, ("read.succeeds", "waived")) for name in names), record("stat/x", Verdict.CONFORM)]
    short, whole = (shown(*cases, waivers=(*needed, stale), verbosity=verbosity) for verbosity in (0, 1))
    assert [text.count("\n  waiver ") for text in (short, whole)] == [11, 31]
    assert "waiver 31 (read.succeeds, stat/*)\n    unneeded" in short
    assert "… and 20 more, with nothing to do" in short
    assert "more, with nothing to do" not in whole


def test_warnings_readings_claims_waivers_and_services_are_told() -> None:
    claim = StatedClaim(name="append", value=False, text="It does not.", supported=False, clauses=("read.hint",))
    text = shown(
        case("read/a", ("read.succeeds", "waived"), ("read.hint", "conform")),
        case("read/b", ("read.succeeds", "conform"), ("read.hint", "warning"), verdict=Verdict.WARNING),
        record("stat/a", Verdict.TOLERATED, CheckRecord("stat.odd", Verdict.TOLERATED, "x", "y", reading="host")),
        claims=(claim,),
        waivers=(waiver(fingerprint="code=OK", cases=3), waiver(case="stat/*")),
        services=Figures(("store:1",), 1000, (Figure("served", 2000),), None),
    )
    for part in (
        "WARNING read.hint (1 check)\n  rule      It is so.\n  stimulus  read/b:\n    expected  code=OK\n"
        "    got       code=OK\n  look at   The read.",
        "1 disputed clause, answered in an accepted way (-v lists the answers)",
        "under-declared: append = false, but everything it gives up is kept",
        "waiver 1 (read.succeeds, *)\n    1 × code=OK: known (owner: team)",
        "waiver 2 (read.succeeds, stat/*)\n    unneeded: its cases ran and there was nothing to waive",
        "services: store:1",
        "2,000  served",
    ):
        assert part in text


def test_nothing_that_a_report_says_steers_the_terminal() -> None:
    hostile = hostile_report(long=10)
    (claim,) = hostile.claims
    assert hostile.services is not None
    unclaimed = replace(hostile, claims=(replace(claim, supported=False, state=ClaimState.UNDER_DECLARED),))
    failed = replace(hostile, services=replace(hostile.services, figures=(), failure=HOSTILE))
    for found in map(conclude, (hostile, unclaimed, failed)):
        for verbosity in (0, 2):
            text = "\n".join(line for line, _ in summary(found, width=100, directory=Path("out"), verbosity=verbosity))
            assert [c for c in text.replace("\n", "") if unicodedata.category(c)[0] == "C"] == []
            assert text.count("]0;title") >= 15


@pytest.mark.parametrize(("damaging", "is_listed"), [("host", True), ("header", False)])
def test_damaging_reading_that_is_followed_is_listed(damaging: str, is_listed: bool) -> None:
    clauses = {**HEADER.clauses, "stat.odd": replace(HEADER.clauses["stat.odd"], damaging=(damaging,))}
    read = record("stat/a", Verdict.TOLERATED, CheckRecord("stat.odd", Verdict.TOLERATED, "x", "y", reading="host"))
    text = shown(read, clauses=clauses)
    assert ("(-v lists the answers)\n  stat.odd: host: it copes\n" in text) is is_listed
    # Where more is asked for, each is.
    assert ("stat.odd" in text) is is_listed
    assert "stat.odd: host: it copes" in shown(read, verbosity=1)


def test_of_a_class_that_is_not_conformant_it_is_said_of_how_many_checks_it_is() -> None:
    idle = [case(f"r/{k}", clauses=("read.succeeds",), verdict=Verdict.NOT_RUN, reason="x") for k in "ab"]
    empty = case("r/c", ("read.succeeds", "conform"), clauses=("read.succeeds", "read.hint"))
    text = shown(*GOOD, *idle, empty)
    assert "checks of all clauses: 3 conform, 2 not run, 1 does not apply\n" in text
    assert "  read           incomplete             2 checks, 2 not run, 1 does not apply\n" in text
    assert "\nconformant classes: registration\n" in text
    assert "no case of: paths, write\n" in text
    assert "  registration   conformant             1 check\n" in shown(*GOOD, *idle, empty, verbosity=1)


def test_findings_come_first_and_what_the_plugin_lacks_takes_a_line() -> None:
    lacking = dict.fromkeys((f"op_of_a_long_name_{number}" for number in range(9)), "absent")
    target = replace(HEADER.target, tables=lacking)
    warned = CheckRecord("read.hint", Verdict.WARNING, "a", "b")
    given = (record("read/b", Verdict.VIOLATION, BROKEN), record("read/c", Verdict.WARNING, warned))
    lines = shown(*GOOD, *given, target=target).splitlines()
    begins = ("VIOLATION", "WARNING", "  read ", "absent: op_of", "loads in", "report:")
    places = [next(place for place, line in enumerate(lines) if line.startswith(begin)) for begin in begins]
    assert places == sorted(places)
    (absent,) = (line for line in lines if "op_of_a_long_name_" in line)
    assert (absent[-12:], len(absent) <= 100) == ("… and 6 more", True)
    assert "op_of_a_long_name_8" in shown(*GOOD, *given, target=target, verbosity=1)


@pytest.mark.parametrize("width", [0, 40, 100, 1000])
def test_lines_are_as_wide_as_the_terminal(width: int) -> None:
    found = report_of(case("a", ("read.hint", "error"), reason="word " * 100))
    widest = max(len(text) for text, _ in summary(conclude(found), width=width, directory=Path("out")))
    assert widest <= max(60, min(width, 120))


@pytest.mark.parametrize("ended", sorted(set(Ending) - {Ending.WHOLE}))
def test_what_was_not_run_never_lacks_a_reason(ended: Ending) -> None:
    """Such as a hang that is waived: it says why the rest of its case was not run."""
    known = [CheckRecord("init.once", Verdict.WAIVED, "stat comes back", "it hangs")] * (ended is Ending.DIED)
    found = record("r/a", REST[ended], *known, clauses=("init.once", "read.hint"), ended=ended)
    assert found.verdict is REST[ended]
    assert f"\n     1 × {words.why(found)}\n" in shown(*GOOD, found, verbosity=1)
    assert words.why(found)
    assert words.why(replace(found, reason="x")) == "x"


def test_what_keeps_a_target_open_is_told_in_a_case_that_found_something_worse() -> None:
    worse = CheckRecord("read.hint", Verdict.WARNING, "a hint", "none")
    found = record("r/a", Verdict.WARNING, worse, clauses=("read.hint", "read.succeeds"), ended=Ending.BLOCKED,
                   reason="blocked by stat: it hung")  # fmt: skip
    text = shown(*GOOD, found)
    assert "incomplete: 1 MUST clause not run in a case: read.succeeds (tier full)\n" in text
    assert "\nnot run:\n     1 × blocked by stat: it hung\n" in text
