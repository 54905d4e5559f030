"""`python -m tffs_conformance.campaign.fork_server`: has imported what a run of pytest needs, and forks for each run.

A copy of it takes a third of the time of a new Python. A worker cannot be copied: its other threads hold locks. The
workers of a cluster on one machine share a fork server, which they find by a variable. Any other worker has its own,
and so have our tests.

What a run is told and tells is that of a new Python. Python's own variables act when Python starts, and what was
imported stays imported: who depends on either needs a new Python.
"""

import atexit
import functools
import gc
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import msgspec
import pytest
from msgspec import Struct

#: Says where the fork server listens that workers share.
VARIABLE = "TFFS_CAMPAIGN_FORK_SERVER"
#: Seconds after which the fork server of one worker ends when it was not asked: the worker may be there for weeks.
IDLE = 20.0
_OWN = threading.Lock()


class ForkServerGoneError(Exception):
    """The fork server cannot be reached, or ended before the run. The text is one sentence."""


class Asked(Struct, frozen=True):
    """A run of pytest in a folder; what it prints goes to the end of the file `printed`.

    `errors` is another file for standard error, and `environment` another than that of the fork server.
    """

    arguments: Sequence[str]
    folder: str
    printed: str
    errors: str | None = None
    environment: Mapping[str, str] | None = None


# Who asks ------------------------------------------------------------------------------------------------------------


@contextmanager
def shared() -> Iterator[None]:
    """A fork server for all workers that this process starts meanwhile."""
    address, process = _start(None)
    os.environ[VARIABLE] = address
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        process.communicate()


def run(asked: Asked, seconds: float | None = None) -> int:
    """Run pytest; its exit code, as `subprocess` has them.

    Raises TimeoutError after so many seconds, and ForkServerGoneError. A run that is not waited for any more is killed.
    """
    address = os.environ.get(VARIABLE) or _of_this_worker()
    process = code = b""
    with socket.socket(socket.AF_UNIX) as server, server.makefile("rb") as answers:
        try:
            server.connect(address)
            server.sendall(msgspec.json.encode(asked) + b"\n")
            process = answers.readline()
            server.settimeout(seconds)
            code = answers.readline()
        except TimeoutError:
            raise
        except OSError as error:
            raise ForkServerGoneError(f"the process that starts runs is gone: {error}") from error
        finally:
            if process and not code:
                # It may have ended in this very moment.
                with suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)
    if not code:
        raise ForkServerGoneError("the process that starts runs is gone")
    return int(code)


def _of_this_worker() -> str:
    """Where the fork server of this worker alone listens. It is started if there is none, or no more."""
    with _OWN:
        if _own()[1].poll() is not None:
            _own.cache_clear()
        return _own()[0]


@functools.cache
def _own() -> tuple[str, "subprocess.Popen[bytes]"]:
    return _start(IDLE)


@atexit.register
def _end() -> None:
    if _own.cache_info().currsize:
        _own()[1].communicate()


def _start(idle: float | None) -> tuple[str, "subprocess.Popen[bytes]"]:
    """Where a new fork server listens, and its process.

    It ends when this process is gone or closes its input, and when it was not asked for `idle` seconds.
    """
    # Nobody else on the machine may ask it for anything.
    address = Path(tempfile.mkdtemp(prefix="tffs-campaign-")) / "fork_server"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen(128)
        process = subprocess.Popen(
            # A run must not find what is in this folder.
            [sys.executable, "-P", "-m", __name__, str(listener.fileno()), *([] if idle is None else [str(idle)])],
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
        )
    return str(address), process


# The process ---------------------------------------------------------------------------------------------------------


def preload() -> None:
    """Import and read what each run needs first, so that copies have it."""
    import fsspec  # noqa: F401, PLC0415
    from _pytest.config import get_config  # noqa: PLC0415

    from ..run import controller, session  # noqa: F401, PLC0415
    from ..suite.contract.catalogue import catalogue  # noqa: PLC0415
    from ..suite.engine import collect  # noqa: PLC0415

    # Imports pytest's own plugins.
    get_config()
    catalogue()
    collect.cases()
    # A copy's collector of garbage need not look at what was there before.
    gc.freeze()


def main(listener: socket.socket, idle: float | None = None) -> None:
    """Fork for all who ask, until nobody did for `idle` seconds, or whoever started this process is gone."""
    preload()
    # An interrupt from a terminal is for the driver.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The process of each run, and who asked for it, by what becomes readable when it ends.
    running: dict[int, tuple[int, socket.socket]] = {}
    while ready := select.select([listener, sys.stdin, *running], [], [], None if running else idle)[0]:
        for end in running.keys() & ready:
            os.close(end)
            copy, asking = running.pop(end)
            _tell(asking, os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]))
            asking.close()
        if listener in ready:
            asking, _ = listener.accept()
            if (copy := os.fork()) == 0:
                listener.close()
                _perform(asking)
            running[os.pidfd_open(copy)] = copy, asking
            _tell(asking, copy)
        elif sys.stdin in ready:
            break
    shutil.rmtree(Path(listener.getsockname()).parent, ignore_errors=True)


def _tell(asking: socket.socket, number: int) -> None:
    # Nobody may be there any more.
    with suppress(OSError):
        asking.sendall(b"%d\n" % number)


def _perform(asking: socket.socket) -> NoReturn:
    """What a new Python would do, that ends as if interrupted when whoever asks is gone, and removes what it made."""
    asked = msgspec.json.decode(asking.makefile("rb").readline(), type=Asked)
    # A shell that starts a campaign in the background has its children ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_end_with, args=(asking,), daemon=True).start()
    if asked.environment is not None:
        os.environ.clear()
        os.environ.update(asked.environment)
    os.chdir(asked.folder)
    for number, path in enumerate([os.devnull, asked.printed, asked.errors or asked.printed]):
        with Path(path).open("ab" if number else "rb") as opened:
            os.dup2(opened.fileno(), number)
    sys.argv = ["-c", *asked.arguments]
    random.seed()
    sys.exit(pytest.main())


def _end_with(asking: socket.socket) -> None:
    """Wait for the end of the connection. Who asks is no parent of this process, so no signal tells of its end."""
    if not asking.recv(1):
        # Only the main thread acts on it. In a call, a signal to another thread would not wake it.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), *map(float, sys.argv[2:]))
