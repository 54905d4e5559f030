"""Campaigns from end to end: Dask, pytest in processes of its own, a folder of reports, and the report of one run."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client, LocalCluster
from msgspec.structs import replace

from tests.commands import output_of
from tests.records import GOOD, HEADER, case, report_of
from tests.test_merge import timeless
from tests.test_suite import environment, run
from tffs_conformance.campaign import RETRIES, _leave, fetch, has_report, parts, tasks
from tffs_conformance.cli.report.merge import write_merged
from tffs_conformance.reports.document import load, write

SMOKE = ("--plugin=memory", "--tier=smoke")
#: Ends pytest without a report in one of two shards, as long as a file says so; counts how often.
DIES = """
import os, pathlib, sys
def pytest_sessionstart():
    if "--shard=2/2" in sys.argv and pathlib.Path("die").exists():
        with pathlib.Path("died").open("a") as died:
            died.write("x")
        print("no more", flush=True)
        os._exit(9)
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tffs_conformance", "campaign", *arguments]


def campaign(folder: Path, *arguments: str, code: int, **variables: str) -> str:
    """What a campaign prints in all, with modules of the folder."""
    done = subprocess.run(
        command(*arguments), cwd=folder, env=environment() | {"PYTHONPATH": str(folder)} | variables, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout
    return done.stdout


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    # A worker that is killed leaves its folder.
    options = {"local_directory": str(tmp_path), "env": {"TMPDIR": str(tmp_path)}}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, **options) as cluster,
        Client(cluster) as connected,
    ):
        yield connected


def test_campaign_losing_a_worker_equals_one_run(tmp_path: Path, client: Client) -> None:
    given = ("--shards=4", "--seeds=2", f"--scheduler={client.scheduler_info()['address']}", "--", *SMOKE)
    processes = client.run(os.getpid)
    running = subprocess.Popen(command(*given), cwd=tmp_path, env=environment(), text=True, stdout=subprocess.PIPE)
    folder = tmp_path / "tffs-campaign"
    while not (list(folder.glob("*/*/report.json")) and all(client.processing().values())):
        assert running.poll() is None
        time.sleep(0.01)
    lost = next(iter(processes))
    assert client.processing()[lost]
    os.kill(processes[lost], signal.SIGKILL)
    assert len(list(folder.glob("*/*/report.json"))) < 7
    printed, _ = running.communicate()
    assert running.returncode == 0, printed
    assert len([line for line in printed.splitlines() if " of 8: seed-" in line]) == 8
    assert lost not in client.run(os.getpid)
    assert run(tmp_path, *SMOKE, "--report-dir=one").returncode == 0
    one, many = load(tmp_path / "one" / "report.json"), load(tmp_path / "tffs-report" / "report.json")
    assert many.suite.options == {**one.suite.options, "seeds": 2}
    assert timeless(replace(many, suite=replace(many.suite, options=one.suite.options))) == timeless(one)
    # Again there is nothing to do.
    assert "8 reports of 8 found in " in campaign(tmp_path, *given, code=0)
    assert len(list(folder.glob("*/*/report.json"))) == 8


def test_a_shard_without_a_report_is_named(tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text(DIES)
    (tmp_path / "die").touch()
    given = ("--shards=2", "--", *SMOKE, "-p", "dies")
    printed = campaign(tmp_path, *given, code=3)
    assert "seed-0-shard-2-of-2: SubprocessError: pytest gave no report and the exit code 9: no more\n" in printed
    assert "Error: 1 task gave no report; the others are in " in printed
    assert (tmp_path / "died").read_text() == "x" * (1 + RETRIES)
    assert not (tmp_path / "tffs-report").exists()
    (tmp_path / "die").unlink()
    printed = campaign(tmp_path, *given, code=0)
    assert "1 report of 2 found in " in printed
    assert "1 of 1: seed-0-shard-2-of-2\n" in printed
    assert load(tmp_path / "tffs-report" / "report.json").left_out is None


def test_a_violation_in_a_shard_is_the_exit_code(tmp_path: Path) -> None:
    given = ("--shards=1", "--", "--plugin=fakes/faulty", "--env=TFFS_FAULT=flush.loses", "--tier=smoke")
    assert "not conformant: " in campaign(tmp_path, *given, code=1)


def test_arguments_that_make_no_sense_start_nothing() -> None:
    for option, why in (
        ("--seed=3", "a campaign gives this option itself"),
        ("--report=html", "this option is for a single run"),
        ("--folder=foo://x", "ValueError: Protocol not known"),
        ("--folder=/proc/nope", "FileNotFoundError: "),
    ):
        given = (option, "--", *SMOKE) if option.startswith("--folder") else ("--", *SMOKE, option)
        printed = output_of("campaign", *given, code=4)
        assert (f"{option}: {why}" in printed, printed.count("\n")) == (True, 1), printed


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--shards=3", "--", "--plugin=./libgone.so"), "--plugin=./libgone.so: there is no such file"),
        (("--shards=2", "--", *SMOKE, "--case=registration/load"), "--shard=2/2: there are fewer cases than shards"),
        (("--shards=1", "--", *SMOKE, "--plugin=posix"), "a campaign is of one plugin and one of its schemes"),
        (("--scheduler=tcp://127.0.0.1:9", "--", *SMOKE), "--scheduler=tcp://127.0.0.1:9: it cannot be reached: "),
        (("--scheduler=tls://127.0.0.1:9", "--", *SMOKE), "--scheduler=tls://127.0.0.1:9: it cannot be reached: "),
    ],
)
def test_what_makes_no_sense_is_one_sentence(tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    printed = campaign(tmp_path, *arguments, code=4, DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="1s")
    assert sentence in printed
    # Another shard may have ended before.
    assert len([line for line in printed.splitlines() if not re.match(r"\d+ of \d+: ", line)]) == 1, printed


def test_interrupted_campaign_leaves_no_temporary_folder(tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    variables = environment() | {"TMPDIR": str(tmp_path / "temporary")}
    running = subprocess.Popen(command("--shards=2", "--", "--plugin=memory"), cwd=tmp_path, env=variables,
                               start_new_session=True, stderr=subprocess.DEVNULL)  # fmt: skip
    while len(list(tmp_path.rglob("journal.jsonl"))) < 2:
        assert running.poll() is None
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGINT)
    assert running.wait() == 2
    assert list((tmp_path / "temporary").iterdir()) == []


def test_without_dask_a_sentence_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError\n")
    printed = campaign(tmp_path, "--", *SMOKE, code=4)
    assert printed.endswith("pip install 'tffs-conformance[campaign]'\n")
    assert printed.count("\n") == 1, printed


def test_reports_of_several_seeds_are_merged(tmp_path: Path) -> None:
    folder = str(tmp_path / "folder")
    wanted = tasks(("--plugin=mine",), str(tmp_path), shards=1, seeds=2)
    for task, verdict in zip(wanted, ("conform", "violation"), strict=True):
        suite = replace(HEADER.suite, seed=task.seed, command=(*HEADER.suite.command, f"--seed={task.seed}"))
        made = tmp_path / task.name
        (made / "traces").mkdir(parents=True)
        (made / "traces" / "b.json").write_text(verdict)
        reason = f"--replay=/tmp/x/tffs-campaign-a_1{task.seed}/traces/b.json"
        found = case("read/b", ("read.hint", verdict), cut="b.json", reason=reason)
        write(report_of(*GOOD, found, suite=suite, duration=1), made)
        _leave(made, task, folder)
        assert has_report(task, folder)
    paths = fetch(wanted, folder, tmp_path / "parts")
    merged = write_merged(tmp_path / "out", paths, parts(paths, 2))
    suite = merged.report.suite
    assert (merged.differing, suite.seed, suite.options["seeds"]) == (("read/b",), 0, 2)
    assert merged.report.counts.violation == 1
    assert merged.report.cases[-1].reason == "--replay=tffs-report/traces/b.json"
    assert (tmp_path / "out" / "traces" / "b.json").read_text() == "violation"


def test_other_arguments_or_files_have_other_reports(tmp_path: Path) -> None:
    def place(*arguments: str) -> str:
        return tasks(arguments, str(tmp_path), 1, 1)[0].place

    assert place("--plugin=one") != place("--plugin=other")
    (tmp_path / "mine.toml").write_text('[plugin]\npath = "./libmine.so"\n')
    for given in ("--plugin=./libmine.so", f"--plugin-profile={tmp_path / 'mine.toml'}", "--env=A=libmine.so"):
        places = []
        for content in (b"one", b"two", b"one"):
            (tmp_path / "libmine.so").write_bytes(content)
            places.append(place(given))
        assert places[0] == places[2] != places[1]
