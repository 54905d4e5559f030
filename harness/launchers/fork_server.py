"""A process of this machine that forks hosts, so that to start one costs neither an exec nor the dynamic linker.

The hosts are children of this process, not of the server: `harness/host/server.cc` is the other end.
"""

import contextlib
import functools
import itertools
import os
import signal
import socket
import struct
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .launcher import HostLostError

#: A ticket, which the client gives a host that it asks for, and the number of the process, or a negative errno.
_TICKET, _ANSWER = struct.Struct("<i"), struct.Struct("<ii")


class ForkError(Exception):
    """The host does not fork, for a sanitizer is in it, or more than one thread."""


class ForkServer:
    """Forks hosts that have `environment`. Raises ForkError, and OSError where `program` cannot be executed."""

    def __init__(self, program: Sequence[str], environment: Mapping[str, str]) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # What TensorFlow logs while it is loaded is for nobody; a host says why it cannot start.
            files = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
            self.process = spawned(
                [*program, "serve"], environment, [(os.POSIX_SPAWN_DUP2, theirs.fileno(), 0), *files]
            )
        # Who forks does not wait for the answer; a signal may end it before it knows its ticket.
        self._tickets = itertools.count(1)
        self._pids: dict[int, int] = {}
        self._end = weakref.finalize(self, _end, self._socket, self.process)
        # Where this process ends first, the server ends with its socket.
        self._end.atexit = False
        if not self._socket.recv(_ANSWER.size):
            self.close()
            raise ForkError

    def fork(self, request: int, reply: int, error: int) -> Callable[[], int]:
        """Fork a host with these descriptors for its wire and its standard error; what tells its pid.

        Raises HostLostError.
        """
        ticket = next(self._tickets)
        try:
            socket.send_fds(self._socket, [_TICKET.pack(ticket)], [request, reply, error])
        except OSError as failure:
            raise HostLostError(f"the process that forks hosts is gone: {failure}") from failure
        return functools.partial(self._pid, ticket)

    def _pid(self, ticket: int) -> int:
        """The process that was forked. Raises HostLostError where there is none."""
        while ticket not in self._pids:
            if not self._take_answer():
                raise HostLostError("the process that forks hosts is gone")
        pid = self._pids[ticket]
        if pid < 0:
            raise HostLostError(f"no host could be forked: {os.strerror(-pid)}")
        return pid

    def _take_answer(self) -> bool:
        if not self._end.alive:
            return False
        try:
            # A signal must not come between: Python looks for one where it runs Python.
            self._pids.update(map(_ANSWER.unpack, map(self._socket.recv, (_ANSWER.size,))))
        except struct.error:
            return False
        return True

    def close(self) -> None:
        """End the server; the hosts live on, and can be told."""
        if self._end.alive:
            # It forks what it was asked for, and ends.
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
            with contextlib.suppress(OSError):
                while self._take_answer():
                    pass
        self._end()


def _end(connection: socket.socket, server: int) -> None:
    connection.close()
    os.waitpid(server, 0)


def spawned(program: Sequence[str], environment: Mapping[str, str], files: Sequence[tuple[Any, ...]]) -> int:
    """A new process, whose descriptors `files` make. It has a session of its own: Ctrl-C reaches pytest only.

    Raises OSError where the program cannot be executed.
    """
    # Python ignores SIGPIPE; a plugin must meet the disposition that a fresh process has.
    return os.posix_spawn(
        program[0], tuple(program), environment, file_actions=files, setsid=True, setsigdef=[signal.SIGPIPE]
    )
