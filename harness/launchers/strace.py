"""strace on a host that runs: what system calls an op makes, and one of them failed on purpose.

strace is attached before an op is sent and detached after it, so that what the host does to start is not seen. The
host's own calls are: of which file a call is tells whose it is.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

#: The program, and how to get it.
PROGRAM, ADVICE = "strace", "apt-get install strace"
#: Seconds in which strace is expected to be gone once it was told to let go.
DETACH_PATIENCE = 30.0
#: The calls of which strace looks at one path only when it is told of a file, or at none.
BY_NUMBER = ("rename", "link", "symlink", "msync")
#: Names are never cut; of data nothing is written.
_WORDS = ("-f", "-y", "-s", "0")
_CALL = re.compile(r"(\d+) +(\w+)\((.*)")
_OPENED = re.compile(r"= (\d+)<")
_DESCRIPTOR = re.compile(r"(\d+|AT_FDCWD)<((?:[^<>\\]|\\.)*)>")
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


class NoStraceError(Exception):
    """strace cannot be used on a host; the text says why, without a full stop."""


@dataclass(frozen=True, slots=True)
class Call:
    """One system call. `number` counts the calls of this name by its thread, from 1.

    `files` are the paths that it names, those of its descriptors included; `told` is its line in strace's words.
    """

    thread: str
    name: str
    number: int
    files: tuple[str, ...]
    told: str

    @property
    def injected(self) -> bool:
        """Whether strace failed it."""
        return self.told.endswith("(INJECTED)")

    @property
    def succeeded(self) -> bool:
        """Whether it came back, and well."""
        return " = " in self.told and " = -1 " not in self.told and " = ?" not in self.told

    @property
    def descriptor(self) -> str:
        """The number of the descriptor that it is about, or that it opened; empty for none."""
        first = _DESCRIPTOR.match(self.told.partition("(")[2])
        return self.opened or (first[1] if first else "")

    @property
    def opened(self) -> str:
        """The number of the descriptor that it opened; empty for none."""
        opened = _OPENED.search(self.told)
        return opened[1] if opened else ""

    def within(self, directory: str) -> tuple[str, ...]:
        """What it is on in a directory: paths from there on, empty for the directory itself."""
        inside = (path for path in self.files if path == directory or path.startswith(directory + "/"))
        return tuple(dict.fromkeys(path[len(directory) + 1 :] for path in inside))


@dataclass(frozen=True, slots=True)
class Injection:
    """The `number`-th call of this name, in each thread, fails with this error and is not made.

    Where there is no error, the process is killed before the call. Where there is a `file`, only calls that name it are
    counted, and seen: it cannot be one of a call of `BY_NUMBER`.
    """

    call: str
    number: int
    error: str = ""
    file: str = ""

    @property
    def words(self) -> str:
        """It in strace's words."""
        what = f"error={self.error}" if self.error else "signal=KILL"
        return f"inject={self.call}:{what}:when={self.number}"


class Strace:
    """strace on one process, as a context: attached within. `calls` has what it saw, once that is left.

    Raises NoStraceError where it cannot be attached.
    """

    def __init__(self, pid: int, names: Collection[str], injection: Injection | None = None) -> None:
        program = shutil.which(PROGRAM)
        if program is None:
            raise NoStraceError(f"{PROGRAM} is not there: {ADVICE}")
        self.calls: tuple[Call, ...] = ()
        # Not every machine has every call.
        traced = ",".join(f"?{name}" for name in sorted(names))
        self._command = [program, *_WORDS, "-p", str(pid), "-e", f"trace={traced}"]
        if injection is not None:
            self._command += ["-e", injection.words]
            self._command += ["-P", injection.file] if injection.file else []

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="tffs-strace-")
        self._log = Path(self._folder.name) / "log"
        self._process = subprocess.Popen(
            [*self._command, "-o", str(self._log)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
            # Ctrl-C reaches pytest only.
            start_new_session=True,
        )
        assert self._process.stderr is not None
        # It says so when all threads are attached.
        said = self._process.stderr.readline()
        if " attached" not in said:
            said += self._let_go()
            raise NoStraceError(said.strip().replace("\n", "; ") or f"{PROGRAM} said nothing")
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: object, _: TracebackType | None) -> None:
        self._let_go()

    def _let_go(self) -> str:
        """Detach, wait for the end of strace, and read what it wrote. What it said since it attached."""
        self._process.terminate()
        try:
            _, said = self._process.communicate(timeout=DETACH_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            _, said = self._process.communicate()
        if self._log.exists():
            self.calls = tuple(read(self._log.read_text(errors="replace")))
        self._folder.cleanup()
        return said


def read(log: str) -> list[Call]:
    """The calls in what strace wrote. The second half of one that another thread came between belongs to its first."""
    found: list[Call] = []
    counts: Counter[tuple[str, str]] = Counter()
    open_calls: dict[str, int] = {}
    mapped: dict[str, tuple[str, ...]] = {}
    for line in log.splitlines():
        call = _CALL.match(line)
        if call is None:
            thread, _, rest = line.partition(" ")
            resumed = rest.lstrip().startswith("<... ") and thread in open_calls
            if resumed:
                place = open_calls.pop(thread)
                found[place] = _with(found[place], rest.partition(" resumed>")[2])
            continue
        thread, name, told = call.groups()
        counts[thread, name] += 1
        whole = told.removesuffix(" <unfinished ...>")
        if whole != told:
            open_calls[thread] = len(found)
        found.append(_with(Call(thread, name, counts[thread, name], (), f"{name}("), whole))
        # What is mapped is known by its address later.
        addresses = _ADDRESS.findall(told)
        if name == "mmap" and addresses:
            mapped[addresses[-1]] = found[-1].files
        elif name == "msync" and addresses:
            found[-1] = replace(found[-1], files=mapped.get(addresses[0], ()))
    return found


def _with(call: Call, more: str) -> Call:
    """A call with more of its line."""
    told = call.told + more
    files = [_plain(path) for _, path in _DESCRIPTOR.findall(told)] + [_plain(path) for path in _TEXT.findall(told)]
    return replace(call, files=tuple(path for path in files if path.startswith("/")), told=told)


def _plain(path: str) -> str:
    """A path as it is, where strace escaped what is in it."""
    plain = path.encode("latin-1", "replace").decode("unicode_escape").encode("latin-1", "replace")
    return os.fsdecode(plain).removesuffix("(deleted)").rstrip()
