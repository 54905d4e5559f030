"""Progress as a person sees it: a bar in a terminal, a plain line now and then in a log."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .status import CampaignProgress

#: Seconds from line to line in a log.
EVERY = 30.0


@contextmanager
def shown(
    status: CampaignProgress, every: float = EVERY
) -> Iterator[tuple[Callable[[CampaignProgress], None], Callable[[str], None]]]:
    """Two functions for as long as a campaign runs: one shows how far it is, the other says a sentence."""
    # An extra, as Dask is.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(file=sys.stderr, highlight=False)
    if not console.is_terminal:
        yield _Lines(every).show, lambda sentence: print(sentence, file=sys.stderr, flush=True)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[more]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(status.plan.name, total=status.tasks, completed=status.ended, more="")

        def show(now: CampaignProgress) -> None:
            more = f"{now.rate:.1f}/min, {now.histories} histories, {now.findings} findings"
            bar.update(task, completed=now.ended, more=more)

        yield show, lambda sentence: console.print(Text(sentence))


class _Lines:
    """A line when something ended, and no more than one in so many seconds."""

    def __init__(self, every: float) -> None:
        self._every = every
        self._next = time.monotonic()
        self._told = -1

    def show(self, status: CampaignProgress) -> None:
        """Say how far it is, if it is time."""
        if status.ended != self._told and (time.monotonic() >= self._next or status.ended == status.tasks):
            print(status.line(), file=sys.stderr, flush=True)
            self._next, self._told = time.monotonic() + self._every, status.ended
