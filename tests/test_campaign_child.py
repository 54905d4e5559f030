"""The process of a task ends with its worker, also where interrupts are ignored, and removes what it made."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.test_suite import environment

#: A worker that starts a task and is killed while that runs.
WORKER = """
import os, pathlib, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
begun = pathlib.Path("begun")
child = [sys.executable, "-m", "tffs_conformance.campaign.child", str(os.getpid())]
subprocess.Popen([*child, "test_long.py"])
while not begun.exists():
    time.sleep(0.02)
os.kill(os.getpid(), signal.SIGKILL)
"""
TEST = """
import pathlib, time
def test_long():
    try:
        pathlib.Path("begun").touch()
        time.sleep(300)
    finally:
        pathlib.Path("removed").touch()
"""


def test_a_task_ends_with_its_worker(tmp_path: Path) -> None:
    (tmp_path / "test_long.py").write_text(TEST)
    # Its output ends when nobody is left to write it.
    done = subprocess.run(
        [sys.executable, "-c", WORKER], cwd=tmp_path, env=environment(), capture_output=True, timeout=120, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "removed").exists()
    assert b"KeyboardInterrupt" in done.stdout


def test_a_task_whose_worker_is_gone_does_not_begin(tmp_path: Path) -> None:
    (tmp_path / "test_long.py").write_text(TEST)
    done = subprocess.run(
        [sys.executable, "-m", "tffs_conformance.campaign.child", "1", "test_long.py"],
        cwd=tmp_path, env=environment(), capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert not (tmp_path / "begun").exists()
