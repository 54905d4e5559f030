"""The reference model: it says what each op of any sequence must answer, and what files and directories there are then.

It is plain Python and uses no process. Paths are relative to the directory of the history, such as `a/b`. The empty
path is that directory. The accepted codes come from the tables in `statuses.py`, by the situation that the steps
before have led to.
"""

import itertools
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace

from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.glob import GLOB_CHARACTERS
from ...harness.ops.tables import CHANGING
from . import statuses
from .matcher import matching, rule
from .statuses import ONE_PATH, TWO_PATHS

OPENS = ("new_random_access_file", "new_writable_file", "new_appendable_file", "new_read_only_memory_region_from_file")
WRITES = ("new_writable_file", "new_appendable_file")
#: The ops after which the first path is gone.
LEAVES = ("delete_file", "delete_dir", "delete_recursively", "rename_file")
#: Not promised where nobody asks whether a parent is there.
IMPLIED = "create_dir.missing-parent-is-not-found"


@dataclass(frozen=True, slots=True)
class Step:
    """One op of a history.

    `file` is the number, from 0, of the step that opened the file or region that this op uses.
    """

    op: str
    paths: tuple[str, ...] = ()
    file: int = -1
    data: bytes = b""
    offset: int = 0
    n: int = 0


@dataclass(frozen=True, slots=True)
class Value:
    """A result of an op other than its code, such as the bytes of a read, and the clause that demands it."""

    clause: str
    what: str
    expected: object


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a step must answer: one of `codes`. Where it is OK, or a read that met the end, also `values`."""

    clause: str
    codes: frozenset[Code]
    values: tuple[Value, ...] = ()


@dataclass(slots=True)
class _Opened:
    """An open file or region: the op that opened it, its path, and what a reader sees or a writer has written.

    `stale` says that the path became another file since. What a reader then sees is open.
    """

    op: str
    path: str
    content: bytes
    closed: bool = False
    stale: bool = False


_OK = frozenset({Code.OK})


def canonical(path: str) -> str:
    """A relative path as translate_name leaves it: `a/./b//` becomes `a/b`."""
    return paths.clean(path) if path else ""


def _related(one: str, other: str) -> bool:
    """Whether two paths are the same, or one is an ancestor of the other."""
    return not one or not other or f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


class Model:
    """The state after some steps. `tree` maps each path to the content of the file, or to None for a directory.

    The target does not promise the clauses in `unsupported`. What depends on them is open.
    """

    def __init__(self, unsupported: Container[str] = ()) -> None:
        self._unsupported = unsupported
        self.tree: dict[str, bytes | None] = {}
        self.opened: dict[int, _Opened] = {}
        self._steps = 0
        #: Directories that came with one below them.
        self._implied: set[str] = set()

    def situation(self, path: str) -> str:
        """The situation of a path now: a row of the tables in `statuses.py`."""
        names = path.split("/") if path else []
        for depth in range(1, len(names)):
            above = "/".join(names[:depth])
            if above not in self.tree:
                return statuses.MISSING_PARENT
            if self.tree[above] is not None:
                return statuses.BELOW_A_FILE if depth == len(names) - 1 else statuses.FAR_BELOW_A_FILE
        if path and path not in self.tree:
            return statuses.MISSING
        content = self.tree[path] if path else None
        if content is not None:
            return statuses.FILE if content else statuses.EMPTY_FILE
        return statuses.FULL_DIRECTORY if self.children(path) else statuses.EMPTY_DIRECTORY

    def children(self, path: str) -> list[str]:
        """The sorted names in a directory."""
        prefix = f"{path}/" if path else ""
        inside = (known.removeprefix(prefix) for known in self.tree if known.startswith(prefix))
        return sorted(name for name in inside if "/" not in name)

    def busy(self, path: str) -> bool:
        """Whether a file at, below or above a path is open for writing. Until it is closed, what is there is open."""
        return any(one.op in WRITES and not one.closed and _related(one.path, path) for one in self.opened.values())

    def succeeds(self, op: str, *on: str) -> bool:
        """Whether an op on these paths must answer OK now."""
        cell = None if any(map(self.busy, on)) else self._cell(op, on)
        return cell is not None and cell.accepts == _OK and not cell.readings

    def take(self, step: Step) -> Expectation | None:
        """Perform a step on the model. Return what it must answer.

        Where the contract leaves that open, change nothing and return None.
        """
        if step.op != "get_matching_paths":
            step = replace(step, paths=tuple(map(canonical, step.paths)))
        expectation = self._file_op(step) if step.file >= 0 else self._path_op(step)
        if expectation is not None:
            self._steps += 1
        return expectation

    # Ops that take paths ---------------------------------------------------------------------------------------------

    def _path_op(self, step: Step) -> Expectation | None:
        if any(self.busy("" if step.op == "get_matching_paths" else path) for path in step.paths):
            return None
        match step.op:
            case "get_matching_paths":
                (pattern,) = step.paths
                found = matching(pattern, self.tree)
                if found is None:
                    return None
                matches = Value(rule(pattern), "matches", found)
                return Expectation("get_matching_paths.succeeds", self._answers(pattern), (matches,))
            case "paths_exist":
                return self._paths_exist(step.paths)
            case "flush_caches":
                return Expectation("flush_caches.succeeds", _OK)
        cell = self._cell(step.op, step.paths)
        if cell is None or cell.clause in self._unsupported:
            return None
        codes = cell.accepts.union(*cell.readings.values())
        if not self._decided(step, codes) or cell.by_default:
            return None
        values = tuple(self._values(step)) if Code.OK in codes else ()
        if codes == _OK:
            if step.op in LEAVES and self._empties_implied(step.paths[0]):
                return None
            self._change(step)
        return Expectation(cell.clause, codes, values)

    def _empties_implied(self, path: str) -> bool:
        """Whether nothing but this path is in a directory of which only what it holds says that it is there.

        Where directories are a way to look at names, such a one may be gone with its last entry, or stay.
        """
        above, _, name = path.rpartition("/")
        return above in self._implied and IMPLIED in self._unsupported and self.children(above) == [name]

    def _answers(self, pattern: str) -> frozenset[Code]:
        """What matching a pattern may answer.

        Disputed: the error of the directory in which the first level with a glob character is looked for.
        """
        levels = pattern.split("/")
        literal = "/".join(itertools.takewhile(lambda level: not set(level) & GLOB_CHARACTERS, levels[:-1]))
        match self.situation(literal):
            case statuses.EMPTY_DIRECTORY | statuses.FULL_DIRECTORY:
                return _OK
            case statuses.MISSING | statuses.MISSING_PARENT:
                return _OK | {Code.NOT_FOUND}
            case _:
                return _OK | {Code.NOT_FOUND, Code.FAILED_PRECONDITION}

    def _cell(self, op: str, on: tuple[str, ...]) -> statuses.Cell | None:
        situations = [self.situation(path) for path in on]
        if len(situations) == 1:
            return ONE_PATH[op][situations[0]]
        if statuses.FAR_BELOW_A_FILE in situations or on[0] == on[1]:
            return None
        return TWO_PATHS[op][situations[0], situations[1]]

    @staticmethod
    def _decided(step: Step, codes: frozenset[Code]) -> bool:
        """Whether the state after a step is known for each of the codes it may answer."""
        asks = step.op in ("path_exists", "stat", "is_directory", "get_file_size", "get_children")
        return asks or codes == _OK or Code.OK not in codes

    def _paths_exist(self, asked: tuple[str, ...]) -> Expectation | None:
        cells = [ONE_PATH["paths_exist"][self.situation(path)] for path in asked]
        if any(cell.clause in self._unsupported for cell in cells):
            return None
        accepted = tuple(cell.accepts.union(*cell.readings.values()) for cell in cells)
        everything = all(codes == _OK for codes in accepted)
        return Expectation(
            "paths_exist.succeeds",
            _OK,
            (
                Value("paths_exist.is-true-if-all-exist", "returned", everything),
                Value("paths_exist.fills-every-status", "statuses", accepted),
            ),
        )

    def _values(self, step: Step) -> Iterator[Value]:
        path = step.paths[0]
        content = self.tree.get(path)
        match step.op:
            case "stat":
                yield Value("stat.says-the-kind", "is_directory", int(content is None))
                if content is not None:
                    yield Value("stat.length-is-the-size", "length", len(content))
            case "get_file_size":
                yield Value("get_file_size.is-stat-length", "size", len(content or b""))
            case "is_directory" if content is None:
                yield Value("is_directory.true-for-a-directory", "returned", 1)
            case "is_directory":
                # Whichever code a file gets, it is never called a directory.
                yield Value("is_directory.of-a-file", "returned", 0)
            case "get_children":
                yield Value("get_children.names-every-entry-once", "names", self.children(path))
            case "delete_recursively":
                yield Value("delete_recursively.counters-are-zero-on-success", "undeleted", (0, 0))

    def _change(self, step: Step) -> None:
        if step.op in CHANGING:
            self._outdate(step.paths[1:] if step.op == "copy_file" else step.paths)
        path = step.paths[0]
        match step.op:
            case "new_writable_file":
                self.tree[path] = b""
            case "new_appendable_file":
                self.tree.setdefault(path, b"")
            case "create_dir":
                self.tree[path] = None
            case "recursively_create_dir":
                names = path.split("/") if path else []
                made = {"/".join(names[: k + 1]): None for k in range(len(names))}
                self._implied |= made.keys() - self.tree.keys() - {path}
                self.tree.update(made)
            case "delete_file" | "delete_dir":
                del self.tree[path]
                self._implied.discard(path)
            case "delete_recursively":
                for known in [known for known in self.tree if f"{known}/".startswith(f"{path}/")]:
                    del self.tree[known]
                    self._implied.discard(known)
            case "rename_file":
                self.tree[step.paths[1]] = self.tree.pop(path)
            case "copy_file":
                self.tree[step.paths[1]] = self.tree[path]
        if step.op in OPENS:
            self.opened[self._steps] = _Opened(step.op, path, self.tree[path] or b"")

    def _outdate(self, changed: tuple[str, ...]) -> None:
        for one in self.opened.values():
            one.stale = one.stale or any(_related(one.path, path) for path in changed)

    # Ops that take what was opened -----------------------------------------------------------------------------------

    def _file_op(self, step: Step) -> Expectation | None:
        file = self.opened.get(step.file)
        if file is None:
            return None
        if step.op.endswith(".cleanup"):
            # The contract does not say what becomes of a file that is never closed.
            if file.op in WRITES and not file.closed:
                return None
            del self.opened[step.file]
            return Expectation(f"{step.op}.succeeds", _OK)
        if file.stale:
            return None
        match step.op:
            case "read":
                return self._read(file, step)
            case "length":
                return Expectation(
                    "length.succeeds", _OK, (Value("length.is-the-file-size", "length", len(file.content)),)
                )
            case "data":
                return Expectation("data.succeeds", _OK, (Value("data.holds-the-file", "data", file.content),))
        return self._written(file, step)

    @staticmethod
    def _read(file: _Opened, step: Step) -> Expectation:
        data = file.content[step.offset : step.offset + step.n]
        whole = len(data) == step.n
        clause = "read.ok-is-exactly-n" if whole else "read.short-read-is-out-of-range"
        codes = _OK if whole else frozenset({Code.OUT_OF_RANGE})
        if step.n == 0 and step.offset >= len(file.content):
            clause, codes = "read.zero-bytes-at-the-end", frozenset({Code.OK, Code.OUT_OF_RANGE})
        values = (Value(clause, "returned", len(data)), Value("read.returns-the-bytes", "data", data))
        return Expectation(clause, codes, values)

    def _written(self, file: _Opened, step: Step) -> Expectation | None:
        if file.closed:
            return None
        match step.op:
            case "append":
                file.content += step.data
                return Expectation("append.succeeds", _OK)
            case "tell":
                # What tell answers before the first append to an appendable file is disputed.
                if file.op == "new_appendable_file":
                    return None
                return Expectation(
                    "tell.succeeds", _OK, (Value("tell.is-the-write-position", "tell", len(file.content)),)
                )
            case "flush" | "sync" | "close" as op:
                if op == "close":
                    file.closed = True
                    self.tree[file.path] = file.content
                return Expectation(f"{op}.succeeds", _OK)
        return None
