"""A machine that loses its power: what a disk keeps of a history at each moment, and what another host finds then."""

import itertools
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from ...harness.hosting.loader import BlockedError
from ...harness.ops.outcomes import DiedError
from ...harness.power.disk import Disk, Event, Found, PowerLoss
from ...harness.power.mounted import Mounted, NoPowerError
from ..contract import survival
from ..contract.power import KEPT, at_stake, broken
from .case import Case, NotTriedError
from .disturbing import FIRST, blocked_by_death, fill
from .endings import Endings, Steps, end, tree
from .failing import strace_on
from .setup import Tree
from .stimulus import Performance, Stimulus

#: So many states of the disk are looked at in a case at most; what is left out is counted and told.
MOST = 100
#: Why nothing can be lost where the root is elsewhere.
NO_FILES = "keeps nothing in files below its root on this machine"
#: The calls of which FUSE does not tell a filesystem.
SYNCS = ("sync", "syncfs")


@dataclass(frozen=True, slots=True)
class Lost:
    """What a `loss` of power at a moment leaves: what is `there` for another host, or what `failed` there."""

    moment: survival.Moment
    loss: PowerLoss
    there: Tree
    failed: str | None = None

    @property
    def names(self) -> bool:
        """Whether all changes of names are kept."""
        return self.loss is PowerLoss.DATA


class Losses(Endings):
    """A history on a disk of ours, which keeps what was made durable and of the rest one or the other.

    The history is performed once. What the disk has then, at each moment, is put where it was mounted.
    """

    def wrong_at_the_end(self, trial: Case) -> str | None:
        """What is wrong where no power is lost."""
        there, failed = _looked(trial)
        return failed or next((said for _, said in survival.broken(self.history, self.last, there, self.own)), None)

    def lost(self) -> Iterator[Lost]:
        """What each loss leaves. Raises NotTriedError where there can be none."""
        with blocked_by_death(), self.trial() as trial:
            place, events, marks = self._performed_there(trial)
            states = list(states_of(events, marks))
            # Those behind an op promise more.
            states.sort(key=lambda state: not state[0].answered)
            looked: dict[bytes, tuple[Tree, str | None]] = {}
            left_out = 0
            for moment, loss, found in states:
                key = blake2b(repr(sorted(found.items())).encode(errors="surrogateescape")).digest()
                if key not in looked and len(looked) == MOST:
                    left_out += 1
                    continue
                if key not in looked:
                    put(place, found)
                    looked[key] = _looked(trial)
                yield Lost(moment, loss, *looked[key])
        self.tell("losses of power", len(states) - left_out, left_out)

    def at_stake(self, lost: Lost) -> set[str]:
        """The clauses that the loss could break."""
        return at_stake(self.history, lost.moment, self.own, names=lost.names)

    def wrong(self, lost: Lost) -> dict[str, str]:
        """The clauses that are broken by what is there, each with what is wrong."""
        if lost.failed is not None:
            return {KEPT: lost.failed}
        return dict(broken(self.history, lost.moment, lost.there, self.own, names=lost.names))

    def _performed_there(self, trial: Case) -> tuple[str, list[Event], list[int]]:
        """Perform the history on the disk: where that was mounted, what happened, and how much of it behind each step.

        The first of these numbers is of what was there before.
        """
        trial.setup.mkdir_where_known(FIRST)
        place = trial.on_disk(FIRST)
        if not os.path.isdir(place) or os.listdir(place):
            raise NotTriedError(NO_FILES)
        end(trial)
        try:
            with Mounted(place) as disk:
                try:
                    fill(trial, FIRST, self.history.before)
                    if disk.mark() == 0:
                        raise NotTriedError(NO_FILES)
                    marks = [disk.settle()]
                    went = Performance(trial, FIRST)
                    with strace_on(trial, SYNCS) as strace:
                        went.perform(Stimulus(Steps(self.history.steps, lambda: marks.append(disk.mark()))))
                    events = disk.events()
                finally:
                    end(trial)
        except NoPowerError as unable:
            raise NotTriedError(str(unable)) from unable
        except BlockedError as blocked:
            raise NotTriedError(f"on a filesystem that can lose its power: {blocked.op}: {blocked.why}") from blocked
        if not went.ok:
            raise NotTriedError(f"on a filesystem that can lose its power: {went.told}")
        if strace.calls:
            raise NotTriedError(f"calls {strace.calls[0].name}(2), which a filesystem in user space does not see")
        return place, events, marks


def states_of(events: Sequence[Event], marks: Sequence[int]) -> Iterator[tuple[survival.Moment, PowerLoss, Found]]:
    """What is on the disk after each loss at each moment: behind each step, and behind each event within one."""
    disk = Disk(events[: marks[0]])
    for number, (begun, ended) in enumerate(itertools.pairwise(marks)):
        for count in range(begun + 1, max(ended, begun + 1) + 1):
            if count <= ended:
                disk.apply(events[count - 1])
            for loss in PowerLoss:
                yield survival.Moment(number, count >= ended), loss, disk.after(loss)


def put(place: str, found: Found) -> None:
    """Put what was found on a disk into a directory, in place of what is there."""
    for entry in os.scandir(place):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)
    for name, content in found.items():
        path = Path(place, name)
        if content is None:
            path.mkdir()
        elif isinstance(content, str):
            path.symlink_to(content)
        else:
            path.write_bytes(content)


def _looked(trial: Case) -> tuple[Tree, str | None]:
    """What another host finds, and what it cannot look at."""
    end(trial)
    try:
        return tree(trial), None
    except BlockedError as blocked:
        return {}, f"{blocked.op}: {blocked.why}"
    except DiedError as died:
        return {}, str(died)
