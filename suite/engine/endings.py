"""A history that ends early, in a fresh host and a fresh directory each time."""

from collections.abc import Callable, Sequence

from ...harness.hosting.loader import BlockedError
from ...harness.ops.codes import Code
from ...harness.ops.filesystem import WritableFile
from ..contract.survival import History, Moment, SurvivalStep
from .case import Case, NoStimulusError
from .disturbing import FIRST, Disturbing, below, blocked_by_death, prepare
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


class Endings(Disturbing):
    """A history, and what ends it early. At first the process ends by itself.

    Raises NoStimulusError where nothing can survive.
    """

    def __init__(self, case: Case, history: History) -> None:
        if case.bench.facts.hosts_differ:
            raise NoStimulusError("its storage lives in its process, and ends with it")
        self.history = history
        self.own = case.surroundings.present
        super().__init__(case, case.bench.apart())

    def begin(self) -> None:
        """Perform the history to its end."""
        with blocked_by_death(), self.trial() as trial:
            went, _ = self.performed(trial)
            went.clean_up()
            self.case.surroundings.trace.extend(trial.surroundings.trace)
            failed = went.failed
            if failed is not None and failed.code is Code.FAILED_PRECONDITION and self.history.takes_a_directory:
                raise NoStimulusError(f"{failed.op} takes no directories")
            self.demand(went)
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

    def performed(self, trial: Case, count: int | None = None) -> tuple[Performance, Steps]:
        """How the first steps went; all of them, where nobody says how many."""
        prepare(trial, FIRST, self.history.before)
        went, steps = Performance(trial, FIRST), Steps(self.history.steps[:count])
        went.perform(Stimulus(steps))
        return went, steps


def tree(trial: Case) -> Tree:
    """What is there where the history was performed."""
    return next(below(trial.setup.tree(), FIRST))


def end(trial: Case) -> None:
    """Kill the host, if it lives, and wait for its end."""
    process = trial.surroundings.loaded.host.process
    trial.surroundings.end_host()
    # It is waited for by asking of what it used.
    assert process.facts is not None
