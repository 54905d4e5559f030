"""What the host does to the plugin's surroundings, so that errors show that are rare otherwise."""

from collections.abc import Iterator
from contextlib import contextmanager

from tffs_conformance.harness.client import Host
from tffs_conformance.harness.codes import Code


@contextmanager
def statuses_arrive(host: Host, code: Code, message: str) -> Iterator[None]:
    """Every status that an op gets meanwhile holds this already."""
    host.call("preset", int(code), message.encode())
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
