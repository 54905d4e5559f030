"""A process of this machine that forks hosts, so that to start one costs neither an exec nor the dynamic linker.

The hosts are children of this process, not of the server: `harness/host/server.cc` is the other end.
"""

import functools
import os
import signal
import socket
import struct
import weakref
from collections.abc import Callable, Mapping

from .launcher import Lost

_NUMBER = struct.Struct("<i")


class CannotFork(Exception):
    """The host does not fork, for a sanitizer is in it, or more than one thread."""


class ForkServer:
    """Forks hosts that have `environment`. Raises CannotFork, and OSError where `host` cannot be executed."""

    def __init__(self, host: str, environment: Mapping[str, str]) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = os.posix_spawn(
                host,
                [host, "serve"],
                environment,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                ],
                # A session of its own: Ctrl-C reaches pytest only.
                setsid=True,
                # Python ignores SIGPIPE; a plugin must meet the disposition that a fresh process has.
                setsigdef=[signal.SIGPIPE],
            )
        # The answers come in the order of the forks; who forks does not wait for them.
        self._forked = 0
        self._answered = 0
        self._pids: dict[int, int] = {}
        self._end = weakref.finalize(self, _end, self._socket, self.process)
        # Where this process ends first, the server ends with its socket.
        self._end.atexit = False
        if not self._socket.recv(_NUMBER.size):
            self.close()
            raise CannotFork

    def fork(self, request: int, reply: int, error: int) -> Callable[[], int]:
        """Fork a host with these descriptors for its wire and its standard error; what tells its pid. Raises Lost."""
        try:
            socket.send_fds(self._socket, [b"f"], [request, reply, error])
        except OSError as failure:
            raise Lost(f"the process that forks hosts is gone: {failure}") from failure
        self._forked += 1
        return functools.partial(self._pid, self._forked)

    def _pid(self, ticket: int) -> int:
        """The process that was forked. Raises Lost where there is none."""
        while ticket not in self._pids:
            if not self._take_answer():
                raise Lost("the process that forks hosts is gone")
        pid = self._pids.pop(ticket)
        if pid < 0:
            raise Lost(f"no host could be forked: {os.strerror(-pid)}")
        return pid

    def _take_answer(self) -> bool:
        answer = self._socket.recv(_NUMBER.size) if self._end.alive else b""
        if answer:
            self._answered += 1
            (self._pids[self._answered],) = _NUMBER.unpack(answer)
        return bool(answer)

    def close(self) -> None:
        """End the server; the hosts live on, and can be told."""
        while self._answered < self._forked and self._take_answer():
            pass
        self._end()


def _end(connection: socket.socket, server: int) -> None:
    connection.close()
    os.waitpid(server, 0)
