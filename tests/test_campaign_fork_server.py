"""A copy does what a new Python does, so that tests may use copies. It ends with who asked, as if interrupted."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.test_suite import environment, run, run_anew
from tffs_conformance.campaign import fork_server
from tffs_conformance.campaign.fork_server import Asked, ForkServerGoneError

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
#: The exit code and the arguments of each.
RUNS: dict[str, tuple[int, list[str]]] = {
    "conformant": (0, ["--plugin=posix", "--case=read/plain"]),
    "in workers": (0, ["--plugin=posix", "--case=read/plain", "-n", "1"]),
    "violation": (1, ["--plugin=fakes/faulty", "--env=TFFS_FAULT=fails:new_random_access_file", "--case=read/plain"]),
    "no such plugin": (4, ["--plugin=./no-such.so"]),
    "no such option": (4, ["--plugin=posix", "--no-such"]),
    "help": (0, ["--help", "--plugin=posix"]),
}
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


@pytest.mark.parametrize("name", RUNS)
def test_a_copy_says_what_a_new_python_says(tmp_path: Path, name: str) -> None:
    code, arguments = RUNS[name]
    said = []
    for begin in (run, run_anew):
        folder = tmp_path / begin.__name__
        folder.mkdir()
        done = begin(folder, *arguments, COLUMNS="100")
        assert done.returncode == code, done.stdout
        said.append((plain(done.stdout, folder), plain(done.stderr, folder)))
    assert said[0] == said[1]


def plain(text: str, folder: Path) -> str:
    """Without the folder, the figures that no two runs have in common, and how long the lines become by both."""
    text = text.replace(str(folder), "FOLDER")
    return re.sub(r"tffs-[0-9a-f]+|0x[0-9a-f]+|\d+(\.\d+)?( [KM]iB|s\b)|\(\d+:\d+:\d+\)|[=\s]+", " ", text)


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


def test_a_copy_that_is_killed_says_so_and_the_next_one_is_not_it(tmp_path: Path) -> None:
    conftest = tmp_path / "conftest.py"
    conftest.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert run(tmp_path).returncode == -signal.SIGKILL
    conftest.unlink()
    assert run(tmp_path, "--version").returncode == 0


def test_the_end_of_a_tests_time_ends_its_run_alone(tmp_path: Path) -> None:
    conftest = tmp_path / "conftest.py"
    conftest.write_text("import time\ntime.sleep(600)\n")
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 1)
    try:
        with pytest.raises(TimeoutError):
            run(tmp_path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    conftest.unlink()
    assert run(tmp_path, "--version").returncode == 0
    assert run(tmp_path, "--no-such").returncode == 4


def late(*_: object) -> None:
    raise TimeoutError


def test_a_fork_server_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fork_server.shared():
        folder = Path(os.environ[fork_server.VARIABLE]).parent
        assert fork_server.run(asked(tmp_path, "test_short.py"), LONG) == 0
    assert not folder.exists()
    monkeypatch.setenv(fork_server.VARIABLE, str(folder))
    with pytest.raises(ForkServerGoneError, match="the process that starts runs is gone"):
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
