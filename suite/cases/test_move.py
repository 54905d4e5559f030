"""Renaming and copying: what is at the source and at the target afterwards."""

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Outcome, Source
from ..engine.answers import Answer
from ..engine.case import Case
from ..engine.marks import clauses, smoke
from ..engine.setup import Tree

NEW = b"new\0content"


def by(*names: str) -> pytest.MarkDecorator:
    """The parameters rename_file and copy_file, each with its own clauses of these names.

    A case that moves a file is about the success of the op, too: it declares `succeeds`.
    """
    return pytest.mark.parametrize(
        "op",
        [
            pytest.param(op, id=op, marks=clauses(*(f"{op}.{name}" for name in names)))
            for op in ("rename_file", "copy_file")
        ],
    )


def move(case: Case, op: str, source: str, target: str) -> Outcome[None]:
    """Rename or copy. Names are relative to the case's directory."""
    perform = case.fs.rename_file if op == "rename_file" else case.fs.copy_file
    return perform(case.uri(source), case.uri(target))


def afterwards(op: str, source: str, target: str, content: bytes) -> Tree:
    """The tree after the op has answered OK."""
    return {target: content} if op == "rename_file" else {source: content, target: content}


@smoke
@by("keeps-the-content", "succeeds")
def test_plain(case: Case, op: str) -> None:
    """A file is renamed or copied beside itself."""
    case.setup.write("source", NEW)
    case.setup.require(move(case, op, "source", "target"))
    case.tree_is(f"{op}.keeps-the-content", afterwards(op, "source", "target", NEW))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        pytest.param("one/source", "two/target", id="between"),
        pytest.param("one/source", "target", id="out"),
        pytest.param("source", "two/target", id="in"),
        pytest.param("one/source", "one/inner/source", id="down"),
    ],
)
@by("keeps-the-content", "succeeds")
def test_directories(case: Case, op: str, source: str, target: str) -> None:
    """A file is renamed or copied from directory to directory."""
    directories: Tree = {"one": None, "two": None, "one/inner": None}
    case.setup.build({**directories, source: NEW})
    case.setup.require(move(case, op, source, target))
    expected = directories | afterwards(op, source, target, NEW)
    case.tree_is(f"{op}.keeps-the-content", expected)


@pytest.mark.parametrize(
    "old",
    [
        pytest.param(b"an older and much longer content", id="longer"),
        pytest.param(b"o", id="shorter"),
        pytest.param(b"", id="empty"),
        pytest.param(NEW, id="equal"),
    ],
)
@pytest.mark.parametrize("new", [pytest.param(NEW, id="content"), pytest.param(b"", id="nothing")])
@by("replaces-the-target")
def test_replace(case: Case, op: str, new: bytes, old: bytes) -> None:
    """A file is renamed or copied over another one."""
    case.setup.write("source", new)
    case.setup.write("target", old)
    got = move(case, op, "source", "target")
    if not case.check.status(f"{op}.replaces-the-target", got, Code.OK):
        return
    case.tree_is(f"{op}.replaces-the-target", afterwards(op, "source", "target", new))


@by("keeps-the-content", "succeeds")
def test_again_and_back(case: Case, op: str) -> None:
    """A file goes to another name and back, twice."""
    case.setup.write("source", NEW)
    for _ in range(2):
        case.setup.require(move(case, op, "source", "target"))
        case.setup.require(move(case, op, "target", "source"))
    expected = {"source": NEW} if op == "rename_file" else {"source": NEW, "target": NEW}
    case.tree_is(f"{op}.keeps-the-content", expected)


@clauses("copy_file.source-stays", "copy_file.succeeds")
def test_copies_are_two(case: Case) -> None:
    """A copy is written anew, then its source."""
    case.setup.write("source", NEW)
    case.setup.require(move(case, "copy_file", "source", "target"))
    case.setup.write("target", b"changed")
    case.tree_is("copy_file.source-stays", {"source": NEW, "target": b"changed"})
    case.setup.write("source", b"other")
    case.tree_is("copy_file.source-stays", {"source": b"other", "target": b"changed"})


@pytest.mark.parametrize("depth", [pytest.param(n, id=str(n)) for n in (5, 30)])
@by("keeps-the-content", "succeeds")
def test_deep(case: Case, op: str, depth: int) -> None:
    """A file goes down to a directory below so many others, along a path of many bytes, and up again."""
    directory = "/".join(f"level-{k}-of-a-long-path" for k in range(depth))
    case.surroundings.within_limits(case.uri(f"{directory}/target"))
    case.setup.require(case.fs.recursively_create_dir(case.uri(directory)))
    case.setup.write("source", NEW)
    case.setup.require(move(case, op, "source", f"{directory}/target"))
    case.check.equal(f"{op}.keeps-the-content", "content below", NEW, case.setup.content(case.uri(directory, "target")))
    case.setup.require(move(case, op, f"{directory}/target", "back"))
    case.check.equal(f"{op}.keeps-the-content", "content above", NEW, case.setup.content(case.uri("back")))
    left = {"source", f"{directory}/target"} if op == "copy_file" else set()
    asked = {path: case.fs.path_exists(case.uri(path)) for path in ("source", f"{directory}/target")}
    for exists in asked.values():
        case.check.implemented(exists)
    there = sorted(path for path, exists in asked.items() if exists.ok)
    case.check.equal(f"{op}.keeps-the-content", "left behind", sorted(left), there)


@by("replaces-the-target", "succeeds")
def test_name_is_free_again(case: Case, op: str) -> None:
    """The source's name is used for a new file."""
    case.setup.write("source", NEW)
    case.setup.require(move(case, op, "source", "target"))
    case.setup.write("source", b"another")
    case.tree_is(f"{op}.replaces-the-target", {"source": b"another", "target": NEW})


@by("onto-itself")
def test_onto_itself(case: Case, op: str) -> None:
    """A file is renamed or copied onto itself."""
    case.setup.write("file", NEW)
    got = move(case, op, "file", "file")
    case.check.implemented(got)
    there = case.setup.tree().get("file")
    readings = {
        "kept": got.ok and there == NEW,
        "refused": not got.ok and there == NEW,
        "emptied-by-core": there != NEW and got.source is Source.DEFAULT,
    }
    said = f"code={got.code} content={there!r}"
    case.check.reading(f"{op}.onto-itself", readings, said, got.message, of=Answer(loses=there != NEW))


#: Moves that must fail: source, target, the code, and the clause.
REFUSED = {
    "missing": ("missing", "target", Code.NOT_FOUND, "missing-is-not-found"),
    "missing-parent": ("target", "missing/target", Code.NOT_FOUND, "missing-parent-is-not-found"),
    "below-a-file": ("target/below", "directory/file", Code.FAILED_PRECONDITION, "below-a-file-is-failed-precondition"),
    "below-itself": ("target", "target/below", Code.FAILED_PRECONDITION, "below-a-file-is-failed-precondition"),
}


@pytest.mark.parametrize(
    ("op", "why"),
    [
        pytest.param(op, why, id=f"{op}-{why}", marks=clauses(f"{op}.error-changes-nothing", f"{op}.{REFUSED[why][3]}"))
        for op in ("rename_file", "copy_file")
        for why in REFUSED
    ],
)
def test_refused(case: Case, op: str, why: str) -> None:
    """What cannot be done leaves everything as it was, beside files with content."""
    source, target, code, clause = REFUSED[why]
    before: Tree = {"directory": None, "target": NEW, "directory/file": b"inside"}
    case.setup.build(before)
    got = move(case, op, source, target)
    case.check.status(f"{op}.{clause}", got, code)
    if not got.ok:
        case.unchanged(f"{op}.error-changes-nothing", before)


@pytest.mark.parametrize("full", [pytest.param(False, id="empty"), pytest.param(True, id="full")])
@clauses("rename_file.directory-is-failed-precondition")
def test_directory(case: Case, full: bool) -> None:
    """A directory is renamed: where that is supported all of it moves, where not nothing does."""
    before: Tree = {"source": None} | ({"source/file": NEW} if full else {})
    case.setup.build(before)
    got = move(case, "rename_file", "source", "target")
    case.check.implemented(got)
    after = case.setup.tree()
    moved = {path.replace("source", "target"): content for path, content in before.items()}
    readings = {"supported": got.ok and after == moved, "forbidden": not got.ok and after == before}
    case.check.reading(
        "rename_file.directory-is-failed-precondition", readings, f"code={got.code} tree={sorted(after)}"
    )


@clauses("copy_file.target-directory")
def test_copy_into_a_directory(case: Case) -> None:
    """A file is copied onto a directory: into it where that is supported, else nothing changes."""
    before: Tree = {"source": NEW, "directory": None, "directory/other": b"stays"}
    case.setup.build(before)
    got = move(case, "copy_file", "source", "directory")
    case.check.implemented(got)
    after = case.setup.tree()
    readings = {
        "refuses": not got.ok and after == before,
        "inside": got.ok and after == before | {"directory/source": NEW},
    }
    case.check.reading("copy_file.target-directory", readings, f"code={got.code} tree={sorted(after)}", got.message)
