"""What a host prints, within bounds, and how it is read while the host is sent something."""

import os
import select
import time
from collections.abc import Callable

from ..wire import CHUNK

#: How much of a host's standard error is kept: this many bytes from the start and as many from the end.
OUTPUT_KEPT = 32 << 10


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

    def drain(self, descriptor: int) -> bool:
        """Take what can be read without waiting; False at its end."""
        try:
            while data := os.read(descriptor, CHUNK):
                self.add(data)
        except BlockingIOError:
            return True
        return False

    @property
    def text(self) -> str:
        """What was printed, undecodable bytes escaped, with a line that says how much is missing."""
        gap = f"\n[… {self._dropped} bytes left out …]\n".encode() if self._dropped else b""
        return (bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "backslashreplace")


def put(pipe: int, rest: memoryview, timeout: float, printed: int, drain: Callable[[], bool], end: int = -1) -> bool:
    """Hand over what a pipe does not hold at once; False where nothing of it is taken for `timeout` seconds.

    What is `printed` meanwhile is read by `drain`, which is False at its end. Where `end` can be read, the process has
    ended, and somebody that it started may have the pipe. Raises BrokenPipeError.
    """
    poll = select.poll()
    poll.register(pipe, select.POLLOUT)
    for other in {printed, end} - {-1}:
        poll.register(other, select.POLLIN)
    deadline = time.monotonic() + timeout
    while rest:
        ready = dict(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
        if printed in ready and not drain():
            poll.unregister(printed)
        if pipe in ready:
            rest = rest[os.write(pipe, rest) :]
            deadline = time.monotonic() + timeout
        elif end in ready:
            return True
        elif time.monotonic() >= deadline:
            return False
    return True
