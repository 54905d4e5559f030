"""Hosts behind a command that runs one elsewhere, such as `docker exec -i serving /tffs-host` or `valgrind tffs-host`.

The wire is the command's standard input and output. What runs there is a relay (docs/wire.md): it starts one host after
the other, so that the command itself is started once or twice only, and tells how each of them ended.
"""

import contextlib
import os
import select
import subprocess
import time
import weakref
from collections.abc import Mapping, Sequence

from ..wire import WIRE_VERSION, Frames, Reply, WireError, encode
from .launcher import (
    ALLOCATOR,
    FILLING,
    LAST_WORDS,
    WIRE_CLOSED,
    HostEndedError,
    HostLostError,
    HostSilentError,
    LocalFacts,
    how,
)
from .output import Output, put

#: Seconds in which a host that was killed is expected to be gone.
KILL_PATIENCE = 10.0
#: Seconds in which a command is expected to have a host that answers: a container, a far machine.
CONNECT_PATIENCE = 60.0
#: How to have the host of this version.
EXPORT = "put there what 'tffs-conformance config --host=DIR' hands out"
#: How much of what a command said last is told when it ends too early.
LAST_SAID = 500


class Command:
    """Starts hosts with a command. `environment` is set for the hosts; the command has this process's own."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        allocator: Mapping[str, str] = ALLOCATOR,
    ) -> None:
        self._command = command
        self._given = environment or {}
        self._environment = {**allocator, **self._given}
        self._idle: list[_Connection] = []

    def start(self) -> "CommandProcess":
        """A fresh host, in a connection that has none. Raises HostLostError."""
        connection = self._idle.pop() if self._idle else _Connection(self._command, self._environment)
        return CommandProcess(connection, self._idle)

    def without_filling(self) -> "Command":
        """The same for hosts whose allocator fills nothing."""
        kept = {name: value for name, value in ALLOCATOR.items() if name != FILLING}
        return Command(self._command, self._given, kept)

    def reap(self) -> None:
        """Nothing to wait for: a relay tells of an end when it has come."""

    def close(self) -> None:
        """End the connections that have no host."""
        while self._idle:
            self._idle.pop().close()


class CommandProcess:
    """One host behind a connection, which goes to `idle` when the host has ended."""

    def __init__(self, connection: "_Connection", idle: "list[_Connection]") -> None:
        self.alive = True
        self._connection = connection
        self._idle = idle
        self._output = connection.output = Output()
        self._how: str | None = None
        #: Requests to which no reply was received.
        self._unanswered = 0
        self._obey("start", CONNECT_PATIENCE)

    @property
    def facts(self) -> LocalFacts | None:
        """A process elsewhere has no number here."""
        return None

    @property
    def output(self) -> str:
        """What the host printed so far."""
        return self._output.text

    def send(self, frame: bytes, timeout: float) -> None:
        """Hand over a frame. Raises HostSilentError, HostLostError."""
        try:
            self._connection.send(frame, timeout)
        except HostSilentError:
            # A relay keeps what a host does not read, and takes no more only where there is too much of that.
            if not self._unanswered:
                self.alive = False
                raise self._connection.stuck(timeout) from None
            raise
        self._unanswered += 1

    def _obey(self, command: str, timeout: float) -> None:
        """Ask something of the relay itself. Raises HostLostError."""
        try:
            self._connection.send(encode(command), timeout)
        except HostSilentError:
            self.alive = False
            raise self._connection.stuck(timeout) from None

    def receive(self, timeout: float) -> Reply:
        """The next reply. Raises HostEndedError, HostSilentError, HostLostError."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                reply = self._connection.receive(deadline)
            except (HostLostError, WireError):
                self.alive = False
                self._connection.close()
                raise
            if reply.is_a(b"output"):
                reply.take_bytes()
                self._output.add(reply.take_bytes())
            elif reply.is_a(b"ended"):
                reply.take_bytes()
                self._how = how(reply.take_number(), reply.take_number())
                raise HostEndedError
            else:
                self._unanswered -= 1
                return reply

    def abort(self) -> None:
        """SIGABRT, and some time for a backtrace."""
        with contextlib.suppress(HostLostError):
            self._obey("abort", LAST_WORDS)
            self.wait(LAST_WORDS)

    def wait(self, seconds: float) -> bool:
        """Whether the host ended in time, of which no reply is awaited any more."""
        deadline = time.monotonic() + seconds
        while self._how is None:
            try:
                self.receive(deadline - time.monotonic())
            except HostEndedError:
                break
            except HostSilentError:
                return False
        return True

    def end(self) -> str:
        """End the host and all it started. How it ended, where it was not killed here."""
        ended = self._how
        if ended is None:
            with contextlib.suppress(HostLostError):
                self._obey("kill", KILL_PATIENCE)
                self.wait(KILL_PATIENCE)
        if self.alive and self._how is not None:
            self._idle.append(self._connection)
        else:
            self._connection.close()
        self.alive = False
        return ended or WIRE_CLOSED


class _Connection:
    """A command that runs a relay. `output` takes what the command prints by itself."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.output = Output()
        self._command = command
        self._frames = Frames()
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                # Ctrl-C reaches pytest only.
                start_new_session=True,
            )
        except OSError as error:
            raise HostLostError(f"{command[0]} cannot be started: {error.strerror}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin = self._process.stdin
        os.set_blocking(self._stdin.fileno(), False)
        self._stdout = self._process.stdout.fileno()
        self._stderr = self._process.stderr.fileno()
        os.set_blocking(self._stderr, False)
        self._poll = select.poll()
        self._poll.register(self._stdout, select.POLLIN)
        self._poll.register(self._stderr, select.POLLIN)
        self._end = weakref.finalize(self, end, self._process)
        # Where this process ends first, the relay ends with its standard input.
        self._end.atexit = False
        try:
            told = [os.fsencode(text) for pair in environment.items() for text in pair]
            self.send(encode("relay", told), CONNECT_PATIENCE)
            answer = self.receive(time.monotonic() + CONNECT_PATIENCE)
        except HostSilentError:
            self.close()
            raise HostLostError(f"no host answered within {CONNECT_PATIENCE:g} s: {' '.join(command)}") from None
        # A relay says which version of the wire it speaks; the first ones did not.
        if not (answer.take() == b"done" and answer.more and answer.take() == WIRE_VERSION):
            self.close()
            raise HostLostError(f"the host is of another version: {' '.join(command)}: {EXPORT}")

    def send(self, frame: bytes, timeout: float) -> None:
        """Hand over a frame. Where the connection is lost, who waits for the reply finds out.

        Raises HostSilentError where nothing is taken for `timeout` seconds, and then nothing more can be sent: half a
        frame may be under way. The relay ends as it finds the end of its standard input.
        """
        with contextlib.suppress(BrokenPipeError, ValueError):
            rest = memoryview(frame)[self._stdin.write(frame) or 0 :]
            if rest and not put(self._stdin.fileno(), rest, timeout, self._stderr, self._drain):
                self._stdin.close()
                raise HostSilentError

    def receive(self, deadline: float) -> Reply:
        """The next frame. Raises HostSilentError after `deadline` (of the monotonic clock), HostLostError."""
        if not self._end.alive:
            # An interrupt can come while a host is ended.
            raise HostLostError("the connection to the host was closed")
        reply = self._frames.take()
        while reply is None:
            ready = [descriptor for descriptor, _ in self._poll.poll(max(0.0, deadline - time.monotonic()) * 1000)]
            if self._stderr in ready:
                self._drain()
            if self._stdout in ready:
                if not self._frames.read(self._stdout):
                    raise self._lost()
                reply = self._frames.take()
            elif time.monotonic() >= deadline:
                raise HostSilentError
        return reply

    def _drain(self) -> bool:
        """Read what the command printed; False at its end."""
        more = self.output.drain(self._stderr)
        if not more:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._stderr)
        return more

    def _lost(self) -> HostLostError:
        self._stdin.close()
        try:
            ended = f"it ended with exit status {self._process.wait(LAST_WORDS)}"
        except subprocess.TimeoutExpired:
            ended = "it closed its standard output"
        self._drain()
        said = self.output.text.strip()[-LAST_SAID:]
        return HostLostError(
            f"the connection to the host was lost: {' '.join(self._command)}: {ended}{said and ': ' + said}"
        )

    def stuck(self, seconds: float) -> HostLostError:
        """End the command, which takes nothing."""
        self.close()
        return HostLostError(
            f"the command took nothing of what it was sent for {seconds:g} s: {' '.join(self._command)}"
        )

    def close(self) -> None:
        """End the command: its relay ends with the wire."""
        self._end()


def end(process: "subprocess.Popen[bytes]", patience: float | None = None) -> None:
    """End a process that ends with its input; where it does not in time, by force."""
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    try:
        process.wait(KILL_PATIENCE if patience is None else patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
