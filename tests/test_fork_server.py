"""The process that forks hosts, where a signal ends the client's waiting at a bad moment."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tffs_conformance.harness.launchers.fork_server import ForkServer
from tffs_conformance.harness.native import native_directory

#: In seconds; for what has to end.
PATIENCE = 30


@contextmanager
def asked(server: ForkServer) -> Iterator[Callable[[], int]]:
    """A host that is asked for, and what tells its number; it ends with its wire."""
    read, write = os.pipe()
    # One that had the other end of what it reads would live on.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        yield server.fork(read, nowhere, nowhere)
    finally:
        for descriptor in (write, read, nowhere):
            os.close(descriptor)


def ends(what: Callable[[], object]) -> bool:
    """Whether it comes back."""
    thread = threading.Thread(target=what, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return not thread.is_alive()


def begun() -> ForkServer:
    return ForkServer([str(native_directory() / "tffs-host")], dict(os.environ))


def test_a_server_ends_though_an_answer_got_lost() -> None:
    server = begun()
    with asked(server):
        assert server._socket.recv(100)
        assert ends(server.close)


def test_a_lost_answer_is_not_taken_for_that_of_another_host() -> None:
    server = begun()
    with asked(server) as first, asked(server) as second:
        lost = int.from_bytes(server._socket.recv(100)[4:], "little")
        assert second() not in (lost, 0)
        assert os.path.exists(f"/proc/{second()}")
        server.close()
        told: list[str] = []

        def tell() -> None:
            try:
                first()
            except Exception as error:
                told.append(type(error).__name__)

        assert ends(tell)
        assert told == ["HostLostError"]


def test_hosts_that_nobody_asked_about_are_told_after_the_end() -> None:
    server = begun()
    with asked(server) as host:
        server.close()
        assert host() > 0
        os.kill(host(), 9)
        os.waitpid(host(), 0)
