"""The ops of a filesystem in a host, by URI: names are translated, the guard is asked, and the host performs them."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from ..ops.codes import Code
from ..ops.filesystem import Filesystem, MemoryRegion, RandomAccessFile, WritableFile
from ..ops.guard import Guard
from ..ops.outcomes import Entries, Existence, Outcome, Source, Statistics, Undeleted
from .files import HostMemoryRegion, HostRandomAccessFile, HostWritableFile
from .raw import RawFilesystem

T = TypeVar("T")
H = TypeVar("H", HostRandomAccessFile, HostWritableFile, HostMemoryRegion)


class HostedOps(Filesystem):
    """What every filesystem in a host does. `raw` performs ops without translation or guard.

    The host calls the ops in `asked`, of which those in `present` are known to do more than to refuse.
    """

    def __init__(self, raw: RawFilesystem, present: frozenset[str], asked: frozenset[str], guard: Guard) -> None:
        self.raw = raw
        self.present = present
        self._asked = asked
        self.translated = {}
        self._guard = guard

    # Files -----------------------------------------------------------------------------------------------------------

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
        """Map a file."""
        return self._open("new_read_only_memory_region_from_file", uri, HostMemoryRegion)

    # Directories and files by name -----------------------------------------------------------------------------------

    def create_dir(self, uri: str) -> Outcome[None]:
        """Create one directory."""
        return self._by_path("create_dir", uri)

    def recursively_create_dir(self, uri: str) -> Outcome[None]:
        """Create a directory and its parents."""
        return self._by_path("recursively_create_dir", uri)

    def delete_file(self, uri: str) -> Outcome[None]:
        """Delete one file."""
        return self._by_path("delete_file", uri)

    def delete_dir(self, uri: str) -> Outcome[None]:
        """Delete one empty directory."""
        return self._by_path("delete_dir", uri)

    def delete_recursively(self, uri: str) -> Outcome[Undeleted]:
        """Delete a tree; the value counts what could not be deleted."""
        return self._perform(
            "delete_recursively", lambda _, path: self.raw.delete_recursively(path), Undeleted(0, 0), uri
        )

    def rename_file(self, source: str, target: str) -> Outcome[None]:
        """Move a file over what is at the target."""
        return self._by_path("rename_file", source, target)

    def copy_file(self, source: str, target: str) -> Outcome[None]:
        """Copy a file over what is at the target."""
        return self._by_path("copy_file", source, target)

    # Questions -------------------------------------------------------------------------------------------------------

    def path_exists(self, uri: str) -> Outcome[None]:
        """Whether something is there, as a status."""
        return self._by_path("path_exists", uri)

    def paths_exist(self, uris: Sequence[str], *, with_statuses: bool = True) -> Outcome[Existence]:
        """Whether all paths exist; with statuses, what is wrong with each."""
        if "paths_exist" in self._asked:
            return self.raw.paths_exist([self.translate(uri) for uri in uris], with_statuses)
        return self._instead("paths_exist", Existence(False, None), uris, with_statuses)

    def stat(self, uri: str) -> Outcome[Statistics]:
        """Length in bytes, modification time in nanoseconds, kind."""
        return self._perform("stat", lambda _, path: self.raw.stat(path), Statistics(0, 0, 0), uri)

    def is_directory(self, uri: str) -> Outcome[int]:
        """The kind, as status and as number."""
        return self._perform("is_directory", self.raw.number_op, 0, uri)

    def get_file_size(self, uri: str) -> Outcome[int]:
        """The length of a file in bytes."""
        return self._perform("get_file_size", self.raw.number_op, -1, uri)

    def get_children(self, uri: str) -> Outcome[Entries]:
        """The names in a directory."""
        return self._perform("get_children", self.raw.entries_op, Entries(-1, ()), uri)

    def get_matching_paths(self, pattern: str) -> Outcome[Entries]:
        """The names that match a glob; the pattern is not translated."""
        if "get_matching_paths" in self._asked:
            return self.raw.entries_op("get_matching_paths", pattern)
        return self._instead("get_matching_paths", Entries(-1, ()), pattern)

    # How ops are performed -------------------------------------------------------------------------------------------

    def names(self, op: str, *uris: str) -> list[str]:
        """What an op gets for these URIs. Raises RefusedError where the guard does not admit that."""
        translated = [self.translate(uri) for uri in uris]
        self._guard.admit(op, uris, translated, lambda uri: self.translate_name(uri).value or "")
        return translated

    def _by_path(self, op: str, *uris: str) -> Outcome[None]:
        return self._perform(op, self.raw.path_op, None, *uris)

    def _perform(self, op: str, call: Callable[..., Outcome[T]], empty: T, *uris: str) -> Outcome[T]:
        return call(op, *self.names(op, *uris)) if op in self._asked else self._instead(op, empty, *uris)

    def _instead(self, op: str, empty: T, *arguments: object) -> Outcome[T]:
        """What comes of an op that the host does not call."""
        del arguments
        return self._absent(op, empty)

    def _open(self, op: str, uri: str, wrapper: Callable[[RawFilesystem, int], H]) -> Outcome[H | None]:
        if op not in self._asked:
            return self._absent(op, None)
        got = self.raw.open(op, *self.names(op, uri))
        value = wrapper(self.raw, got.value) if got.value else None
        return Outcome(op, got.code, got.message, value, got.watch, got.source)

    def _absent(self, op: str, empty: T) -> Outcome[T]:
        return Outcome(op, Code.UNIMPLEMENTED, self.absence(op), empty, source=Source.ABSENT)
