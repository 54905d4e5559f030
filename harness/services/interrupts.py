"""Ctrl-C and a polite request to end, while something is being made that has to be removed again."""

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
    """What comes meanwhile counts when the block is done: docker would finish what was cut off here."""
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
    """From now on SIGTERM and SIGHUP end this process as Ctrl-C does; gives what `restore` takes."""
    if not _on_main_thread():
        return {}
    before: dict[int, Any] = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, _interrupt)
    return before


def restore(before: dict[int, Any]) -> None:
    """Undo `end_politely`."""
    if _on_main_thread():
        for number, handler in before.items():
            # None is what Python cannot put back.
            if handler is not None:
                signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
