"""The suite and other people's pytest leave each other alone, whatever their plugins, options and signals do."""

import shlex
import signal
import subprocess
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.records import case
from tests.test_suite import command, environment, hosts_in, judged_report, report, run_beside, wait_for_journal
from tests.test_suite import run_anew as run
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports import journal
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.run.outcome import present
from tffs_conformance.suite.judge.reports import recover

SMOKE = ("--plugin=posix", "--tier=smoke")
ONE = ("--plugin=posix", "--case=read/plain")

# Runs that are not ours --------------------------------------------------------------------------------------------


def test_other_people_may_have_options_of_our_names(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n"
        "    for name in ('env', 'seed', 'root', 'case', 'keep', 'tier', 'scheme', 'services', 'clause', 'backing'):\n"
        "        parser.addoption('--' + name, default='theirs')\n"
    )
    (tmp_path / "test_mine.py").write_text(
        "def test_mine(request):\n    assert request.config.getoption('--env') == 'mine'\n"
        "    assert request.config.getoption('--root') == 'theirs'\n"
    )
    done = run(tmp_path, "--env=mine")
    assert done.returncode == 0, done.stdout + done.stderr


def test_other_people_may_have_a_fixture_of_our_name(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import pytest\n\n@pytest.fixture\ndef case():\n    return 7\n\ndef test_mine(case):\n    assert case == 7\n"
    )
    assert run(tmp_path).returncode == 0


def test_a_run_that_is_not_ours_imports_nothing_of_ours(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import sys\n\ndef test_mine():\n"
        "    ours = {name for name in sys.modules if name.startswith('tffs_conformance')}\n"
        "    assert ours == {'tffs_conformance', 'tffs_conformance.pytest_plugin'}\n"
        "    slow = {'hypothesis.core', 'msgspec', 'fsspec', 'docker', 'jsonschema', 'yaml', 'rich'}\n"
        "    assert not slow & set(sys.modules)\n"
    )
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout


def test_help_says_how_to_see_all_of_our_options(tmp_path: Path) -> None:
    short, whole = run(tmp_path, "--help").stdout, run(tmp_path, "--help", "--plugin=posix").stdout
    assert "--plugin=NAME|PATH" in short
    assert "pytest --plugin=posix --help" in " ".join(short.split())
    assert "--tier" not in short
    for name in ("--plugin-profile", "--tier", "--clause", "--fail-on", "--host-scope"):
        assert name in whole
    assert "Exit codes: 0 conformant" in " ".join(whole.split())
    assert "TFFS_" not in whole


@pytest.mark.parametrize("where", ["variable", "configuration", "profile"])
def test_a_run_is_ours_wherever_it_is_asked_for(tmp_path: Path, where: str) -> None:
    variables, arguments = {}, ["--tier=smoke"]
    if where == "variable":
        variables = {"PYTEST_ADDOPTS": "--plugin=posix"}
    elif where == "configuration":
        (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --plugin posix\n")
    else:
        (tmp_path / "mine.toml").write_text('[plugin]\npath = "posix"\n')
        arguments += ["--plugin-profile", "mine.toml"]
    done = run(tmp_path, *arguments, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert report(tmp_path)["verdict"] == "conformant"


# Other plugins ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_should_that_is_not_kept_is_no_error_where_warnings_are(tmp_path: Path, workers: tuple[str, ...]) -> None:
    broken = ("--plugin=fakes/malformed", "--env=TFFS_FAULT=api:filesystem", "--case=registration/versions")
    done = run(tmp_path, *broken, "-W", "error", *workers)
    assert done.returncode == 0, done.stdout
    assert "INTERNALERROR" not in done.stdout
    assert report(tmp_path)["counts"]["warning"] == 1
    assert "WARNING registration.api-matches" in done.stdout
    assert "1 passed, 1 warning" in done.stdout
    # It is for --fail-on to make it one.
    assert run(tmp_path, *broken, "--fail-on=warning").returncode == 1


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
    assert f"imported: {imported}" in run_beside(tmp_path, says, *asked).stdout


@pytest.mark.parametrize("other", [TWICE, REPEAT], ids=["reruns", "repeats"])
def test_a_case_that_runs_twice_is_one_case(tmp_path: Path, other: str) -> None:
    done = run_beside(tmp_path, other, *SMOKE)
    assert done.returncode == 0, done.stdout
    found = report(tmp_path)
    assert found["verdict"] == "conformant"
    assert found["left_out"] is None
    assert f"{2 * len(found['cases'])} passed" in done.stdout


def test_every_worker_may_run_every_case(tmp_path: Path) -> None:
    assert judged_report(tmp_path, *SMOKE, "-n", "2", "--dist", "each")["verdict"] == "conformant"


@pytest.mark.parametrize(
    ("hook", "when", "ended"), [("setup", "setup", False), ("teardown", "teardown", True)], ids=["before", "after"]
)
@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_an_error_beside_a_case_is_told(
    tmp_path: Path, workers: tuple[str, ...], hook: str, when: str, ended: bool
) -> None:
    other = f"""
@pytest.hookimpl(trylast=True)
def pytest_runtest_{hook}(item):
    if item.nodeid == "tffs/read::test_plain":
        raise RuntimeError("oh \\x1b no")
"""
    done = run_beside(tmp_path, other, "--plugin=posix", "--case=read/plain", "--case=write/plain", *workers)
    assert done.returncode == 1
    assert f"ERROR beside a case: tffs/read::test_plain: {when}: RuntimeError: oh \\x1b no" in done.stdout
    assert len(report(tmp_path)["cases"]) == (2 if ended else 1)


def test_an_error_of_a_case_is_shown_as_one(tmp_path: Path) -> None:
    other = "def pytest_runtest_call(item):\n    raise RuntimeError('not the plugin')\n"
    done = run_beside(tmp_path, other, *ONE, "-v")
    assert done.returncode == 1
    assert "tffs/read::test_plain ERROR" in done.stdout
    assert "1 error in" in done.stdout
    (found,) = report(tmp_path)["cases"]
    assert (found["verdict"], found["reason"]) == ("error", "RuntimeError: not the plugin")


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [
        ("conform", "passed"),
        ("informational", "passed"),
        ("tolerated", "passed"),
        ("warning", "passed"),
        ("absent", "skipped"),
        ("not run", "skipped"),
        ("waived", "skipped"),
        ("violation", "failed"),
        ("error", "failed"),
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
    assert run(tmp_path, "--plugin=posix", *nodes).returncode == 0
    assert len(report(tmp_path)["cases"]) == len(nodes)


def test_ids_are_the_same_whatever_the_targets_are_called(tmp_path: Path) -> None:
    (tmp_path / "libfile.so").symlink_to(plugin_path("posix"))
    both = ("--plugin=./libfile.so", "--plugin=posix", "--clause=stat.*", "--tier=quick")
    assert run(tmp_path, *both).returncode == 0
    found = [
        {entry.id for entry in recover(tmp_path / "tffs-report" / name / journal.JOURNAL_NAME).cases}
        for name in ("file", "posix")
    ]
    assert found[0] == found[1]
    assert "status/one-path[stat-file]" in found[0]


# What is left, and where --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_what_is_kept_is_there_and_its_place_is_told(tmp_path: Path, workers: tuple[str, ...]) -> None:
    (tmp_path / "root").mkdir()
    at = f"--root=posix://{tmp_path}/root"
    assert "kept, as" not in run(tmp_path, *ONE, at, *workers).stdout
    assert not list((tmp_path / "root").iterdir())
    done = run(tmp_path, *ONE, at, "--keep", *workers)
    assert done.returncode == 0
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("kept, as --keep says: ")]
    root = Path(line.partition("posix://")[2])
    assert root.parent == tmp_path / "root"
    assert [path for path in root.rglob("*") if path.is_file()]


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_directories_that_come_with_the_root_go_with_it(tmp_path: Path, workers: tuple[str, ...]) -> None:
    (tmp_path / "there").mkdir()
    assert run(tmp_path, *ONE, f"--root=posix://{tmp_path}/there/no/such", *workers).returncode == 0
    assert not list((tmp_path / "there").iterdir())


def test_a_directory_above_the_root_that_somebody_uses_stays(tmp_path: Path) -> None:
    other = f"def pytest_runtest_call(item):\n    open({str(tmp_path / 'there' / 'file')!r}, 'w').close()\n"
    run_beside(tmp_path, other, *ONE, f"--root=posix://{tmp_path}/there/no")
    assert [entry.name for entry in (tmp_path / "there").iterdir()] == ["file"]


def test_what_a_worker_leaves_behind_is_told(tmp_path: Path) -> None:
    fails = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=fails:delete_recursively", "--case=write/plain")
    done = run(tmp_path, *fails, "-n", "1")
    line = done.stdout[done.stdout.index("Left behind") :]
    assert "/write-plain-" in line


# Signals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signals", "workers"),
    [
        ((signal.SIGINT,), ()),
        ((signal.SIGINT, signal.SIGINT), ()),
        ((signal.SIGTERM,), ()),
        ((signal.SIGHUP, signal.SIGTERM), ()),
        ((signal.SIGTERM,), ("-n", "1")),
    ],
    ids=["ctrl-c", "ctrl-c-twice", "terminated", "hung-up-and-terminated", "terminated-with-a-worker"],
)
def test_whoever_ends_a_run_finds_a_report_and_nothing_else(
    tmp_path: Path, signals: tuple[signal.Signals, ...], workers: tuple[str, ...]
) -> None:
    (tmp_path / "root").mkdir()
    with subprocess.Popen(
        command("--plugin=posix", f"--root=posix://{tmp_path}/root", *workers),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
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


# What is typed ------------------------------------------------------------------------------------------------------


def rerun(directory: Path) -> list[str]:
    """The arguments of the re-run line of a report."""
    told: list[str] = report(directory)["suite"]["command"]
    assert told[0] == "pytest"
    return shlex.split(shlex.join(told[1:]))


def test_the_scheme_without_a_name_can_be_chosen(tmp_path: Path) -> None:
    nameless = ("--plugin=fakes/malformed", "--env=TFFS_FAULT=scheme:", "--case=registration/required-ops")
    assert judged_report(tmp_path, *nameless, "--scheme=")["target"]["scheme"] == ""
    assert "--scheme=" in rerun(tmp_path)
    assert run(tmp_path, *rerun(tmp_path), "--case=registration/required-ops").returncode == 0


def test_a_root_chooses_among_several_schemes(tmp_path: Path) -> None:
    several = ("--plugin=fakes/malformed", "--env=TFFS_FAULT=two-schemes", "--case=registration/required-ops")
    assert "choose one with --scheme" in run(tmp_path, *several).stderr
    assert judged_report(tmp_path, *several, "--root=malformed2:///tmp")["target"]["scheme"] == "malformed2"


def test_the_re_run_line_has_what_shaped_the_run(tmp_path: Path) -> None:
    given = ("--host-scope=module", "--call-timeout=7.5", "--env=MY_TOKEN=hunter2hunter2", "--env=PLAIN=value")
    assert run(tmp_path, *ONE, *given).returncode == 0
    assert rerun(tmp_path) == [
        "--plugin=posix", "--host-scope=module", "--call-timeout=7.5", "--env=MY_TOKEN", "--env=PLAIN=value"
    ]  # fmt: skip
    # A secret is taken from the variables of who types the line.
    again = (*rerun(tmp_path), "--case=read/plain")
    assert run(tmp_path, *again, MY_TOKEN="hunter2hunter2").returncode == 0
    assert "--env=MY_TOKEN" in run(tmp_path, *again).stderr


def test_a_plugin_is_named_as_below_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "libmine.so").symlink_to(plugin_path("posix"))
    found = judged_report(tmp_path, "--plugin=build/../build/./libmine.so", "--case=read/plain")
    assert found["target"]["plugin"] == "build/libmine.so"
