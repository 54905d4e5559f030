"""Open files and regions in a host, as core's wrappers see them.

Used as context managers they end with their cleanup.
"""

from types import TracebackType
from typing import Self

from ..ops.codes import Code
from ..ops.filesystem import OpenObject
from ..ops.outcomes import Outcome, Read, Source
from .raw import RawFilesystem


class _HostObject:
    """What the plugin put behind a wrapper; `handle` is the host's number for it."""

    _cleanup: str

    def __init__(self, raw: RawFilesystem, handle: int) -> None:
        self._raw = raw
        self.handle = handle
        self.open = True

    def cleanup(self) -> Outcome[None]:
        """End the object; it must not be used afterwards."""
        self.open = False
        return self._raw.handle_op(self._cleanup, self.handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.open and error is None:
            self.cleanup()


def handle_of(opened: OpenObject) -> int:
    """The host's number for what an op opened, for programs that threads run."""
    assert isinstance(opened, _HostObject)
    return opened.handle


class HostRandomAccessFile(_HostObject):
    """A file opened for reading."""

    _cleanup = "random_access_file.cleanup"

    def read(self, offset: int, n: int) -> Outcome[Read]:
        """Up to `n` bytes from `offset`, both below 2**64."""
        return self._raw.read(self.handle, offset, n)


class HostWritableFile(_HostObject):
    """A file opened for writing or appending."""

    _cleanup = "writable_file.cleanup"

    def append(self, data: bytes) -> Outcome[None]:
        """Append all of `data`."""
        return self._raw.append(self.handle, data)

    def tell(self) -> Outcome[int]:
        """The position in bytes."""
        return self._raw.tell(self.handle)

    def flush(self) -> Outcome[None]:
        """Hand over what is buffered; where the entry is NULL core answers OK."""
        got = self._raw.handle_op("flush", self.handle)
        if got.source is Source.ABSENT:
            return Outcome("flush", Code.OK, "", None, source=Source.DEFAULT)
        return got

    def sync(self) -> Outcome[None]:
        """Make what was written durable; where the entry is NULL core calls flush."""
        got = self._raw.handle_op("sync", self.handle)
        if got.source is Source.ABSENT:
            flushed = self.flush()
            return Outcome("sync", flushed.code, flushed.message, None, source=Source.DEFAULT)
        return got

    def close(self) -> Outcome[None]:
        """Flush everything and free the file's resources; cleanup still follows."""
        return self._raw.handle_op("close", self.handle)


class HostMemoryRegion(_HostObject):
    """A file mapped read-only."""

    _cleanup = "read_only_memory_region.cleanup"

    def data(self, offset: int, n: int) -> Outcome[tuple[int, bytes]]:
        """The address of the region, and `n` bytes from `offset`."""
        return self._raw.data(self.handle, offset, n)

    def length(self) -> Outcome[int]:
        """The length in bytes."""
        return self._raw.length(self.handle)
