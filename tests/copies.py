"""Runs of pytest in copies of a process that has imported what each needs: a third of the time of a new Python.

A copy does what a new Python would. Python's own variables, but for PYTHONPATH, act when Python starts, and what was
imported stays imported: a test that depends on either needs a new Python.
"""

import atexit
import multiprocessing
import os
import random
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from multiprocessing.connection import wait
from pathlib import Path

import pytest

from tests.pages import PROJECT

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["tests.preloaded"])


def run(arguments: Sequence[str], folder: Path, environment: Mapping[str, str], out: str, err: str) -> int:
    """Run pytest in a folder, its output into two files; its exit code, as `subprocess` has them.

    A run that is no longer waited for is killed.
    """
    copy = _SERVER.Process(target=_perform, args=(arguments, folder, environment, out, err))
    with pytest.MonkeyPatch.context() as patch:
        # The server may start now, and it has to find what it imports first from any folder.
        patch.setenv("PYTHONPATH", str(PROJECT), prepend=os.pathsep)
        copy.start()
    try:
        copy.join()
    finally:
        copy.kill()
        copy.join()
    assert copy.exitcode is not None
    return copy.exitcode


def _perform(arguments: Sequence[str], folder: Path, environment: Mapping[str, str], out: str, err: str) -> None:
    # Only the process that is copied has imported it.
    from tests.preloaded import PATH  # noqa: PLC0415

    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, path in enumerate([os.devnull, out, err]):
        with Path(path).open("ab" if number else "rb") as opened:
            os.dup2(opened.fileno(), number)
    sys.path[:] = [*filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)), *PATH]
    sys.argv = ["-c", *arguments]
    # The folder may have a package of this name.
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    random.seed()
    try:
        sys.exit(pytest.main())
    finally:
        # A process of multiprocessing ends without what was registered for its end.
        atexit._run_exitfuncs()


def _end_with_parent() -> None:
    """Wait for the end of the process that asked, and interrupt the run. No signal tells of it: it is no parent."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    # Only the main thread acts on it. In a call, a signal to another thread would not wake it.
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
