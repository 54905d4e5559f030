"""The state of a host process that a plugin should leave unchanged: descriptors, threads, memory, signal handlers."""

from dataclasses import dataclass
from typing import Self

from .client import Host, HostFault


@dataclass(frozen=True, slots=True)
class State:
    """A snapshot: counts, bytes of memory, the working directory, and one letter for each signal's handler.

    `heap` is the number of bytes that malloc gave and nobody freed, 0 where the allocator does not tell. `mapped` is
    the number of bytes that are mapped for anything else.
    """

    descriptors: int
    threads: int
    mappings: int
    heap: int
    mapped: int
    directory: str
    handlers: str

    @classmethod
    def of(cls, host: Host) -> Self:
        """Ask a host for its state now. This costs some ten microseconds."""
        reply = host.call("state")
        if reply is None:
            raise HostFault("the host does not know its state")
        descriptors, threads, mappings, heap, mapped = (reply.take_number() for _ in range(5))
        return cls(descriptors, threads, mappings, heap, mapped, reply.take_text(), reply.take_text())
