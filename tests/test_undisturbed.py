"""The suite and other people's pytest leave each other alone, whatever their plugins, options and signals do."""

import signal
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.records import case
from tests.test_suite import hosts_in, judged_report, report, run, run_anew, run_beside, started, wait_for_journal
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports import journal
from tffs_conformance.reports.document import load
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.run.outcome import present
from tffs_conformance.suite.judge.reports import recover

SMOKE = ("--plugin=posix", "--tier=smoke")
ONE = ("--plugin=posix", "--case=read/plain")
WITH_WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "1")])

# Runs that are not ours --------------------------------------------------------------------------------------------


def test_a_run_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    """It may have options and fixtures of our names, and imports nothing of ours, nor what is slow."""
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n"
        "    for name in ('env', 'seed', 'root', 'case', 'keep', 'tier', 'scheme', 'services', 'clause', 'backing'):\n"
        "        parser.addoption('--' + name, default='theirs')\n"
    )
    (tmp_path / "test_mine.py").write_text(
        "import sys\nimport pytest\n\n@pytest.fixture\ndef case():\n    return 7\n\n"
        "def test_mine(request, case):\n    assert case == 7\n"
        "    assert request.config.getoption('--env') == 'mine'\n"
        "    assert request.config.getoption('--root') == 'theirs'\n"
        "    ours = {name for name in sys.modules if name.startswith('tffs_conformance')}\n"
        "    assert ours == {'tffs_conformance', 'tffs_conformance.pytest_plugin'}\n"
        "    slow = {'hypothesis.core', 'msgspec', 'fsspec', 'docker', 'jsonschema', 'yaml', 'rich'}\n"
        "    assert not slow & set(sys.modules)\n"
    )
    done = run_anew(tmp_path, "--env=mine")
    assert done.returncode == 0, done.stdout + done.stderr


def test_help_says_how_to_see_all_of_our_options(tmp_path: Path) -> None:
    short, whole = (" ".join(run(tmp_path, "--help", *more).stdout.split()) for more in ([], ["--plugin=posix"]))
    assert "--plugin=NAME|PATH" in short
    assert "pytest --plugin=posix --help" in short
    assert "--tier" not in short
    for text in ("--plugin-profile", "--tier", "--clause", "--fail-on", "--host-scope", "Exit codes: 0 conformant"):
        assert text in whole
    assert "TFFS_" not in whole


@pytest.mark.parametrize("where", ["variable", "configuration", "profile"])
def test_a_run_is_ours_wherever_it_is_asked_for(tmp_path: Path, where: str) -> None:
    variables = {"PYTEST_ADDOPTS": "--plugin=posix"} if where == "variable" else {}
    if where == "configuration":
        (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --plugin posix\n")
    (tmp_path / "mine.toml").write_text('[plugin]\npath = "posix"\n')
    profile = ("--plugin-profile", "mine.toml") if where == "profile" else ()
    run(tmp_path, "--tier=smoke", *profile, code=0, **variables)
    assert report(tmp_path)["verdict"] == "conformant"


# Other plugins ------------------------------------------------------------------------------------------------------


@WITH_WORKERS
def test_a_should_that_is_not_kept_is_no_error_where_warnings_are(tmp_path: Path, workers: tuple[str, ...]) -> None:
    broken = ("--plugin=fakes/malformed", "--env=TFFS_FAULT=api:filesystem", "--case=registration/versions")
    # What is imported in the run is imported where warnings are errors. Of an editable installation pytest warns: it
    # cannot rewrite the finder of scikit-build-core, which Python imports at its start.
    finder = "ignore:Module already imported so cannot be rewritten; _editable_skbc_:pytest.PytestAssertRewriteWarning"
    done = run_anew(tmp_path, *broken, "-W", "error", "-W", finder, *workers)
    assert done.returncode == 0, done.stdout
    assert "INTERNALERROR" not in done.stdout
    assert report(tmp_path)["counts"]["warning"] == 1
    assert "WARNING registration.api-matches" in done.stdout
    assert "1 passed, 1 warning" in done.stdout
    # It is for --fail-on to make it one.
    run(tmp_path, *broken, "--fail-on=warning", code=1)


PROPERTIES = ("--plugin=posix", "--examples=1", "-k", "properties")
TWICE = """
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    from _pytest.runner import runtestprotocol
    for _ in range(2):
        runtestprotocol(item, nextitem=nextitem, log=True)
    return True
"""
REPEAT = """
@pytest.fixture
def step(request):
    return request.param

def pytest_generate_tests(metafunc):
    metafunc.fixturenames.append("step")
    metafunc.parametrize("step", range(2), indirect=True)
"""


@pytest.mark.parametrize(
    ("asked", "imported"), [(ONE, False), ((*ONE, "--tier=full", "-n", "1"), False), (PROPERTIES, True)]
)
def test_a_run_imports_hypothesis_for_its_properties_alone(
    tmp_path: Path, asked: tuple[str, ...], imported: bool
) -> None:
    """Also where Hypothesis' own plugin of pytest would import it at the end."""
    says = "import sys\n\ndef pytest_unconfigure():\n    print('imported:', 'hypothesis' in sys.modules)\n"
    assert f"imported: {imported}" in run_beside(tmp_path, says, *asked, anew=True).stdout


@pytest.mark.parametrize("other", [TWICE, REPEAT], ids=["reruns", "repeats"])
def test_a_case_that_runs_twice_is_one_case(tmp_path: Path, other: str) -> None:
    done = run_beside(tmp_path, other, *SMOKE, code=0)
    found = report(tmp_path)
    assert found["verdict"] == "conformant"
    assert found["left_out"] is None
    assert f"{2 * len(found['cases'])} passed" in done.stdout


def test_every_worker_may_run_every_case(tmp_path: Path) -> None:
    assert judged_report(tmp_path, *SMOKE, "-n", "2", "--dist", "each")["verdict"] == "conformant"


@pytest.mark.parametrize(("when", "cases"), [("setup", 1), ("teardown", 2)])
@WITH_WORKERS
def test_an_error_beside_a_case_is_told(tmp_path: Path, workers: tuple[str, ...], when: str, cases: int) -> None:
    other = f"""
@pytest.hookimpl(trylast=True)
def pytest_runtest_{when}(item):
    if item.nodeid == "tffs/read::test_plain":
        raise RuntimeError("oh \\x1b no")
"""
    done = run_beside(tmp_path, other, *ONE, "--case=write/plain", *workers, code=1)
    assert f"ERROR beside a case: tffs/read::test_plain: {when}: RuntimeError: oh \\x1b no" in done.stdout
    assert len(report(tmp_path)["cases"]) == cases


def test_an_error_of_a_case_is_shown_as_one(tmp_path: Path) -> None:
    other = "def pytest_runtest_call(item):\n    raise RuntimeError('not the plugin')\n"
    done = run_beside(tmp_path, other, *ONE, "-v", code=1)
    assert "tffs/read::test_plain ERROR" in done.stdout
    assert "1 error in" in done.stdout
    (found,) = report(tmp_path)["cases"]
    assert (found["verdict"], found["reason"]) == ("error", "RuntimeError: not the plugin")


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        *[("passed", verdict) for verdict in ("conform", "informational", "tolerated", "warning")],
        *[("skipped", verdict) for verdict in ("absent", "not run", "waived")],
        *[("failed", verdict) for verdict in ("violation", "error")],
    ],
)
def test_what_pytest_shows_of_a_verdict(verdict: str, outcome: str) -> None:
    item: Any = SimpleNamespace(location=("file", 1, "name"), user_properties=[])
    shown: Any = SimpleNamespace(outcome="passed", longrepr=None)
    record: CaseRecord = case("read/a", ("read.succeeds", verdict), reason="why")
    assert record.verdict is Verdict(verdict)
    present(shown, record, item)
    assert shown.outcome == outcome
    assert hasattr(shown, "wasxfail") == (verdict == "waived")
    if outcome == "skipped" and verdict != "waived":
        assert shown.longrepr[2] == f"Skipped: {verdict}: why"


def test_junit_knows_cases_by_their_ids(tmp_path: Path) -> None:
    run(tmp_path, *ONE, "--junitxml=junit.xml")
    found = {entry.get("name"): entry.get("value") for entry in ET.parse(tmp_path / "junit.xml").iter("property")}
    assert found["tffs_case"] == "read/plain"
    assert found["tffs_verdict"] == "conform"
    assert "read.succeeds" in str(found["tffs_clauses"]).split()


def test_node_ids_that_pytest_lists_can_be_given_back(tmp_path: Path) -> None:
    listed = run(tmp_path, "--plugin=posix", "--collect-only", "-q", "--clause=append.succeeds").stdout.splitlines()
    nodes = [line for line in listed if line.startswith("tffs/")]
    assert any("[" in node for node in nodes)
    found = judged_report(tmp_path, "--plugin=posix", *nodes)
    assert (len(found["cases"]), found["verdict"]) == (len(nodes), "incomplete")
    assert all("append.succeeds" in case["clauses"] for case in found["cases"])


def test_ids_are_the_same_whatever_the_targets_are_called(tmp_path: Path) -> None:
    (tmp_path / "libfile.so").symlink_to(plugin_path("posix"))
    run(tmp_path, "--plugin=./libfile.so", "--plugin=posix", "--clause=stat.*", "--tier=quick", code=0)
    found = [
        {entry.id for entry in recover(tmp_path / "tffs-report" / name / journal.JOURNAL_NAME).cases}
        for name in ("file", "posix")
    ]
    assert found[0] == found[1]
    assert "status/one-path[stat-file]" in found[0]


# What is left, and where --------------------------------------------------------------------------------------------


@WITH_WORKERS
def test_run_removes_its_files_or_names_their_place(tmp_path: Path, workers: tuple[str, ...]) -> None:
    (tmp_path / "there").mkdir()
    asked = (*ONE, f"--root=posix://{tmp_path}/there/no/such", *workers)
    assert "kept, as" not in run(tmp_path, *asked, code=0).stdout
    assert not list((tmp_path / "there").iterdir())
    shown = run(tmp_path, *asked, "--keep", code=0).stdout.splitlines()
    (line,) = [line for line in shown if line.startswith("kept, as --keep says: ")]
    root = Path(line.partition("posix://")[2])
    assert root.parent == tmp_path / "there/no/such"
    assert [path for path in root.rglob("*") if path.is_file()]


def test_a_directory_above_the_root_that_somebody_uses_stays(tmp_path: Path) -> None:
    other = f"def pytest_runtest_call(item):\n    open({str(tmp_path / 'there' / 'file')!r}, 'w').close()\n"
    run_beside(tmp_path, other, *ONE, f"--root=posix://{tmp_path}/there/no")
    assert [entry.name for entry in (tmp_path / "there").iterdir()] == ["file"]


def test_what_a_worker_leaves_behind_is_told(tmp_path: Path) -> None:
    fails = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=fails:delete_recursively", "--case=write/plain")
    assert "/write-plain-" in run(tmp_path, *fails, "-n", "1").stdout.partition("Left behind")[2]


# Signals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signals", "workers"),
    [
        pytest.param((signal.SIGINT,), (), id="ctrl-c"),
        pytest.param((signal.SIGINT, signal.SIGINT), (), id="ctrl-c-twice"),
        pytest.param((signal.SIGTERM,), (), id="terminated"),
        pytest.param((signal.SIGHUP, signal.SIGTERM), (), id="hung-up-and-terminated"),
        pytest.param((signal.SIGTERM,), ("-n", "1"), id="terminated-with-a-worker"),
    ],
)
def test_whoever_ends_a_run_finds_a_report_and_nothing_else(
    tmp_path: Path, signals: tuple[signal.Signals, ...], workers: tuple[str, ...]
) -> None:
    (tmp_path / "root").mkdir()
    with started(tmp_path, "--plugin=posix", f"--root=posix://{tmp_path}/root", *workers) as process:
        wait_for_journal(tmp_path, lines=20)
        for number in signals:
            process.send_signal(number)
            time.sleep(0.05)
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 2, output
    assert workers or "Traceback" not in output
    assert "the run was interrupted; " in output
    assert report(tmp_path)["verdict"] == "incomplete"
    assert report(tmp_path)["left_out"].startswith("the run was interrupted")
    assert not list((tmp_path / "root").iterdir()), output
    assert not hosts_in(tmp_path)


@pytest.mark.parametrize("attempt", ["_looked_at_again", "_with_a_plain_name"])
def test_interrupted_attempt_leaves_its_record(tmp_path: Path, attempt: str) -> None:
    other = (
        "import signal\nfrom tffs_conformance.suite.engine import attempts\n\n"
        f"attempts.{attempt} = lambda *_: signal.raise_signal(signal.SIGINT)\n"
    )
    fault = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=fails:read", "--case=read/*")
    assert "KeyboardInterrupt" in run_beside(tmp_path, other, *fault, code=2).stdout
    written = recover(tmp_path / "tffs-report" / journal.JOURNAL_NAME)
    assert written == load(tmp_path / "tffs-report" / "report.json")
    assert str(written.left_out).startswith("the run was interrupted")
    assert [case.verdict for case in written.cases].count(Verdict.VIOLATION) == 1


# What is typed ------------------------------------------------------------------------------------------------------


def test_the_scheme_without_a_name_can_be_chosen(tmp_path: Path) -> None:
    nameless = ("--plugin=fakes/malformed", "--env=TFFS_FAULT=scheme:", "--case=registration/required-ops")
    assert judged_report(tmp_path, *nameless, "--scheme=")["target"]["scheme"] == ""
    program, *again = report(tmp_path)["suite"]["command"]
    assert (program, "--scheme=" in again) == ("pytest", True)
    run(tmp_path, *again, "--case=registration/required-ops", code=0)


def test_a_root_chooses_among_several_schemes(tmp_path: Path) -> None:
    several = ("--plugin=fakes/malformed", "--env=TFFS_FAULT=two-schemes", "--case=registration/required-ops")
    assert "choose one with --scheme" in run(tmp_path, *several).stderr
    assert judged_report(tmp_path, *several, "--root=malformed2:///tmp")["target"]["scheme"] == "malformed2"


def test_a_plugin_is_named_as_below_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "libmine.so").symlink_to(plugin_path("posix"))
    found = judged_report(tmp_path, "--plugin=build/../build/./libmine.so", "--case=read/plain")
    assert found["target"]["plugin"] == "build/libmine.so"
