"""A part of the suite is never told as the whole, whoever left something out: what ended is compared with the tier."""

import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from tests.commands import output_of
from tests.faults import driven
from tests.test_rerun import line_of
from tests.test_suite import command, environment, judged_report, report, run, run_beside, wait_for_journal
from tffs_conformance.harness.hosting.registration import MissingSymbol, Registration
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.tables import OPS
from tffs_conformance.reports import document, journal
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract.catalogue import catalogue
from tffs_conformance.suite.engine import collect
from tffs_conformance.suite.judge.reports import recover

#: The way through every op once.
SMOKE = ("--plugin=posix", "--tier=smoke")
CASES_IN = str(collect.DIRECTORY)
#: How many cases that are.
CASES = sum(case.tier == "smoke" for case in collect.cases())


@pytest.fixture
def yesterday(tmp_path: Path) -> Path:
    """The report of an earlier run."""
    (tmp_path / "tffs-report").mkdir()
    path = tmp_path / "tffs-report" / "report.json"
    path.write_text("of yesterday")
    return path


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--deselect", "tffs/read", "-n", "1"), "--deselect=tffs/read"),
        (("tffs/read::test_plain", "tffs/write"), "tffs/read::test_plain tffs/write"),
        ((f"{CASES_IN}/test_read.py",), f"{CASES_IN}/test_read.py"),
        (("-k", "read or write"), "-k 'read or write'"),
        (("-m", "not tffs_over_tables"), "-m 'not tffs_over_tables'"),
        ((CASES_IN, f"--ignore-glob={CASES_IN}/test_rea?.py"), f"{CASES_IN} --ignore-glob='{CASES_IN}/test_rea?.py'"),
        (("--clause=read.*", "--clause=append.*"), "--clause='read.*' --clause='append.*'"),
        (("--case=read/*", "--case=write/*"), "--case='read/*' --case='write/*'"),
    ],
)
def test_a_selection_passes_and_is_incomplete(tmp_path: Path, arguments: tuple[str, ...], named: str) -> None:
    done = run(tmp_path, *SMOKE, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    found = report(tmp_path)
    ended = len(found["cases"])
    assert (0 < ended < CASES, found["verdict"]) == (True, "incomplete")
    assert f"only a selection was run: {named}" in found["left_out"]
    assert f"{CASES - ended} of {CASES} cases of the tier smoke were not run" in found["left_out"]
    assert f"incomplete: {found['left_out']}" in done.stdout
    assert found["suite"]["selection"]


def test_options_of_the_configuration_count(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -k read\n")
    assert run(tmp_path, *SMOKE).returncode == 0
    assert "-k read" in report(tmp_path)["left_out"]


def test_options_that_leave_nothing_out_do_not_count(tmp_path: Path) -> None:
    given = ("-m", "not slow", "-k", "not nothing", "-p", "cacheprovider", "--ff", "--nf")
    found = judged_report(tmp_path, *SMOKE, *given, f"--ignore={CASES_IN}/test_read.py")
    assert (found["verdict"], found["left_out"], found["suite"]["selection"]) == ("conformant", None, [])


BROKEN = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=fails:copy_file", "--tier=smoke", "-p", "cacheprovider")


def test_former_name_of_a_tier_is_read_and_noted(tmp_path: Path) -> None:
    done = run(tmp_path, "--plugin=posix", "--tier=must", "--clause=read.succeeds")
    assert (done.returncode, report(tmp_path)["suite"]["tier"]) == (0, "quick"), done.stdout
    assert "--tier=must is --tier=quick now: the old name goes with the next release" in done.stdout


def test_only_what_failed_before_is_a_selection(tmp_path: Path) -> None:
    assert run(tmp_path, *BROKEN).returncode == 1
    assert run(tmp_path, *BROKEN, "--lf").returncode == 1
    found = report(tmp_path, of="selection")
    assert found["verdict"] == "not conformant"
    assert found["left_out"].startswith("only a selection was run: --lf; ")
    # Of another plugin nothing failed, so all is run.
    assert judged_report(tmp_path, *SMOKE, "-p", "cacheprovider", "--lf")["verdict"] == "conformant"


def test_the_line_that_runs_a_case_again_leaves_the_report_of_the_whole_run(tmp_path: Path) -> None:
    # It breaks several clauses.
    whole = run(tmp_path, "--plugin=fakes/hollow", "--tier=smoke")
    before = (tmp_path / "tffs-report/report.json").read_bytes()
    line = line_of(whole.stdout)
    for workers in ((), ("-n", "1")):
        again = run(tmp_path, *shlex.split(line)[1:], *workers)
        assert again.returncode == 1
        assert (tmp_path / "tffs-report/report.json").read_bytes() == before
        assert len(report(tmp_path, of="selection")["cases"]) == 1
        assert "to accept them: tffs-conformance waive tffs-report/selection/report.json " in again.stdout
        assert "\na selection: the report of the whole run stays in tffs-report\n" in again.stdout
    # So does one that ends early.
    run(tmp_path, "--plugin=fakes/hollow", "--tier=smoke", "-x", code=1)
    assert (tmp_path / "tffs-report/report.json").read_bytes() == before
    # What the first run printed still accepts all that it found.
    accepting = shlex.split(next(one for one in whole.stdout.splitlines() if one.startswith("to accept them: ")))
    arguments = [*accepting[5:], f"-o{tmp_path / 'waivers.toml'}"]
    told = output_of("waive", tmp_path / arguments[0], *arguments[1:])
    broken = {name for name, clause in report(tmp_path)["clauses"].items() if clause["counts"]["violation"]}
    assert len(broken) > 1
    assert {line.split()[1].rstrip(",") for line in told.splitlines() if line.startswith("added")} == broken
    # Another whole run takes the place of the first.
    assert judged_report(tmp_path, *SMOKE)["verdict"] == "conformant"
    # So does what leaves nothing out.
    (tmp_path / "tffs-report/journal.jsonl").unlink()
    assert "stays in" not in run(tmp_path, *SMOKE, "-m", "not slow", "--case=*").stdout
    assert (tmp_path / "tffs-report/journal.jsonl").exists()


def test_what_keeps_a_whole_run_is_where_a_user_named_no_folder(tmp_path: Path) -> None:
    assert run(tmp_path, *SMOKE).returncode == 0
    done = run(tmp_path, *SMOKE, "--case=read/plain", "--report-dir=tffs-report")
    assert done.returncode == 0
    assert "stays in" not in done.stdout
    assert len(report(tmp_path)["cases"]) == 1
    # Nothing is kept of a selection.
    assert "stays in" not in run(tmp_path, *SMOKE, "--case=write/plain").stdout
    assert [case["id"] for case in report(tmp_path)["cases"]] == ["write/plain"]


@pytest.mark.parametrize("lost", ["report.json", "journal.jsonl"])
def test_so_are_reports_of_several_targets_and_the_journal_of_a_run_that_was_killed(
    tmp_path: Path, yesterday: Path, lost: str
) -> None:
    two = ("--plugin=posix", "--plugin=memory", "--tier=smoke")
    reports = tmp_path / "tffs-report"
    (reports / "journal.jsonl").touch()
    assert run(tmp_path, *two).returncode == 0
    # They leave no old report above theirs.
    assert (yesterday.exists(), sorted(entry.name for entry in reports.iterdir())) == (False, ["memory", "posix"])
    for name in ("posix", "memory"):
        (reports / name / lost).unlink()
    before = {path: path.read_bytes() for path in reports.rglob("*.json*")}
    assert len(before) == 2
    assert run(tmp_path, *two, "--case=read/plain").returncode == 0
    assert {path: path.read_bytes() for path in before} == before
    assert len(report(tmp_path, of="selection/memory")["cases"]) == 1


def test_each_command_says_where_a_part_is_taken_for_the_whole(tmp_path: Path) -> None:
    run(tmp_path, *BROKEN)
    run(tmp_path, *BROKEN, "--case=move/*")
    whole, part = (tmp_path / "tffs-report" / of / "report.json" for of in ("", "selection"))
    waivers = f"-o{tmp_path / 'waivers.toml'}"
    for words in (
        ("report", "show", part),
        ("report", "compare", part, whole),
        ("waive", part, "--owner=me", "--reason=mine", waivers),
        ("waive", "--sync", part, waivers),
    ):
        said = output_of(*words)
        assert f"note: {part} is of a selection: --case='move/*'; " in said, words
        assert f"the report of the whole run is in {whole.parent}\n" in said, words
    assert "note: " not in output_of("report", "show", whole)


@pytest.mark.parametrize(("option", "code"), [("-x", 1), ("--sw", 2)])
def test_a_run_that_stops_early_says_so(tmp_path: Path, option: str, code: int) -> None:
    done = run(tmp_path, *BROKEN, "-p", "stepwise", option)
    assert done.returncode == code
    named = "--sw" if option == "--sw" else "--maxfail=1"
    assert report(tmp_path)["left_out"].startswith(f"stopped by {named}; ")


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_plugin_that_deselects_does_not_make_a_part_conformant(tmp_path: Path, workers: tuple[str, ...]) -> None:
    other = "@pytest.hookimpl(trylast=True)\ndef pytest_collection_modifyitems(items):\n    del items[3:]\n"
    done = run_beside(tmp_path, other, *SMOKE, *workers)
    found = report(tmp_path)
    assert (done.returncode, found["verdict"]) == (1, "incomplete"), done.stdout
    assert found["left_out"] == f"{CASES - 3} of {CASES} cases of the tier smoke were not run"


def test_a_worker_that_dies_does_not_make_the_rest_conformant(tmp_path: Path) -> None:
    dies = "def pytest_runtest_call(item):\n    if item.nodeid == 'tffs/read::test_plain':\n        os._exit(1)\n"
    done = run_beside(tmp_path, f"import os\n\n{dies}", *SMOKE, "-n", "1")
    assert done.returncode == 1, done.stdout
    assert f"1 of {CASES} cases of the tier smoke were not run" in report(tmp_path)["left_out"]


# Nothing selected, nothing executed -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [("-m", "slow"), ("tests",), ("-k", "nosuchcase", "-n", "1"), ("--deselect", "tffs")]
)
def test_no_case_of_the_suite_is_a_usage_error_and_keeps_the_last_report(
    tmp_path: Path, yesterday: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_mine.py").write_text("def test_mine():\n    pass\n")
    done = run(tmp_path, *SMOKE, *arguments)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "ERROR: no case of the suite was selected: --tier=smoke" in done.stdout
    assert arguments[:1] != ("-k",) or "nosuchcase" in done.stdout
    assert yesterday.read_text() == "of yesterday"


@pytest.mark.parametrize("arguments", [("--clause=read.*",), ("-k", "read"), ("tffs/read",)])
def test_of_a_plugin_that_does_not_load_nothing_is_executed(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    found = judged_report(tmp_path, "--plugin=fakes/unresolved", "--tier=smoke", *arguments, code=1)
    assert found["left_out"].startswith("only a selection was run")
    assert found["reason"].startswith("nothing executed")


def test_an_unusable_witness_is_not_a_pass(tmp_path: Path) -> None:
    assert run(tmp_path, "--plugin=posix", "--backing=nope://x", "-k", "storage").returncode == 1


# A plugin that does not load ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_what_does_not_load_is_told_without_trying_every_case(tmp_path: Path, workers: tuple[str, ...]) -> None:
    done = run(tmp_path, "--plugin=fakes/unresolved", *workers)
    assert done.returncode == 1
    found = report(tmp_path)
    known = {case.id: case for case in collect.cases() if case.tier in collect.tiers("full")}
    assert {case["id"] for case in found["cases"]} == set(known)
    assert found["left_out"] is None
    for case in found["cases"]:
        assert case["clauses"] == list(known[case["id"]].clauses)
        if not case["id"].startswith("registration/"):
            assert (case["verdict"], case["ended"]) == ("not run", "blocked")
            assert case["checks"] == [{"clause": name, "verdict": "not run"} for name in case["clauses"]]
            assert case["reason"].startswith("blocked by dlopen: ")
    # pytest itself ran those about registration only, and there were no workers to start.
    registration = sum(name.startswith("registration/") for name in known)
    assert f"1 failed, {registration - 1} skipped" in done.stdout
    assert "workers" not in done.stdout
    assert "--env=LD_PRELOAD=" in done.stdout


@pytest.mark.parametrize("broken", ["unresolved", "null"])
def test_beside_a_broken_plugin_the_other_is_judged(tmp_path: Path, broken: str) -> None:
    done = run(tmp_path, "--plugin=posix", f"--plugin=fakes/{broken}", "--tier=smoke")
    assert done.returncode == 1
    found = {name: document.load(tmp_path / "tffs-report" / name / "report.json") for name in ("posix", broken)}
    assert {name: one.verdict for name, one in found.items()} == {"posix": "conformant", broken: "not conformant"}
    assert {len(one.cases) for one in found.values()} == {CASES}


def test_names_of_cplusplus_are_shown_as_people_write_them() -> None:
    missing = (MissingSymbol("_ZN3tsl5mutex6unlockEv", "tsl::mutex::unlock()"),)
    error = "x.so: undefined symbol: _ZN3tsl5mutex6unlockEv"
    found = Registration(error, missing, Code.NOT_FOUND, error, False, False, 0, ())
    assert found.failure == "x.so: undefined symbol: tsl::mutex::unlock()"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--plugin=fakes/unresolved", "--root=mine:///tmp"),
        ("--plugin=fakes/malformed", "--env=TFFS_FAULT=init-fails", "--root=malformed:///tmp"),
    ],
)
def test_root_of_unregistered_scheme_is_no_usage_error(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert judged_report(tmp_path, *arguments, "--tier=smoke", code=1)["verdict"] == "not conformant"


# Reports --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("argument", "code"), [("--collect-only", 0), ("--markers", 0), ("--case=read/plian", 4)])
def test_what_judges_nothing_leaves_the_last_report(tmp_path: Path, yesterday: Path, argument: str, code: int) -> None:
    run(tmp_path, *SMOKE, argument, code=code)
    assert yesterday.read_text() == "of yesterday"


def test_earlier_report_goes_when_a_case_has_ended(tmp_path: Path, yesterday: Path) -> None:
    other = "import os\n\ndef pytest_runtest_logfinish():\n    os._exit(77)\n"
    assert run_beside(tmp_path, other, *SMOKE).returncode == 77
    assert not yesterday.exists()
    assert recover(tmp_path / "tffs-report" / journal.JOURNAL_NAME).verdict == "incomplete"


def test_two_runs_do_not_write_into_one_folder(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("--plugin=posix"), cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL
    ) as first:
        wait_for_journal(tmp_path, lines=0)
        second = run(tmp_path, *SMOKE)
        assert second.returncode == 4
        assert "another run writes into" in second.stderr
        first.send_signal(signal.SIGTERM)
    assert first.returncode == 2
    assert report(tmp_path)["verdict"] == "incomplete"
    assert run(tmp_path, *SMOKE).returncode == 0, "the folder is free again"


def test_a_folder_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    # Not even root makes a folder where a file is.
    (tmp_path / "tffs-report").write_text("a file")
    done = run(tmp_path, *SMOKE)
    assert done.returncode == 4
    assert "the report cannot be written" in done.stderr


# The smallest tier ---------------------------------------------------------------------------------------------------


def test_the_smallest_tier_tells_of_each_op_that_succeeds() -> None:
    """An op that fails or hangs would else be nobody's violation there: it would only block cases about others."""
    told = {name for case in collect.cases() if case.tier == "smoke" for name in case.clauses}
    rare = ("transaction", "configuration")
    ops = [op for op in OPS if f"{op}.succeeds" in catalogue() and not any(word in op for word in rare)]
    assert len(ops) > 20
    assert [op for op in ops if f"{op}.succeeds" not in told] == []


@pytest.mark.parametrize(
    "op",
    [
        *("create_dir", "read", "tell"),
        *(pytest.param(op, marks=pytest.mark.nightly)
          for op in ("new_writable_file", "delete_dir", "get_children", "stat", "close")),
    ],
)  # fmt: skip
def test_a_hang_counts_in_the_smallest_tier(op: str) -> None:
    judged = driven.judge("fakes/faulty", f"hang:{op}", list(driven.all_cases("smoke")), timeout=1)
    told = {check.clause for record in judged.records for check in record.checks if check.verdict is Verdict.VIOLATION}
    assert "robustness.no-hang" in told
