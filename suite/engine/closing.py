"""How long a plugin has for closing what it opened, as in a thread of its own: as long as a call may take.

Less, once it was seen that it does not.
"""

import time
from collections.abc import Callable

#: Seconds between two looks.
PAUSE = 0.02
#: After so many waits in vain, one after the other, each takes only this share of the time.
IN_VAIN, SHARE = 2, 0.1


class Closing:
    """Waits until no more is open than may be, for `seconds` at most."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._in_vain = 0

    def wait(self, count: Callable[[], int], most: int) -> int:
        """How much is open once no more than `most` is, or when the time is over."""
        until = time.monotonic() + self._seconds * (SHARE if self._in_vain >= IN_VAIN else 1)
        while (left := count()) > most and time.monotonic() < until:
            time.sleep(PAUSE)
        self._in_vain = self._in_vain + 1 if left > most else 0
        return left
