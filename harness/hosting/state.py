"""The state of a host process that a plugin should leave unchanged."""

from dataclasses import dataclass
from typing import Self

from .client import Host, HostFaultError


@dataclass(frozen=True, slots=True)
class State:
    """A snapshot.

    Counts of descriptors, threads, mappings and children; bytes of memory, and of standard output so far. `heap` is the
    number of bytes that malloc gave and nobody freed, 0 where the allocator does not tell. `mapped` is the number of
    bytes that are mapped for anything else. `handlers` and `blocked` have one letter for each signal, `actions` a word,
    which differs from process to process. `floating_point` is how numbers are rounded and what traps, `streams` what
    the first three descriptors are. `environment` has `NAME=value` as texts, which are no texts for a report.
    """

    descriptors: int
    threads: int
    mappings: int
    heap: int
    mapped: int
    children: int
    printed: int
    umask: int
    floating_point: int
    directory: str
    handlers: str
    actions: str
    blocked: str
    locale: str
    streams: str
    environment: tuple[str, ...]

    @classmethod
    def of(cls, host: Host) -> Self:
        """Ask a host for its state now. This costs some hundred microseconds."""
        return cls._asked(host, before_load=False)

    @classmethod
    def before_load(cls, host: Host) -> Self:
        """The state in which the plugin found the host."""
        return cls._asked(host, before_load=True)

    @classmethod
    def _asked(cls, host: Host, *, before_load: bool) -> Self:
        reply = host.call("state", int(before_load))
        if reply is None:
            raise HostFaultError("the host does not know its state")
        number, text = reply.take_number, reply.take_text
        return cls(
            descriptors=number(),
            threads=number(),
            mappings=number(),
            heap=number(),
            mapped=number(),
            children=number(),
            printed=number(),
            umask=number(),
            floating_point=number(),
            directory=text(),
            handlers=text(),
            actions=text(),
            blocked=text(),
            locale=text(),
            streams=text(),
            environment=tuple(reply.take_texts()),
        )

    @property
    def variables(self) -> dict[str, str]:
        """The environment by names."""
        return {name: value for name, _, value in (entry.partition("=") for entry in self.environment)}
