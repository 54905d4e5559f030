"""A history that ends early, in a fresh host and a fresh directory each time."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Self

from ...harness.hosting.loader import BlockedError
from ...harness.ops.codes import Code
from ...harness.ops.filesystem import WritableFile
from ...harness.ops.outcomes import DiedError
from ..contract.survival import History, Moment, SurvivalStep
from ..judge.evidence import Condition
from .case import Case, NoStimulusError
from .failing import FIRST, prepare
from .setup import Tree
from .stimulus import Performance, Stimulus


class Steps:
    """Steps as the ops of a stimulus, and how many of them were answered. `behind` is called behind each."""

    def __init__(self, steps: Sequence[SurvivalStep], behind: Callable[[], object] = lambda: None) -> None:
        self._steps = steps
        self._behind = behind
        self._files: dict[str, WritableFile] = {}
        self.answered = 0

    def __call__(self, do: Performance) -> None:
        """Perform them."""
        for step in self._steps:
            self._perform(do, step)
            self.answered += 1
            self._behind()

    def _perform(self, do: Performance, step: SurvivalStep) -> None:
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


class Endings:
    """A history, and what ends it early.

    As a context: at first the process ends by itself. That raises NoStimulusError where nothing can survive, and
    BlockedError where the history does not work even so.
    """

    def __init__(self, case: Case, history: History) -> None:
        if case.bench.hosts_differ:
            raise NoStimulusError("its storage lives in its process, and ends with it")
        self.case = case
        self.history = history
        self.own = case.surroundings.present
        # What hangs or dies behind such an end says nothing of other cases.
        self._bench = case.bench.with_timeout(case.bench.target.timeout)
        self._tried = 0

    def __enter__(self) -> Self:
        try:
            self._to_its_end()
        except BaseException:
            self._bench.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._bench.close()

    def _to_its_end(self) -> None:
        with self.trial() as trial:
            went, _ = self.performed(trial)
            went.clean_up()
            self.case.surroundings.trace.extend(trial.surroundings.trace)
            if went.failed is not None:
                self.case.check.implemented(went.failed)
                if self.history.takes_a_directory and went.failed.code is Code.FAILED_PRECONDITION:
                    raise NoStimulusError(f"{went.failed.op} takes no directories")
                raise BlockedError(went.failed.op, f"{went.failed.code} {went.failed.message}")
            if went.died is not None:
                raise BlockedError("the host", went.died)
            # What a plugin leaves to the end of its process is done then.
            trial.surroundings.loaded.host.quit()
            wrong = self.wrong_at_the_end(trial)
            if wrong is not None:
                raise BlockedError(self.history.steps[-1].op, wrong)

    def wrong_at_the_end(self, trial: Case) -> str | None:
        """What is wrong where nothing ends the history early, in words; None for nothing."""
        raise NotImplementedError

    @property
    def last(self) -> Moment:
        """The end of the history."""
        return Moment(len(self.history.steps) - 1, True)

    @contextlib.contextmanager
    def trial(self) -> Iterator[Case]:
        """A case with a host and a directory of its own."""
        trial = self.case.trial(self._bench, self._tried)
        self._tried += 1
        try:
            yield trial
        except DiedError as died:
            raise BlockedError(died.death.op, str(died)) from died
        finally:
            trial.surroundings.clear()

    def performed(self, trial: Case, count: int | None = None) -> tuple[Performance, Steps]:
        """How the first steps went; all of them, where nobody says how many."""
        prepare(trial, FIRST, self.history.before)
        went, steps = Performance(trial, FIRST), Steps(self.history.steps[:count])
        went.perform(Stimulus(steps))
        return went, steps

    def tell(self, what: str, tried: int, left_out: int = 0) -> None:
        """Say in the output of the case how many ends were tried."""
        said = f"{tried} {what} were tried" + (f", {left_out} were left out" if left_out > 0 else "")
        self.case.condition = Condition(output=f"{said}\n")


def tree(trial: Case) -> Tree:
    """What is there where the history was performed."""
    below = f"{FIRST}/"
    return {path.removeprefix(below): got for path, got in trial.setup.tree().items() if path.startswith(below)}


def end(trial: Case) -> None:
    """Kill the host, if it lives, and wait for its end."""
    process = trial.surroundings.loaded.host.process
    trial.surroundings.end_host()
    # It is waited for by asking of what it used.
    assert process.facts is not None
