"""A host that is killed: between the ops of a history, or within one, and what another host finds then."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...harness.hosting.loader import BlockedError
from ...harness.launchers.strace import Call, Injection
from ...harness.ops.outcomes import DiedError
from ..contract.survival import History, Moment, SurvivalStep, at_stake, broken, changes, changing
from .case import Case, NotTriedError
from .disturbing import FIRST, blocked_by_death, prepare
from .endings import Endings, Steps, end, tree
from .failing import strace_on
from .setup import Tree
from .stimulus import Performance, Stimulus

#: At so many calls of a history a host is killed at most; what is left out is counted and told.
MOST = 40
#: Where the files are that are no storage, such as those that the host itself writes to, but what is in memory.
NOBODYS, SOMEBODYS = ("/dev/", "/proc/"), "/dev/shm/"


@dataclass(frozen=True, slots=True)
class Left:
    """What a killed host leaves: what is `there` for another one. `when` says when it was killed.

    The other host tidies up and performs the history itself: `again` has what is there behind it, None where it has no
    ops to tidy up with. `failed` says what of all that did not work.
    """

    moment: Moment
    when: str
    there: Tree | None = None
    again: Tree | None = None
    failed: str | None = None


class Kills(Endings):
    """A history, ended by a kill of its process."""

    def __init__(self, case: Case, history: History) -> None:
        super().__init__(case, history)
        self._goes_on = True

    def wrong_at_the_end(self, trial: Case) -> str | None:
        """What is wrong where nobody is killed."""
        left = self._left(trial, self.last, "")
        wrong = self.wrong(left)
        if left.there is None or wrong:
            return left.failed or next(iter(wrong.values()))
        # Who cannot go on even so does not fail for a kill.
        self._goes_on = left.again is not None and self.undone(left) is None
        return None

    def between(self) -> Iterator[Left]:
        """What is left by a kill behind each step."""
        for number, step in enumerate(self.history.steps):
            with blocked_by_death(), self.trial() as trial:
                went, _ = self.performed(trial, number + 1)
                if not went.ok:
                    raise BlockedError(step.op, f"{went.told}, where it worked before")
                yield self._left(trial, Moment(number, True), f"killed after {step.op}")
        self.tell("kills", len(self.history.steps))

    def within(self) -> Iterator[Left]:
        """What is left by a kill before each system call that changes something.

        Raises NotTriedError where there is none, and at the end where some kills did not come about.
        """
        planned = self._plan()
        for _, left in self.disturbed(spread(planned), self._killed_at):
            yield left
        missed = len(self.missed)
        self.tell("kills", self.tried, len(planned) - self.tried - missed)
        if missed:
            raise NotTriedError(f"{missed} of {len(planned)} kills did not come about")

    def at_stake(self, left: Left) -> set[str]:
        """The clauses that the kill could break."""
        return at_stake(self.history, left.moment, self.own) if left.there is not None else set()

    def wrong(self, left: Left) -> dict[str, str]:
        """The clauses that are broken by what is there, each with what is wrong."""
        return dict(broken(self.history, left.moment, left.there, self.own)) if left.there is not None else {}

    def undone(self, left: Left) -> str | None:
        """What is wrong with the history when another host performed it; None where nothing is."""
        if left.failed is not None or left.again is None:
            return left.failed
        return next((said for _, said in broken(self.history, self.last, left.again, self.own)), None)

    def _plan(self) -> list[Injection]:
        """Where to kill, by what the history calls under strace alone."""
        with blocked_by_death(), self.trial() as trial:
            went, _, calls = self._traced(trial, None)
        if not went.ok:
            raise NotTriedError(f"under strace, without any kill: {went.told}")
        made = (call for call in calls if call.succeeded and is_on_storage(call))
        planned = dict.fromkeys(Injection(call.name, call.number) for call in made)
        if not planned:
            raise NotTriedError("makes no system calls that change files of this machine")
        return list(planned)

    def _killed_at(self, injection: Injection) -> Left | None:
        """What a kill at a call leaves; None where the host lived on."""
        with blocked_by_death(), self.trial() as trial:
            went, steps, calls = self._traced(trial, injection)
            if went.died is None:
                return None
            step = min(steps.answered, self.last.number)
            moment = Moment(step, steps.answered > step)
            # Where there are threads, it can be another call than was planned, which is as good.
            number = sum(call.name == injection.call and is_on_storage(call) for call in calls)
            where = "cleanup" if moment.answered else self.history.steps[step].op
            return self._left(trial, moment, f"killed before {injection.call} {number} in {where}")

    def _traced(self, trial: Case, injection: Injection | None) -> tuple[Performance, Steps, tuple[Call, ...]]:
        """How the history went under strace, and what it called."""
        prepare(trial, FIRST, self.history.before)
        went, steps = Performance(trial, FIRST), Steps(self.history.steps)
        with strace_on(trial, changing(), injection) as strace:
            went.perform_all(Stimulus(steps))
        return went, steps, strace.calls

    def _left(self, trial: Case, moment: Moment, when: str) -> Left:
        """Kill the host, if it lives, look at what is there in another one, and perform the history there."""
        end(trial)
        try:
            there = tree(trial)
            return Left(moment, when, there, *self._again(trial, there))
        except BlockedError as blocked:
            return Left(moment, when, failed=f"{blocked.op}: {blocked.why}")
        except DiedError as died:
            return Left(moment, when, failed=str(died))

    def _again(self, trial: Case, there: Tree) -> tuple[Tree | None, str | None]:
        """What is there after the history, in a place that was tidied up; or what did not work."""
        deletes = [SurvivalStep("delete_file" if there[path] is not None else "delete_dir", (path,)) for path in there]
        steps = sorted(deletes, key=lambda step: step.paths, reverse=True)
        if trial.makes_directories:
            steps += [SurvivalStep("delete_dir", ("",)), SurvivalStep("create_dir", ("",))]
        if not self._goes_on or not all(trial.fs.available(step.op) for step in steps):
            return None, None
        for ops in ([*steps, *self.history.prepared], self.history.steps):
            do = Performance(trial, FIRST)
            do.perform_all(Stimulus(Steps(ops)))
            if not do.ok:
                return None, do.told
        return tree(trial), None


def is_on_storage(call: Call) -> bool:
    """Whether a call changes what is in files of this machine, or what names there are."""
    stored = (path.startswith(SOMEBODYS) or not path.startswith(NOBODYS) for path in call.files)
    return any(stored) and changes(call.name, call.told)


def spread(planned: Sequence[Injection]) -> list[Injection]:
    """As many as are tried, the first and the last among them."""
    if len(planned) <= MOST:
        return list(planned)
    return [planned[place * (len(planned) - 1) // (MOST - 1)] for place in range(MOST)]
