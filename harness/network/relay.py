"""A relay for TCP, in a thread of this process: it can end connections at an exchange of bytes, and only there."""

import asyncio
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from .exchanges import Break, Exchange, Stream, Watch
from .toxiproxy import facing

_CHUNK = 1 << 16
#: With this SO_LINGER a socket that is closed resets its connection.
_AT_ONCE = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class _Link:
    """A connection, in both directions."""

    number: int
    exchange: Exchange | None = None
    watch: Watch | None = None
    ends: Break | None = None


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
        self._servers: list[asyncio.Server] = []
        self._watches: list[Watch | None] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: object, _: TracebackType | None) -> None:
        asyncio.run_coroutine_threadsafe(self._ended(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def through(self, service: str) -> str:
        """The address, `host:port`, behind which this service can be reached from now on."""
        return asyncio.run_coroutine_threadsafe(self._listening(service), self._loop).result()

    @contextmanager
    def watched(self, number: int, watch: Watch) -> Iterator[Watch]:
        """Within, the exchanges of the `number`-th address are counted, and end as `watch` says."""
        self._watches[number] = watch
        try:
            yield watch
        finally:
            self._watches[number] = None

    async def _listening(self, service: str) -> str:
        number, own = len(self._watches), facing(service) or "127.0.0.1"
        host, _, port = service.rpartition(":")

        async def relayed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            link = _Link(number)
            # Where nobody is there, or somebody goes away, both ends are told by the end of the connection.
            with suppress(OSError):
                server_reader, server_writer = await asyncio.open_connection(host.strip("[]"), int(port))
                try:
                    await asyncio.gather(
                        self._pass_on(link, "upstream", reader, server_writer),
                        self._pass_on(link, "downstream", server_reader, writer),
                    )
                except _BrokenError as broken:
                    if broken.by_reset:
                        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
                        writer.transport.abort()
                finally:
                    server_writer.transport.abort()
            writer.close()

        server = await asyncio.start_server(relayed, own.strip("[]"), 0)
        self._servers.append(server)
        self._watches.append(None)
        return f"{own}:{server.sockets[0].getsockname()[1]}"

    async def _pass_on(
        self, link: _Link, stream: Stream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while data := await reader.read(_CHUNK):
            passed, ends = self._passed(link, stream, len(data))
            writer.write(data[:passed])
            if ends is not None:
                raise _BrokenError(by_reset=ends.reset)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    def _passed(self, link: _Link, stream: Stream, size: int) -> tuple[int, Break | None]:
        """How many of so many bytes that came are passed on, and how the connection ends behind them, if it does."""
        watch = self._watches[link.number]
        if stream == "upstream" and (link.exchange is None or link.exchange.downstream):
            fresh, link.exchange, link.watch = link.exchange is None, Exchange(), watch
            link.ends = None if watch is None else watch.begun(link.exchange, fresh=fresh)
        if link.exchange is None:
            return size, None
        before: int = getattr(link.exchange, stream)
        setattr(link.exchange, stream, before + size)
        if watch is None or link.watch is not watch or link.ends is None or link.ends.stream != stream:
            return size, None
        if before + size <= link.ends.after:
            return size, None
        watch.met += 1
        return link.ends.after - before, link.ends

    async def _ended(self) -> None:
        for server in self._servers:
            server.close()
        links = asyncio.all_tasks() - {asyncio.current_task()}
        for link in links:
            link.cancel()
        await asyncio.gather(*links, return_exceptions=True)
