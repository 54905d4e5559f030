"""Hosts that a tool watches, and what it finds, command by command.

The tool writes a file for each process, an error as soon as it happens. They are read whenever a host has answered:
what is new there came of the command that it answered.
"""

import os
import re
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from ..wire import LENGTH_BYTES, Reply
from .launcher import HostLostError, Launcher, NoToolError, Process
from .misuse import Misuse

#: So much is read of what a tool writes of one process. Who makes more errors than that made enough.
MOST_READ = 4 << 20


@dataclass(frozen=True, slots=True)
class Log:
    """What a tool writes: what one error looks like, and what to make of its text and of the command it came of.

    An error may be of no interest, and is None then.
    """

    error: re.Pattern[bytes]
    read: Callable[[str, str], Misuse | None]


class ToolWatch:
    """Starts the hosts that `hosts` makes of the beginning of the tool's files. Raises NoToolError."""

    def __init__(self, hosts: Callable[[str], Launcher], log: Log) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tffs-watch-")
        self._log = log
        self._hosts = hosts(f"{self._folder.name}/log")
        self._read: dict[str, int] = {}
        self._found: list[Misuse] = []
        self._cut = False
        try:
            self.start().end()
        except HostLostError as lost:
            self.close()
            raise NoToolError(str(lost)) from lost

    def start(self) -> Process:
        """A fresh host. Raises HostLostError."""
        return cast("Process", Watched(self._hosts.start(), self))

    def without_filling(self) -> "ToolWatch":
        """Itself: the tools have allocators of their own, which fill nothing."""
        return self

    def reap(self) -> None:
        """Wait until nothing is left of what was ended."""
        self._hosts.reap()

    def close(self) -> None:
        """End what runs no host, and remove what the tool wrote."""
        self._hosts.close()
        self._folder.cleanup()

    def taken(self) -> tuple[list[Misuse], bool]:
        """What was found since it was asked last, and whether there was more than is read."""
        found, cut = self._found, self._cut
        self._found, self._cut = [], False
        return found, cut

    def look(self, command: str, *, ended: bool = False) -> None:
        """Read what is new: it came of this command. Files of processes that are gone go once a host `ended`."""
        with os.scandir(self._folder.name) as listing:
            entries = list(listing)
        for entry in entries:
            gone = ended and not os.path.exists(f"/proc/{entry.name.rpartition('.')[2]}")
            size, begin = entry.stat().st_size, self._read.get(entry.name, 0)
            if begin < size and begin < MOST_READ:
                self._found += self._errors(entry, command)
                self._cut = self._cut or size > MOST_READ
            if gone:
                self._read.pop(entry.name, None)
                os.unlink(entry.path)

    def _errors(self, entry: "os.DirEntry[str]", command: str) -> Iterator[Misuse]:
        """The whole errors behind what was read of a file."""
        begin = self._read.get(entry.name, 0)
        with open(entry.path, "rb") as file:
            file.seek(begin)
            new = file.read(MOST_READ - begin)
        if begin + len(new) == MOST_READ:
            self._read[entry.name] = MOST_READ
        # What is not whole yet is read once more.
        for written in self._log.error.finditer(new):
            self._read[entry.name] = max(self._read.get(entry.name, 0), begin + written.end())
            misuse = self._log.read(written[0].decode("utf-8", "replace"), command)
            if misuse is not None:
                yield misuse


class Watched:
    """A host of which all that it does is looked at."""

    def __init__(self, process: Process, watch: ToolWatch) -> None:
        self._process = process
        self._watch = watch
        self._asked: deque[str] = deque()
        self._last = ""

    def __getattr__(self, name: str) -> Any:
        """All else is the process's own."""
        return getattr(self._process, name)

    def send(self, frame: bytes, timeout: float) -> None:
        """Hand over a frame. Raises HostSilentError, HostLostError."""
        self._last = Reply(frame, LENGTH_BYTES).take_text()
        self._asked.append(self._last)
        self._process.send(frame, timeout)

    def receive(self, timeout: float) -> Reply:
        """The next reply. Raises HostEndedError, HostSilentError, HostLostError."""
        command = self._asked.popleft()
        try:
            return self._process.receive(timeout)
        finally:
            self._watch.look(command)

    def end(self) -> str:
        """End the host and all it started. How it ended. Raises HostLostError."""
        try:
            return self._process.end()
        finally:
            self._watch.look(self._last, ended=True)
