"""A history in the making: steps are added as long as the model says what they must answer."""

from collections.abc import Container

from ..contract.model import WRITES, Expectation, Model, Step


class Making:
    """The steps so far, what each must answer, and the model after them.

    `available` has the ops that can be performed. The target does not promise the clauses in `unsupported`.
    """

    def __init__(self, available: Container[str], unsupported: Container[str] = ()) -> None:
        self._available = available
        self.model = Model(unsupported)
        self.steps: list[Step] = []
        self.expectations: list[Expectation] = []

    def add(self, step: Step) -> Expectation | None:
        """Add a step. Return what it must answer; None where the op is not there, or the contract leaves that open."""
        expectation = self.model.take(step) if step.op in self._available else None
        if expectation is not None:
            self.steps.append(step)
            self.expectations.append(expectation)
        return expectation

    def step(self, op: str, *paths: str, file: int = -1, data: bytes = b"", offset: int = 0, n: int = 0) -> int | None:
        """Add a step. Return its number where its answer must be OK."""
        expectation = self.add(Step(op, paths, file, data, offset, n))
        if expectation is None:
            return None
        return len(self.steps) - 1 if all(code == 0 for code in expectation.codes) else None

    def write(self, op: str, path: str, *pieces: bytes) -> None:
        """Open, write and close a file."""
        file = self.step(op, path)
        if file is not None:
            for piece in pieces:
                self.step("append", file=file, data=piece)
            self.end(file)

    def end(self, file: int) -> None:
        """Close a file that is open for writing, and clean it up."""
        self.step("close", file=file)
        self.step("writable_file.cleanup", file=file)

    def close_all(self) -> None:
        """Close the files that are open for writing: until then it is open what is there."""
        for number, opened in list(self.model.opened.items()):
            if opened.op in WRITES and not opened.closed:
                self.step("close", file=number)
