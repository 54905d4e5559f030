"""Hypothesis state machines that make histories by walking the model.

The plugin takes no part in making a history. So a history is data, which can be tried, shrunk, saved and tried again.
"""

import random
from collections.abc import Callable, Container, Sequence
from itertools import product

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from ..contract.model import WRITES, Step
from ..contract.statuses import TWO_PATHS
from .making import Making
from .rarity import Past, Rarity

#: Called with each complete history: it tries the history on the plugin.
Attempt = Callable[[Sequence[Step]], object]

#: Few names, so that the ops of a history meet the same paths.
NAMES = ("a", "b", "c.txt")
POOL = (*NAMES, "a/a", "a/b", "b/a", "b/b", "a/b/a", "a/b/a/b")
ASKS = ("path_exists", "stat", "is_directory", "get_file_size", "get_children", "get_matching_paths", "paths_exist",
        "flush_caches")  # fmt: skip
#: What happens on a tree: as often what is of one kind as what is of another.
KINDS = (
    WRITES,
    ("new_random_access_file",),
    ("create_dir", "create_dir", "recursively_create_dir"),
    ("delete_file", "delete_dir", "delete_recursively"),
    tuple(TWO_PATHS),
    ASKS,
)
#: Contents that differ, so that it shows which write they come from. Their sizes are around those of buffers.
LETTERS, SIZES = (b"x", b"y", b"\0"), (0, 1, 5, 511, 4097)
CONTENTS = st.builds(lambda letter, size: letter * size, st.sampled_from(LETTERS), st.sampled_from(SIZES))
GLOBS = ("*", "a*", "?", "*/*", "a/*", "[ab]", "[^a]/b", "*.txt", "a/?/*", "\\a", "a/b", "*/*/*")
#: A move of a tree follows from such a number.
NUMBERS = st.integers(0, (1 << 64) - 1)


class HistoryMachine(RuleBasedStateMachine):
    """What all machines have in common: the steps so far, and the model, which says what may follow."""

    def __init__(
        self, attempt: Attempt, available: Container[str], unsupported: Container[str], rarity: Rarity
    ) -> None:
        super().__init__()
        self._attempt = attempt
        self._making = Making(available, unsupported)
        self.model = self._making.model
        self._past = Past(self.model, rarity)
        #: Add a step, and write a file.
        self.step = self._making.step
        self.write = self._making.write

    def teardown(self) -> None:
        """Close the files that are open for writing, and try the history."""
        self._making.close_all()
        self._attempt(self._making.steps)


class Tree(HistoryMachine):
    """Histories of files, each written at once, and directories, and of all ops on their paths."""

    @rule(number=NUMBERS)
    def move(self, number: int) -> None:
        """Perform an op that follows from the number, with what belongs to it."""
        draw = random.Random(number)
        op = draw.choice(draw.choice(KINDS))
        match op:
            case "flush_caches":
                self.step(op)
            case "get_matching_paths":
                self.step(op, draw.choice(GLOBS))
            case "paths_exist":
                self.step(op, *self.paths(draw, op), *self.paths(draw, op))
            case "new_writable_file" | "new_appendable_file":
                (path,) = self.paths(draw, op)
                self.write(op, path, draw.choice(LETTERS) * draw.choice(SIZES))
            case "new_random_access_file":
                file = self.step(op, *self.paths(draw, op))
                if file is not None:
                    self.step("read", file=file, n=1 << 16)
                    self.step("random_access_file.cleanup", file=file)
            case "get_children" if draw.random() < 0.5:
                self.step(op, "")
            case _:
                self.step(op, *self.paths(draw, op, 2 if op in TWO_PATHS else 1))

    def paths(self, draw: random.Random, op: str, count: int = 1) -> tuple[str, ...]:
        """The paths for an op: rather such as it seldom met. In half of the draws the op succeeds with them."""
        paths = self._past.choose(op, product(POOL, repeat=count), draw)
        if op not in ASKS:
            self._past.done(op, paths, refused=not self.model.succeeds(op, *paths))
        return paths


class Handles(HistoryMachine):
    """Histories in which several files are open at once and used in turn."""

    def settled(self) -> list[str]:
        """The files that are not open for writing."""
        return sorted(path for path in self.model.tree if not self.model.busy(path))

    @rule(path=st.sampled_from(NAMES), op=st.sampled_from(WRITES), content=CONTENTS)
    def open_to_write(self, path: str, op: str, content: bytes) -> None:
        """Open a file for writing that is not open for writing."""
        file = self.step(op, path)
        if file is not None:
            self.step("append", file=file, data=content)

    @precondition(lambda self: self.settled())
    @rule(data=st.data(), op=st.sampled_from(["new_random_access_file", "new_read_only_memory_region_from_file"]))
    def open_to_read(self, data: st.DataObject, op: str) -> None:
        """Open a file for reading, or map it."""
        self.step(op, data.draw(st.sampled_from(self.settled())))

    @precondition(lambda self: self.model.opened)
    @rule(data=st.data(), content=CONTENTS)
    def use(self, data: st.DataObject, content: bytes) -> None:
        """Use an open file or region."""
        file = data.draw(st.sampled_from(sorted(self.model.opened)))
        match self.model.opened[file].op:
            case "new_random_access_file":
                offset, n = data.draw(st.sampled_from([0, 1, 4096])), data.draw(st.sampled_from([0, 1, 600, 5000]))
                self.step("read", file=file, offset=offset, n=n)
            case "new_read_only_memory_region_from_file":
                self.step(data.draw(st.sampled_from(["data", "length"])), file=file)
            case _:
                op = data.draw(st.sampled_from(["append", "append", "append", "tell", "flush", "sync"]))
                self.step(op, file=file, data=content if op == "append" else b"")

    @precondition(lambda self: self.model.opened)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        """Close or clean up an open file or region."""
        file = data.draw(st.sampled_from(sorted(self.model.opened)))
        match self.model.opened[file].op:
            case "new_random_access_file":
                self.step("random_access_file.cleanup", file=file)
            case "new_read_only_memory_region_from_file":
                self.step("read_only_memory_region.cleanup", file=file)
            case _:
                self.step("close", file=file)
                self.step("writable_file.cleanup", file=file)

    @precondition(lambda self: self.settled())
    @rule(data=st.data(), op=st.sampled_from(["stat", "get_file_size", "rename_file", "copy_file", "delete_file"]))
    def by_name(self, data: st.DataObject, op: str) -> None:
        """Ask about a file, move it or delete it.

        Open readers may go on; what they see is left open by the contract.
        """
        paths = [data.draw(st.sampled_from(self.settled()))]
        if op in ("rename_file", "copy_file"):
            paths.append(data.draw(st.sampled_from(NAMES)))
        self.step(op, *paths)
