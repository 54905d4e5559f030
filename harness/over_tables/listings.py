"""Listings that are late: before one, the caller waits until what was changed is listed."""

import time
from collections.abc import Iterable
from typing import ClassVar

from ..ops.tables import CHANGING
from ..wire import Reply, Value
from .raw import Caller

_CHANGES = CHANGING | {"append", "flush", "sync", "close", "writable_file.cleanup"}
#: The ops that list.
LISTS = frozenset({"get_children", "get_matching_paths"})


class LateListings:
    """Performs commands of a host as `call` does, those that list no sooner than `seconds` after the last change.

    A program that lists waits before it begins, and not between its ops.
    """

    #: When something was changed last, through any host or backing of this process, by the monotonic clock.
    changed: ClassVar[float] = 0.0

    def __init__(self, call: Caller, seconds: float) -> None:
        self._call = call
        self._seconds = seconds

    def __call__(self, command: str, *values: Value, ops: Iterable[str] = ()) -> Reply | None:
        """One command, which performs `ops` where it is not named after its own."""
        performed = {*ops} or {command}
        if performed & LISTS:
            time.sleep(max(0.0, self.changed + self._seconds - time.monotonic()))
        try:
            return self._call(command, *values, ops=ops)
        finally:
            if performed & _CHANGES:
                LateListings.changed = time.monotonic()
