"""Signals that end a run: Ctrl-C, SIGTERM, or SIGHUP because its terminal went away."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Seconds after which one more signal counts again, where the run did not begin to end.
_PATIENCE = 5.0


class Interrupts:
    """From now on the first signal ends the run, and those after it wait until it has cleaned up.

    A run that ends removes the root and writes its reports. Who cannot wait for that has SIGQUIT (Ctrl-\\) and SIGKILL.
    """

    def __init__(self) -> None:
        #: Set as soon as the run ends.
        self.ending = False
        self._came: float | None = None
        # A signal that is ignored, as with nohup, stays ignored.
        heeded = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        self._before: dict[int, Any] = {}
        if _on_main_thread():
            self._before = {number: signal.signal(number, self._arrived) for number in heeded}

    def restore(self) -> None:
        """Give signals back to who had them."""
        restore(self._before)
        self._before = {}

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if not self.ending and (self._came is None or now - self._came >= _PATIENCE):
            self._came = now
            raise KeyboardInterrupt


@contextmanager
def deferred() -> Iterator[None]:
    """What is done inside is done to its end: a signal that arrives meanwhile takes effect afterwards."""
    if not _on_main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    before: dict[int, Any] = {}
    for each in _SIGNALS:
        before[each] = signal.signal(each, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        restore(before)
    for number, frame in came[:1]:
        handler = before[number]
        if callable(handler):
            handler(number, frame)
        elif handler is signal.SIG_DFL:
            signal.raise_signal(number)


def end_politely() -> dict[int, Any]:
    """From now on SIGTERM and SIGHUP raise KeyboardInterrupt, as Ctrl-C does.

    Return the old handlers, for `restore`.
    """
    if not _on_main_thread():
        return {}
    before: dict[int, Any] = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, signal.default_int_handler)
    return before


def restore(before: dict[int, Any]) -> None:
    """Set signal handlers as they were before."""
    if _on_main_thread():
        for number, handler in before.items():
            # None stands for a handler that was not set from Python, which Python cannot set again.
            if handler is not None:
                signal.signal(number, handler)


def _on_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
