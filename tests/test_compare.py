"""What changed from one report to another, and the command that tells it."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from tests.commands import output_of
from tests.records import CLAUSES, GOOD, HEADER, broken, case, clause, record, report_of
from tffs_conformance.cli import main
from tffs_conformance.reports.document import write
from tffs_conformance.reports.journal import JOURNAL_NAME, Journal
from tffs_conformance.reports.model.header import ClauseFacts, digest
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord, Ending
from tffs_conformance.reports.model.report import REPORT_NAME, Report
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.reports.plain import plain
from tffs_conformance.suite.judge.compare import Before, Kind, compare


def report(
    *cases: CaseRecord, clauses: Mapping[str, ClauseFacts] = CLAUSES, left_out: str | None = None, tier: str = "full"
) -> Report:
    suite = replace(HEADER.suite, catalogue=digest(plain(clauses)), tier=tier)
    return report_of(*cases, clauses=clauses, suite=suite, left_out=left_out)


OK = case("read/b", ("read.succeeds", "conform"))
WARNED = case("read/b", ("read.hint", "warning"))
ERROR = case("read/b", verdict=Verdict.ERROR, reason="it fell over", clauses=("read.succeeds",))
NOT_RUN = case("read/b", verdict=Verdict.NOT_RUN, reason="no docker", clauses=("read.succeeds",))
ABSENT = case("read/b", verdict=Verdict.ABSENT, reason="NULL", clauses=("read.succeeds",))
TWICE = record("read/b", Verdict.VIOLATION, *OK.checks, *broken("read/b").checks)


def disputed(reading: str, verdict: Verdict = Verdict.TOLERATED) -> CaseRecord:
    return record("read/b", verdict, CheckRecord("stat.odd", verdict, "any", "code=OK", reading))


NEWER = {**CLAUSES, "read.new": clause("MUST", "read", "read")}
#: A breach of a law in a case that does not declare it, and the case without it.
UNDECLARED = record("read/b", Verdict.VIOLATION, *OK.checks, *broken("x", about="init.once").checks,
                    clauses=("read.succeeds",))  # fmt: skip
#: A case that kept its clause as far as it came.
ENDED_EARLY = replace(OK, ended=Ending.DIED)
EMPTY = record("read/b", Verdict.DOES_NOT_APPLY, clauses=("read.succeeds",))
HINTED = case("read/b", ("read.hint", "conform"))
WAIVED = case("read/b", ("read.succeeds", "waived"))


@pytest.mark.parametrize(
    ("then", "now", "kinds"),
    [
        *((then, broken("read/b"), [Kind.BROKEN]) for then in (OK, NOT_RUN, WAIVED)),
        (OK, TWICE, [Kind.BROKEN]),
        *((broken("read/b"), now, [Kind.FIXED]) for now in (OK, EMPTY)),
        (broken("read/b"), WAIVED, [Kind.WAIVED]),
        *((broken("read/b"), now, [Kind.UNSEEN]) for now in (ABSENT, NOT_RUN, ERROR, ENDED_EARLY, None)),
        (broken("read/b"), broken("read/b", "code=OK"), [Kind.CHANGED]),
        (broken("read/b"), TWICE, [Kind.OTHER]),
        (HINTED, WARNED, [Kind.WARNED]),
        (WARNED, HINTED, [Kind.NO_WARNING]),
        *((OK, now, [Kind.UNCHECKED]) for now in (NOT_RUN, None)),
        (disputed("header"), disputed("host"), [Kind.CHANGED]),
        (disputed("header"), disputed("header", Verdict.CONFORM), [Kind.OTHER]),
        (NOT_RUN, OK, [Kind.OTHER]),
        # What is fixed was looked at. The law comes first.
        (UNDECLARED, OK, [Kind.FIXED]),
        (UNDECLARED, EMPTY, [Kind.FIXED, Kind.OTHER]),
        *((UNDECLARED, now, [Kind.UNSEEN, Kind.UNCHECKED]) for now in (NOT_RUN, ABSENT, None)),
        (UNDECLARED, ENDED_EARLY, [Kind.UNSEEN]),
        (broken("read/b"), case("read/b", ("read.succeeds", "not run"), ("read.succeeds", "conform")), [Kind.UNSEEN]),
        (broken("read/b"), case("read/b", ("read.succeeds", "conform"), ("read.hint", "absent")),
         [Kind.OTHER, Kind.FIXED]),
        (WARNED, replace(HINTED, ended=Ending.DIED), [Kind.OTHER]),
    ],
)  # fmt: skip
def test_a_clause_in_a_case_changes(then: CaseRecord, now: CaseRecord | None, kinds: list[Kind]) -> None:
    found = compare(report(*GOOD, then), report(*GOOD, *([now] if now else [])))
    assert [(change.case, change.kind) for change in found.changes] == [("read/b", kind) for kind in kinds]


@pytest.mark.parametrize("same", [OK, NOT_RUN, ERROR, TWICE, disputed("host"), broken("read/b")])
def test_what_is_the_same_is_no_change(same: CaseRecord) -> None:
    again = replace(same, duration=9.0, output="said", ops=("read()",))
    found = compare(report(same), report(again))
    assert (found.changes, found.differences, found.is_worse) == ((), (), False)
    # Nor is another value that conforms.
    then, other = (
        record("read/b", Verdict.CONFORM, CheckRecord("read.succeeds", Verdict.CONFORM, got, got)) for got in "ab"
    )
    assert compare(report(then), report(other)).changes == ()


def test_a_clause_without_checks_now_is_no_longer_executed() -> None:
    found = compare(report(*GOOD, WARNED), report(GOOD[1], NOT_RUN))
    assert (found.clauses_no_longer_executed, found.is_worse) == (("read.succeeds", "read.hint"), True)
    found = compare(report(*GOOD, OK), report(*GOOD, NOT_RUN))
    assert (found.clauses_no_longer_executed, found.clauses_newly_not_run) == ((), ("read.succeeds",))
    assert found.is_worse


STRICTER = {**CLAUSES, "read.hint": clause("MUST", "read", "read")}


@pytest.mark.parametrize(
    ("then", "now", "before"),
    [
        (report(OK), report(broken("read/b")), Before.CHECKED),
        (report(ABSENT), report(broken("read/b")), Before.UNCHECKED),
        (report(WARNED), report(broken("read/b")), Before.UNCHECKED),
        (report(OK), report(OK, broken("read/c")), Before.NO_CASE),
        (report(OK, left_out="-x"), report(OK, broken("read/c")), Before.LEFT_OUT),
        (report(OK, tier="quick"), report(OK, replace(broken("read/c"), tier="full")), Before.LEFT_OUT),
        (report(OK, tier="quick"), report(OK, replace(broken("read/c"), tier="smoke")), Before.NO_CASE),
        (report(OK), report(broken("read/b", about="read.new"), clauses=NEWER), Before.NO_CLAUSE),
        (report(WARNED), report(broken("read/b", about="read.hint"), clauses=STRICTER), Before.OTHER_CLAUSE),
    ],
)
def test_what_is_broken_comes_with_what_was_known_before(then: Report, now: Report, before: Before) -> None:
    changes = compare(then, now).of_kinds(Kind.BROKEN)
    assert [change.before for change in changes] == [before]
    assert before.is_of_the_suite is (before in (Before.NO_CASE, Before.NO_CLAUSE, Before.OTHER_CLAUSE))


def test_clauses_and_cases_come_and_go() -> None:
    then, now, cases = report(OK), report(WARNED, *GOOD, clauses=NEWER), ("init/a", "read/a")
    for found, come, gone in ((compare(then, now), 1, 0), (compare(now, then), 0, 1)):
        assert (found.clauses_added, found.clauses_removed) == (("read.new",) * come, ("read.new",) * gone)
        assert (found.cases_added, found.cases_removed) == (cases * come, cases * gone)
    assert compare(report(OK), report(OK, clauses=STRICTER)).clauses_changed == ("read.hint",)
    # A clause that is no more is not fixed.
    fewer = {name: facts for name, facts in CLAUSES.items() if name != "read.hint"}
    broken_then = case("read/b", ("read.hint", "violation"), ("read.succeeds", "conform"), clauses=("read.succeeds",))
    assert [one.kind for one in compare(report(broken_then), report(OK, clauses=fewer)).changes] == [Kind.UNSEEN]
    # What differs of the runs is named.
    other = report(OK, tier="quick")
    other = replace(other, target=replace(other.target, sha256="1" * 64, root="mine:///tmp/y"))
    differing = {one.what: one.now for one in compare(report(OK), other).differences}
    assert differing == {"tier": "quick", "sha256 of the plugin": "1" * 64}


# The command ---------------------------------------------------------------------------------------------------------


def told(directory: Path, then: Report, now: Report, *options: str) -> Result:
    paths = []
    for name, one in (("then", then), ("now", now)):
        (directory / name).mkdir()
        paths.append(str(write(one, directory / name)))
    return CliRunner().invoke(main, ["report", "compare", *paths, *options])


def test_causes_are_told_first_and_what_a_newer_suite_brought_apart(tmp_path: Path) -> None:
    checks = (*broken("x").checks, CheckRecord("read.new", Verdict.VIOLATION, "all", "half"))
    both = record("read/b", Verdict.VIOLATION, *checks)
    # What others depend on comes first.
    newer = {**NEWER, "sync.durable": clause("MUST", "write", "sync", order=9)}
    then = report(OK, broken("read/old", "code=OK"), case("read/w", ("read.hint", "warning")))
    now = report(
        both, case("read/old", ("read.succeeds", "conform")), broken("read/z", about="init.once"), *GOOD, clauses=newer
    )
    done = told(tmp_path, then, now)
    assert done.exit_code == 0, done.output
    lines = [line for line in done.output.splitlines() if line.startswith(("BROKEN", "fixed", "NO LONGER"))]
    assert lines == [
        "BROKEN: read.succeeds (1 check in 1 case)",
        "BROKEN, as a newer suite sees (a clause or a case that was not there then): init.once (1 check in 1 case)",
        "BROKEN, as a newer suite sees (a clause or a case that was not there then): read.new (1 check in 1 case)",
        "NO LONGER EXECUTED: 1 clause",
        "fixed: 1 clause",
    ]
    assert "    then      conform\n    expected  code=OK\n    got       code=UNKNOWN\n" in done.output
    assert done.output.endswith("\n3 clauses newly broken, 1 clause fixed, 1 clause no longer executed\n")


def test_programs_get_json(tmp_path: Path) -> None:
    done = told(tmp_path, report(OK), report(broken("read/b", "\udc80\x1b")), "--json")
    (change,) = json.loads(done.output)["changes"]
    assert change == {
        "case": "read/b", "clause": "read.succeeds", "kind": "broken", "before": "it was checked then",
        "then": ["conform"], "now": ["violation"], "got_then": [], "got_now": ["\udc80\x1b"],
    }  # fmt: skip


def test_no_text_of_a_plugin_steers_the_terminal(tmp_path: Path) -> None:
    nasty = "\x1b[31m\u202e\udcff\n"
    now = report(broken(f"read/{nasty}", nasty), broken("read/b", nasty, output=nasty))
    now = replace(now, target=replace(now.target, name=nasty, runtime=nasty))
    done = told(tmp_path, report(broken("read/b")), now, "-v")
    assert done.exit_code == 0
    assert not {"\x1b", "\u202e", "\udcff"} & set(done.output)
    assert "\\x1b[31m\\u202e\\xff\\n" in done.output


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (report(OK), ""),
        (report(OK, left_out="only a selection was run: -k x; 1 of 2 cases"), ""),
        (report(broken("read/b")), "FAILED: 1 clause newly broken: read.succeeds"),
        (report(NOT_RUN), "FAILED: 1 clause no longer executed: read.succeeds; nothing executed"),
    ],
)
def test_the_exit_code_tells_what_is_worse_on_request(tmp_path: Path, now: Report, said: str) -> None:
    done = told(tmp_path, report(OK), now, "--fail-on-broken")
    assert (done.exit_code, done.stderr.strip()) == (bool(said), said)


def test_what_is_no_report_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    path = write(report(OK), tmp_path)
    (tmp_path / "x.json").write_text("{}")
    for pair in ((path, tmp_path / "x.json"), (tmp_path / "x.json", path), (path, tmp_path / "gone.json")):
        assert "Error: " in output_of("report", "compare", *pair, code=2)


def test_the_journal_of_a_run_that_was_killed_is_compared(tmp_path: Path) -> None:
    path = write(report(OK), tmp_path)
    Journal.open(tmp_path / "killed", HEADER).case(broken("read/b"))
    done = output_of("report", "compare", path, tmp_path / "killed" / JOURNAL_NAME)
    assert "left out: none → the run was killed" in done
    assert not (tmp_path / "killed" / REPORT_NAME).exists()
