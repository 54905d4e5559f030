"""Searches with Hypothesis for a history on which plugin and model differ, shrinks it, and writes it down.

Each history is tried in a process of its own. So one that crashes or hangs is shrunk like any other.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis.stateful import run_state_machine_as_test

from ...reports.model.verdicts import Verdict
from ..contract.model import Step
from ..engine.attempts import evidence_of
from ..engine.case import Case, NoStimulusError
from ..engine.ending import recorded
from . import reproducers
from .draws import BACKEND, CAVEAT
from .machines import HistoryMachine
from .rarity import Rarity
from .shrink import EnoughTriedError, shrink, valid
from .tried import Tried
from .walk import history

#: The greatest number of histories that are tried to shrink one, and to shrink one that hangs.
SHRINKING, SHRINKING_HANGS = 600, 40
#: The greatest number of steps that a machine takes.
STEPS = 25
#: While a hang is shrunk the time-out is this part of the call time-out, and at least so many seconds.
HURRY = 0.05
LEAST_PATIENCE = 0.25
#: Where that took what was slow for a hang, it is shrunk once more, with so many times that time-out.
LESS_HURRIED = 4


class DivergedError(Exception):
    """The plugin and the model differ on a history. Hypothesis searches for this exception."""


class Search:
    """The search of one case.

    What differs breaks the clause `instead`, where one is given, and not that of the step. `found` is the first history
    on which plugin and model differ. `best` is the one that says most where none differs.
    """

    def __init__(self, case: Case, instead: str = "") -> None:
        self._case = case
        self._instead = instead
        self._bench = case.bench
        self._number = 0
        self.best: Tried | None = None
        self.found: Tried | None = None

    def attempt(self, steps: Sequence[Step]) -> Tried:
        """Try a history. Raise DivergedError where plugin and model differ on it."""
        if self.found is not None:
            raise DivergedError
        tried = self._try(tuple(steps))
        if self.best is None or tried.interest > self.best.interest:
            self.best = tried
        if tried.broken is not None:
            self.found = tried
            raise DivergedError
        return tried

    def tried_in_words(self) -> str:
        """How much was tried, in words. The same version of Hypothesis makes the same histories of a seed."""
        seed = self._bench.target.seed
        return f"{self._number} histories were tried: seed {seed}, Hypothesis {hypothesis.__version__}{CAVEAT}"

    def decided(self, steps: Sequence[Step]) -> bool:
        """Whether the contract and the target's claims decide what each step must answer."""
        return valid(steps, self._case.bench.claims.undecided)

    def smallest(self, found: Tried) -> Tried:
        """Shrink a history: the smallest found that breaks the same clause."""
        most = SHRINKING_HANGS if found.hung else SHRINKING
        tries = {found.steps: found}

        def shows(steps: tuple[Step, ...]) -> bool:
            if not self.decided(steps):
                return False
            if steps not in tries:
                if len(tries) > most:
                    raise EnoughTriedError
                tries[steps] = self._try(steps)
            return tries[steps].broken == found.broken

        if not found.hung:
            return tries[shrink(found.steps, shows)]
        patience = self._case.bench.target.timeout
        for hurried in (max(LEAST_PATIENCE, HURRY * patience) * times for times in (1, LESS_HURRIED)):
            self._bench = self._case.bench.apart(timeout=min(hurried, patience))
            steps = shrink(found.steps, shows)
            self._bench.close()
            # A history that hung for the shorter time-out must also hang for the whole one.
            self._bench = self._case.bench.apart(timeout=patience)
            again = self._try(steps)
            self._bench.close()
            if again.broken == found.broken:
                return again
            # Something was only slow, as on a machine that others use, too.
            tries.clear()
            tries[found.steps] = found
        return found

    def _try(self, steps: tuple[Step, ...]) -> Tried:
        self._number += 1
        trial = self._case.trial(self._bench, self._number)
        error: BaseException | None = None
        try:
            history(trial, steps, self._instead)
        except Exception as raised:
            error = raised
        record = recorded(trial, evidence_of(trial, error))
        tried = Tried(steps, record, list(trial.surroundings.trace), trial.surroundings.named)
        trial.surroundings.clear()
        return tried


def explore(
    case: Case, generate: Callable[["Search"], object], told: Callable[[], str] | None = None, instead: str = ""
) -> None:
    """Try the histories that failed before, then those that `generate` makes. The case takes the result.

    `told` says in the end how much was tried, where that is not how often `Search.attempt` was called. `instead` is the
    clause that is broken, where that is not the one of the step.
    """
    search = Search(case, instead)
    told = told or search.tried_in_words
    with suppress(DivergedError):
        for trace in reproducers.known(case):
            if search.decided(trace.steps):
                search.attempt(trace.steps)
        if not case.bench.target.replay:
            generate(search)
    if search.found is not None and search.found.record.verdict is Verdict.ERROR:
        case.adopt(search.found.record)
        return
    if search.found is not None:
        tried = search.smallest(search.found)
        case.adopt(tried.record, reproducers.write(case, tried, told()))
        return
    reproducers.forget(case)
    if search.best is not None:
        # Why none could be run says more than how many were tried.
        not_run = search.best.record.verdict is Verdict.NOT_RUN
        case.adopt(search.best.record, None if not_run else told())


def machine(case: Case, kind: type[HistoryMachine]) -> None:
    """Search with histories that a state machine makes."""
    target = case.bench.target

    def generate(search: Search) -> None:
        rarity = Rarity()

        class Made(kind):  # type: ignore[valid-type, misc]
            def __init__(self) -> None:
                super().__init__(search.attempt, available, unsupported, rarity)

        hypothesis.seed(target.seed)(Made)
        run_state_machine_as_test(Made, settings=settings(target.examples))

    available, unsupported = case.surroundings.available_ops, case.bench.claims.undecided
    # Histories have hosts of their own, and a plugin may be for one process at a time.
    case.surroundings.end_host()
    explore(case, generate)


def given(case: Case, histories: "hypothesis.strategies.SearchStrategy[list[Step]]") -> None:
    """Search with histories that a strategy makes."""
    target = case.bench.target

    def generate(search: Search) -> None:
        @hypothesis.seed(target.seed)
        @settings(target.examples)
        @hypothesis.given(histories)
        def attempt(steps: list[Step]) -> None:
            hypothesis.assume(search.decided(steps))
            search.attempt(steps)

        try:
            attempt()
        except hypothesis.errors.Unsatisfiable:
            raise NoStimulusError("contract and profile decide none of the histories that were made") from None

    explore(case, generate)


def settings(examples: int) -> hypothesis.settings:
    """How so many histories are made: nothing is kept, and Hypothesis shrinks nothing."""
    return hypothesis.settings(
        backend=BACKEND,
        max_examples=examples,
        stateful_step_count=STEPS,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=hypothesis.Verbosity.quiet,
    )
