"""Hypothesis state machines that make histories by walking the model.

The plugin takes no part in making a history. So a history is data, which can be tried, shrunk, saved and tried again.
"""

from collections.abc import Callable, Container, Sequence

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from ..contract.model import WRITES, Step
from .making import Making

#: Called with each complete history: it tries the history on the plugin.
Attempt = Callable[[Sequence[Step]], object]

#: Few names, so that the ops of a history meet the same paths.
NAMES = ("a", "b", "c.txt")
POOL = (*NAMES, "a/a", "a/b", "b/a", "b/b", "a/b/a", "a/b/a/b")
PATHS = st.sampled_from(POOL)
ASKS = ("path_exists", "stat", "is_directory", "get_file_size", "get_children", "get_matching_paths", "paths_exist",
        "flush_caches")  # fmt: skip
#: Contents that differ, so that it shows which write they come from. Their sizes are around those of buffers.
CONTENTS = st.builds(
    lambda letter, size: letter * size, st.sampled_from([b"x", b"y", b"\0"]), st.sampled_from([0, 1, 5, 511, 4097])
)
PATTERNS = st.sampled_from(["*", "a*", "?", "*/*", "a/*", "[ab]", "[^a]/b", "*.txt", "a/?/*", "\\a", "a/b", "*/*/*"])


class Maker(RuleBasedStateMachine):
    """What all machines have in common: the steps so far, and the model, which says what may follow."""

    def __init__(self, attempt: Attempt, available: Container[str], unsupported: Container[str]) -> None:
        super().__init__()
        self._attempt = attempt
        self._making = Making(available, unsupported)
        self.model = self._making.model
        #: Add a step, and write a file.
        self.step = self._making.step
        self.write = self._making.write

    def teardown(self) -> None:
        """Close the files that are open for writing, and try the history."""
        self._making.close_all()
        self._attempt(self._making.steps)


class Tree(Maker):
    """Histories of files, each written at once, and directories, and of all ops on their paths."""

    def path(self, data: st.DataObject, op: str, *before: str) -> str:
        """A path for an op, after the paths that are chosen already. In half of the draws the op succeeds with it."""
        fitting = [path for path in POOL if self.model.succeeds(op, *before, path)]
        return data.draw(st.one_of(st.sampled_from(fitting), PATHS) if fitting else PATHS)

    @rule(data=st.data(), op=st.sampled_from(WRITES), content=CONTENTS)
    def write_file(self, data: st.DataObject, op: str, content: bytes) -> None:
        """Write a file, or append to it."""
        self.write(op, self.path(data, op), content)

    @rule(data=st.data())
    def read_file(self, data: st.DataObject) -> None:
        """Read a file to its end and beyond."""
        file = self.step("new_random_access_file", self.path(data, "new_random_access_file"))
        if file is not None:
            self.step("read", file=file, n=1 << 16)
            self.step("random_access_file.cleanup", file=file)

    @rule(data=st.data(), op=st.sampled_from(["create_dir", "create_dir", "recursively_create_dir"]))
    def create(self, data: st.DataObject, op: str) -> None:
        """Create a directory, or several."""
        self.step(op, self.path(data, op))

    @rule(data=st.data(), op=st.sampled_from(["delete_file", "delete_dir", "delete_recursively"]))
    def delete(self, data: st.DataObject, op: str) -> None:
        """Delete a file, a directory, or a tree."""
        self.step(op, self.path(data, op))

    @rule(data=st.data(), op=st.sampled_from(["rename_file", "copy_file"]))
    def move(self, data: st.DataObject, op: str) -> None:
        """Rename or copy a file."""
        path = self.path(data, "new_random_access_file")
        self.step(op, path, self.path(data, op, path))

    @rule(data=st.data(), op=st.sampled_from(ASKS))
    def ask(self, data: st.DataObject, op: str) -> None:
        """Ask about one path, about several at once, or what matches a pattern."""
        match op:
            case "flush_caches":
                self.step(op)
            case "get_matching_paths":
                self.step(op, data.draw(PATTERNS))
            case "paths_exist":
                self.step(op, self.path(data, op), self.path(data, op))
            case "get_children":
                self.step(op, "" if data.draw(st.booleans()) else self.path(data, op))
            case _:
                self.step(op, self.path(data, op))


class Handles(Maker):
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
