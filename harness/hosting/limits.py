"""Makes rare conditions happen in the host process: a full file system, a status that is not fresh."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..ops.codes import Code
from .client import Host

#: The code and the message of a status that is not fresh: no file causes this code, and nobody else writes this text.
LEFT = Code.DATA_LOSS
LEFT_MESSAGE = "tffs: left by the call before"


@contextmanager
def statuses_arrive_used(host: Host) -> Iterator[None]:
    """Inside the block every op gets a status that says `LEFT` and `LEFT_MESSAGE` already, instead of OK."""
    host.call("preset", int(LEFT), LEFT_MESSAGE.encode())
    try:
        yield
    finally:
        if host.alive:
            host.call("preset", int(Code.OK), b"")


@contextmanager
def few_descriptors(host: Host, spare: int) -> Iterator[None]:
    """Inside the block the process can open `spare` more descriptors, and then open(2) fails with EMFILE."""
    host.call("limit_descriptors", spare)
    try:
        yield
    finally:
        if host.alive:
            host.call("limit_descriptors", -1)


@contextmanager
def file_size(host: Host, limit: int) -> Iterator[None]:
    """Inside the block no file may grow beyond `limit` bytes: a write that would grow it further fails with EFBIG."""
    host.call("limit_file_size", limit)
    try:
        yield
    finally:
        if host.alive:
            host.call("limit_file_size", -1)
