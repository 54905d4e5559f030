"""A host that is killed: between the ops of a history, or within one, and what another host finds then."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...harness.hosting.loader import BlockedError
from ...harness.launchers.strace import Call, Injection, NoStraceError
from ...harness.ops.codes import Code
from ...harness.ops.filesystem import WritableFile
from ...harness.ops.outcomes import DiedError
from ..contract.survival import History, Moment, Step, at_stake, broken, changes, changing
from ..judge.evidence import Condition
from .case import Case, NoStimulusError
from .failing import FIRST, NotTriedError, prepare, strace_on
from .setup import Tree
from .stimulus import Performance, Stimulus

#: At so many calls of a history a host is killed at most; what is left out is counted and told.
MOST = 40
#: So often a kill is tried that did not come about.
TIMES = 3
#: Where the files are that are no storage, such as those that the host itself writes to.
NOBODYS = ("/dev/", "/proc/")


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


class _Steps:
    """Steps as the ops of a stimulus, and how many of them were answered."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._files: dict[str, WritableFile] = {}
        self.answered = 0

    def __call__(self, do: Performance) -> None:
        for step in self._steps:
            self._perform(do, step)
            self.answered += 1

    def _perform(self, do: Performance, step: Step) -> None:
        path = step.paths[0]
        uris = [do.uri(*([name] if name else [])) for name in step.paths]
        match step.op:
            case "new_writable_file" | "new_appendable_file":
                self._files[path] = do.opened(getattr(do.fs, step.op)(*uris))
            case "append":
                do.done(self._files[path].append(step.data))
            case "flush" | "sync" | "close":
                do.done(getattr(self._files[path], step.op)())
            case _:
                # What is to be deleted may have gone with what was in it.
                others = (Code.NOT_FOUND,) if step.op.startswith("delete") else ()
                do.done(getattr(do.fs, step.op)(*uris), *others)


class Kills:
    """A history, performed in a fresh host and a fresh directory each time, and ended there by a kill.

    As a context: at first the process ends by itself. That raises NoStimulusError where nothing can survive, and
    BlockedError where the history does not work even so.
    """

    def __init__(self, case: Case, history: History) -> None:
        if case.bench.hosts_differ:
            raise NoStimulusError("its storage lives in its process, and ends with it")
        self._case = case
        self._history = history
        self._own = case.surroundings.present
        # What hangs or dies behind a kill says nothing of other cases.
        self._bench = case.bench.with_timeout(case.bench.target.timeout)
        self._tried = 0
        self._goes_on = True

    def __enter__(self) -> "Kills":
        try:
            self._without_a_kill()
        except BaseException:
            self._bench.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._bench.close()

    def _without_a_kill(self) -> None:
        with self._trial() as trial:
            went, _ = self._performed(trial)
            went.clean_up()
            self._case.surroundings.trace.extend(trial.surroundings.trace)
            if went.failed is not None:
                self._case.check.implemented(went.failed)
                if self._history.takes_a_directory and went.failed.code is Code.FAILED_PRECONDITION:
                    raise NoStimulusError(f"{went.failed.op} takes no directories")
                raise BlockedError(went.failed.op, f"{went.failed.code} {went.failed.message}")
            if went.died is not None:
                raise BlockedError("the host", went.died)
            # What a plugin leaves to the end of its process is done then.
            trial.surroundings.loaded.host.quit()
            left = self._left(trial, self._last, "")
            wrong = self.wrong(left)
            if left.there is None or wrong:
                raise BlockedError(self._history.steps[-1].op, left.failed or next(iter(wrong.values())))
            # Who cannot go on even so does not fail for a kill.
            self._goes_on = left.again is not None and self.undone(left) is None

    def between(self) -> Iterator[Left]:
        """What is left by a kill behind each step."""
        for number, step in enumerate(self._history.steps):
            with self._trial() as trial:
                went, _ = self._performed(trial, number + 1)
                if not went.ok:
                    raise BlockedError(step.op, f"{went.told}, where it worked before")
                yield self._left(trial, Moment(number, True), f"killed behind {step.op}")
        self._tell(len(self._history.steps))

    def within(self) -> Iterator[Left]:
        """What is left by a kill before each system call that changes something.

        Raises NotTriedError where there is none, and at the end where some kills did not come about.
        """
        planned = self._plan()
        missed = 0
        for injection in spread(planned):
            left = next(filter(None, (self._killed_at(injection) for _ in range(TIMES))), None)
            missed += left is None
            if left is not None:
                yield left
        self._tell(min(len(planned), MOST) - missed, len(planned) - MOST)
        if missed:
            raise NotTriedError(f"{missed} of {len(planned)} kills did not come about")

    def at_stake(self, left: Left) -> set[str]:
        """The clauses that the kill could break."""
        return at_stake(self._history, left.moment, self._own) if left.there is not None else set()

    def wrong(self, left: Left) -> dict[str, str]:
        """The clauses that are broken by what is there, each with what is wrong."""
        return dict(broken(self._history, left.moment, left.there, self._own)) if left.there is not None else {}

    def undone(self, left: Left) -> str | None:
        """What is wrong with the history when another host performed it; None where nothing is."""
        if left.failed is not None or left.again is None:
            return left.failed
        return next((said for _, said in broken(self._history, self._last, left.again, self._own)), None)

    @property
    def _last(self) -> Moment:
        return Moment(len(self._history.steps) - 1, True)

    @contextlib.contextmanager
    def _trial(self) -> Iterator[Case]:
        """A case with a host and a directory of its own."""
        trial = self._case.trial(self._bench, self._tried)
        self._tried += 1
        try:
            yield trial
        except DiedError as died:
            raise BlockedError(died.death.op, str(died)) from died
        finally:
            trial.surroundings.clear()

    def _performed(self, trial: Case, count: int | None = None) -> tuple[Performance, _Steps]:
        """How the first steps went; all of them, where nobody says how many."""
        prepare(trial, FIRST, self._history.before)
        went, steps = Performance(trial, FIRST), _Steps(self._history.steps[:count])
        went.perform(Stimulus(steps))
        return went, steps

    def _plan(self) -> list[Injection]:
        """Where to kill, by what the history calls under strace alone."""
        with self._trial() as trial:
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
        with self._trial() as trial:
            went, steps, calls = self._traced(trial, injection)
            if went.died is None:
                return None
            step = min(steps.answered, self._last.number)
            moment = Moment(step, steps.answered > step)
            # Where there are threads, it can be another call than was planned, which is as good.
            number = sum(call.name == injection.call and is_on_storage(call) for call in calls)
            where = "cleanup" if moment.answered else self._history.steps[step].op
            return self._left(trial, moment, f"killed before {injection.call} {number} in {where}")

    def _traced(self, trial: Case, injection: Injection | None) -> tuple[Performance, _Steps, tuple[Call, ...]]:
        """How the history went under strace, and what it called."""
        prepare(trial, FIRST, self._history.before)
        went, steps = Performance(trial, FIRST), _Steps(self._history.steps)
        try:
            with strace_on(trial, changing(), injection) as strace:
                went.perform(Stimulus(steps))
                went.clean_up()
        except NoStraceError as unable:
            raise NotTriedError(str(unable)) from unable
        return went, steps, strace.calls

    def _left(self, trial: Case, moment: Moment, when: str) -> Left:
        """Kill the host, if it lives, look at what is there in another one, and perform the history there."""
        process = trial.surroundings.loaded.host.process
        trial.surroundings.end_host()
        # It is waited for by asking of what it used.
        assert process.facts is not None
        try:
            there = _tree(trial)
            return Left(moment, when, there, *self._again(trial, there))
        except BlockedError as blocked:
            return Left(moment, when, failed=f"{blocked.op}: {blocked.why}")
        except DiedError as died:
            return Left(moment, when, failed=str(died))

    def _again(self, trial: Case, there: Tree) -> tuple[Tree | None, str | None]:
        """What is there after the history, in a place that was tidied up; or what did not work."""
        deletes = [Step("delete_file" if there[path] is not None else "delete_dir", (path,)) for path in there]
        steps = sorted(deletes, key=lambda step: step.paths, reverse=True)
        if "create_dir" not in trial.bench.claims.ops_given_up:
            steps += [Step("delete_dir", ("",)), Step("create_dir", ("",))]
        if not self._goes_on or not all(trial.fs.available(step.op) for step in steps):
            return None, None
        for ops in ([*steps, *self._history.prepared], self._history.steps):
            do = Performance(trial, FIRST)
            do.perform(Stimulus(_Steps(ops)))
            do.clean_up()
            if not do.ok:
                return None, do.told
        return _tree(trial), None

    def _tell(self, tried: int, left_out: int = 0) -> None:
        said = f"{tried} kills were tried" + (f", {left_out} were left out" if left_out > 0 else "")
        self._case.condition = Condition(output=f"{said}\n")


def is_on_storage(call: Call) -> bool:
    """Whether a call changes what is in files of this machine, or what names there are."""
    return any(not path.startswith(NOBODYS) for path in call.files) and changes(call.name, call.told)


def spread(planned: Sequence[Injection]) -> list[Injection]:
    """As many as are tried, the first and the last among them."""
    if len(planned) <= MOST:
        return list(planned)
    return [planned[place * (len(planned) - 1) // (MOST - 1)] for place in range(MOST)]


def _tree(trial: Case) -> Tree:
    """What is there where the history was performed."""
    below = f"{FIRST}/"
    return {path.removeprefix(below): got for path, got in trial.setup.tree().items() if path.startswith(below)}
