"""Counts the calls of a storage that its service writes into its log, a line each."""

import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from docker.errors import DockerException

from .engine import ServicesError


@dataclass(frozen=True, slots=True)
class Calls:
    """What counts as a call: a line of the log of the service `log` that `line`, a regular expression, is found in.

    `what` says in words what is counted. The group `kind` of the expression tells calls apart, where it has one.
    """

    what: str
    log: str
    line: str
    _pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pattern", re.compile(self.line))

    def since(self, moment: float, containers: Mapping[str, Any]) -> Counter[str]:
        """How many calls of each kind were there since a moment, in seconds of the epoch. Raise ServicesError."""
        try:
            said = containers[self.log].logs(since=moment).decode(errors="replace")
        except DockerException as error:
            raise ServicesError(f"the log of {self.log} cannot be read: {error}") from error
        found = filter(None, map(self._pattern.search, said.splitlines()))
        return Counter(one.groupdict().get("kind") or "call" for one in found)


class CallCounter:
    """Counts the calls of one service from now on."""

    #: Logs that stay as they are for so many seconds are settled; they are waited for no longer than for the second.
    QUIET, PATIENCE = 0.3, 10.0

    def __init__(self, calls: Calls, containers: Mapping[str, Any]) -> None:
        self.what = calls.what
        self._calls, self._containers, self._begin = calls, containers, time.time()

    def __call__(self) -> Counter[str]:
        """How many calls of each kind there were, once no more come: a line is there a little after its answer."""
        deadline = time.monotonic() + self.PATIENCE
        found = self._calls.since(self._begin, self._containers)
        while time.monotonic() < deadline:
            time.sleep(self.QUIET)
            before, found = found, self._calls.since(self._begin, self._containers)
            if found == before:
                break
        return found
