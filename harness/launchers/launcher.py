"""What a launcher can do: start hosts, and tell how each of them ended.

A `Host` (harness/hosting/client.py) speaks to a `Process`, whatever started it.
"""

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from resource import struct_rusage
from typing import Protocol

from ..wire import Reply

#: glibc's allocator overwrites what is freed, fills what it hands out, and keeps no lists of its own: who uses freed
#: memory meets junk, who frees twice is caught, and the bytes in use are exact. What the user sets goes before.
ALLOCATOR: Mapping[str, str] = {
    "MALLOC_PERTURB_": "165",
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0",
}
#: What of it takes long where a plugin has a pool of a gigabyte: every byte is written twice.
FILLING = "MALLOC_PERTURB_"
#: Seconds a hung host gets to print a backtrace (on SIGABRT) before it is killed.
LAST_WORDS = 1.0
#: How a process ended that lives on without its wire.
WIRE_CLOSED = "the wire to the host was closed"


class NoToolError(Exception):
    """The tool does not work here; the text says why, without a full stop."""


class NotCompiledSoError(Exception):
    """A plugin cannot be tried with a sanitizer as it is; the text says why, without a full stop."""


class HostLostError(Exception):
    """A host cannot be started or reached any more. The environment is broken: it says nothing about the plugin."""


class HostEndedError(Exception):
    """No more replies will come: the process ended, or closed the wire."""


class HostSilentError(Exception):
    """No reply came in time, or nothing was taken of a request."""


@dataclass(frozen=True, slots=True)
class LocalFacts:
    """What only a process on this machine can tell; `usage` is known once it has ended."""

    pid: int
    usage: struct_rusage | None


class Process(Protocol):
    """One host, from its start to its end."""

    @property
    def alive(self) -> bool:
        """Whether `end` was not called yet."""

    @property
    def output(self) -> str:
        """What the host printed so far (log lines of the runtime included); stays readable after the end."""

    @property
    def facts(self) -> LocalFacts | None:
        """What a process on this machine tells; None for a host elsewhere."""

    def send(self, frame: bytes, timeout: float) -> None:
        """Hand over a frame. Where the host is gone nothing happens: who waits for the reply finds out.

        Raises HostSilentError where the host takes nothing for `timeout` seconds, and HostLostError.
        """

    def receive(self, timeout: float) -> Reply:
        """The next reply, waited for at most `timeout` seconds.

        Raises HostEndedError, HostSilentError, HostLostError.
        """

    def abort(self) -> None:
        """Make the host say where it is (SIGABRT), and wait some time for its end."""

    def wait(self, seconds: float) -> bool:
        """Whether the host ended by itself in so many seconds."""

    def end(self) -> str:
        """End the host and all it started. How it ended: `exit status N`, `signal SIGNAME`. Raises HostLostError."""


class Launcher(Protocol):
    """Starts hosts for one target, all with the same environment."""

    def start(self) -> Process:
        """A fresh host. Raises HostLostError."""

    def without_filling(self) -> "Launcher":
        """The same for hosts whose allocator fills nothing, unless the user wants it to."""

    def reap(self) -> None:
        """Wait until nothing is left of the hosts that were ended: what they held is free then."""

    def close(self) -> None:
        """End what the launcher keeps to start hosts faster; hosts that were started live on."""


def how(number: int, exit_status: int) -> str:
    """How a process ended, in the words that reports use: by the signal of this number, 0 for none."""
    if not number:
        return f"exit status {exit_status}"
    try:
        return f"signal {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"
