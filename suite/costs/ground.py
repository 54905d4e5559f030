"""The ground on which work is measured: files, directories and depths of growing size, made through the plugin."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...harness.hosting.loader import BlockedError, Loaded
from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.guard import Guard
from ...harness.ops.outcomes import Outcome
from ...harness.over_tables import programs
from ...harness.over_tables.programs import Program, Spent
from ...harness.over_tables.raw import Call
from ..engine.workbench import HostedFilesystem, Workbench

#: Bytes of one append.
PIECE = 1 << 20
#: So many threads make entries at the same time: a slow storage makes more of them in its time.
MAKERS = 8


#: What takes time to be made.
FILES, ENTRIES = "files", "entries"


class UnmeasuredError(Exception):
    """Work could not be done; the text says why."""


class _NoTrace(list[Call]):
    """Remembers no call: there are too many."""

    def append(self, call: Call) -> None:
        """Forget it."""


class Ground:
    """A host of one target with a directory in it. What is made stays, so that several kinds of work can use it.

    `making` is how many seconds it may take to make the files, and to make the entries of directories: who needs what
    is not there by then raises UnmeasuredError.
    """

    def __init__(self, bench: Workbench, name: str, making: float) -> None:
        self.allow(making)
        self.bench = bench
        self.uri = bench.directory(name)
        bench.make_root()
        self.loaded: Loaded = bench.load(name)
        self.fs: HostedFilesystem = bench.filesystem(self.loaded, Guard(self.uri), _NoTrace())
        self.raw = self.fs.raw
        made = bench.make(self.fs, self.uri)
        if not made.ok and "create_dir" not in bench.claims.ops_given_up:
            raise BlockedError("create_dir", f"{made.code} {made.message}")
        self._made: dict[str, bool] = {}
        self._entries: dict[str, int] = {}
        self._handles: dict[str, int] = {}

    def allow(self, making: float) -> None:
        """From now on making may take so many seconds, whatever it took before."""
        self._making = {FILES: making, ENTRIES: making}

    def close(self) -> None:
        """Remove what was made."""
        self.bench.release(self.loaded)
        self.bench.remove(self.uri)

    def has(self, *ops: str) -> bool:
        """Whether the plugin's tables have all of these ops."""
        return all(op in self.fs.present for op in ops)

    def at(self, name: str) -> str:
        """The path for an op of a name in the directory."""
        return self.fs.translate(paths.join(self.uri, name))

    def perform(self, some: Sequence[Program], rounds: int = 1) -> list[list[Spent]]:
        """Perform programs and hold their answers to be OK. Raises UnmeasuredError."""
        went = programs.measure(self.raw, some, rounds)
        for one in (one for thread in went for one in thread):
            if one.code is not Code.OK:
                raise UnmeasuredError(
                    f"{one.op} answers {one.code}" if one.code is not None else f"there is no {one.op}"
                )
        return went

    def try_all(self, program: Program) -> list[Spent]:
        """Perform a program once, whatever it answers; without what was not performed."""
        (went,) = programs.measure(self.raw, [program])
        return [one for one in went if one.code is not None]

    def program(self) -> Program:
        """A program without an op."""
        return Program(self.raw)

    def file(self, name: str, size: int) -> str:
        """The path of a file of so many bytes."""
        if name not in self._made:
            if self.bench.seeds(self.fs, "new_writable_file"):
                self.bench.backing.write(f"{paths.basename(self.uri)}/{name}", bytes(size))
            else:
                with self._in_time(FILES, f"a file of {size:,} bytes was"):
                    self._write_piecewise(self.at(name), size)
            self._made[name] = True
        return self.at(name)

    @contextmanager
    def _in_time(self, kind: str, what: str) -> Iterator[None]:
        """Make something on the time for making. Raises UnmeasuredError where there is none any more."""
        if self._making[kind] <= 0:
            raise UnmeasuredError(f"{what} not made: the time was spent")
        began = time.monotonic()
        try:
            yield
        finally:
            self._making[kind] -= time.monotonic() - began

    def _write_piecewise(self, path: str, size: int) -> None:
        """Write a file with one call after the other, so that each of them has the time of a call."""
        opened = self.raw.open("new_writable_file", path)
        outcomes: list[Outcome[Any]] = [opened]
        for begin in range(0, size, PIECE) if opened.value else ():
            outcomes.append(self.raw.append(opened.value, bytes(min(PIECE, size - begin))))
        if opened.value:
            outcomes += [self.raw.handle_op("close", opened.value)] * self.has("close")
            outcomes.append(self.raw.handle_op("writable_file.cleanup", opened.value))
        if wrong := next((one for one in outcomes if not one.ok), None):
            raise UnmeasuredError(f"{wrong.op} answers {wrong.code}")

    def write(self, program: Program, path: str, size: int) -> None:
        """Add the ops that write a file of so many bytes."""
        handle = program.open("new_writable_file", path).value
        for begin in range(0, size, PIECE):
            program.append(handle, bytes(min(PIECE, size - begin)))
        if self.has("close"):
            program.handle_op("close", handle)
        program.handle_op("writable_file.cleanup", handle)

    def directory(self, name: str) -> str:
        """The path of a directory."""
        if name not in self._made:
            if self.bench.seeds(self.fs, "create_dir"):
                self.bench.backing.make_directory(f"{paths.basename(self.uri)}/{name}")
            elif "create_dir" not in self.bench.claims.ops_given_up:
                program = self.program()
                program.path_op("create_dir", self.at(name))
                self.perform([program])
            self._made[name] = True
        return self.at(name)

    def entries(self, count: int) -> str:
        """The path of a directory with so many files. Raises UnmeasuredError."""
        return self.fill(f"entries-{count}", count)

    def fill(self, name: str, count: int, makers: int = MAKERS) -> str:
        """The path of the directory of this name, with so many files in it. Raises UnmeasuredError."""
        path = self.directory(name)
        step = MAKERS
        while (have := self._entries.get(name, 0)) < count:
            began = time.monotonic()
            with self._in_time(ENTRIES, f"{count - have:,} of {count:,} entries were"):
                self._make(name, range(have, min(count, have + step)), makers)
            self._entries[name] = min(count, have + step)
            if time.monotonic() - began < 0.1:
                step *= 2
        return path

    def _make(self, directory: str, numbers: range, threads: int) -> None:
        if self.bench.seeds(self.fs, "new_writable_file"):
            for number in numbers:
                self.bench.backing.write(f"{paths.basename(self.uri)}/{directory}/{entry(number)}", b"")
            return
        makers = []
        for thread in range(min(threads, len(numbers))):
            makers.append(self.program())
            for number in numbers[thread::threads]:
                self.write(makers[-1], self.at(f"{directory}/{entry(number)}"), 0)
        self.perform(makers)

    def deep(self, levels: int) -> str:
        """The path of a directory so many levels below the ground."""
        *_, last = self._levels(levels)
        return self.at(last)

    def _levels(self, levels: int) -> Iterator[str]:
        for depth in range(1, levels + 1):
            name = "/".join(["deep"] * depth)
            self.directory(name)
            yield name

    def reader(self, name: str, size: int) -> int:
        """The handle of a file of so many bytes that stays open."""
        if name not in self._handles:
            path = self.file(name, size)
            opened = self.raw.open("new_random_access_file", path)
            if not opened.value:
                raise UnmeasuredError(f"new_random_access_file answers {opened.code}")
            self._handles[name] = opened.value
        return self._handles[name]

    def region(self, name: str, size: int) -> int:
        """The handle of a region that stays open."""
        key = f"region {name}"
        if key not in self._handles:
            opened = self.raw.open("new_read_only_memory_region_from_file", self.file(name, size))
            if not opened.value:
                raise UnmeasuredError(f"new_read_only_memory_region_from_file answers {opened.code}")
            self._handles[key] = opened.value
        return self._handles[key]


def entry(number: int) -> str:
    """The name of one of many."""
    return f"entry-{number:06}"
