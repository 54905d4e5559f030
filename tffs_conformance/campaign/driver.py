"""The driver: hands out what is left of a campaign, a few tasks at a time, until all have ended or it is enough.

It knows the tasks on their way and some sums, and no result: those go from the workers into the store. So it takes the
same memory for a thousand tasks as for a million, and whoever starts it again goes on where the store is.
"""

import heapq
import itertools
import queue
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import engine
from .perform import TaskResult, perform
from .plan import Plan
from .status import CampaignProgress
from .store import Store
from .tasks import Block, Task, blocks, in_turn

if TYPE_CHECKING:
    from distributed import Client, Future

#: For each worker so many tasks are on their way: none waits for the driver.
AHEAD = 2
#: A task that fails is tried so many times, one whose worker died so many.
TRIES, DEATHS = 3, 20
#: Seconds of the first and the longest pause before something is tried again.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
#: Seconds after which the driver looks around, whatever happens.
TICK = 0.5
#: Seconds after which workers are counted again: they come and go.
RECOUNT = 5.0


class CampaignBrokenError(Exception):
    """The campaign cannot go on. What ended is in the store. `code` is the exit code; the text is one sentence."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


#: The exit codes of a campaign that could not go on.
FAILED, USAGE, SURROUNDINGS = 3, 4, 5


@dataclass
class Driver:
    """One start of a campaign. `patience` is how many seconds the store or the scheduler may be out of order."""

    plan: Plan
    store: Store
    client: "Client"
    status: CampaignProgress
    patience: float
    show: Callable[[CampaignProgress], None]
    say: Callable[[str], None]
    perform: Callable[[Plan, Task, str], TaskResult] = perform
    _ready: "queue.SimpleQueue[Future[TaskResult]]" = field(default_factory=queue.SimpleQueue)
    _flying: "dict[Future[TaskResult], Task]" = field(default_factory=dict)
    _later: list[tuple[float, int, Task]] = field(default_factory=list)
    _failed: Counter[str] = field(default_factory=Counter)
    _died: Counter[str] = field(default_factory=Counter)
    _order: Iterator[int] = field(default_factory=itertools.count)
    _trouble: float | None = None
    _pause: float = FIRST_PAUSE
    _alone: float | None = None
    _workers: int = 0
    _counted: float = -RECOUNT

    def run(self) -> str:
        """Perform what is left; why that was the end, in a few words. Raises CampaignBrokenError and StoreError."""
        left = self._left()
        more = True
        try:
            while True:
                enough = self._enough()
                more = not enough and self._fill(left)
                if not self._flying and (enough or not (more or self._later)):
                    return enough or "all tasks ended"
                if enough:
                    self._later.clear()
                self._take()
                self.show(self.status)
        finally:
            self.client.cancel(list(self._flying))
            self._flying.clear()

    def _left(self) -> Iterator[Task]:
        """The tasks that did not end, a folder of the store at a time."""
        for _, same in itertools.groupby(blocks(self.plan), key=lambda block: (block.kind, block.number)):
            yield from in_turn([self._left_of(block) for block in same])

    def _left_of(self, block: Block) -> list[Task]:
        ended = self.store.ended(block)
        return [Task(block.target, block.kind, k) for k in block.tasks(self.plan) if k not in ended]

    def _enough(self) -> str | None:
        stop, status = self.plan.stop, self.status
        if stop.hours is not None and time.time() - status.began > stop.hours * 3600:
            return f"stopped after {stop.hours:g} hours"
        if stop.quiet is not None and status.quiet >= stop.quiet:
            return f"stopped after {status.quiet} histories without a new difference"
        return None

    # Tasks on their way ----------------------------------------------------------------------------------------------

    def _fill(self, left: Iterator[Task]) -> bool:
        """Send tasks as long as there is room; whether there may be more of them."""
        if time.monotonic() >= self._counted + RECOUNT:
            self._count_workers()
        # Where the store takes nothing, one task at a time finds out whether it does again.
        room = 1 if self._trouble is not None else AHEAD * self._workers
        while len(self._flying) < room:
            if self._later and self._later[0][0] <= time.monotonic():
                self._send(heapq.heappop(self._later)[2])
            elif self._trouble is not None:
                return True
            elif (task := next(left, None)) is not None:
                self._send(task)
            else:
                return False
        return True

    def _send(self, task: Task) -> None:
        future = self.client.submit(self.perform, self.plan, task, self.store.url, pure=False)
        self._flying[future] = task
        future.add_done_callback(self._ready.put)

    def _again(self, task: Task, pause: float) -> None:
        heapq.heappush(self._later, (time.monotonic() + pause, next(self._order), task))

    def _take(self) -> None:
        """Take what came back, all of it at once, or wait for a moment."""
        try:
            back = [self._ready.get(timeout=TICK)]
        except queue.Empty:
            self._look_around()
            return
        while not self._ready.empty():
            back.append(self._ready.get())
        tasks = {future: self._flying.pop(future) for future in back if future in self._flying}
        for future, task in tasks.items():
            if future.status == "error":
                self._dead(task, future.exception())
            elif future.status != "finished":
                self._again(task, FIRST_PAUSE)
        finished = [future for future in tasks if future.status == "finished"]
        try:
            outcomes = self.client.gather(finished)
        except (CancelledError, OSError):
            # The scheduler went with what it knew. Where the store has the results, they count once all the same.
            for future in finished:
                self._again(tasks[future], FIRST_PAUSE)
            return
        for outcome in outcomes:
            self._done(outcome)

    def _look_around(self) -> None:
        """See that there is a scheduler. Raises CampaignBrokenError where there was none for too long."""
        if self.client.status == "running" and self._workers:
            self._alone = None
            return
        self._alone = self._alone or time.monotonic()
        if self.client.status == "closed" or time.monotonic() - self._alone > self.patience:
            raise CampaignBrokenError(
                SURROUNDINGS, "the scheduler is gone, or has no workers; the same command goes on from here"
            )

    def _count_workers(self) -> None:
        """Count the tasks that workers perform at a time: none where the scheduler does not answer."""
        try:
            self._workers = sum(self.client.nthreads().values())
        except (OSError, RuntimeError, ValueError):
            self._workers = 0
        self._counted = time.monotonic()
        engine.forget()

    # What came of a task ---------------------------------------------------------------------------------------------

    def _done(self, outcome: TaskResult) -> None:
        if outcome.usage is not None:
            raise CampaignBrokenError(USAGE, outcome.usage)
        if outcome.store is not None:
            self._no_room(outcome.task, outcome.store)
        elif outcome.failure is not None:
            self._failed[outcome.task.id] += 1
            if self._failed[outcome.task.id] >= TRIES:
                raise CampaignBrokenError(FAILED, f"{outcome.failure}; it was tried {TRIES} times")
            self._again(outcome.task, FIRST_PAUSE)
        elif outcome.ended is not None:
            if self._trouble is not None:
                self.say("the store takes results again")
            self._trouble, self._pause = None, FIRST_PAUSE
            self._failed.pop(outcome.task.id, None)
            self._died.pop(outcome.task.id, None)
            self.status.add(outcome.ended, outcome.new)

    def _no_room(self, task: Task, sentence: str) -> None:
        """The store did not take a result: try again later, each time after a longer pause."""
        if self._trouble is None:
            self._trouble = time.monotonic()
            self.say(f"{sentence}; it is tried again")
        if time.monotonic() - self._trouble > self.patience:
            raise CampaignBrokenError(SURROUNDINGS, f"{sentence}; make room, and the same command goes on from here")
        self._again(task, self._pause)
        self._pause = min(LONGEST_PAUSE, 2 * self._pause)

    def _dead(self, task: Task, error: BaseException | None) -> None:
        """Dask gave a task up: workers died under it, or it cannot be performed there."""
        self._died[task.id] += 1
        if type(error).__name__ != "KilledWorker" or self._died[task.id] >= DEATHS:
            raise CampaignBrokenError(FAILED, f"{task.id} cannot be performed: {type(error).__name__}: {error}")
        self._again(task, FIRST_PAUSE)
