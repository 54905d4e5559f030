"""pytest in a process that is a copy of the fork server, and that ends as if interrupted when its worker is gone.

So no run goes on for nobody, and each removes what it made.
"""

import os
import signal
import socket
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest


class Collected:
    """Counts what pytest collected: None until it has."""

    count: int | None = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count what is left of it."""
        self.count = len(session.items)


def perform(arguments: Sequence[str], folder: Path, printed: Path, worker: socket.socket) -> int:
    """Run pytest in a folder, what it prints into a file; its exit code, and NO_TESTS_COLLECTED where it had no case.

    A person who asks for no case made a mistake, and so the suite says. Whoever asks for a shard cannot know.
    """
    # A shell that starts a campaign in the background has its children ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_end_with, args=(worker,), daemon=True).start()
    os.chdir(folder)
    _redirect(printed)
    collected = Collected()
    code = pytest.main(list(arguments), plugins=[collected])
    nothing = code == pytest.ExitCode.USAGE_ERROR and collected.count == 0
    return pytest.ExitCode.NO_TESTS_COLLECTED if nothing else int(code)


def _end_with(worker: socket.socket) -> None:
    """Wait for the end of the connection. The worker is no parent of this process, so no signal tells of its end."""
    if not worker.recv(1):
        # Only the main thread acts on it. In a call, a signal to another thread would not wake it.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _redirect(printed: Path) -> None:
    with Path(os.devnull).open("rb") as nothing, printed.open("wb") as out:
        os.dup2(nothing.fileno(), 0)
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
