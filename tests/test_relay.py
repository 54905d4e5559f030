"""A relay ends connections where it is told, by what passes, and is well at once."""

import queue
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tffs_conformance.harness.network.exchanges import Break, Exchange, Watch
from tffs_conformance.harness.network.relay import Relay

RESET, UNANSWERED = Break("upstream", 0, reset=True), Break("downstream", 0)


class _Echo(socketserver.BaseRequestHandler):
    """Gives back what it got whenever that ends with a full stop, and notes all of it in the end."""

    server: "_Service"

    def handle(self) -> None:
        got, answered = b"", 0
        with suppress(OSError):
            while more := self.request.recv(1 << 16):
                got += more
                if got.endswith(b"."):
                    self.request.sendall(got[answered:])
                    answered = len(got)
        self.server.got.put(got)


class _Service(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    got: queue.Queue[bytes] = queue.Queue()


@pytest.fixture
def service() -> Iterator[_Service]:
    with _Service(("127.0.0.1", 0), _Echo) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def relay(service: _Service) -> Iterator[tuple[Relay, tuple[str, int]]]:
    with Relay() as made:
        host, _, port = made.through(f"127.0.0.1:{service.server_address[1]}").rpartition(":")
        yield made, (host, int(port))


def asked(place: tuple[str, int], text: bytes, connection: socket.socket | None = None) -> bytes | str:
    """What comes back of a text, up to the end of the connection; of an old connection, or of a new one."""
    made = connection or socket.create_connection(place)
    got = b""
    try:
        made.sendall(text)
        while len(got) < len(text) and (more := made.recv(9)):
            got += more
    except ConnectionError as error:
        return type(error).__name__
    finally:
        if connection is None:
            made.close()
    return got


@pytest.mark.parametrize(
    ("ends", "answer", "comes"),
    [
        (RESET, "ConnectionResetError", b""),
        (UNANSWERED, b"", b"bb."),
        (Break("downstream", 2), b"bb", b"bb."),
        (Break("upstream", 2), b"", b"bb"),
    ],
)
def test_one_exchange_ends_early(
    service: _Service, relay: tuple[Relay, tuple[str, int]], ends: Break, answer: bytes | str, comes: bytes
) -> None:
    made, place = relay
    service.got = queue.Queue()
    with made.watched(0, Watch(ends, 2)) as watch:
        assert [asked(place, text) for text in (b"a.", b"bb.", b"c.")] == [b"a.", answer, b"c."]
    assert watch.met == 1
    assert len(watch.exchanges) == 3
    assert watch.exchanges[0] == watch.exchanges[2] == Exchange(2, 2)
    assert sorted(service.got.get(timeout=60) for _ in range(3)) == sorted((b"a.", comes, b"c."))
    assert asked(place, b"bb.") == b"bb."


def test_what_was_lost_on_an_old_connection_is_lost_on_a_new_one_too(relay: tuple[Relay, tuple[str, int]]) -> None:
    made, place = relay
    with socket.create_connection(place) as old:
        assert asked(place, b"a.", old) == b"a."
        with made.watched(0, Watch(UNANSWERED)) as watch:
            assert [asked(place, b"b.", old), asked(place, b"c."), asked(place, b"d.")] == [b"", b"", b"d."]
    assert watch.met == 2


@pytest.mark.parametrize("first", [1, 2])
def test_each_second_exchange_ends_early(relay: tuple[Relay, tuple[str, int]], first: int) -> None:
    made, place = relay
    with made.watched(0, Watch(UNANSWERED, first, 2)):
        assert [bool(asked(place, b"a.")) for _ in range(4)] == [k % 2 != first % 2 for k in range(1, 5)]


def test_who_is_not_watched_is_passed_on(relay: tuple[Relay, tuple[str, int]]) -> None:
    _, place = relay
    assert asked(place, b"all" * 100_000 + b".") == b"all" * 100_000 + b"."


def test_nobody_there_is_the_end_of_the_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Relay() as made:
        host, _, own = made.through(f"127.0.0.1:{port}").rpartition(":")
        assert asked((host, int(own)), b"a") in (b"", "ConnectionResetError", "BrokenPipeError")
