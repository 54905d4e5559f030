"""A filesystem that can lose its power, mounted in a directory for a while."""

import base64
import importlib.util
import os
import select
import shutil
import subprocess
import sys
import time
from types import TracebackType
from typing import Self

import msgspec

from ..launchers.command import end
from .disk import Event

#: What it takes, and how to get it.
DEVICE, PROGRAM, BINDING = "/dev/fuse", "fusermount3", "mfusepy"
#: Seconds in which a filesystem of a few files is expected to be mounted, or to answer.
PATIENCE = 30.0


class NoPowerError(Exception):
    """No filesystem can be mounted here; the text says why, without a full stop."""


def lacking() -> str | None:
    """What is not there, and how to get it; None where all is."""
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return f"{DEVICE} is not there: modprobe fuse; docker run --device {DEVICE} --cap-add SYS_ADMIN"
    if shutil.which(PROGRAM) is None:
        return f"{PROGRAM} is not there: apt-get install fuse3"
    if importlib.util.find_spec(BINDING) is None:
        return f"{BINDING} is not there: pip install 'tffs-conformance[power]'"
    return None


class Mounted:
    """A filesystem in this directory, which is empty; as a context. Raises NoPowerError where there is none."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def __enter__(self) -> Self:
        lacks = lacking()
        if lacks is not None:
            raise NoPowerError(lacks)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", f"{__package__}.server", self._directory],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            # The binding takes the second one first where both are there.
            env={**os.environ, "FUSE_LIBRARY_NAME": "fuse3"},
            # Ctrl-C reaches pytest only; this one ends with its input.
            start_new_session=True,
        )
        try:
            self._line()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: object, _: TracebackType | None) -> None:
        self._end()

    def mark(self) -> int:
        """How much has happened so far."""
        return int(self._ask("mark"))

    def settle(self) -> int:
        """All that is there becomes durable; how much has happened then."""
        return int(self._ask("settle"))

    def events(self) -> list[Event]:
        """All that happened."""
        return msgspec.msgpack.decode(base64.b64decode(self._ask("events")), type=list[Event])

    def _ask(self, question: str) -> bytes:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{question}\n".encode())
        except BrokenPipeError as gone:
            raise NoPowerError("the filesystem is gone") from gone
        return self._line()

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        until, line = time.monotonic() + PATIENCE, b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self._process.stdout], [], [], max(0, until - time.monotonic()))
            more = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                raise NoPowerError(self._said() or "the filesystem does not answer")
            line += more
        return line

    def _said(self) -> str:
        """What the process said when it ended: a line of FUSE's own, or the last one."""
        self._process.kill()
        _, said = self._process.communicate()
        lines = said.decode(errors="replace").strip().splitlines()
        return next((line for line in lines if line.startswith("fuse")), lines[-1] if lines else "")

    def _end(self) -> None:
        """End the process, which unmounts; where it was not able to, unmount here."""
        end(self._process, PATIENCE)
        # Of a mount that nobody serves any more os.path.ismount does not know.
        if shutil.which(PROGRAM) is not None:
            subprocess.run([PROGRAM, "-u", "-z", self._directory], check=False, stderr=subprocess.DEVNULL)
