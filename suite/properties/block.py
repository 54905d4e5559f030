"""Tries a block of small histories, many to a host. Those that differ are tried again, each in a host of its own."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator

from ...harness.hosting.loader import BlockedError
from ...harness.ops.outcomes import Existence, Outcome
from ...harness.over_tables.filesystem import HostFilesystem
from ...harness.over_tables.raw import LISTS
from ...reports.model.histories import Histories
from ..contract.model import Step
from ..engine.case import Case, NoStimulusError
from ..judge.met import nested
from .crowd import Crowd, Suspect
from .search import DivergedError, Search, explore
from .small import Small, SmallHistories
from .walk import MAKES

#: A block takes so many seconds, or a little more; what did not come to it is counted.
SECONDS = 20.0
#: So many suspicions that are not alike are tried again.
SUSPICIONS = 8
#: The interest of a history that shows nothing.
PLAIN = 1


class HistoryBlock:
    """One block. Its case takes the record of the first history that differs, or of one that does not."""

    def __init__(
        self, case: Case, make: Callable[[SmallHistories], Iterator[Small]], seconds: float | None = None
    ) -> None:
        self._case = case
        self._seconds = SECONDS if seconds is None else seconds
        # To make the histories is part of it.
        self._until = time.monotonic() + self._seconds
        fs = case.surroundings.fs
        made = list(make(SmallHistories(case.surroundings.available_ops, case.bench.claims.undecided)))
        if not made:
            raise NoStimulusError("the plugin lacks ops of all of its histories, or the contract leaves all open")
        # What is left out is a sample of all, and the same one each time.
        random.Random(case.bench.target.seed).shuffle(made)
        direct = isinstance(fs, HostFilesystem) and not any(case.bench.seeds(fs, op) for op in MAKES)
        # A program of the host waits for no listing that is late.
        late = LISTS if "listing_delay_ms" in case.bench.claims.limits else frozenset[str]()
        together = fs.present - late
        self._waiting = [small for small in made if direct and together.issuperset(small.ops)]
        self._singly = [small for small in made if not direct or not together.issuperset(small.ops)]
        self._met: Counter[tuple[str, str, str]] = Counter()
        self._tried = self._suspected = 0
        self._ended = ""
        #: Whether one of those that were tried alone showed something.
        self._shown = False

    def run(self) -> None:
        """Try the block."""
        # Histories have hosts of their own, and a plugin may be for one process at a time.
        self._case.surroundings.end_host()
        explore(self._case, self._attempts, self._told)
        self._case.histories = Histories(
            tried=self._tried, left_out=len(self._waiting) + len(self._singly), met=nested(self._met)
        )
        if self._suspected and not self._shown:
            raise BlockedError("host", f"{self._told()} in a host in which many were performed, and none alone")
        if not self._tried:
            raise BlockedError("host", f"none was tried: {self._told()}")

    def _attempts(self, search: Search) -> None:
        """Try all histories, those that differ with `search`."""
        first = (self._waiting or self._singly)[0]
        suspects = self._crowded(self._until)
        search.attempt(first.bare)
        for suspect in suspects:
            for steps in (suspect.small.bare, suspect.small.whole, suspect.crowded):
                # A warning, or an op that is not there, says why it differed.
                if search.decided(steps) and self._shows(search, steps):
                    break
        while self._singly and time.monotonic() < self._until:
            small = self._singly.pop()
            self._tried += 1
            search.attempt(small.whole)

    def _shows(self, search: Search, steps: tuple[Step, ...]) -> bool:
        """Whether a history that is tried alone shows something. Raise DivergedError where plugin and model differ."""
        try:
            shown = search.attempt(steps).interest[0] != PLAIN
        except DivergedError:
            self._shown = True
            raise
        self._shown |= shown
        return shown

    def _crowded(self, until: float) -> list[Suspect]:
        """Perform what can be performed many to a host; what differed, one for each way in which it did."""
        crowd = Crowd(self._case, self._count)
        try:
            while self._waiting and not crowd.ended and time.monotonic() < until:
                performed = crowd.perform(self._waiting)
                self._tried += performed
                del self._waiting[:performed]
        finally:
            crowd.close()
        self._ended, self._suspected = crowd.ended, len(crowd.suspects)
        shortest = sorted(crowd.suspects, key=lambda one: len(one.small.bare))
        return list({one.how: one for one in reversed(shortest)}.values())[::-1][:SUSPICIONS]

    def _count(self, small: Small, number: int, outcome: Outcome[object]) -> None:
        situation = small.situations[number]
        if not situation:
            return
        if isinstance(outcome.value, Existence) and outcome.value.statuses is not None:
            for one, status in zip(situation.split(","), outcome.value.statuses, strict=True):
                self._met[outcome.op, one, str(status.code)] += 1
        else:
            self._met[outcome.op, situation, str(outcome.code)] += 1

    def _told(self) -> str:
        """How much was tried, in words."""
        left = len(self._waiting) + len(self._singly)
        words = [f"{self._tried} small histories were tried"]
        if left:
            words.append(f"{left} were left out: {self._ended or f'{self._seconds:g} s are over'}")
        if self._suspected:
            words.append(f"{self._suspected} differed among others")
        return ", ".join(words)
