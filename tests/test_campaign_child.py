"""A run of a campaign ends with its worker, also where interrupts are ignored, and removes what it made."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.test_suite import environment
from tffs_conformance.campaign import fork_server
from tffs_conformance.campaign.fork_server import Asked, Gone

#: A worker that asks for a run of the tests in its folder.
WORKER = """
import pathlib, signal
from tffs_conformance.campaign import fork_server
signal.signal(signal.SIGINT, signal.SIG_IGN)
folder = str(pathlib.Path.cwd())
fork_server.run(fork_server.Asked(["test_long.py"], folder, folder + "/printed"), 300)
"""
TEST = """
import os, pathlib, time
def test_long():
    try:
        pathlib.Path("begun").write_text(str(os.getpid()))
        time.sleep(300)
    finally:
        pathlib.Path("removed").touch()
"""
#: Seconds after which a test gives up.
LONG = 60


@pytest.fixture(autouse=True)
def _tests(tmp_path: Path) -> None:
    (tmp_path / "test_long.py").write_text(TEST)
    (tmp_path / "test_short.py").write_text("def test_short():\n    pass\n")


def asked(folder: Path, test: str = "test_long.py") -> Asked:
    return Asked([test], str(folder), str(folder / "printed"))


def becomes_true(question: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not question():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_run_ends_with_its_worker(tmp_path: Path) -> None:
    worker = subprocess.Popen([sys.executable, "-c", WORKER], cwd=tmp_path, env=environment())
    becomes_true((tmp_path / "begun").exists)
    (server,) = psutil.Process(worker.pid).children()
    copies = server.children()
    assert [copy.pid for copy in copies] == [int((tmp_path / "begun").read_text())]
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert not psutil.wait_procs([server, *copies], timeout=LONG)[1]
    assert (tmp_path / "removed").exists()
    assert "KeyboardInterrupt" in (tmp_path / "printed").read_text()


def test_a_run_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    with fork_server.shared(), pytest.raises(TimeoutError):
        fork_server.run(asked(tmp_path), 3)
    becomes_true(lambda: not psutil.pid_exists(int((tmp_path / "begun").read_text())))
    assert not (tmp_path / "removed").exists()


def test_a_run_that_is_killed_gives_no_exit_code(tmp_path: Path) -> None:
    (tmp_path / "test_killed.py").write_text("import os\ndef test_killed():\n    os.kill(os.getpid(), 9)\n")
    with fork_server.shared(), pytest.raises(Gone, match="the run was killed"):
        fork_server.run(asked(tmp_path, "test_killed.py"), LONG)


def test_a_fork_server_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fork_server.shared():
        folder = Path(os.environ[fork_server.VARIABLE]).parent
        assert fork_server.run(asked(tmp_path, "test_short.py"), LONG) == 0
    assert not folder.exists()
    monkeypatch.setenv(fork_server.VARIABLE, str(folder))
    with pytest.raises(Gone, match="the process that starts runs is gone"):
        fork_server.run(asked(tmp_path, "test_short.py"), LONG)


def test_a_worker_has_a_fork_server_as_long_as_it_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server, "IDLE", 0.1)
    processes = set()
    for _ in range(2):
        assert fork_server.run(asked(tmp_path, "test_short.py"), LONG) == 0
        address, process = fork_server._own()
        assert process.wait(LONG) == 0
        assert not Path(address).parent.exists()
        processes.add(process.pid)
    assert len(processes) == 2


def test_a_fork_server_is_its_owners_alone() -> None:
    with fork_server.shared():
        assert Path(os.environ[fork_server.VARIABLE]).parent.stat().st_mode & 0o77 == 0
