"""The client: starts a host process, calls it with a time-out, and tells how it ended.

A host is started behind any command (`docker exec -i …`, `valgrind …`); the wire is its standard input and output.
"""

import atexit
import contextlib
import os
import re
import select
import signal
import time
import weakref
from collections.abc import Mapping, Sequence
from resource import struct_rusage

from . import wire
from .outcomes import Crashed, Died, Hung, Threw

WIRE_VERSION = 2
#: How much of a host's standard error is kept: this many bytes from the start and as many from the end.
OUTPUT_KEPT = 32 << 10
#: glibc's allocator overwrites what is freed, fills what it hands out, and keeps no lists of its own: who uses freed
#: memory meets junk, who frees twice is caught, and the bytes in use are exact. What the user sets goes before.
ALLOCATOR = {
    "MALLOC_PERTURB_": "165",
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0",
}
#: How often the client looks for an answer before it sleeps: some twenty microseconds.
PATIENCE = 20
#: Seconds a hung host gets to print a backtrace (on SIGABRT) before it is killed.
LAST_WORDS = 1.0

#: What of the plugin runs during the commands that are not named after their op.
OP_OF_COMMAND = {
    "load": "dlopen",
    "init_plugin": "TF_InitPlugin",
    # Entries that were announced and are not there end the process when they are looked at.
    "describe": "TF_InitPlugin",
    "register": "init",
    "release": "plugin_memory_free",
}

#: The commands that perform ops of which only what the host prints tells which one it was.
PROGRAMS = ("threads", "repeat")
_LAST_WORDS = re.compile(r"the host got SIG\w+ in (\S+)(?: of another thread)?; backtrace")

_CHUNK = 1 << 16
_living: weakref.WeakSet["Host"] = weakref.WeakSet()


class HostFault(Exception):
    """The host did not understand the client: a defect of ours, never of the plugin."""


class Output:
    """A bounded record of what a process printed: the first and the last `OUTPUT_KEPT` bytes."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Take what was read."""
        room = OUTPUT_KEPT - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        excess = len(self._tail) - OUTPUT_KEPT
        if excess > 0:
            self._dropped += excess
            del self._tail[:excess]

    @property
    def text(self) -> str:
        """What was printed, undecodable bytes escaped, with a line that says how much is missing."""
        gap = f"\n[… {self._dropped} bytes left out …]\n".encode() if self._dropped else b""
        return (bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "backslashreplace")


class Host:
    """One host process. `call` performs one command; a host that died is never used again.

    `command` is the host's executable with what stands before it; `environment` is added to this process's own;
    `timeout` is the time in seconds that one call may take.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], timeout: float) -> None:
        self.timeout = timeout
        self.usage: struct_rusage | None = None
        self._output = Output()
        self._buffer = b""
        self._unread: list[str] = []
        self._stderr_open = True
        request_read, self._request = os.pipe()
        self._reply, reply_write = os.pipe()
        self._stderr, stderr_write = os.pipe()
        try:
            self.pid = os.posix_spawnp(
                command[0],
                list(command),
                {**ALLOCATOR, **os.environ, **environment},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, request_read, 0),
                    (os.POSIX_SPAWN_DUP2, reply_write, 1),
                    (os.POSIX_SPAWN_DUP2, stderr_write, 2),
                ],
                # A session of its own: Ctrl-C reaches pytest only, and what the plugin starts can be ended with it.
                setsid=True,
                # Python ignores SIGPIPE; a plugin must meet the disposition that a fresh process has.
                setsigdef=[signal.SIGPIPE],
            )
        except OSError:
            for descriptor in (self._request, self._reply, self._stderr):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (request_read, reply_write, stderr_write):
                os.close(descriptor)
        self._exit = os.pidfd_open(self.pid)
        os.set_blocking(self._stderr, False)
        self._poll = select.poll()
        for descriptor in (self._reply, self._stderr, self._exit):
            self._poll.register(descriptor, select.POLLIN)
        self.alive = True
        _living.add(self)

    @property
    def output(self) -> str:
        """What the process printed so far (log lines of the runtime included)."""
        if self.alive:
            self._drain()
        return self._output.text

    def send(self, command: str, *values: wire.Value) -> None:
        """Ask without waiting; the answer is fetched by `receive`, in the order of asking."""
        if not self.alive:
            raise HostFault(f"{command} was asked of a host that is gone")
        self._unread.append(command)
        self._write(wire.encode((command.encode(), *values)))

    def receive(self) -> wire.Reply | None:
        """The values behind `done`, or None for `absent`. Raises `Died` where the plugin did not come back."""
        command = self._unread.pop(0)
        reply = wire.Reply(self._frame(command))
        kind = reply.take_bytes()
        if kind == b"done":
            return reply
        if kind == b"absent":
            return None
        self.close()
        if kind == b"threw":
            raise Died(Threw(OP_OF_COMMAND.get(command, command), reply.take_text(), reply.take_text(), self.output))
        raise HostFault(f"{command}: {reply.take_text()}")

    def call(self, command: str, *values: wire.Value) -> wire.Reply | None:
        """Ask and wait."""
        self.send(command, *values)
        return self.receive()

    def close(self) -> None:
        """End the process and everything it started; its output and resource use stay readable."""
        if self.alive:
            self._kill()
            self._reap()

    def quit(self) -> None:
        """End the process through its `exit`, so that sanitizers and valgrind report; killed after the time-out."""
        if not self.alive:
            return
        self._write(wire.encode((b"quit",)))
        self._await_exit(self.timeout)
        self.close()

    def _write(self, frame: bytes) -> None:
        """Hand over a frame. Where the host is gone nothing happens: who waits for the answer finds out how it went."""
        rest = memoryview(frame)
        try:
            while rest:
                rest = rest[os.write(self._request, rest) :]
        except BrokenPipeError:
            return

    def _frame(self, command: str) -> list[wire.Value]:
        buffer = self._buffer
        needed = wire.LENGTH_BYTES
        deadline = time.monotonic() + self.timeout
        while True:
            if len(buffer) >= wire.LENGTH_BYTES:
                needed = wire.LENGTH_BYTES + wire.body_length(buffer)
                if len(buffer) >= needed:
                    self._buffer = buffer[needed:]
                    return wire.decode(buffer[wire.LENGTH_BYTES : needed])
            ready = [descriptor for descriptor, _ in self._await(deadline)]
            if self._stderr in ready:
                self._drain()
            if self._reply in ready:
                chunk = os.read(self._reply, max(_CHUNK, needed - len(buffer)))
                if not chunk:
                    raise self._ended(command)
                buffer += chunk
            elif self._exit in ready:
                raise self._ended(command)
            elif time.monotonic() >= deadline:
                raise self._hung(command)

    def _await(self, deadline: float) -> list[tuple[int, int]]:
        """What there is to read. To be woken takes longer than most ops, so the client stays awake for a moment."""
        for _ in range(PATIENCE):
            events = self._poll.poll(0)
            if events:
                return events
            os.sched_yield()
        return self._poll.poll(max(0.0, deadline - time.monotonic()) * 1000)

    def _ended(self, command: str) -> Died:
        # The wire may be closed by a plugin that closes descriptors while its process lives on.
        exited = self._await_exit(LAST_WORDS)
        if not exited:
            self._kill()
        how = self._reap()
        return Died(Crashed(self._op(command), how if exited else "the wire to the host was closed", self.output))

    def _hung(self, command: str) -> Died:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGABRT)
        self._await_exit(LAST_WORDS)
        self.close()
        return Died(Hung(self._op(command), self.timeout, self.output))

    def _op(self, command: str) -> str:
        """What of the plugin ran during a command that did not come back."""
        words = _LAST_WORDS.findall(self.output) if command in PROGRAMS else ()
        return words[-1] if words else OP_OF_COMMAND.get(command, command)

    def _await_exit(self, seconds: float) -> bool:
        """Whether the process ended in time; its output is read meanwhile, so that it cannot block on it."""
        deadline = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._exit, select.POLLIN)
        if self._stderr_open:
            poll.register(self._stderr, select.POLLIN)
        while True:
            ready = dict(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
            if self._stderr in ready and not self._drain():
                poll.unregister(self._stderr)
            if self._exit in ready:
                return True
            if time.monotonic() >= deadline:
                return False

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def _reap(self) -> str:
        """Wait for the end, release what the client holds, and say how the process ended."""
        os.waitid(os.P_PIDFD, self._exit, os.WEXITED | os.WNOWAIT)
        # What the plugin started is in the same group and must not outlive the host. The process is not reaped yet, so
        # the number of the group cannot belong to somebody else.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        _, status, self.usage = os.wait4(self.pid, 0)
        self._drain()
        self.alive = False
        for descriptor in (self._request, self._reply, self._stderr, self._exit):
            os.close(descriptor)
        _living.discard(self)
        if not os.WIFSIGNALED(status):
            return f"exit status {os.WEXITSTATUS(status)}"
        number = os.WTERMSIG(status)
        return f"signal {signal.Signals(number).name if number in signal.valid_signals() else number}"

    def _drain(self) -> bool:
        """Read what is there on standard error; False once that has ended."""
        while self._stderr_open:
            try:
                data = os.read(self._stderr, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                self._poll.unregister(self._stderr)
                self._stderr_open = False
            self._output.add(data)
        return False


@atexit.register
def _close_all() -> None:
    for host in list(_living):
        host.close()
