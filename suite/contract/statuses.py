"""The status codes that each op may answer, as tables: by op and by the situation of its path.

The clause of a cell names its source. Where no source names a code, every code is accepted and recorded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Annotated

from msgspec import Meta

from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.tables import CHANGING

FILE = "file"
EMPTY_FILE = "empty-file"
EMPTY_DIRECTORY = "empty-directory"
FULL_DIRECTORY = "full-directory"
MISSING = "missing"
MISSING_PARENT = "missing-parent"
BELOW_A_FILE = "below-a-file"
FAR_BELOW_A_FILE = "far-below-a-file"
EMPTY_PATH = "empty-path"

#: The situations of a path: what is there before the op.
SITUATIONS = (
    FILE,
    EMPTY_FILE,
    EMPTY_DIRECTORY,
    FULL_DIRECTORY,
    MISSING,
    MISSING_PARENT,
    BELOW_A_FILE,
    FAR_BELOW_A_FILE,
    EMPTY_PATH,
)
#: The situations for ops with two paths. Those that are open for one path are left out: they would be open twice.
SITUATIONS_OF_TWO = tuple(situation for situation in SITUATIONS if situation != FAR_BELOW_A_FILE)

ALL_CODES = frozenset(Code)
#: A code as files of the contract name it.
CodeName = Annotated[str, Meta(pattern=f"^({'|'.join(Code.__members__)})$")]

#: What is in a directory: relative path to content, None for a directory.
Tree = dict[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Cell:
    """The clause for an op in a situation, and the accepted codes; by reading, where the clause is disputed.

    The op of a `guarded` cell is never called: the empty path may mean somebody's root, and the op would change it. No
    clause is about it. `by_default` holds the codes of core's own algorithm, for an op whose entry is NULL. They are
    not held against a plugin.
    """

    clause: str
    accepts: frozenset[Code] = frozenset()
    readings: Mapping[str, frozenset[Code]] = field(default_factory=dict)
    guarded: bool = False
    by_default: frozenset[Code] = frozenset()

    @property
    def may_be_ok(self) -> bool:
        """Whether OK is right in some reading, or of core's default. Where every code is accepted nobody knows."""
        return self.accepts != ALL_CODES and Code.OK in self.accepts.union(self.by_default, *self.readings.values())


#: The cell of an op that changes what the empty path means.
GUARDED = Cell("", guarded=True)


def _one(clause: str, *codes: Code) -> Cell:
    return Cell(clause, frozenset(codes))


def _succeeds(op: str) -> Cell:
    return _one(f"{op}.succeeds", Code.OK)


def _missing(op: str) -> Cell:
    return _one(f"{op}.missing-is-not-found", Code.NOT_FOUND)


def _missing_parent(op: str) -> Cell:
    return _one(f"{op}.missing-parent-is-not-found", Code.NOT_FOUND)


def _below(op: str) -> Cell:
    return _one(f"{op}.below-a-file-is-failed-precondition", Code.FAILED_PRECONDITION)


def _asked_below(op: str) -> Cell:
    """Two sentences of the interface fit: the path is invalid, and nothing is there."""
    return Cell(
        f"{op}.below-a-file-is-failed-precondition",
        readings={
            "failed-precondition": frozenset({Code.FAILED_PRECONDITION}),
            "not-found": frozenset({Code.NOT_FOUND}),
        },
    )


def _directory(op: str) -> Cell:
    return _one(f"{op}.directory-is-failed-precondition", Code.FAILED_PRECONDITION)


#: Two sentences of the interface fit: a parent does not exist, and a parent is a file.
_FAR_BELOW = Cell(
    "paths.far-below-a-file",
    readings={"failed-precondition": frozenset({Code.FAILED_PRECONDITION}), "not-found": frozenset({Code.NOT_FOUND})},
)


def _row(op: str, **cells: Cell) -> dict[str, Cell]:
    """A row of a table. The keywords are the situations, with underscores for hyphens."""
    given = {name.replace("_", "-"): cell for name, cell in cells.items()}
    empty = GUARDED if op in CHANGING else Cell(f"{op}.unnamed-situations", ALL_CODES)
    row = {BELOW_A_FILE: _below(op), FAR_BELOW_A_FILE: _FAR_BELOW, EMPTY_PATH: empty, **given}
    return {situation: row[situation] for situation in SITUATIONS}


def _opens(op: str, *, empty: Cell, missing: Cell) -> dict[str, Cell]:
    return _row(
        op,
        file=_succeeds(op),
        empty_file=empty,
        empty_directory=_directory(op),
        full_directory=_directory(op),
        missing=missing,
        missing_parent=_missing_parent(op),
    )


def _finds(op: str, *, file: Cell, directory: Cell) -> dict[str, Cell]:
    return _row(
        op,
        file=file,
        empty_file=file,
        empty_directory=directory,
        full_directory=directory,
        missing=_missing(op),
        missing_parent=_missing(op),
    )


def _asks(op: str, *, file: Cell, directory: Cell) -> dict[str, Cell]:
    return _finds(op, file=file, directory=directory) | {BELOW_A_FILE: _asked_below(op)}


_READER = "new_random_access_file"
_WRITER = "new_writable_file"
_APPENDER = "new_appendable_file"
_REGION = "new_read_only_memory_region_from_file"
_EXISTS = _one("create_dir.exists-is-already-exists", Code.ALREADY_EXISTS)
_IN_THE_WAY = _one("recursively_create_dir.file-is-failed-precondition", Code.FAILED_PRECONDITION)
_THERE = _one("recursively_create_dir.existing-directory-is-ok", Code.OK)
_NO_DIRECTORY = _one("delete_dir.file-is-failed-precondition", Code.FAILED_PRECONDITION)
_TREE_IS_FILE = Cell(
    "delete_recursively.of-a-file",
    readings={"deletes": frozenset({Code.OK}), "refuses": frozenset({Code.FAILED_PRECONDITION})},
)
_KIND_OF_FILE = Cell(
    "is_directory.of-a-file", readings={"host": frozenset({Code.FAILED_PRECONDITION}), "header": frozenset({Code.OK})}
)
_NO_LISTING = _one("get_children.file-is-failed-precondition", Code.FAILED_PRECONDITION)

ONE_PATH: Mapping[str, Mapping[str, Cell]] = {
    _READER: _opens(_READER, empty=_succeeds(_READER), missing=_missing(_READER)),
    _WRITER: _opens(_WRITER, empty=_succeeds(_WRITER), missing=_succeeds(_WRITER)),
    _APPENDER: _opens(
        _APPENDER, empty=_succeeds(_APPENDER), missing=_one(f"{_APPENDER}.creates-what-is-missing", Code.OK)
    ),
    _REGION: _opens(
        _REGION,
        empty=_one(f"{_REGION}.empty-file-is-invalid-argument", Code.INVALID_ARGUMENT),
        missing=_missing(_REGION),
    ),
    "create_dir": _row(
        "create_dir",
        file=_EXISTS,
        empty_file=_EXISTS,
        empty_directory=_EXISTS,
        full_directory=_EXISTS,
        missing=_succeeds("create_dir"),
        missing_parent=_missing_parent("create_dir"),
    ),
    "recursively_create_dir": _row(
        "recursively_create_dir",
        file=_IN_THE_WAY,
        empty_file=_IN_THE_WAY,
        empty_directory=_THERE,
        full_directory=_THERE,
        missing=_succeeds("recursively_create_dir"),
        missing_parent=_one("recursively_create_dir.creates-parents", Code.OK),
        far_below_a_file=_below("recursively_create_dir"),
    ),
    "delete_file": _finds("delete_file", file=_succeeds("delete_file"), directory=_directory("delete_file")),
    "delete_dir": _finds("delete_dir", file=_NO_DIRECTORY, directory=_succeeds("delete_dir"))
    | {FULL_DIRECTORY: _one("delete_dir.not-empty-is-failed-precondition", Code.FAILED_PRECONDITION)},
    "delete_recursively": _finds("delete_recursively", file=_TREE_IS_FILE, directory=_succeeds("delete_recursively")),
    "path_exists": _asks(
        "path_exists", file=_succeeds("path_exists"), directory=_one("path_exists.directory-is-ok", Code.OK)
    ),
    "paths_exist": _asks("paths_exist", file=_succeeds("paths_exist"), directory=_succeeds("paths_exist")),
    "stat": _asks("stat", file=_succeeds("stat"), directory=_succeeds("stat")),
    "is_directory": _asks("is_directory", file=_KIND_OF_FILE, directory=_succeeds("is_directory")),
    "get_file_size": _asks("get_file_size", file=_succeeds("get_file_size"), directory=_directory("get_file_size")),
    "get_children": _finds("get_children", file=_NO_LISTING, directory=_succeeds("get_children"))
    | {MISSING_PARENT: _missing_parent("get_children")},
}


def _two_paths(op: str, source: str, target: str) -> Cell:
    """The cell of rename_file or copy_file. Where several things are wrong, the error of each is accepted."""
    if EMPTY_PATH in (source, target):
        guarded = op == "rename_file" or target == EMPTY_PATH
        return GUARDED if guarded else Cell(f"{op}.unnamed-situations", ALL_CODES)
    directories = (EMPTY_DIRECTORY, FULL_DIRECTORY)
    wrong: list[Cell] = []
    if source in (MISSING, MISSING_PARENT):
        wrong.append(_missing(op))
    if target == MISSING_PARENT:
        wrong.append(_missing_parent(op))
    if BELOW_A_FILE in (source, target):
        wrong.append(_below(op))
    if source in directories:
        wrong.append(_source_directory(op))
    if target in directories:
        wrong.append(_target_directory(op, source))
    if not wrong:
        return _succeeds(op)
    first = wrong[0]
    if len(wrong) == 1:
        return first
    # One of them may be right where it stands alone: a directory is renamed, a file copied into a directory. The other
    # is wrong in any reading, so OK is not among the codes.
    codes = frozenset().union(*(cell.accepts.union(*cell.readings.values()) for cell in wrong)) - {Code.OK}
    # Of each op one cell at most is disputed.
    plain = next(cell for cell in wrong if not cell.readings)
    return Cell(plain.clause, codes)


def _source_directory(op: str) -> Cell:
    if op == "copy_file":
        return _directory(op)
    return Cell(
        f"{op}.directory-is-failed-precondition",
        readings={"forbidden": frozenset({Code.FAILED_PRECONDITION}), "supported": frozenset({Code.OK})},
    )


def _target_directory(op: str, source: str) -> Cell:
    if op == "rename_file":
        # Core's default for rename_file copies, and its copy goes into the directory.
        refused = frozenset({Code.FAILED_PRECONDITION})
        return Cell("rename_file.target-directory", refused, by_default=frozenset({Code.OK}))
    return Cell(
        "copy_file.target-directory",
        readings={"refuses": frozenset({Code.FAILED_PRECONDITION}), "inside": frozenset({Code.OK})},
    )


TWO_PATHS: Mapping[str, Mapping[tuple[str, str], Cell]] = {
    op: {
        (source, target): _two_paths(op, source, target)
        for source, target in product(SITUATIONS_OF_TWO, SITUATIONS_OF_TWO)
    }
    for op in ("rename_file", "copy_file")
}


#: The clause about the tree after OK, by the ops that change it and are done when they come back. Where the cell is
#: disputed, its own clause says what OK means.
AFTER_OK: Mapping[str, str] = {
    "create_dir": "create_dir.creates-an-empty-directory",
    "recursively_create_dir": "recursively_create_dir.creates-parents",
    "delete_file": "delete_file.deletes",
    "delete_dir": "delete_dir.deletes",
    "delete_recursively": "delete_recursively.deletes-everything",
    "rename_file": "rename_file.keeps-the-content",
    "copy_file": "copy_file.keeps-the-content",
}


def after_ok(op: str, before: Tree, path: str, target: str = "") -> Tree:
    """The tree when an op of `AFTER_OK` has done what OK says. Of what is not there nothing can be deleted or moved.

    >>> after_ok("copy_file", {"file": b"x", "inner": None}, "file", "inner")
    {'file': b'x', 'inner': None, 'inner/file': b'x'}
    """
    within = {name: content for name, content in before.items() if name == path or name.startswith(f"{path}/")}
    without = {name: content for name, content in before.items() if name not in within}
    if op in ("create_dir", "recursively_create_dir"):
        return _above(path) | {path: None} | before
    if op not in ("rename_file", "copy_file"):
        return without
    if not within:
        return before
    if before.get(target, b"") is None and before[path] is not None:
        # A file goes into a directory, by copy_file and by core's default for rename_file.
        target = f"{target}/{paths.basename(path)}"
    moved = {target + name.removeprefix(path): content for name, content in within.items()}
    return _above(target) | (before if op == "copy_file" else without) | moved


def _above(path: str) -> Tree:
    names = path.split("/")
    return {"/".join(names[:depth]): None for depth in range(1, len(names))}
