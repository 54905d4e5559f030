"""Core behaviour: what TensorFlow does above the tables of one registered filesystem (modular_filesystem.cc).

Names are URIs. Each op translates them once, asks the guard, and calls the plugin, or does what core does where the
plugin left the entry NULL.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from ..ops import paths
from ..ops.codes import Code
from ..ops.defaults import Defaults, answer, by_default
from ..ops.filesystem import MemoryRegion, RandomAccessFile, WritableFile
from ..ops.guard import Guard
from ..ops.outcomes import Crashed, DiedError, Entries, Existence, Outcome, Source, Statistics, Undeleted
from ..ops.tables import asks_for_the_kind, available
from .files import HostMemoryRegion, HostRandomAccessFile, HostWritableFile
from .raw import RawFilesystem

T = TypeVar("T")
H = TypeVar("H", HostRandomAccessFile, HostWritableFile, HostMemoryRegion)


class HostFilesystem(Defaults):
    """One filesystem of a plugin in a host, as TensorFlow's users see it: a `Filesystem`.

    `translated` holds what ops got for each URI so far.

    `present` holds the ops that are not NULL, less those in `unimplemented`, which only say so; `raw` performs ops
    without translation, guard or default, for cases about the tables themselves. Paths handed to `raw` do not pass the
    guard.

    `is_directory_ok_for_files` says that the plugin's is_directory answers OK for a file, as the interface has it
    (disputed A1). Core takes that for a directory, so its defaults that ask is_directory go wrong, which is not the
    plugin's doing: they count as absent.
    """

    def __init__(
        self,
        raw: RawFilesystem,
        present: frozenset[str],
        guard: Guard,
        *,
        unimplemented: frozenset[str] = frozenset(),
        is_directory_ok_for_files: bool = False,
    ) -> None:
        self.raw = raw
        self.present = present - unimplemented
        self._unimplemented = unimplemented & present
        self._guard = guard
        self._ok_for_files = is_directory_ok_for_files
        self.translated: dict[str, str] = {}

    def available(self, op: str) -> bool:
        """Whether `op` can be performed, by the plugin or by core's default."""
        possible = available(op, self.present, self._unimplemented)
        return possible and not (self._ok_for_files and asks_for_the_kind(op, self.present))

    def absence(self, op: str) -> str:
        """Why `op` cannot be performed, or is not performed by the plugin itself."""
        if op in self._unimplemented:
            return f"{op} answers UNIMPLEMENTED"
        if not available(op, self.present, self._unimplemented):
            return f"the plugin does not provide {op}"
        if not self.available(op):
            return f"core's default for {op} goes wrong where is_directory answers OK for a file"
        return f"the plugin leaves {op} to core"

    def translate(self, uri: str) -> str:
        """The name that an op gets for `uri`. A plugin that gives NULL ends the process, as it ends TensorFlow.

        A name is asked for once: whether the plugin gives the same one again is the affair of a case of its own.
        """
        if "translate_name" not in self.present:
            return self.translated.setdefault(uri, paths.translate(uri).split("\0")[0])
        if uri not in self.translated:
            name = self.raw.translate_name(uri).value
            if name is None:
                raise DiedError(Crashed("translate_name", "it returned NULL, for which TensorFlow aborts"))
            self.translated[uri] = name
        return self.translated[uri]

    def translate_name(self, uri: str) -> Outcome[str | None]:
        """What translate_name gives, or core's own translation."""
        if "translate_name" in self.present:
            return self.raw.translate_name(uri)
        return answer("translate_name", paths.translate(uri))

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

    def delete_file(self, uri: str) -> Outcome[None]:
        """Delete one file."""
        return self._by_path("delete_file", uri)

    def delete_dir(self, uri: str) -> Outcome[None]:
        """Delete one empty directory."""
        return self._by_path("delete_dir", uri)

    def path_exists(self, uri: str) -> Outcome[None]:
        """Whether something is there, as a status."""
        return self._by_path("path_exists", uri)

    def recursively_create_dir(self, uri: str) -> Outcome[None]:
        """Create a directory and its parents."""
        if "recursively_create_dir" in self.present:
            return self._by_path("recursively_create_dir", uri)
        return self._default("recursively_create_dir", lambda: self.default_recursively_create_dir(uri), None)

    def delete_recursively(self, uri: str) -> Outcome[Undeleted]:
        """Delete a tree; the value counts what could not be deleted."""
        if "delete_recursively" in self.present:
            return self.raw.delete_recursively(*self._names("delete_recursively", uri))
        return self._default(
            "delete_recursively", lambda: self.default_delete_recursively(uri), Undeleted(files=0, dirs=0)
        )

    def rename_file(self, source: str, target: str) -> Outcome[None]:
        """Move a file over what is at the target."""
        if "rename_file" in self.present:
            return self.raw.path_op("rename_file", *self._names("rename_file", source, target))
        return self._default("rename_file", lambda: self.default_rename_file(source, target), None)

    def copy_file(self, source: str, target: str) -> Outcome[None]:
        """Copy a file over what is at the target."""
        if "copy_file" in self.present:
            return self.raw.path_op("copy_file", *self._names("copy_file", source, target))
        return self._default("copy_file", lambda: self.default_copy_file(source, target), None)

    # Queries ---------------------------------------------------------------------------------------------------------

    def paths_exist(self, uris: Sequence[str], *, with_statuses: bool = True) -> Outcome[Existence]:
        """Whether all paths exist; with statuses, what is wrong with each."""
        if "paths_exist" in self.present:
            return self.raw.paths_exist([self.translate(uri) for uri in uris], with_statuses)
        return self._default(
            "paths_exist", lambda: self.default_paths_exist(uris, with_statuses), Existence(False, None)
        )

    def stat(self, uri: str) -> Outcome[Statistics]:
        """Length in bytes, modification time in nanoseconds, kind."""
        if "stat" in self.present:
            return self.raw.stat(*self._names("stat", uri))
        return self._absent("stat", Statistics(0, 0, 0))

    def is_directory(self, uri: str) -> Outcome[int]:
        """The kind, as status and as number."""
        if "is_directory" in self.present:
            return self.raw.number_op("is_directory", *self._names("is_directory", uri))
        return self._default("is_directory", lambda: self.default_is_directory(uri), 0)

    def get_file_size(self, uri: str) -> Outcome[int]:
        """The length of a file in bytes."""
        if "get_file_size" in self.present:
            return self.raw.number_op("get_file_size", *self._names("get_file_size", uri))
        return self._default("get_file_size", lambda: self.default_get_file_size(uri), -1)

    def get_children(self, uri: str) -> Outcome[Entries]:
        """The names in a directory."""
        if "get_children" in self.present:
            return self.raw.entries_op("get_children", *self._names("get_children", uri))
        return self._absent("get_children", Entries(-1, ()))

    def get_matching_paths(self, pattern: str) -> Outcome[Entries]:
        """The names that match a glob; the pattern is not translated."""
        if "get_matching_paths" in self.present:
            return self.raw.entries_op("get_matching_paths", pattern)
        return self._default("get_matching_paths", lambda: self.default_get_matching_paths(pattern), Entries(-1, ()))

    def flush_caches(self) -> Outcome[None]:
        """Drop what is cached."""
        if "flush_caches" in self.present:
            return self.raw.flush_caches()
        return answer("flush_caches", None)

    # How ops are performed -------------------------------------------------------------------------------------------

    def _names(self, op: str, *uris: str) -> list[str]:
        translated = [self.translate(uri) for uri in uris]
        self._guard.admit(op, uris, translated)
        return translated

    def _by_path(self, op: str, uri: str) -> Outcome[None]:
        if op in self.present:
            return self.raw.path_op(op, *self._names(op, uri))
        return self._absent(op, None)

    def _open(self, op: str, uri: str, wrapper: Callable[[RawFilesystem, int], H]) -> Outcome[H | None]:
        if op not in self.present:
            return self._absent(op, None)
        got = self.raw.open(op, *self._names(op, uri))
        value = wrapper(self.raw, got.value) if got.value else None
        return Outcome(op, got.code, got.message, value, got.watch, got.source)

    def _default(self, op: str, perform: Callable[[], Outcome[T]], empty: T) -> Outcome[T]:
        """Core's own algorithm, or the answer that it ends in where an op that it needs is NULL too."""
        return by_default(perform()) if self.available(op) else self._absent(op, empty)

    def _absent(self, op: str, empty: T) -> Outcome[T]:
        return Outcome(op, Code.UNIMPLEMENTED, self.absence(op), empty, source=Source.ABSENT)
