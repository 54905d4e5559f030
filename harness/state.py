"""The state of a host's process that a plugin may leave changed behind."""

from dataclasses import dataclass
from typing import Self

from .client import Host, HostFault


@dataclass(frozen=True, slots=True)
class State:
    """Counts, bytes of memory, the working directory, and one letter a signal for its disposition.

    `heap` is what was asked of malloc and not freed (0 where the allocator does not tell), `mapped` what is mapped for
    something else.
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
        """The state now. A look costs some ten microseconds."""
        reply = host.call("state")
        if reply is None:
            raise HostFault("the host does not know its state")
        descriptors, threads, mappings, heap, mapped = (reply.take_number() for _ in range(5))
        return cls(descriptors, threads, mappings, heap, mapped, reply.take_text(), reply.take_text())
