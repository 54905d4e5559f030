"""`python -m tffs_conformance.campaign.fork_server`: has imported what a run of pytest needs, and forks for each run.

A copy of it takes a third of the time of a new Python. A worker cannot be copied: its other threads hold locks. The
workers of a cluster on one machine share a fork server, which they find by a variable. Any other worker has its own.
"""

import functools
import gc
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

#: Says where the fork server listens that workers share.
VARIABLE = "TFFS_CAMPAIGN_FORK_SERVER"
#: Seconds after which the fork server of one worker ends when it was not asked: the worker may be there for weeks.
IDLE = 20.0
_OWN = threading.Lock()


class Gone(Exception):
    """The fork server cannot be reached, or a copy of it ended without an exit code. The text is one sentence."""


class Asked(Struct, frozen=True):
    """A run of pytest in a folder; what it prints goes into the file `printed`."""

    arguments: Sequence[str]
    folder: str
    printed: str


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


def run(asked: Asked, seconds: float) -> int:
    """Run pytest; its exit code. Raises TimeoutError after so many seconds, when the run was killed, and Gone."""
    address = os.environ.get(VARIABLE) or _of_this_worker()
    with socket.socket(socket.AF_UNIX) as copy:
        try:
            copy.connect(address)
            copy.sendall(msgspec.json.encode(asked) + b"\n")
            answers = copy.makefile("rb")
            process = answers.readline()
            copy.settimeout(seconds)
            code = answers.readline()
        except TimeoutError:
            # It may have ended in this very moment.
            with suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
            raise
        except OSError as error:
            raise Gone(f"the process that starts runs is gone: {error}") from error
    if not code:
        raise Gone("the run was killed")
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
            [sys.executable, "-m", __name__, str(listener.fileno()), *([] if idle is None else [str(idle)])],
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
    from . import child  # noqa: PLC0415

    preload()
    # An interrupt from a terminal is for the driver. Copies that end are waited for by nobody.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while listener in select.select([listener, sys.stdin], [], [], idle)[0]:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            with connection:
                asked = msgspec.json.decode(connection.makefile("rb").readline(), type=Asked)
                connection.sendall(b"%d\n" % os.getpid())
                code = child.perform(asked.arguments, Path(asked.folder), Path(asked.printed), connection)
                sys.stdout.flush()
                connection.sendall(b"%d\n" % code)
            return
        connection.close()
    shutil.rmtree(Path(listener.getsockname()).parent, ignore_errors=True)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), *map(float, sys.argv[2:]))
