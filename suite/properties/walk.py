"""Performs the steps of a history on the plugin, and compares each answer with what the model expects."""

from collections.abc import Sequence

from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Outcome, Source
from ..contract.model import OPENS, Expectation, Model, Step
from ..engine.case import Case
from .answers import is_right_code, relative, wrong_value
from .performer import Performer

#: The clause for a wrong final tree after correct steps.
SUM = "common.histories-add-up"
#: The ops that create files and directories.
MAKES = ("create_dir", "recursively_create_dir", "new_writable_file")


class Walk:
    """One history on one filesystem. It ends at the first wrong answer, because what follows would say nothing."""

    def __init__(self, case: Case, instead: str = "") -> None:
        self._case = case
        #: The clause that whatever is wrong breaks; empty for that of the step.
        self._instead = instead
        self._model = Model()
        self._performer = Performer(case.fs, lambda path: case.uri(path) if path else case.uri())

    def perform(self, steps: Sequence[Step]) -> bool:
        """Perform all steps.

        Return whether all answers and the final tree are right. The checks are recorded in the case.
        """
        case = self._case
        # The directory of the history is there before its first step.
        case.uri()
        for number, step in enumerate(steps):
            expectation = self._model.take(step)
            if expectation is None:
                raise ValueError(f"step {number}, {step.op}, is one that the contract leaves open")
            if self._seeded(step, expectation):
                continue
            outcome = self._performer.perform(number, step)
            if step.op in OPENS and outcome.ok and outcome.value is None:
                case.blocked(step.op, "it answered OK and opened nothing")
            # Of an op that works elsewhere it is an answer like others.
            is_absent = outcome.source is Source.ABSENT or step.op not in case.check.works
            if case.check.unimplemented(outcome) and is_absent:
                case.blocked(step.op, outcome.message)
            if not self._as_expected(step, outcome, expectation):
                return False
        # The content of a file that is open for writing is not decided.
        return self._model.busy("") or self._adds_up()

    def _seeded(self, step: Step, expectation: Expectation) -> bool:
        """Whether the backing performed a step that writes, because the plugin cannot."""
        case, around = self._case, self._case.surroundings
        if step.op in MAKES and case.bench.seeds(case.fs, step.op):
            if step.op != "new_writable_file" and Code.OK in expectation.codes:
                around.backing.make_directory(around.backing_name(step.paths[0]))
            return True
        if step.file < 0 or step.file in self._performer.files:
            return False
        if step.op == "close":
            for path, content in self._model.tree.items():
                if content is not None:
                    around.backing.write(around.backing_name(path), content)
        return True

    def _adds_up(self) -> bool:
        """Compare the final tree with the model's."""
        found = self._case.setup.tree()
        if found == self._model.tree:
            # The text must not depend on which history was tried last.
            return self._case.check.that(SUM, True, "what the steps left", "what the steps left")
        return self._case.tree_is(self._instead or SUM, self._model.tree, found)

    def _as_expected(self, step: Step, outcome: Outcome[object], expectation: Expectation) -> bool:
        case = self._case
        if not is_right_code(outcome, expectation):
            if Code.OK in expectation.codes:
                case.setup.may_refuse(outcome)
            case.check.status(self._instead or expectation.clause, outcome, *expectation.codes)
            return False
        wrong = wrong_value(outcome, expectation, self._relative)
        if wrong is None:
            self._kept(expectation.clause)
            for value in expectation.values if outcome.ok or outcome.op == "read" else ():
                self._kept(value.clause)
            return True
        # Where other ops see the same, what was written is wrong, and not what reads it.
        if not self._instead and not self._model.busy("") and case.agreed(self._model.tree):
            return case.tree_is(SUM, self._model.tree)
        what = f"{wrong.value.what} of {step.op}({', '.join(step.paths)})"
        return case.check.equal(self._instead or wrong.value.clause, what, wrong.expected, wrong.got)

    def _kept(self, clause: str) -> None:
        """Record that a clause that the case is about was kept; in words that every history of it has."""
        if clause in self._case.clauses:
            self._case.check.that(clause, True, "what the model says", "what the model says")

    def _relative(self, name: str) -> str:
        """A match as a path relative to the history's directory. Another clause checks its form."""
        return relative(self._case.fs, self._case.uri(), name)


def history(case: Case, steps: Sequence[Step], instead: str = "") -> bool:
    """Perform a history. Return whether plugin and model agree to the end; where not, `instead` is broken, if given."""
    return Walk(case, instead).perform(steps)
