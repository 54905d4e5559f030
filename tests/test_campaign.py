"""Campaigns from end to end: Dask, the suite in processes of their own, a store, and the report of one run."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands import output_of
from tests.test_suite import environment, run
from tffs_conformance.campaign import status
from tffs_conformance.campaign.store import Store
from tffs_conformance.campaign.tasks import Block
from tffs_conformance.reports.document import load
from tffs_conformance.suite.judge.compare import compare

SMALL = """name = "small"
tier = "smoke"
shards = 2
[[target]]
name = "faulty"
plugin = "fakes/faulty"
environment = { TFFS_FAULT = "history.crash" }
"""
PLAN = f"""{SMALL}[histories]
seeds = 2
each = 20
cases = ["properties/tree"]
"""
#: Seconds that Dask may take to connect: far more than a campaign needs to begin.
CONNECTING = 200
#: Settings of Dask that name certificates which are not there.
GONE = {"TLS__CA_FILE": "gone.pem", "TLS__CLIENT__CERT": "gone.pem"}


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
    return output_of("campaign", *arguments, code=code)


def test_a_campaign_is_the_report_of_one_run(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(SMALL.replace("shards = 2", "shards = 8"))
    printed = campaign(tmp_path, "plan.toml", "--workers=2", code=0)
    assert "all tasks ended: 8 of 8 tasks, 26 cases, 0 histories, 0 findings" in printed
    run(tmp_path, "--plugin=fakes/faulty", "--env=TFFS_FAULT=history.crash", "--tier=smoke")
    one, many = load(tmp_path / "tffs-report/report.json"), load(tmp_path / "tffs-report/small/faulty/report.json")
    found = compare(one, many)
    assert (found.differences, found.changes, found.cases_added, found.cases_removed) == ((), (), (), ())
    assert (one.counts, one.classes, one.suite.selection) == (many.counts, many.classes, many.suite.selection)
    assert [(case.id, case.checks) for case in one.cases] == [(case.id, case.checks) for case in many.cases]
    # Again there is nothing to do, and the store alone says all of it.
    entries = sorted((tmp_path / "tffs-campaign/ended").rglob("*"))
    assert "8 of 8 tasks" in campaign(tmp_path, "plan.toml", "--workers=1", code=0)
    assert sorted((tmp_path / "tffs-campaign/ended").rglob("*")) == entries
    assert asked("status", str(tmp_path / "tffs-campaign"), code=0).startswith("small: 8 of 8 tasks, 26 cases")


def test_a_shard_without_cases_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(f'{SMALL}options = ["-ktest_process_state"]\n')
    assert "all tasks ended: 2 of 2 tasks, 1 case," in campaign(tmp_path, "plan.toml", "--workers=2", code=1)
    ended = Store(str(tmp_path / "tffs-campaign")).ended(Block("faulty", "shard", 0)).values()
    assert sorted(entry.cases for entry in ended) == [0, 1]


def test_a_target_without_cases_is_not_good(tmp_path: Path) -> None:
    """Its shards have ended, as those of others have, and it is told."""
    nothing = '[[target]]\nname = "none"\nplugin = "posix"\noptions = ["-knothing"]\n'
    (tmp_path / "plan.toml").write_text(SMALL.replace("shards = 2", "shards = 1") + nothing)
    printed = campaign(tmp_path, "plan.toml", "--workers=2", code=1)
    assert "all tasks ended: 2 of 2 tasks, 26 cases" in printed
    assert "faulty: conformant: " in printed
    assert "none: no case of it was run" in printed.splitlines()


def test_seeds_without_cases_are_a_usage_error(tmp_path: Path) -> None:
    plan = PLAN.replace("shards = 2", "shards = 0").replace('"smoke"', '"full"')
    options = 'plugin = "fakes/faulty"\noptions = ["-knothing"]'
    (tmp_path / "plan.toml").write_text(plan.replace('plugin = "fakes/faulty"', options))
    printed = campaign(tmp_path, "plan.toml", "--workers=1", code=4)
    assert "faulty/seed/0000001: " in printed
    assert "no case of the suite was selected" in printed


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
    (tmp_path / "plan.toml").write_text(SMALL.replace("shards = 2", "shards = 11"))
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


def test_without_the_extra_a_sentence_says_what_to_install(tmp_path: Path) -> None:
    for name in ("distributed", "rich"):
        (tmp_path / f"{name}.py").write_text("raise ImportError\n")
    (tmp_path / "plan.toml").write_text(SMALL)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    printed = campaign(tmp_path, "plan.toml", code=5, PYTHONPATH=path)
    assert printed.splitlines()[-1].endswith("pip install 'tffs-conformance[campaign]'")


def test_a_scheduler_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(SMALL)
    printed = campaign(
        tmp_path, "plan.toml", "--scheduler=tcp://127.0.0.1:9", code=5, DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="1s"
    )
    assert "--scheduler=tcp://127.0.0.1:9: it cannot be reached" in printed


@pytest.mark.parametrize(
    ("scheduler", "variables", "sentence"),
    [
        ("tls://127.0.0.1:9", {}, "Dask's settings name no certificates: set distributed.comm.tls"),
        ("tls://127.0.0.1:9", GONE, "the certificates that Dask's settings name cannot be read: "),
        ("tcp://127.0.0.1:9", {"REQUIRE_ENCRYPTION": "true"}, "refusing communication from/to 'tcp://127.0.0.1:9'"),
        ("udp://127.0.0.1:9", {}, "unknown address scheme 'udp'"),
    ],
)
def test_settings_with_which_nobody_can_be_reached(
    tmp_path: Path, scheduler: str, variables: dict[str, str], sentence: str
) -> None:
    """They are told at once: what Dask makes of them waits until the time for connecting is over."""
    (tmp_path / "plan.toml").write_text(SMALL)
    begun = time.monotonic()
    given = {f"DASK_DISTRIBUTED__COMM__{name}": value for name, value in variables.items()}
    given["DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"] = f"{CONNECTING}s"
    printed = campaign(tmp_path, "plan.toml", f"--scheduler={scheduler}", code=5, **given)
    assert sentence in printed
    assert printed.count("\n") == 1, printed
    assert time.monotonic() - begun < CONNECTING
