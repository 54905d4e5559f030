"""How far a campaign is, from its store alone: one listing for each thousand tasks."""

from collections import Counter
from dataclasses import dataclass, field

from ..reports.model.counts import number
from .findings import Found
from .plan import Plan
from .store import Ended, Store
from .tasks import blocks, total

#: The rate is that of so many minutes before the last task ended.
MINUTES = 10


@dataclass
class CampaignProgress:
    """Counts of a campaign. `quiet` counts the histories since the last new difference, `last` is when a task ended.

    Times are in seconds since the epoch. It takes the same memory however many tasks there are.
    """

    plan: Plan
    began: int
    tasks: int
    ended: int = 0
    cases: int = 0
    histories: int = 0
    findings: int = 0
    quiet: int = 0
    newest: int = 0
    last: int = 0
    by_minute: Counter[int] = field(default_factory=Counter)

    def add(self, entry: Ended, new: int = 0) -> None:
        """Count a task that ended, and brought so many new findings."""
        self.ended += 1
        self.cases += entry.cases
        self.histories += entry.histories
        self.findings += new
        if new:
            self.quiet, self.newest = 0, max(self.newest, entry.ended)
        elif entry.ended > self.newest:
            self.quiet += entry.histories
        self.last = max(self.last, entry.ended)
        self.by_minute[entry.ended // 60] += 1
        if len(self.by_minute) > 4 * MINUTES:
            for minute in sorted(self.by_minute)[: -2 * MINUTES]:
                del self.by_minute[minute]

    @property
    def rate(self) -> float:
        """Tasks a minute, of late."""
        now = self.last // 60
        counted = {minute: self.by_minute[minute] for minute in range(now - MINUTES, now + 1) if self.by_minute[minute]}
        if not counted:
            return 0.0
        # The last minute has only begun, and a pause before the first is none of this stretch.
        return sum(counted.values()) / max(1.0, (self.last - min(counted) * 60) / 60)

    @property
    def left(self) -> float | None:
        """Minutes until all tasks have ended, at this rate; None where nobody knows."""
        return (self.tasks - self.ended) / self.rate if self.rate else None

    def line(self) -> str:
        """All of it, on one line."""
        parts = [
            f"{self.ended} of {number(self.tasks, 'task')}",
            number(self.cases, "case"),
            f"{self.histories} histories",
            f"{self.findings} findings",
        ]
        if self.ended < self.tasks and self.left is not None:
            parts += [f"{self.rate:.1f} tasks a minute", f"about {self.left:.0f} min left"]
        return ", ".join(parts)


def read(store: Store) -> CampaignProgress:
    """How far the campaign of a store is. Raises BadPlanError where it has none, and StoreError."""
    plan, began = store.plan()
    found = newest = 0
    for one in store.findings():
        found, newest = found + 1, max(newest, one.ended)
    status = CampaignProgress(plan, began, total(plan), newest=newest)
    for block in blocks(plan):
        for entry in store.ended(block).values():
            status.add(entry)
    status.findings = found
    return status


def finding_line(found: Found) -> str:
    """A finding on one line."""
    where = f"{found.case}, seed {found.seed}" if found.seed else found.case
    return f"{found.target}: {found.clause} ({where}): expected {found.expected}, got {found.got}"
