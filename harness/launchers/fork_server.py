"""A process of this machine that forks hosts, so that to start one costs neither an exec nor the dynamic linker.

The hosts are children of this process, not of the server: `harness/host/server.cc` is the other end.
"""

import os
import signal
import socket
import struct
from collections.abc import Mapping

from .launcher import Lost

_NUMBER = struct.Struct("<i")


class CannotFork(Exception):
    """The host does not fork, for a sanitizer is in it, or more than one thread."""


class ForkServer:
    """Forks hosts that have `environment`. Raises CannotFork, and OSError where `host` cannot be executed."""

    def __init__(self, host: str, environment: Mapping[str, str]) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._server = os.posix_spawn(
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
        if not self._socket.recv(_NUMBER.size):
            self.close()
            raise CannotFork

    def fork(self, request: int, reply: int, error: int) -> int:
        """Fork a host with these descriptors for its wire and its standard error; a ticket for `pid`. Raises Lost."""
        try:
            socket.send_fds(self._socket, [b"f"], [request, reply, error])
        except OSError as failure:
            raise Lost(f"the process that forks hosts is gone: {failure}") from failure
        self._forked += 1
        return self._forked

    def pid(self, ticket: int) -> int:
        """The process that was forked. Raises Lost where there is none."""
        while ticket not in self._pids:
            answer = self._socket.recv(_NUMBER.size)
            if not answer:
                raise Lost("the process that forks hosts is gone")
            self._answered += 1
            (self._pids[self._answered],) = _NUMBER.unpack(answer)
        pid = self._pids.pop(ticket)
        if pid < 0:
            raise Lost(f"no host could be forked: {os.strerror(-pid)}")
        return pid

    def close(self) -> None:
        """End the server; the hosts live on."""
        if self._socket.fileno() >= 0:
            self._socket.close()
            os.waitpid(self._server, 0)
