"""How a run ends that somebody ends: by Ctrl-C, by SIGTERM, or because its terminal went away."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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
        self._held = self._pending = False
        self._before = {}
        for number in _SIGNALS:
            # A signal that is ignored, as with nohup, stays ignored; only the main thread may set handlers.
            if signal.getsignal(number) is not signal.SIG_IGN:
                try:
                    self._before[number] = signal.signal(number, self._arrived)
                except ValueError:
                    return

    def restore(self) -> None:
        """Give signals back to who had them."""
        for number, before in self._before.items():
            # One that was not set from Python cannot be given back.
            signal.signal(number, signal.SIG_DFL if before is None else before)
        self._before = {}

    @contextmanager
    def held(self) -> Iterator[None]:
        """What is done inside is done to its end: a signal that comes meanwhile counts afterwards."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._pending:
            self._pending = False
            raise KeyboardInterrupt

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.ending or (self._came is not None and now - self._came < _PATIENCE):
            return
        self._came = now
        if self._held:
            self._pending = True
        else:
            raise KeyboardInterrupt
