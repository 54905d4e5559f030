"""A relay for TCP, in a thread of this process: it disturbs connections, and can end them at an exchange of bytes."""

import asyncio
import random
import socket
import struct
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from .exchanges import Break, Disturbance, Exchange, ExchangeWatch, Stream

#: How many bytes are read at a time; of a connection a few times as many are in memory at most.
_CHUNK = 1 << 16
#: How many connections there are at a time. More are closed at once: each takes two descriptors of this process.
MOST_CONNECTIONS = 200
#: With this SO_LINGER a socket that is closed resets its connection.
_AT_ONCE = struct.pack("ii", 1, 0)
#: Seconds for which the relay waits after a piece: after each of the first ones, where the head of an answer is, and
#: then after one in a row. The other end gets most of them one by one, and a MiB of small ones takes below a second.
_WAIT, _FIRST_PIECES, _PIECES_IN_A_ROW = 1e-5, 8, 16


@dataclass(slots=True)
class _Link:
    """A connection, in both directions."""

    exchange: Exchange | None = None
    watch: ExchangeWatch | None = None
    ends: Break | None = None
    #: What passed in which disturbance.
    passed: Exchange = field(default_factory=Exchange)
    disturbed: Disturbance | None = None
    #: The same in each connection.
    draws: random.Random = field(default_factory=lambda: random.Random(0))


@dataclass(slots=True)
class _Way:
    """The way to a service: the address that leads there, and what goes on at it."""

    service: str
    #: Bound for good, and never listening, so that nobody else gets the port while the service is down.
    place: socket.socket
    server: asyncio.Server | None = None
    watch: ExchangeWatch | None = None
    disturbance: Disturbance | None = None
    tasks: set["asyncio.Task[None]"] = field(default_factory=set)


class _BrokenError(Exception):
    """The connection is to end here."""

    def __init__(self, *, by_reset: bool) -> None:
        self.by_reset = by_reset


class Relay:
    """Relays connections of this machine to services, until it is left."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._ways: list[_Way] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: object, _: TracebackType | None) -> None:
        for way in self._ways:
            self._await(self._closed(way))
            way.place.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def through(self, service: str) -> str:
        """The address, `host:port`, that leads to this service from now on."""
        own = facing(service) or "127.0.0.1"
        place = socket.socket(socket.AF_INET6 if ":" in own else socket.AF_INET)
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind((own.strip("[]"), 0))
        way = _Way(service, place)
        self._ways.append(way)
        self._await(self._opened(way))
        return f"{own}:{place.getsockname()[1]}"

    @contextmanager
    def watched(self, number: int, watch: ExchangeWatch) -> Iterator[ExchangeWatch]:
        """Within, the exchanges of the `number`-th address are counted, and end as `watch` says."""
        self._ways[number].watch = watch
        try:
            yield watch
        finally:
            self._ways[number].watch = None

    @contextmanager
    def disturbed(self, number: int, disturbance: Disturbance) -> Iterator[None]:
        """Within, the connections of the `number`-th address are disturbed, those that are there before, too."""
        way = self._ways[number]
        way.disturbance = disturbance
        if disturbance.down:
            self._await(self._closed(way))
        try:
            yield
        finally:
            way.disturbance = None
            if disturbance.silent:
                self._await(_ended(way))
            if disturbance.down:
                self._await(self._opened(way))

    def _await(self, begun: Coroutine[None, None, None]) -> None:
        asyncio.run_coroutine_threadsafe(begun, self._loop).result()

    async def _opened(self, way: _Way) -> None:
        host, port, *_ = way.place.getsockname()

        async def relayed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            way.tasks.add(task)
            try:
                if sum(len(one.tasks) for one in self._ways) <= MOST_CONNECTIONS:
                    await _relayed(way, reader, writer)
            finally:
                way.tasks.discard(task)
                writer.close()

        way.server = await asyncio.start_server(relayed, host, port, reuse_address=True)

    async def _closed(self, way: _Way) -> None:
        if way.server is not None:
            way.server.close()
        await _ended(way)


def facing(service: str) -> str | None:
    """The address of this machine from which it reaches a service: others of that network reach it there, too.

    None where this machine does not know the name.
    """
    host, _, port = service.rpartition(":")
    try:
        family, kind, *_, address = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as nothing_is_sent:
            nothing_is_sent.connect(address)
            own = str(nothing_is_sent.getsockname()[0])
    except (OSError, UnicodeError):
        return None
    return f"[{own}]" if ":" in own else own


async def _ended(way: _Way) -> None:
    """End all connections of a way."""
    tasks = [*way.tasks]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _relayed(way: _Way, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    host, _, port = way.service.rpartition(":")
    link = _Link()
    # Where there is no service, or an end goes away, both ends see the end of the connection.
    with suppress(OSError):
        server_reader, server_writer = await asyncio.open_connection(host.strip("[]"), int(port))
        try:
            await asyncio.gather(
                _pass_on(way, link, "upstream", reader, server_writer),
                _pass_on(way, link, "downstream", server_reader, writer),
            )
        except _BrokenError as broken:
            if broken.by_reset:
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
                writer.transport.abort()
        finally:
            server_writer.transport.abort()


async def _pass_on(
    way: _Way, link: _Link, stream: Stream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    while data := await reader.read(_CHUNK):
        passed, ends = _counted(way, link, stream, len(data))
        for k, piece in enumerate(await _delayed(way, link, stream, data[:passed])):
            writer.write(piece)
            await writer.drain()
            if len(piece) < passed and (k < _FIRST_PIECES or k % _PIECES_IN_A_ROW == 0):
                await asyncio.sleep(_WAIT)
        if ends is not None:
            raise _BrokenError(by_reset=ends.reset)
    if writer.can_write_eof():
        writer.write_eof()


async def _delayed(way: _Way, link: _Link, stream: Stream, data: bytes) -> list[bytes]:
    """The pieces in which these bytes go on, as late as they are to."""
    disturbance = way.disturbance
    if disturbance is None:
        return [data]
    if stream == "upstream":
        if disturbance.rate:
            await asyncio.sleep(len(data) / disturbance.rate)
        return [] if disturbance.silent else [data]
    await asyncio.sleep(link.draws.uniform(*disturbance.delay) / 1000)
    pieces, rest = list[bytes](), data
    while disturbance.pieces[1] and rest:
        size = link.draws.randint(*disturbance.pieces)
        pieces.append(rest[:size])
        rest = rest[size:]
    return pieces or [data]


def _counted(way: _Way, link: _Link, stream: Stream, size: int) -> tuple[int, Break | None]:
    """How many of so many bytes that came are passed on, and how the connection ends after them, if it does."""
    watch = way.watch
    if way.disturbance is not None:
        if link.disturbed is not way.disturbance:
            link.disturbed, link.passed = way.disturbance, Exchange()
        return link.passed.counted(stream, size, way.disturbance.ends)
    if stream == "upstream" and (link.exchange is None or link.exchange.downstream):
        fresh, link.exchange, link.watch = link.exchange is None, Exchange(), watch
        link.ends = None if watch is None else watch.begun(link.exchange, fresh=fresh)
    if link.exchange is None:
        return size, None
    passed, ends = link.exchange.counted(stream, size, link.ends if link.watch is watch else None)
    if watch is not None and ends is not None:
        watch.met += 1
    return passed, ends
