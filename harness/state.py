"""The state of a host's process that a plugin may leave changed behind."""

from dataclasses import dataclass
from typing import Self

from tffs_conformance.harness.client import Host, HostFault


@dataclass(frozen=True, slots=True)
class State:
    """Counts, bytes in use on the heap, the working directory, and one letter a signal for its disposition."""

    descriptors: int
    threads: int
    mappings: int
    heap: int
    directory: str
    handlers: str

    @classmethod
    def of(cls, host: Host) -> Self:
        """The state now. A look costs some ten microseconds."""
        reply = host.call("state")
        if reply is None:
            raise HostFault("the host does not know its state")
        counts = [reply.take_number() for _ in range(4)]
        return cls(counts[0], counts[1], counts[2], counts[3], reply.take_text(), reply.take_text())
