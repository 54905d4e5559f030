"""A copy does what a new Python does, so that tests may use copies. It is interrupted where the asker ends."""

import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.pages import PROJECT
from tests.test_suite import environment, run, run_anew

#: A process that asks for a run of the test in its folder.
ASKING = "import pathlib; from tests.test_suite import run; run(pathlib.Path.cwd(), 'test_long.py')"
TEST = """
import os, pathlib, time
def test_long():
    try:
        pathlib.Path("beginning").write_text(str(os.getpid()))
        pathlib.Path("beginning").rename("begun")
        time.sleep(300)
    except KeyboardInterrupt:
        pathlib.Path("interrupted").touch()
        raise
"""
#: The exit code and the arguments of each.
RUNS: dict[str, tuple[int, list[str]]] = {
    "conformant": (0, ["--plugin=posix", "--case=read/plain"]),
    "in workers": (0, ["--plugin=posix", "--case=read/plain", "-n", "2"]),
    "violation": (1, ["--plugin=fakes/faulty", "--env=TFFS_FAULT=fails:new_random_access_file", "--case=read/plain"]),
    "no such plugin": (4, ["--plugin=./no-such.so"]),
    "no such option": (4, ["--plugin=posix", "--no-such"]),
    "help": (0, ["--help", "--plugin=posix"]),
}
#: Seconds after which a test gives up.
LONG = 120


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


def test_a_copy_finds_what_a_new_python_finds(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import os, pathlib, sys, tffs_conformance\n"
        "seen = [sys.path, sys.argv, sorted(os.environ.items()), tffs_conformance.__path__]\n"
        "pathlib.Path('found').write_text(repr(seen))\n"
    )
    found = []
    for begin in (run, run_anew):
        begin(tmp_path, "--collect-only", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
        found.append((tmp_path / "found").read_text())
    assert found[0] == found[1]


def test_the_folder_may_have_tests_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").touch()
    (tmp_path / "tests" / "test_own.py").write_text("def test_own():\n    pass\n")
    assert run(tmp_path, "tests").returncode == 0


def test_a_run_ends_with_the_process_that_asked(tmp_path: Path) -> None:
    (tmp_path / "test_long.py").write_text(TEST)
    path = os.pathsep.join([str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])])
    # It is killed, and leaves its temporary files.
    with tempfile.TemporaryDirectory() as folder:
        variables = environment() | {"PYTHONPATH": path, "TMPDIR": folder}
        asking = psutil.Popen([sys.executable, "-c", ASKING], cwd=tmp_path, env=variables)
        becomes_true((tmp_path / "begun").exists)
        started = asking.children(recursive=True)
        assert int((tmp_path / "begun").read_text()) in [process.pid for process in started]
        asking.kill()
        asking.wait()
        assert not psutil.wait_procs(started, timeout=LONG)[1]
    assert (tmp_path / "interrupted").exists()


def test_a_copy_that_is_killed_says_so(tmp_path: Path) -> None:
    conftest = tmp_path / "conftest.py"
    conftest.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert run(tmp_path).returncode == -signal.SIGKILL
    conftest.unlink()
    assert run(tmp_path, "--version").returncode == 0


def test_the_end_of_its_time_kills_a_run(tmp_path: Path) -> None:
    (tmp_path / "test_long.py").write_text(TEST)

    def end() -> None:
        becomes_true((tmp_path / "begun").exists)
        # A signal to the process might go to this thread, which waits for nothing.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, late)
    ending = threading.Thread(target=end)
    ending.start()
    try:
        with pytest.raises(TimeoutError):
            run(tmp_path, "test_long.py")
    finally:
        ending.join()
        signal.signal(signal.SIGALRM, before)
    assert not psutil.pid_exists(int((tmp_path / "begun").read_text()))
    assert run(tmp_path, "--no-such").returncode == 4


def late(*_: object) -> None:
    raise TimeoutError
