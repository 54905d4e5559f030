"""Hypothesis machines: they make histories by walking the model, and hand each over when it is complete.

The plugin is no part of making a history, so a history is data: it can be tried, shrunk, written down and tried again.
"""

from collections.abc import Callable, Container, Sequence

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from ..contract.model import WRITES, Model, Step

#: Tries a history on the plugin.
Attempt = Callable[[Sequence[Step]], None]

#: Few names, so that histories meet themselves again.
NAMES = ("a", "b", "c.txt")
POOL = (*NAMES, "a/a", "a/b", "b/a", "b/b", "a/b/a", "a/b/a/b")
PATHS = st.sampled_from(POOL)
ASKS = ("path_exists", "stat", "is_directory", "get_file_size", "get_children", "get_matching_paths", "paths_exist",
        "flush_caches")  # fmt: skip
#: Contents that say which write they come from, of sizes at which buffers have edges.
CONTENTS = st.builds(
    lambda letter, size: letter * size, st.sampled_from([b"x", b"y", b"\0"]), st.sampled_from([0, 1, 5, 511, 4097])
)
PATTERNS = st.sampled_from(["*", "a*", "?", "*/*", "a/*", "[ab]", "[^a]/b", "*.txt", "a/?/*", "\\a", "a/b", "*/*/*"])


class Maker(RuleBasedStateMachine):
    """What all machines share: the steps so far, and the model's word on which may follow."""

    def __init__(self, attempt: Attempt, available: Container[str], unsupported: Container[str]) -> None:
        super().__init__()
        self._attempt = attempt
        self._available = available
        self.model = Model(unsupported)
        self.steps: list[Step] = []

    def step(self, op: str, *paths: str, file: int = -1, data: bytes = b"", offset: int = 0, n: int = 0) -> int | None:
        """Add a step, if the plugin has the op and the model knows the answer; its number where that is OK."""
        step = Step(op, paths, file, data, offset, n)
        expectation = self.model.take(step) if op in self._available else None
        if expectation is None:
            return None
        self.steps.append(step)
        return len(self.steps) - 1 if all(code == 0 for code in expectation.codes) else None

    def write(self, op: str, path: str, *pieces: bytes) -> None:
        """A whole file in one go."""
        file = self.step(op, path)
        if file is not None:
            for piece in pieces:
                self.step("append", file=file, data=piece)
            self.step("close", file=file)
            self.step("writable_file.cleanup", file=file)

    def teardown(self) -> None:
        """Close what is still written to, and try the history."""
        for number, opened in list(self.model.opened.items()):
            if opened.op in WRITES and not opened.closed:
                self.step("close", file=number)
        self._attempt(self.steps)


class Tree(Maker):
    """Files that are written in one go, directories, and all that is done to both by name."""

    def path(self, data: st.DataObject, op: str, *before: str) -> str:
        """A path for an op, behind those that are known: as often as not one with which it succeeds."""
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
    """Several files open at once, each used between the steps of the others."""

    def settled(self) -> list[str]:
        """The files that nobody writes to."""
        return sorted(path for path in self.model.tree if not self.model.busy(path))

    @rule(path=st.sampled_from(NAMES), op=st.sampled_from(WRITES), content=CONTENTS)
    def open_to_write(self, path: str, op: str, content: bytes) -> None:
        """Open a file that nobody else writes to."""
        file = self.step(op, path)
        if file is not None:
            self.step("append", file=file, data=content)

    @precondition(lambda self: self.settled())
    @rule(data=st.data(), op=st.sampled_from(["new_random_access_file", "new_read_only_memory_region_from_file"]))
    def open_to_read(self, data: st.DataObject, op: str) -> None:
        """Open or map a file."""
        self.step(op, data.draw(st.sampled_from(self.settled())))

    @precondition(lambda self: self.model.opened)
    @rule(data=st.data(), content=CONTENTS)
    def use(self, data: st.DataObject, content: bytes) -> None:
        """Use something that is open."""
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
        """End something that is open."""
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
        """Ask about a file, move it or delete it; whoever reads it may go on, and sees what is open."""
        paths = [data.draw(st.sampled_from(self.settled()))]
        if op in ("rename_file", "copy_file"):
            paths.append(data.draw(st.sampled_from(NAMES)))
        self.step(op, *paths)
