"""Campaigns from end to end: Dask, the suite in processes of their own, a store, and the report of one run."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.test_suite import environment, run
from tffs_conformance.campaign import status
from tffs_conformance.campaign.store import Store
from tffs_conformance.cli import main
from tffs_conformance.reports.compare import compare
from tffs_conformance.reports.document import load

PLAN = """name = "small"
tier = "smoke"
shards = 2
[[target]]
name = "faulty"
plugin = "fakes/faulty"
environment = { TFFS_FAULT = "history.crash" }
[histories]
seeds = 2
each = 20
cases = ["properties/tree"]
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tffs_conformance", "campaign", *arguments]


def campaign(folder: Path, *arguments: str, code: int, **variables: str) -> str:
    done = subprocess.run(
        command(*arguments), cwd=folder, env=environment() | variables, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout
    return done.stdout


def asked(*arguments: str, code: int) -> str:
    done = CliRunner().invoke(main, ["campaign", *arguments])
    assert done.exit_code == code, done.output
    return done.output


def test_a_campaign_is_the_report_of_one_run(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN.partition("[histories]")[0])
    printed = campaign(tmp_path, "plan.toml", "--workers=2", code=0)
    assert "all tasks ended: 2 of 2 tasks, 26 cases, 0 histories, 0 findings" in printed
    run(tmp_path, "--plugin=fakes/faulty", "--env=TFFS_FAULT=history.crash", "--tier=smoke")
    one, many = load(tmp_path / "tffs-report/report.json"), load(tmp_path / "tffs-report/small/faulty/report.json")
    found = compare(one, many)
    assert (found.differences, found.changes, found.cases_added, found.cases_removed) == ((), (), (), ())
    assert (one.counts, one.classes, one.suite.selection) == (many.counts, many.classes, many.suite.selection)
    assert [(case.id, case.checks) for case in one.cases] == [(case.id, case.checks) for case in many.cases]
    # Again there is nothing to do, and the store alone says all of it.
    entries = sorted((tmp_path / "tffs-campaign/ended").rglob("*"))
    assert "2 of 2 tasks" in campaign(tmp_path, "plan.toml", "--workers=1", code=0)
    assert sorted((tmp_path / "tffs-campaign/ended").rglob("*")) == entries
    assert asked("status", str(tmp_path / "tffs-campaign"), code=0).startswith("small: 2 of 2 tasks, 26 cases")


@pytest.mark.nightly
def test_seeds_find_one_difference_once(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN.replace('"smoke"', '"full"').replace("shards = 2", "shards = 0"))
    printed = campaign(tmp_path, "plan.toml", "--workers=2", code=1)
    assert "2 of 2 tasks, 2 cases" in printed
    store = Store(str(tmp_path / "tffs-campaign"))
    (found,) = store.findings()
    assert (found.clause, found.case) == ("robustness.no-crash", "properties/tree")
    assert found.trace is not None
    assert "create_dir" in found.trace
    report = load(tmp_path / "tffs-report/small/faulty/report.json")
    assert report.suite.options["more seeds"] == 2
    assert (tmp_path / "tffs-report/small/faulty/traces/properties-tree.json").exists()


@pytest.mark.nightly
def test_a_driver_that_is_killed_goes_on(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN.partition("[histories]")[0].replace("shards = 2", "shards = 11"))
    ended = tmp_path / "tffs-campaign/ended/faulty/shard-00000"
    first = subprocess.Popen(command("plan.toml", "--workers=1"), cwd=tmp_path, env=environment())
    while not (ended.is_dir() and len(list(ended.iterdir())) >= 3):
        assert first.poll() is None
        time.sleep(0.1)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = {path.name for path in ended.iterdir()}
    campaign(tmp_path, "plan.toml", "--workers=2", code=0)
    after = {path.name for path in ended.iterdir()}
    assert before <= after
    # A task whose result was on its way may have two entries, and counts once.
    now = status.read(Store(str(tmp_path / "tffs-campaign")))
    assert (now.ended, now.cases) == (11, 26)


def test_a_plugin_that_is_not_there_ends_it_with_pytests_own_words(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('name = "p"\nshards = 1\n[[target]]\nname = "a"\nplugin = "./libgone.so"\n')
    printed = campaign(tmp_path, "plan.toml", "--workers=1", code=4)
    assert "a/shard/0000001: " in printed
    assert f"--plugin={tmp_path}/libgone.so: there is no such file" in printed


def test_without_dask_a_sentence_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "distributed.py").write_text("raise ImportError\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    printed = campaign(tmp_path, "plan.toml", code=5, PYTHONPATH=path)
    assert printed.splitlines()[-1].endswith("pip install 'tffs-conformance[campaign]'")


def test_a_scheduler_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    printed = campaign(
        tmp_path, "plan.toml", "--scheduler=tcp://127.0.0.1:9", code=5, DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="1s"
    )
    assert "--scheduler=tcp://127.0.0.1:9: it cannot be reached" in printed


# TLS -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[tuple[str, dict[str, str], subprocess.Popen[bytes]]]:
    """A scheduler that speaks TLS only, with a worker: its address, Dask's own settings, and its process."""
    openssl = shutil.which("openssl")
    assert openssl
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=campaign",
         "-keyout", key, "-out", certificate], check=True, capture_output=True,
    )  # fmt: skip
    settings = {"DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true"}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        settings[f"DASK_DISTRIBUTED__COMM__TLS__{role}__KEY"] = str(key)
        settings[f"DASK_DISTRIBUTED__COMM__TLS__{role}__CERT"] = str(certificate)
    settings["DASK_DISTRIBUTED__COMM__TLS__CA_FILE"] = str(certificate)
    address = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "distributed.cli"]
    started = []
    for arguments in (
        ("dask_scheduler", "--protocol=tls", "--host=127.0.0.1", "--port=0", "--no-dashboard", "--no-jupyter"),
        ("dask_worker", "--nthreads=1", "--no-dashboard", "--host=127.0.0.1"),
    ):
        one = [*dask[:2], f"{dask[2]}.{arguments[0]}", f"--scheduler-file={address}", *arguments[1:]]
        started.append(subprocess.Popen(one, cwd=tmp_path, env=environment() | settings))
    while not address.is_file() or not address.read_text().strip():
        assert started[0].poll() is None
        time.sleep(0.1)
    yield json.loads(address.read_text())["address"], settings, started[0]
    for process in reversed(started):
        process.terminate()
        process.wait()


@pytest.mark.nightly
def test_a_scheduler_over_tls(tmp_path: Path, secured: tuple[str, dict[str, str], subprocess.Popen[bytes]]) -> None:
    address, settings, scheduler = secured
    assert address.startswith("tls://")
    (tmp_path / "plan.toml").write_text(PLAN.partition("[histories]")[0])
    refused = campaign(tmp_path, "plan.toml", f"--scheduler={address}", code=5)
    assert "it cannot be reached" in refused
    printed = campaign(tmp_path, "plan.toml", f"--scheduler={address}", code=0, **settings)
    assert "2 of 2 tasks, 26 cases" in printed
    scheduler.kill()
    scheduler.wait()
    gone = campaign(tmp_path, "plan.toml", "--store=other", f"--scheduler={address}", code=5, **settings)
    assert "it cannot be reached" in gone
