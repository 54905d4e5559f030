"""A relay ends connections at a place of what passes, disturbs all of them for a while, and is well at once."""

import queue
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from time import monotonic, process_time, sleep

import pytest

from tffs_conformance.harness.network import relay as relays
from tffs_conformance.harness.network.exchanges import Break, Disturbance, Exchange, ExchangeWatch
from tffs_conformance.harness.network.relay import Relay
from tffs_conformance.suite.contract.network import Trouble, troubles

Relayed = tuple[Relay, tuple[str, int]]
RESET, UNANSWERED = Break("upstream", 0, reset=True), Break("downstream", 0)

#: Seconds after which a connection is silent, and for what has to come.
SILENCE, PATIENCE = 1, 60


class _Echo(socketserver.BaseRequestHandler):
    """Gives back what it got whenever that ends with a full stop, and notes all of it in the end."""

    server: "Service"

    def handle(self) -> None:
        got, answered = b"", 0
        with suppress(OSError):
            while more := self.request.recv(1 << 16):
                got += more
                if got.endswith(b"."):
                    self.request.sendall(got[answered:])
                    answered = len(got)
        self.server.got.put(got)


class Service(socketserver.ThreadingTCPServer):
    """A service of this machine; `got` is for what its handler hears."""

    allow_reuse_address = daemon_threads = True
    got: queue.Queue[bytes]


@contextmanager
def serving(handler: type[socketserver.BaseRequestHandler]) -> Iterator[Service]:
    with Service(("127.0.0.1", 0), handler) as server:
        server.got = queue.Queue()
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(_Echo) as server:
        yield server


@pytest.fixture
def relay(service: Service) -> Iterator[Relayed]:
    with Relay() as made:
        host, _, port = made.through(f"127.0.0.1:{service.server_address[1]}").rpartition(":")
        yield made, (host, int(port))


def asked(
    place: tuple[str, int], text: bytes, connection: socket.socket | None = None, patience: int = PATIENCE
) -> tuple[bytes, str]:
    """What comes back of a text, of an old connection or of a new one, and the error in which that ends."""
    got = b""
    with ExitStack() as stack:
        try:
            made = connection or stack.enter_context(socket.create_connection(place))
            made.settimeout(patience)
            made.sendall(text)
            while len(got) < len(text) and (more := made.recv(999)):
                got += more
        except (ConnectionError, TimeoutError) as error:
            return got, type(error).__name__
    return got, ""


@pytest.mark.parametrize(
    ("ends", "answer", "comes"),
    [
        (RESET, (b"", "ConnectionResetError"), b""),
        (UNANSWERED, (b"", ""), b"bb."),
        (Break("downstream", 2), (b"bb", ""), b"bb."),
        (Break("upstream", 2), (b"", ""), b"bb"),
    ],
)
def test_one_exchange_ends_early(
    service: Service, relay: Relayed, ends: Break, answer: tuple[bytes, str], comes: bytes
) -> None:
    made, place = relay
    with made.watched(0, ExchangeWatch(ends, 2)) as watch:
        assert [asked(place, text) for text in (b"a.", b"bb.", b"c.")] == [(b"a.", ""), answer, (b"c.", "")]
    assert watch.met == 1
    assert len(watch.exchanges) == 3
    assert watch.exchanges[0] == watch.exchanges[2] == Exchange(2, 2)
    assert sorted(service.got.get(timeout=60) for _ in range(3)) == sorted((b"a.", comes, b"c."))
    assert asked(place, b"bb.") == (b"bb.", "")


def test_what_was_lost_on_an_old_connection_is_lost_on_a_new_one_too(relay: Relayed) -> None:
    made, place = relay
    with socket.create_connection(place) as old:
        assert asked(place, b"a.", old) == (b"a.", "")
        with made.watched(0, ExchangeWatch(UNANSWERED)) as watch:
            answers = [asked(place, b"b.", old), asked(place, b"c."), asked(place, b"d.")]
    assert answers == [(b"", ""), (b"", ""), (b"d.", "")]
    assert watch.met == 2


@pytest.mark.parametrize("first", [1, 2])
def test_each_second_exchange_ends_early(relay: Relayed, first: int) -> None:
    made, place = relay
    with made.watched(0, ExchangeWatch(UNANSWERED, first, 2)):
        assert [bool(asked(place, b"a.")[0]) for _ in range(4)] == [k % 2 != first % 2 for k in range(1, 5)]


#: What a client sees of each trouble: how many bytes of an answer come, how that ends, and how many the service gets.
ALL = 50_000
GONE = {"", "ConnectionResetError", "BrokenPipeError"}
SEEN = {
    "down": (0, GONE | {"ConnectionRefusedError"}, 0),
    "reset": (0, GONE - {""}, 0),
    "closed": (0, {""}, ALL),
    "cut-early": (40, {""}, ALL),
    "cut": (20_000, {""}, ALL),
    "cut-request": (0, GONE, 20_000),
    "slow": (ALL, {""}, ALL),
    "crumbs": (ALL, {""}, ALL),
    "silent": (0, {"TimeoutError"}, 0),
}


@pytest.mark.parametrize("is_new", [False, True], ids=["old", "new"])
@pytest.mark.parametrize("trouble", troubles(), ids=lambda trouble: trouble.name)
def test_trouble_meets_old_and_new_connections(
    service: Service, relay: Relayed, trouble: Trouble, is_new: bool
) -> None:
    made, place = relay
    size, ends, came = SEEN[trouble.name]
    with ExitStack() as stack:
        old = None if is_new else stack.enter_context(socket.create_connection(place))
        if old is not None:
            assert asked(place, b"a.", old) == (b"a.", "")
        stack.enter_context(made.disturbed(0, trouble.disturbance))
        patience = SILENCE if trouble.disturbance.silent else PATIENCE
        answer, end = asked(place, b"b" * (ALL - 1) + b".", old, patience)
        assert (len(answer), end in ends) == (size, True), end
    if not (is_new and trouble.disturbance.down):
        assert len(service.got.get(timeout=60)) == came + (not is_new) * len(b"a.")
    assert asked(place, b"c.") == (b"c.", "")


def test_disturbance_delays_and_divides_what_passes(relay: Relayed) -> None:
    made, place = relay
    begun, slow = monotonic(), Disturbance(delay=(200, 200), rate=1000, pieces=(10, 20))
    with made.disturbed(0, slow), socket.create_connection(place) as connection:
        connection.sendall(b"b" * 99 + b".")
        assert 0 < len(connection.recv(100)) < 100
    assert monotonic() - begun > 0.3


def test_small_pieces_of_a_mebibyte_take_no_seconds(relay: Relayed) -> None:
    made, place = relay
    (crumbs,) = (trouble for trouble in troubles() if trouble.name == "crumbs")
    text = b"b" * ((1 << 20) - 1) + b"."
    with made.disturbed(0, crumbs.disturbance):
        begun = monotonic()
        assert asked(place, text) == (text, "")
        # It is half a second on a machine that has nothing else to do.
        assert monotonic() - begun < 3
    # Who is neither disturbed nor watched is passed on.
    assert asked(place, text) == (text, "")


def test_relay_that_holds_back_stays_small_and_idle(relay: Relayed) -> None:
    """It takes no more than buffers have room for, and no processor."""
    made, place = relay
    sent = 0
    with made.disturbed(0, Disturbance(rate=1)), socket.create_connection(place, timeout=1) as connection:
        with suppress(TimeoutError):
            while sent < 1 << 26:
                sent += connection.send(bytes(1 << 16))
        used = process_time()
        sleep(1)
    assert sent < 1 << 24
    assert process_time() - used < 0.5


def test_connections_beyond_the_most_are_closed(relay: Relayed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relays, "MOST_CONNECTIONS", 1)
    _, place = relay
    with socket.create_connection(place) as first:
        assert asked(place, b"a.", first) == (b"a.", "")
        assert asked(place, b"b.")[0] == b""
        assert asked(place, b"c.", first) == (b"c.", "")


def test_relay_that_is_left_ends_its_connections(service: Service) -> None:
    with ExitStack() as stack:
        with Relay() as made:
            host, _, port = made.through(f"127.0.0.1:{service.server_address[1]}").rpartition(":")
            connection = stack.enter_context(socket.create_connection((host, int(port))))
            assert asked((host, int(port)), b"a.", connection) == (b"a.", "")
        assert connection.recv(1) == b""
    assert asked((host, int(port)), b"a.")[1] == "ConnectionRefusedError"


def test_service_that_is_gone_ends_the_connection(service: Service, relay: Relayed) -> None:
    service.server_close()
    answer, end = asked(relay[1], b"a")
    assert (answer, end in GONE) == (b"", True)
