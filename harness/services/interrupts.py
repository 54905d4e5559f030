"""Delays Ctrl-C and SIGTERM while containers are being created, so that no container is left behind."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _on_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def held() -> Iterator[None]:
    """Signals that arrive inside the block take effect at its end.

    Docker would finish a request that was cut off here, and nobody would know of the container.
    """
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
            before[number] = signal.signal(number, _interrupt)
    return before


def restore(before: dict[int, Any]) -> None:
    """Set the signal handlers that `end_politely` returned."""
    if _on_main_thread():
        for number, handler in before.items():
            # None stands for a handler that was not set from Python, which Python cannot set again.
            if handler is not None:
                signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
