"""Exchanges on the connections of a service: requests and their answers, and what disturbs them."""

from dataclasses import dataclass, field
from typing import Literal

Stream = Literal["upstream", "downstream"]


@dataclass(frozen=True, slots=True)
class Break:
    """A connection ends before more bytes than these are passed on: by a reset, or as connections end."""

    stream: Stream
    after: int
    reset: bool = False


@dataclass(frozen=True, slots=True)
class Disturbance:
    """What happens to all connections of a service as long as it lasts."""

    #: There are none, and none can be made.
    down: bool = False
    #: How each ends, by the bytes that it passed on since this began.
    ends: Break | None = None
    #: What is asked is lost. The connections end when this does.
    silent: bool = False
    #: How many milliseconds later an answer comes, at least and at most.
    delay: tuple[int, int] = (0, 0)
    #: How many bytes of requests pass in a second; 0 for as many as come.
    rate: int = 0
    #: In pieces of how many bytes an answer comes, at least and at most; 0 for as it comes.
    pieces: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class Exchange:
    """What was asked on a connection before it was asked again, and the answer: how many bytes came."""

    upstream: int = 0
    downstream: int = 0

    def counted(self, stream: Stream, size: int, ends: Break | None) -> tuple[int, Break | None]:
        """Count bytes that came: how many of them are passed on, and how the connection ends then, if it does."""
        before: int = getattr(self, stream)
        setattr(self, stream, before + size)
        if ends is None or ends.stream != stream or before + size <= ends.after:
            return size, None
        return ends.after - before, ends


@dataclass(slots=True)
class ExchangeWatch:
    """The exchanges with a service while somebody looks, and those that end early: the `first`, and each `every`-th.

    Clients send what was lost on an old connection again on a new one, unasked. So this does not end with the trouble,
    where nothing came: the first exchange of a connection has to meet it.
    """

    ends: Break | None = None
    first: int = 1
    every: int = 0
    exchanges: list[Exchange] = field(default_factory=list)
    #: How many ended early.
    met: int = 0
    _asked: int = 0
    _goes_on: bool = False

    def begun(self, exchange: Exchange, *, fresh: bool) -> Break | None:
        """How this exchange, the first of its connection or not, ends early."""
        self.exchanges.append(exchange)
        if not self._goes_on:
            self._asked += 1
            behind = self._asked - self.first
            if behind < 0 or (behind % self.every if self.every else behind):
                return None
        self._goes_on = not fresh and self.ends is not None and not self.ends.after
        return self.ends
