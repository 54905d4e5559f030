"""How long a plugin has for closing what it opened, as in a thread of its own: as long as a call may take."""

import time
from collections.abc import Callable

#: Seconds between two looks.
PAUSE = 0.02


class Closing:
    """Waits until no more is open than may be, for `seconds` at most. One for the attempts of a case.

    That something stays open is told once. After that nobody waits: each attempt would have to be waited for. Who does
    not wait may not blame a plugin that is only late.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.is_told = False

    def wait(self, count: Callable[[], int], most: int) -> int:
        """How much is open once no more than `most` is, or when the time is over."""
        until = time.monotonic() + (0 if self.is_told else self._seconds)
        while (left := count()) > most and time.monotonic() < until:
            time.sleep(PAUSE)
        return left
