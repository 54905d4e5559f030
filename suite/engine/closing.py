"""How long a plugin has for closing what it opened, as in a thread of its own: as long as a call may take."""

import time
from collections.abc import Callable

#: Seconds between two looks.
PAUSE = 0.02


class Closing:
    """Waits until no more is open than may be, for `seconds` at most. One for the attempts of a case.

    That something stays open is told once. After that nobody looks: each attempt would have to be waited for, and who
    waits less blames a plugin that is only late.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.is_told = False

    def wait(self, count: Callable[[], int], most: int) -> int | None:
        """How much is open once no more than `most` is, or when the time is over; None where nobody looks any more."""
        if self.is_told:
            return None
        until = time.monotonic() + self._seconds
        while (left := count()) > most and time.monotonic() < until:
            time.sleep(PAUSE)
        return left
