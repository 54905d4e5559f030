"""Hosts that are processes of this machine."""

import atexit
import contextlib
import os
import select
import signal
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from resource import struct_rusage
from typing import Self

from ..native import native_directory
from ..wire import Frames, Reply
from .fork_server import ForkError, ForkServer, spawned
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

#: How often a client looks for a reply before it sleeps: some two hundred microseconds.
PATIENCE = 300
#: After so many calls it tries again whether to stay awake is of use.
TRY_AGAIN = 256

#: So many killed processes are waited for later.
MOST_DYING = 2


class Patience:
    """How long a client looks for a reply before it sleeps.

    To be woken takes longer than most ops, so it stays awake as long as that was of use lately: where the processors
    are busy, it would only keep the host from running. They are as busy for the next host.
    """

    def __init__(self) -> None:
        self._calls = 0
        self._looks = PATIENCE

    def look(self, poll: select.poll) -> list[tuple[int, int]]:
        """What there is to read within a moment."""
        self._calls += 1
        looks = self._looks if self._calls % TRY_AGAIN else PATIENCE
        for _ in range(looks):
            ready = poll.poll(0)
            if ready:
                self._looks = PATIENCE
                return ready
        self._looks = looks // 2
        return []


_patience = Patience()
_living: weakref.WeakSet["LocalProcess"] = weakref.WeakSet()
_dying: deque["LocalProcess"] = deque()


class Local:
    """Starts `program`, or the host that was built with this package. `environment` is added to this process's own.

    One server forks the hosts. It has the environment, the working directory and the limits that this process had when
    the first host was started.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        allocator: Mapping[str, str] = ALLOCATOR,
        program: Sequence[str] = (),
    ) -> None:
        self._program = tuple(program) or (str(native_directory() / "tffs-host"),)
        self._given = environment or {}
        self._allocator = allocator
        self._environment = {**allocator, **os.environ, **self._given}
        self._server: ForkServer | None = None
        self._forks = True

    def start(self) -> "LocalProcess":
        """A fresh host. Raises HostLostError."""
        try:
            return LocalProcess(self._begin)
        except OSError as error:
            raise HostLostError(f"{self._program[0]} cannot be started: {error}") from error

    def without_filling(self) -> Self:
        """The same for hosts whose allocator fills nothing."""
        kept = {name: value for name, value in self._allocator.items() if name != FILLING}
        return self if kept == self._allocator else type(self)(self._given, kept, self._program)

    def reap(self) -> None:
        """Wait until nothing is left of what was killed."""
        _reap_all()

    def close(self) -> None:
        """End the server, and wait for what was killed."""
        self.reap()
        self._end_server()

    def _end_server(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def _begin(self, request: int, reply: int, error: int) -> Callable[[], int]:
        """Start a process on these descriptors; what gives its number."""
        try:
            return self._started(request, reply, error)
        except HostLostError:
            # The server can be ended by whoever ends processes; one more is as good.
            self._end_server()
            return self._started(request, reply, error)

    def _started(self, request: int, reply: int, error: int) -> Callable[[], int]:
        if self._server is None and self._forks:
            try:
                self._server = ForkServer(self._program, self._environment)
            except ForkError:
                self._forks = False
        if self._server is not None:
            return self._server.fork(request, reply, error)
        files = [(os.POSIX_SPAWN_DUP2, descriptor, k) for k, descriptor in enumerate((request, reply, error))]
        pid = spawned(self._program, self._environment, files)
        return lambda: pid


class LocalProcess:
    """One host. `begin` starts a process on the descriptors of its wire and error stream, and gives what tells its pid.

    The process is a child of this one.
    """

    def __init__(self, begin: Callable[[int, int, int], Callable[[], int]]) -> None:
        self.alive = True
        self._pid: int | None = None
        self._usage: struct_rusage | None = None
        self._frames = Frames()
        self._output = Output()
        self._stderr_open = True
        self._exit: int | None = None
        self._poll: select.poll | None = None
        request_read, self._request = os.pipe()
        self._reply, reply_write = os.pipe()
        self._stderr, stderr_write = os.pipe()
        try:
            self._tell_pid = begin(request_read, reply_write, stderr_write)
        except BaseException:
            for descriptor in (self._request, self._reply, self._stderr):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (request_read, reply_write, stderr_write):
                os.close(descriptor)
        os.set_blocking(self._stderr, False)
        os.set_blocking(self._request, False)
        _living.add(self)

    @property
    def pid(self) -> int:
        """The number of the process."""
        if self._pid is None:
            self._pid = self._tell_pid()
        return self._pid

    @property
    def facts(self) -> LocalFacts:
        """The number, and once the process has ended, what it used."""
        if self in _dying:
            _dying.remove(self)
            self._reap()
        return LocalFacts(self.pid, self._usage)

    @property
    def output(self) -> str:
        """What the process printed so far."""
        if self.alive:
            self._drain()
        return self._output.text

    def send(self, frame: bytes, timeout: float) -> None:
        """Hand over a frame. Raises HostSilentError."""
        try:
            sent = os.write(self._request, frame)
        except BlockingIOError:
            sent = 0
        except BrokenPipeError:
            return
        if sent < len(frame):
            self._send_rest(memoryview(frame)[sent:], timeout)

    def _send_rest(self, rest: memoryview, timeout: float) -> None:
        if self._exit is None:
            self._watch()
        printed = self._stderr if self._stderr_open else -1
        with contextlib.suppress(BrokenPipeError):
            if not put(self._request, rest, timeout, printed, self._drain, self._exit or -1):
                raise HostSilentError

    def receive(self, timeout: float) -> Reply:
        """The next reply. Raises HostEndedError, HostSilentError."""
        frames = self._frames
        reply = frames.take()
        if reply is not None:
            return reply
        poll = self._poll or self._watch()
        ready = _patience.look(poll)
        deadline = 0.0
        while True:
            if not ready:
                deadline = deadline or time.monotonic() + timeout
                ready = poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
            # What is printed is read meanwhile, so that the process cannot block on it.
            if len(ready) > 1 or (ready and ready[0][0] == self._stderr):
                self._drain()
            if ready and ready[0][0] == self._reply:
                if not frames.read(self._reply):
                    raise HostEndedError
                reply = frames.take()
                if reply is not None:
                    return reply
            elif ready and ready[-1][0] == self._exit:
                raise HostEndedError
            elif deadline and time.monotonic() >= deadline:
                raise HostSilentError
            ready = []

    def abort(self) -> None:
        """SIGABRT, and some time for a backtrace."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGABRT)
        self.wait(LAST_WORDS)

    def wait(self, seconds: float) -> bool:
        """Whether the process ended in time, which no reply is awaited of any more.

        Its output is read meanwhile, so that it cannot block on it.
        """
        deadline = time.monotonic() + seconds
        poll = self._poll or self._watch()
        # A wire that was closed is always ready.
        with contextlib.suppress(KeyError):
            poll.unregister(self._reply)
        while True:
            ready = dict(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
            if self._stderr in ready:
                self._drain()
            if self._exit in ready:
                return True
            if time.monotonic() >= deadline:
                return False

    def end(self) -> str:
        """Kill the process and everything it started. How it ended, where it was not killed here."""
        exited = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        if not exited:
            # What has a session of its own is found only as long as its parent is there.
            end_descendants(self.pid)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            # The system takes its time to end a process. The next case need not wait for that.
            self._release()
            _dying.append(self)
            if len(_dying) > MOST_DYING:
                _dying.popleft()._reap()
            return WIRE_CLOSED
        return self._reap()

    def _release(self) -> None:
        """Give up the wire and the error stream, once all is read that was printed."""
        self._drain()
        self.alive = False
        for descriptor in (self._request, self._reply, self._stderr, self._exit):
            if descriptor is not None:
                os.close(descriptor)

    def _reap(self) -> str:
        """Wait for the end, give up what the client holds, and say how the process ended."""
        pid = self.pid
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        # What the plugin started is in the same group and must not outlive the host. The process is not reaped yet, so
        # the number of the group cannot belong to somebody else.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        _, status, self._usage = os.wait4(pid, 0)
        if self.alive:
            self._release()
        _living.discard(self)
        return how(os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, os.waitstatus_to_exitcode(status))

    def _watch(self) -> select.poll:
        """What the end of the process and a reply are awaited with; `receive` relies on the order.

        It is made late, for at first the server may still be about to fork the process.
        """
        self._exit = os.pidfd_open(self.pid)
        self._poll = select.poll()
        for descriptor in (self._reply, self._stderr, self._exit):
            self._poll.register(descriptor, select.POLLIN)
        return self._poll

    def _drain(self) -> bool:
        """Read what is there on standard error; False at its end."""
        if self._stderr_open and not self._output.drain(self._stderr):
            self._stderr_open = False
            if self._poll is not None:
                self._poll.unregister(self._stderr)
        return self._stderr_open


def end_descendants(pid: int) -> None:
    """Kill the children of a process and theirs, which may have sessions of their own."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb", buffering=0) as children:
            found = children.read().split()
    except OSError:
        return
    for child in map(int, found):
        end_descendants(child)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def _reap_all() -> None:
    while _dying:
        _dying.popleft()._reap()


@atexit.register
def _end_all() -> None:
    _reap_all()
    for process in list(_living):
        # One whose start was interrupted was perhaps never forked.
        with contextlib.suppress(HostLostError, OSError):
            process.end()
