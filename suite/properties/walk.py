"""Performs the steps of a history on the plugin, and compares each answer with what the model expects."""

from collections.abc import Sequence

from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.filesystem import MemoryRegion, RandomAccessFile, WritableFile
from ...harness.ops.outcomes import Entries, Existence, Outcome, Read, Source, Statistics, Undeleted
from ..contract.model import Expectation, Model, Step, Value
from ..engine.case import Case

#: The clause for a wrong final tree after correct steps.
SUM = "common.histories-add-up"
#: The ops that create files and directories.
MAKES = ("create_dir", "recursively_create_dir", "new_writable_file")

File = RandomAccessFile | WritableFile | MemoryRegion


class Walk:
    """One history on one filesystem. It ends at the first wrong answer, because what follows would say nothing."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._model = Model()
        self._files: dict[int, File] = {}

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
            outcome = self._ask(number, step)
            if outcome.source is Source.ABSENT or case.check.unimplemented(outcome):
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
        if step.file < 0 or step.file in self._files:
            return False
        if step.op == "close":
            for path, content in self._model.tree.items():
                if content is not None:
                    around.backing.write(around.backing_name(path), content)
        return True

    def _adds_up(self) -> bool:
        """Compare the final tree with the model's."""
        found, expected = self._case.setup.tree(), self._model.tree
        if found == expected:
            # The text must not depend on which history was tried last.
            return self._case.check.that(SUM, True, "what the steps left", "what the steps left")
        return self._case.check.equal(SUM, "tree", dict(sorted(expected.items())), dict(sorted(found.items())))

    def _as_expected(self, step: Step, outcome: Outcome[object], expectation: Expectation) -> bool:
        case = self._case
        # Core may have asked another op, and passed on its error: the cases of that op judge which one.
        fails_as_asked = bool(outcome.passed_on) and not outcome.ok and Code.OK not in expectation.codes
        if outcome.code not in expectation.codes and not fails_as_asked:
            case.check.status(expectation.clause, outcome, *expectation.codes)
            return False
        self._kept(expectation.clause)
        if not outcome.ok and outcome.op != "read":
            return True
        return all(self._value_as_expected(step, outcome, value) for value in expectation.values)

    def _value_as_expected(self, step: Step, outcome: Outcome[object], value: Value) -> bool:
        got = self._shown(outcome.value, value.what)
        expected = value.expected
        if value.what == "statuses" and isinstance(expected, tuple) and isinstance(got, tuple):
            fits = len(got) == len(expected) and all(map(frozenset.__contains__, expected, got))
            expected = got if fits else tuple("|".join(sorted(map(str, codes))) for codes in expected)
        if expected == got:
            self._kept(value.clause)
            return True
        what = f"{value.what} of {step.op}({', '.join(step.paths)})"
        return self._case.check.equal(value.clause, what, expected, got)

    def _kept(self, clause: str) -> None:
        """Record that a clause that the case is about was kept; in words that every history of it has."""
        if clause in self._case.clauses:
            self._case.check.that(clause, True, "what the model says", "what the model says")

    def _shown(self, value: object, what: str) -> object:
        """The part of an op's value that an expectation compares."""
        match value:
            case Read():
                return value.data if what == "data" else value.returned
            case Statistics():
                return value.length if what == "length" else value.is_directory
            case Undeleted():
                return (value.files, value.dirs)
            case Existence(statuses=statuses):
                return value.returned if what == "returned" else tuple(status.code for status in statuses or ())
            case Entries(names=names) if what == "matches":
                return sorted(self._relative(name) for name in names)
            case Entries() as entries:
                return sorted(entries.bare)
            case (int(), bytes() as data):
                return data
        return value

    def _relative(self, name: str) -> str:
        """A match as a path relative to the history's directory. Another clause checks its form."""
        base = self._case.uri()
        for prefix in (base, self._case.fs.translate(base), paths.parse(base).path):
            if name.startswith(f"{prefix}/"):
                return name.removeprefix(f"{prefix}/")
        return name

    # How a step is performed -----------------------------------------------------------------------------------------

    def _ask(self, number: int, step: Step) -> Outcome[object]:
        fs = self._case.fs
        if step.file >= 0:
            return self._ask_file(step, self._files[step.file])
        uris = [self._case.uri(path) if path else self._case.uri() for path in step.paths]
        match step.op:
            case "new_random_access_file":
                return self._keep(number, fs.new_random_access_file(*uris))
            case "new_writable_file":
                return self._keep(number, fs.new_writable_file(*uris))
            case "new_appendable_file":
                return self._keep(number, fs.new_appendable_file(*uris))
            case "new_read_only_memory_region_from_file":
                return self._keep(number, fs.new_read_only_memory_region_from_file(*uris))
            case "paths_exist":
                return fs.paths_exist(uris)
        outcome: Outcome[object] = getattr(fs, step.op)(*uris)
        return outcome

    def _keep(
        self,
        number: int,
        outcome: Outcome[RandomAccessFile | None] | Outcome[WritableFile | None] | Outcome[MemoryRegion | None],
    ) -> Outcome[object]:
        if outcome.value is not None:
            self._files[number] = outcome.value
        elif outcome.ok:
            self._case.blocked(outcome.op, "it answered OK and opened nothing")
        return outcome

    def _ask_file(self, step: Step, file: File) -> Outcome[object]:
        if step.op.endswith(".cleanup"):
            del self._files[step.file]
            return file.cleanup()
        match file:
            case RandomAccessFile():
                return file.read(step.offset, step.n)
            case MemoryRegion():
                if step.op == "length":
                    return file.length()
                length = file.length().value
                return file.data(0, length)
            case WritableFile():
                if step.op == "append":
                    return file.append(step.data)
                outcome: Outcome[object] = getattr(file, step.op)()
                return outcome


def history(case: Case, steps: Sequence[Step]) -> bool:
    """Perform a history. Return whether plugin and model agree to the end."""
    return Walk(case).perform(steps)
