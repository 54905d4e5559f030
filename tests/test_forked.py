"""A copy does what a new Python does, so that tests may use copies."""

import re
import signal
from pathlib import Path

import pytest

from tests.test_suite import run, run_anew

#: The exit code and the arguments of each.
RUNS: dict[str, tuple[int, list[str]]] = {
    "conformant": (0, ["--plugin=posix", "--case=read/plain"]),
    "in workers": (0, ["--plugin=posix", "--case=read/plain", "-n", "1"]),
    "violation": (1, ["--plugin=fakes/faulty", "--env=TFFS_FAULT=fails:new_random_access_file", "--case=read/plain"]),
    "no such plugin": (4, ["--plugin=./no-such.so"]),
    "no such option": (4, ["--plugin=posix", "--no-such"]),
    "help": (0, ["--help", "--plugin=posix"]),
}


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
