"""Performs the steps of a history on a filesystem, one after the other."""

from collections.abc import Callable
from typing import Any

from ...harness.ops.filesystem import Filesystem
from ...harness.ops.outcomes import Outcome
from ..contract.model import OPENS, Step


class Performer:
    """One history. `uri` makes a URI of a path of the history.

    `files` has what is open, by the numbers of the steps that opened it.
    """

    def __init__(self, fs: Filesystem, uri: Callable[[str], str]) -> None:
        self._fs = fs
        self._uri = uri
        self.files: dict[int, Any] = {}

    def perform(self, number: int, step: Step, size: int | None = None) -> Outcome[object]:
        """Perform a step. `size` is how many bytes of a region are looked at; None for as many as it says to have."""
        if step.file >= 0:
            return self._on_file(step, size)
        uris = [self._uri(path) for path in step.paths]
        if step.op == "paths_exist":
            return self._fs.paths_exist(uris)
        outcome: Outcome[object] = getattr(self._fs, step.op)(*uris)
        if step.op in OPENS and outcome.value is not None:
            self.files[number] = outcome.value
        return outcome

    def _on_file(self, step: Step, size: int | None) -> Outcome[object]:
        file = self.files[step.file]
        arguments: tuple[object, ...] = ()
        match step.op:
            case "read":
                arguments = (step.offset, step.n)
            case "data":
                arguments = (0, file.length().value if size is None else size)
            case "append":
                arguments = (step.data,)
        if step.op.endswith(".cleanup"):
            del self.files[step.file]
        op = step.op.rpartition(".")[2]
        outcome: Outcome[object] = getattr(file, op)(*arguments)
        return outcome
