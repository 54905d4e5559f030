"""The ops of a filesystem as TensorFlow hands them on to its users: a `Filesystem` over a host with TensorFlow in it.

Names go to TensorFlow as they are. What its interface does not reach is absent, with the reason.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..ops.codes import Code
from ..ops.defaults import answer
from ..ops.filesystem import MemoryRegion, RandomAccessFile, WritableFile
from ..ops.guard import Guard
from ..ops.outcomes import Entries, Existence, Outcome, Source, Statistics, Status, Undeleted
from ..over_tables.files import HostRandomAccessFile, HostWritableFile
from ..over_tables.raw import RawFilesystem
from ..wire import Reply

T = TypeVar("T")
F = TypeVar("F", HostRandomAccessFile, HostWritableFile)

#: The ops that tf.io.gfile, and TensorFlow's C functions for files, perform.
REACHED = frozenset({
    "new_random_access_file", "random_access_file.cleanup", "read",
    "new_writable_file", "new_appendable_file", "writable_file.cleanup", "append", "tell", "flush", "close",
    "create_dir", "recursively_create_dir", "delete_file", "delete_dir", "delete_recursively",
    "rename_file", "copy_file", "path_exists", "paths_exist", "stat", "is_directory", "get_file_size",
    "get_children", "get_matching_paths",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing that a program of TensorFlow's users saw, and what it should have been, as texts."""

    what: str
    holds: bool
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class Performed:
    """What a program saw, as far as it came. It is `lacking` where it needs what is not there, and saw nothing."""

    lacking: bool
    seen: tuple[Seen, ...]


class TensorFlowFilesystem:
    """One scheme that TensorFlow knows. `raw` performs the ops in the host; `unimplemented` are those that only say so.

    `translated` has the URIs that ops got so far, which nobody translates before TensorFlow does.
    """

    def __init__(self, raw: RawFilesystem, guard: Guard, *, unimplemented: frozenset[str] = frozenset()) -> None:
        self.raw = raw
        self.present = REACHED - unimplemented
        self.translated: dict[str, str] = {}
        self._guard = guard

    def available(self, op: str) -> bool:
        """Whether TensorFlow's users reach `op`, and the filesystem has it."""
        return op in self.present

    def absence(self, op: str) -> str:
        """Why `op` cannot be performed."""
        return f"{op} answers UNIMPLEMENTED" if op in REACHED else f"TensorFlow's interface does not reach {op}"

    def translate(self, uri: str) -> str:
        """The same: TensorFlow translates by itself, and tells nobody."""
        return self.translated.setdefault(uri, uri)

    def translate_name(self, uri: str) -> Outcome[str | None]:
        """Nobody above TensorFlow sees it."""
        return self._absent("translate_name", None)

    # Files ------------------------------------------------------------------------------------------------------------

    def new_random_access_file(self, uri: str) -> Outcome[RandomAccessFile | None]:
        """Open for reading."""
        return self._open("new_random_access_file", uri, HostRandomAccessFile)

    def new_writable_file(self, uri: str) -> Outcome[WritableFile | None]:
        """Create, or empty what is there, and open for writing."""
        return self._open("new_writable_file", uri, HostWritableFile)

    def new_appendable_file(self, uri: str) -> Outcome[WritableFile | None]:
        """Open for writing behind what is there."""
        return self._open("new_appendable_file", uri, HostWritableFile)

    def new_read_only_memory_region_from_file(self, uri: str) -> Outcome[MemoryRegion | None]:
        """Only kernels of TensorFlow map files."""
        return self._absent("new_read_only_memory_region_from_file", None)

    # Directories and files by name ------------------------------------------------------------------------------------

    def create_dir(self, uri: str) -> Outcome[None]:
        """Create one directory."""
        return self.raw.path_op("create_dir", *self._names("create_dir", uri))

    def recursively_create_dir(self, uri: str) -> Outcome[None]:
        """Create a directory and its parents."""
        return self.raw.path_op("recursively_create_dir", *self._names("recursively_create_dir", uri))

    def delete_file(self, uri: str) -> Outcome[None]:
        """Delete one file."""
        return self.raw.path_op("delete_file", *self._names("delete_file", uri))

    def delete_dir(self, uri: str) -> Outcome[None]:
        """Delete one empty directory."""
        return self.raw.path_op("delete_dir", *self._names("delete_dir", uri))

    def delete_recursively(self, uri: str) -> Outcome[Undeleted]:
        """Delete a tree; the value counts what could not be deleted."""
        return self.raw.delete_recursively(*self._names("delete_recursively", uri))

    def rename_file(self, source: str, target: str) -> Outcome[None]:
        """Move a file over what is at the target."""
        return self.raw.path_op("rename_file", *self._names("rename_file", source, target))

    def copy_file(self, source: str, target: str) -> Outcome[None]:
        """Copy a file over what is at the target."""
        return self.raw.path_op("copy_file", *self._names("copy_file", source, target))

    # Questions --------------------------------------------------------------------------------------------------------

    def path_exists(self, uri: str) -> Outcome[None]:
        """Whether something is there, as a status."""
        return self.raw.path_op("path_exists", *self._names("path_exists", uri))

    def paths_exist(self, uris: Sequence[str], *, with_statuses: bool = True) -> Outcome[Existence]:
        """Users ask for one path after the other."""
        got = [self.path_exists(uri) for uri in uris]
        statuses = tuple(Status(one.code, one.message) for one in got)
        return answer("paths_exist", Existence(all(one.ok for one in got), statuses if with_statuses else None))

    def stat(self, uri: str) -> Outcome[Statistics]:
        """Length in bytes, modification time in nanoseconds, kind."""
        return self.raw.stat(*self._names("stat", uri))

    def is_directory(self, uri: str) -> Outcome[int]:
        """The kind, as status and as number."""
        return self.raw.number_op("is_directory", *self._names("is_directory", uri))

    def get_file_size(self, uri: str) -> Outcome[int]:
        """The length of a file in bytes, as far as TensorFlow reads the file."""
        return self.raw.number_op("get_file_size", *self._names("get_file_size", uri))

    def get_children(self, uri: str) -> Outcome[Entries]:
        """The names in a directory."""
        return self.raw.entries_op("get_children", *self._names("get_children", uri))

    def get_matching_paths(self, pattern: str) -> Outcome[Entries]:
        """The names that match a glob."""
        return self.raw.entries_op("get_matching_paths", pattern)

    def flush_caches(self) -> Outcome[None]:
        """Users have no way to ask for it."""
        return self._absent("flush_caches", None)

    # Programs ---------------------------------------------------------------------------------------------------------

    def perform(self, program: str, uri: str, *arguments: str) -> Outcome[Performed]:
        """A program of user_programs.py, in a directory that is there and empty; in local files, where `uri` is empty.

        The code is that of the error of TensorFlow that ended it, UNKNOWN for another exception.
        """
        if uri:
            # A program may do there what it likes.
            self._guard.admit("delete_recursively", [uri], [uri])
        sent = [os.fsencode(text) for text in (program, uri, *arguments)]
        return self.raw.perform("perform", sent, _performed, Performed(lacking=True, seen=()))

    # How ops are performed --------------------------------------------------------------------------------------------

    def _names(self, op: str, *uris: str) -> Sequence[str]:
        names = [self.translate(uri) for uri in uris]
        self._guard.admit(op, uris, names)
        return names

    def _open(self, op: str, uri: str, wrapper: Callable[[RawFilesystem, int], F]) -> Outcome[F | None]:
        got = self.raw.open(op, *self._names(op, uri))
        value = wrapper(self.raw, got.value) if got.value else None
        return Outcome(op, got.code, got.message, value, got.watch, got.source)

    def _absent(self, op: str, empty: T) -> Outcome[T]:
        return Outcome(op, Code.UNIMPLEMENTED, self.absence(op), empty, source=Source.ABSENT)


def _performed(reply: Reply) -> Performed:
    return Performed(bool(reply.take_number()), tuple(Seen(*one) for one in json.loads(reply.take_bytes())))
