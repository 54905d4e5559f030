"""A filesystem as cases call it: the seam between what is tried and how an op is performed.

`HostFilesystem` performs the ops through the tables of a plugin in a host process, `TensorFlowFilesystem` through
TensorFlow itself. Paths are URIs. Every op gives an `Outcome`; where it cannot be performed the outcome
has the code UNIMPLEMENTED and the source ABSENT.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from .outcomes import Entries, Existence, Outcome, Read, Statistics, Undeleted


class OpenObject(Protocol):
    """A file or region that an op opened. Used as a context manager it ends with its cleanup."""

    @property
    def open(self) -> bool:
        """Whether its cleanup is still to come."""
        ...

    def cleanup(self) -> Outcome[None]:
        """End the object; it must not be used afterwards."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...


@runtime_checkable
class RandomAccessFile(OpenObject, Protocol):
    """A file opened for reading."""

    def read(self, offset: int, n: int) -> Outcome[Read]:
        """Up to `n` bytes from `offset`, both below 2**64."""
        ...


@runtime_checkable
class WritableFile(OpenObject, Protocol):
    """A file opened for writing or appending."""

    def append(self, data: bytes) -> Outcome[None]:
        """Append all of `data`."""
        ...

    def tell(self) -> Outcome[int]:
        """The position in bytes."""
        ...

    def flush(self) -> Outcome[None]:
        """Hand over what is buffered."""
        ...

    def sync(self) -> Outcome[None]:
        """Make what was written durable."""
        ...

    def close(self) -> Outcome[None]:
        """Flush everything and free the file's resources; cleanup still follows."""
        ...


@runtime_checkable
class MemoryRegion(OpenObject, Protocol):
    """A file mapped read-only."""

    def data(self, offset: int, n: int) -> Outcome[tuple[int, bytes]]:
        """The address of the region, and `n` bytes from `offset`."""
        ...

    def length(self) -> Outcome[int]:
        """The length in bytes."""
        ...


class Filesystem(Protocol):
    """The ops of one filesystem as TensorFlow's users see them."""

    #: The ops that the plugin itself has.
    present: frozenset[str]
    #: What ops got for each URI so far.
    translated: dict[str, str]

    def available(self, op: str) -> bool:
        """Whether `op` can be performed, by the plugin or by core's default."""
        ...

    def absence(self, op: str) -> str:
        """Why `op` cannot be performed, or is not performed by the plugin itself: a sentence without a full stop."""
        ...

    def translate(self, uri: str) -> str:
        """The name that an op gets for `uri`."""
        ...

    def translate_name(self, uri: str) -> Outcome[str | None]:
        """What translate_name gives, or core's own translation; None where it gave NULL."""
        ...

    def new_random_access_file(self, uri: str) -> Outcome[RandomAccessFile | None]:
        """Open for reading."""
        ...

    def new_writable_file(self, uri: str) -> Outcome[WritableFile | None]:
        """Create, or empty what is there, and open for writing."""
        ...

    def new_appendable_file(self, uri: str) -> Outcome[WritableFile | None]:
        """Open for writing behind what is there."""
        ...

    def new_read_only_memory_region_from_file(self, uri: str) -> Outcome[MemoryRegion | None]:
        """Map a file."""
        ...

    def create_dir(self, uri: str) -> Outcome[None]:
        """Create one directory."""
        ...

    def recursively_create_dir(self, uri: str) -> Outcome[None]:
        """Create a directory and its parents."""
        ...

    def delete_file(self, uri: str) -> Outcome[None]:
        """Delete one file."""
        ...

    def delete_dir(self, uri: str) -> Outcome[None]:
        """Delete one empty directory."""
        ...

    def delete_recursively(self, uri: str) -> Outcome[Undeleted]:
        """Delete a tree; the value counts what could not be deleted."""
        ...

    def rename_file(self, source: str, target: str) -> Outcome[None]:
        """Move a file over what is at the target."""
        ...

    def copy_file(self, source: str, target: str) -> Outcome[None]:
        """Copy a file over what is at the target."""
        ...

    def path_exists(self, uri: str) -> Outcome[None]:
        """Whether something is there, as a status."""
        ...

    def paths_exist(self, uris: Sequence[str], *, with_statuses: bool = True) -> Outcome[Existence]:
        """Whether all paths exist; with statuses, what is wrong with each."""
        ...

    def stat(self, uri: str) -> Outcome[Statistics]:
        """Length in bytes, modification time in nanoseconds, kind."""
        ...

    def is_directory(self, uri: str) -> Outcome[int]:
        """The kind, as status and as number."""
        ...

    def get_file_size(self, uri: str) -> Outcome[int]:
        """The length of a file in bytes."""
        ...

    def get_children(self, uri: str) -> Outcome[Entries]:
        """The names in a directory."""
        ...

    def get_matching_paths(self, pattern: str) -> Outcome[Entries]:
        """The names that match a glob; the pattern is not translated."""
        ...

    def flush_caches(self) -> Outcome[None]:
        """Drop what is cached."""
        ...
