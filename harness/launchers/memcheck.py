"""Hosts under valgrind's memcheck, and what it finds, command by command.

memcheck writes a file for each process, an error as soon as it happens. They are read whenever a host has answered:
what is new there came of the command that it answered.
"""

import itertools
import os
import re
import shutil
import tempfile
import xml.etree.ElementTree as ET
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..native import RUNTIME_NAME, native_directory
from ..wire import LENGTH_BYTES, Reply
from .command import Command
from .launcher import HostLostError, LocalFacts, Process

#: The program, and how to get it.
PROGRAM, ADVICE = "valgrind", "apt-get install valgrind"
#: A call may take so many times as long as elsewhere.
SLOWER = 20
#: What a command does is told by its process, and by those that it forks.
_WORDS = ("-q", "--xml=yes", "--child-silent-after-fork=no", "--num-callers=40")
#: What the system has. What lies elsewhere, a plugin brought.
_SYSTEM = ("/lib/", "/lib32/", "/lib64/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/usr/libexec/valgrind/")
#: What does as it is told: an error in one of these is its caller's.
_OBEYS = re.compile(
    r"(?:libc|libm|libpthread|libdl|librt|libstdc\+\+|libc\+\+(?:abi)?|libgcc_s|ld-linux[-\w]*|vgpreload_\w+[-\w]*|"
    rf"{re.escape(RUNTIME_NAME.partition('.')[0])})[.-].*"
)
_ERROR = re.compile(rb"<error>.*?</error>", re.DOTALL)
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


class NoMemcheckError(Exception):
    """There is no memcheck here; the text says why, without a full stop."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a stack: the path of the object, the function where that is known, and `file:line` likewise."""

    object: str
    function: str
    place: str

    def __str__(self) -> str:
        where = self.place or Path(self.object).name or "?"
        return f"{self.function or '?'} ({where})"


@dataclass(frozen=True, slots=True)
class Misuse:
    """One error of memcheck. `stacks` has a title and frames, innermost first: where it is, then what it is about."""

    command: str
    kind: str
    stacks: tuple[tuple[str, tuple[Frame, ...]], ...]

    def culprit(self, plugin: Path) -> Frame | None:
        """The innermost frame of the plugin, or of a library that it brought, where the error is its own.

        What lies in the host is ours, and what lies in a library of the system is nobody's.
        """
        brought = {str(plugin), os.path.realpath(plugin)}
        for frame in self.stacks[0][1]:
            if frame.object in brought:
                return frame
            if frame.object == str(_host()):
                return None
            if _OBEYS.fullmatch(Path(frame.object).name) or not frame.object:
                continue
            return None if frame.object.startswith(_SYSTEM) else frame
        return None

    def same(self) -> tuple[object, ...]:
        """What two errors of one cause have in common."""
        return self.kind, self.stacks[0][1]

    def told(self, culprit: Frame) -> str:
        """The error in a few words, the same in each run: what it is, and where in the plugin."""
        return f"{self.stacks[0][0]} in {culprit.function or Path(culprit.object).name}"

    def __str__(self) -> str:
        lines = []
        for title, frames in self.stacks:
            # How the host came to call the plugin is nobody's business.
            own = itertools.takewhile(lambda frame: frame.object != str(_host()), frames)
            lines += [f"{title}:", *(f"    {frame}" for frame in own)]
        return "\n".join(lines)


class Memcheck:
    """Starts hosts of this machine under memcheck; `environment` is set for them. Raises NoMemcheckError."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        program = shutil.which(PROGRAM)
        if program is None:
            raise NoMemcheckError(f"{PROGRAM} is not there: {ADVICE}")
        self._folder = tempfile.TemporaryDirectory(prefix="tffs-memcheck-")
        told = (program, *_WORDS, f"--xml-file={self._folder.name}/%p", str(_host()))
        self._hosts = Command(told, environment)
        self._read: dict[str, int] = {}
        self._found: list[Misuse] = []
        try:
            self.start().end()
        except HostLostError as lost:
            self.close()
            raise NoMemcheckError(str(lost)) from lost

    def start(self) -> "Watched":
        """A fresh host. Raises HostLostError."""
        return Watched(self._hosts.start(), self)

    def without_filling(self) -> "Memcheck":
        """Itself: memcheck has an allocator of its own, which fills nothing."""
        return self

    def reap(self) -> None:
        """Nothing to wait for."""

    def close(self) -> None:
        """End what runs no host, and remove what memcheck wrote."""
        self._hosts.close()
        self._folder.cleanup()

    def taken(self) -> list[Misuse]:
        """What was found since it was asked last."""
        found, self._found = self._found, []
        return found

    def look(self, command: str, *, ended: bool = False) -> None:
        """Read what is new: it came of this command. Files of processes that are gone go once a host `ended`."""
        with os.scandir(self._folder.name) as listing:
            entries = list(listing)
        for entry in entries:
            gone = ended and not os.path.exists(f"/proc/{entry.name}")
            if entry.stat().st_size > self._read.get(entry.name, 0):
                self._found += self._errors(entry, command)
            if gone:
                self._read.pop(entry.name, None)
                os.unlink(entry.path)

    def _errors(self, entry: "os.DirEntry[str]", command: str) -> Iterator[Misuse]:
        """The whole errors behind what was read of a file."""
        begin = self._read.get(entry.name, 0)
        with open(entry.path, "rb") as file:
            file.seek(begin)
            new = file.read()
        # What is not whole yet is read once more.
        for written in _ERROR.finditer(new):
            self._read[entry.name] = begin + written.end()
            error = ET.fromstring(_UNREADABLE.sub(" ", written[0].decode("utf-8", "replace")))
            # What is left at the end of a process is looked for wherever a file is written, and may be there by right.
            if not (error.findtext("kind") or "").startswith("Leak_"):
                yield _misuse(error, command)


class Watched:
    """A host of which all that it does is looked at."""

    def __init__(self, process: Process, memcheck: Memcheck) -> None:
        self._process = process
        self._memcheck = memcheck
        self._asked: deque[str] = deque()
        self._last = ""

    @property
    def alive(self) -> bool:
        """Whether `end` was not called yet."""
        return self._process.alive

    @property
    def output(self) -> str:
        """What the host printed so far."""
        return self._process.output

    @property
    def facts(self) -> LocalFacts | None:
        """What a launcher behind a command does not know."""
        return self._process.facts

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
            self._memcheck.look(command)

    def abort(self) -> None:
        """SIGABRT, and some time for a backtrace."""
        self._process.abort()

    def wait(self, seconds: float) -> bool:
        """Whether the host ended by itself in so many seconds."""
        return self._process.wait(seconds)

    def end(self) -> str:
        """End the host and all it started. How it ended. Raises HostLostError."""
        try:
            return self._process.end()
        finally:
            self._memcheck.look(self._last, ended=True)


def _host() -> Path:
    return native_directory() / "tffs-host"


def _misuse(error: ET.Element, command: str) -> Misuse:
    """An error as memcheck writes it: titles, each in front of the stack that it is about."""
    stacks: list[tuple[str, tuple[Frame, ...]]] = []
    title = ""
    for part in error:
        if part.tag in ("what", "auxwhat"):
            title = _ADDRESS.sub("…", part.text or "").strip()
        elif part.tag in ("xwhat", "xauxwhat"):
            title = _ADDRESS.sub("…", part.findtext("text") or "").strip()
        elif part.tag == "stack":
            stacks.append((title, tuple(map(_frame, part))))
    return Misuse(command, error.findtext("kind") or "", tuple(stacks) or ((title, ()),))


def _frame(frame: ET.Element) -> Frame:
    file, line = frame.findtext("file"), frame.findtext("line")
    return Frame(
        frame.findtext("obj") or "", frame.findtext("fn") or "", f"{file}:{line}" if file and line else file or ""
    )


def of_plugin(found: Sequence[Misuse], plugin: Path) -> list[tuple[Misuse, Frame]]:
    """What is the plugin's own, each stack once, with the frame to blame."""
    first: dict[tuple[object, ...], tuple[Misuse, Frame]] = {}
    for misuse in found:
        culprit = misuse.culprit(plugin)
        if culprit is not None:
            first.setdefault(misuse.same(), (misuse, culprit))
    return list(first.values())
