"""What the host does to the plugin's surroundings, so that errors show that are rare otherwise."""

from collections.abc import Iterator
from contextlib import contextmanager

from .client import Host
from .codes import Code

#: What a status says that arrives used: a code that no file gives by itself, and a text that nobody else writes.
LEFT = Code.DATA_LOSS
LEFT_MESSAGE = "tffs: left by the call before"


@contextmanager
def statuses_arrive_used(host: Host) -> Iterator[None]:
    """Every status that an op gets meanwhile says `LEFT` and `LEFT_MESSAGE` already."""
    host.call("preset", int(LEFT), LEFT_MESSAGE.encode())
    yield
    if host.alive:
        host.call("preset", int(Code.OK), b"")


@contextmanager
def file_size(host: Host, limit: int) -> Iterator[None]:
    """No file of the host's process may grow beyond `limit` bytes meanwhile: a write that would fails with EFBIG."""
    host.call("limit_file_size", limit)
    yield
    if host.alive:
        host.call("limit_file_size", -1)
