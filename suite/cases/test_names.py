"""Names: whatever a name looks like, every op that takes a path means the same file."""

import pytest

from ...harness import paths
from ...harness.codes import Code
from ...harness.outcomes import Entries, Outcome
from ..engine.case import Case
from ..engine.marks import clauses, over_tables
from .names import LOOK_ALIKES, NAMES, escaped

CONTENT = b"content"
KEPT = "paths.names-are-kept"

names = pytest.mark.parametrize("name", [pytest.param(name, id=label) for label, name in NAMES.items()])


def accepted(case: Case, name: str, got: Outcome[object]) -> bool:
    """Whether the filesystem can have this name. `got` is the outcome of the op that creates it.

    An op that fails may have made some of the parents, before it found that the whole path is too long.
    """
    readings = {
        "accepted": got.ok,
        "failed-precondition": got.code is Code.FAILED_PRECONDITION,
        "invalid-argument": got.code is Code.INVALID_ARGUMENT,
    }
    case.implemented(got)
    case.reading("paths.illegal-names", readings, f"code={got.code}", got.message)
    if not got.ok and "/" not in name:
        case.equal("paths.illegal-names", "tree", {}, case.tree())
    return got.ok


def written(case: Case, name: str) -> bool:
    """Set up a file of this name. Return whether the filesystem can have it."""
    if case.seeded:
        case.write(name, CONTENT)
        return True
    got = case.fs.new_writable_file(case.uri(name))
    if not accepted(case, name, got):
        return False
    with case.setup(), case.opened(got) as file:
        case.require(file.append(CONTENT))
        closed = file.close()
    # A filesystem that creates the file at close may refuse its name only then.
    if not closed.ok and not accepted(case, name, closed):
        return False
    case.within_limits(name)
    return True


@names
@clauses(KEPT, "paths.illegal-names")
def test_file(case: Case, name: str) -> None:
    """A file of this name is written, asked about, and read."""
    if not written(case, name):
        return
    uri = case.uri(name)
    case.status(KEPT, case.fs.path_exists(uri), Code.OK)
    case.equal(KEPT, "length", len(CONTENT), case.require(case.fs.stat(uri)).length)
    case.equal(KEPT, "size", len(CONTENT), case.require(case.fs.get_file_size(uri)))
    case.equal(KEPT, "is a directory", 0, case.fs.is_directory(uri).value)
    case.equal(KEPT, "content", CONTENT, case.content(uri))


@names
@clauses(KEPT, "paths.illegal-names")
def test_directory(case: Case, name: str) -> None:
    """A directory of this name is created, filled, listed, and deleted."""
    uri = case.uri(name)
    if not accepted(case, name, case.fs.create_dir(uri)):
        return
    case.within_limits(name)
    case.equal(KEPT, "is a directory", 1, case.fs.is_directory(uri).value)
    case.require(case.fs.recursively_create_dir(case.uri(name, name, "leaf")))
    case.write(f"{name}/file", CONTENT)
    there = case.require(case.fs.get_children(uri)).names
    case.equal(KEPT, "entries", sorted([name, "file"]), sorted(there))
    case.require(case.fs.delete_dir(case.uri(name, name, "leaf")))
    case.require(case.fs.delete_recursively(uri))
    case.equal(KEPT, "tree", {}, case.tree())


@names
@clauses(KEPT, "paths.illegal-names")
def test_moved(case: Case, name: str) -> None:
    """A file of this name is copied, renamed, and renamed back."""
    if not written(case, name):
        return
    case.require(case.fs.copy_file(case.uri(name), case.uri("copy")))
    case.require(case.fs.rename_file(case.uri(name), case.uri("moved")))
    case.equal(KEPT, "tree", {"copy": CONTENT, "moved": CONTENT}, case.tree())
    case.require(case.fs.rename_file(case.uri("moved"), case.uri(name)))
    case.require(case.fs.copy_file(case.uri("copy"), case.uri(name)))
    case.equal(KEPT, "tree", {"copy": CONTENT, name: CONTENT}, case.tree())


@names
@clauses(KEPT, "paths.illegal-names")
def test_found(case: Case, name: str) -> None:
    """A file of this name is listed, matched by a pattern that means it, and asked for with others."""
    if not written(case, name):
        return
    case.equal(KEPT, "entries", (name,), case.require(case.fs.get_children(case.uri())).names)
    matches = case.require(case.fs.get_matching_paths(case.uri() + "/" + escaped(name)))
    case.equal(KEPT, "matches", [name], behind(case, matches))
    asked = case.fs.paths_exist([case.uri(name), case.uri("missing")]).value
    codes = [status.code for status in asked.statuses or ()]
    case.equal(KEPT, "codes", [Code.OK, Code.NOT_FOUND], codes)


@names
@clauses(KEPT, "paths.illegal-names")
def test_appended(case: Case, name: str) -> None:
    """A file of this name is appended to, mapped, and deleted."""
    if not written(case, name):
        return
    uri = case.uri(name)
    with case.setup(), case.opened(case.fs.new_appendable_file(uri)) as file:
        case.require(file.append(CONTENT))
        case.require(file.close())
    case.equal(KEPT, "content", CONTENT * 2, case.content(uri))
    if case.fs.available("new_read_only_memory_region_from_file"):
        with case.setup(), case.opened(case.fs.new_read_only_memory_region_from_file(uri)) as region:
            case.equal(KEPT, "length", len(CONTENT) * 2, region.length().value)
    case.require(case.fs.delete_file(uri))
    case.equal(KEPT, "tree", {}, case.tree())


def behind(case: Case, matches: Entries) -> list[str]:
    """The matches relative to the case's directory. The plugin may give them as URIs or as translated names."""
    heads = (case.uri() + "/", case.fs.translate(case.uri()).rstrip("/") + "/")
    return sorted(next((path.removeprefix(h) for h in heads if path.startswith(h)), path) for path in matches.names)


@pytest.mark.parametrize("depth", [pytest.param(n, id=str(n)) for n in (2, 16, 100)])
@clauses(KEPT, "paths.illegal-names")
def test_deep(case: Case, depth: int) -> None:
    """A path of so many levels is created at once, used, and deleted at once."""
    deep = "/".join(["d"] * depth)
    if not accepted(case, deep, case.fs.recursively_create_dir(case.uri(deep))):
        return
    case.within_limits(deep)
    uri = case.write(f"{deep}/file", CONTENT)
    case.equal(KEPT, "content", CONTENT, case.content(uri))
    case.equal(KEPT, "entries", ("file",), case.require(case.fs.get_children(case.uri(deep))).names)
    case.require(case.fs.delete_recursively(case.uri("d")))
    case.equal(KEPT, "tree", {}, case.tree())


@pytest.mark.parametrize("length", [pytest.param(n, id=str(n)) for n in (1000, 3000, 5000)])
@clauses(KEPT, "paths.illegal-names")
def test_long(case: Case, length: int) -> None:
    """A path of so many bytes is created and listed, or refused."""
    level = "n" * 99
    path = "/".join([level] * (length // 100))
    if not accepted(case, path, case.fs.recursively_create_dir(case.uri(path))):
        return
    case.within_limits(path)
    case.status(KEPT, case.fs.path_exists(case.uri(path)), Code.OK)
    case.equal(KEPT, "entries", (), case.require(case.fs.get_children(case.uri(path))).names)


#: What is done to `name` beside a sibling with a similar name, and the clause that is checked.
BESIDE = {
    "delete_file": "delete_file.deletes",
    "delete_dir": "delete_dir.deletes",
    "delete_recursively": "delete_recursively.deletes-everything",
    "rename_file": "rename_file.source-is-gone",
}


@pytest.mark.parametrize("other", [pytest.param(name, id=name.replace(" ", "-space-")) for name in LOOK_ALIKES])
@pytest.mark.parametrize("op", [pytest.param(op, id=op, marks=clauses(name)) for op, name in BESIDE.items()])
def test_beside(case: Case, op: str, other: str) -> None:
    """Something is deleted or renamed beside a file and a directory whose names begin alike."""
    stays: dict[str, bytes | None] = {other: b"stays", f"{other}.d": None, f"{other}.d/inside": b"stays"}
    case.write(other, b"stays")
    case.mkdir(f"{other}.d")
    case.write(f"{other}.d/inside", b"stays")
    match op:
        case "delete_file":
            case.require(case.fs.delete_file(case.write("name", CONTENT)))
        case "delete_dir":
            case.require(case.fs.delete_dir(case.mkdir("name")))
        case "delete_recursively":
            uri = case.mkdir("name")
            case.write("name/inside", CONTENT)
            case.require(case.fs.delete_recursively(uri))
        case _:
            case.require(case.fs.rename_file(case.write("name", CONTENT), case.uri("moved")))
            stays["moved"] = CONTENT
    case.equal(BESIDE[op], "tree", stays, case.tree())


@pytest.mark.parametrize("other", [pytest.param(name, id=name.replace(" ", "-space-")) for name in LOOK_ALIKES])
@clauses("path_exists.missing-is-not-found", "stat.missing-is-not-found", "is_directory.missing-is-not-found",
         "get_file_size.missing-is-not-found", "new_random_access_file.missing-is-not-found")  # fmt: skip
def test_missing_beside(case: Case, other: str) -> None:
    """Nothing is at a path, but a file or a directory whose name begins alike stands beside it."""
    case.write(other, b"stays")
    case.mkdir(f"{other}.d")
    uri = case.uri("name")
    fs = case.fs
    case.status("path_exists.missing-is-not-found", fs.path_exists(uri), Code.NOT_FOUND)
    case.status("stat.missing-is-not-found", fs.stat(uri), Code.NOT_FOUND)
    case.status("is_directory.missing-is-not-found", fs.is_directory(uri), Code.NOT_FOUND)
    case.status("get_file_size.missing-is-not-found", fs.get_file_size(uri), Code.NOT_FOUND)
    case.status("new_random_access_file.missing-is-not-found", fs.new_random_access_file(uri), Code.NOT_FOUND)


@pytest.mark.parametrize(
    ("one", "other", "clause"),
    [
        pytest.param("name", "NAME", "paths.letter-case", id="letter-case", marks=clauses("paths.letter-case")),
        pytest.param("\u00e9", "e\u0301", "paths.unicode-forms", id="unicode", marks=clauses("paths.unicode-forms")),
    ],
)
def test_pairs(case: Case, one: str, other: str, clause: str) -> None:
    """Two names that some filesystems take for one."""
    case.write(one, b"one")
    exists = case.fs.path_exists(case.uri(other))
    case.note(clause, "one name" if exists.ok else "two names")


@pytest.mark.parametrize("host", [pytest.param(host, id=host or "none") for host in ("", "host", "another.host")])
@clauses("paths.host-part")
def test_host(case: Case, host: str) -> None:
    """The case's directory is asked for through another host."""
    uri = paths.parse(case.uri())
    got = case.fs.path_exists(f"{uri.scheme}://{host}{uri.path}")
    case.note("paths.host-part", f"code={got.code}", got.message)


@over_tables
@clauses("paths.untranslated")
def test_untranslated(case: Case) -> None:
    """An op gets the URI of a file as it is."""
    got = case.tables.path_op("path_exists", case.write("file", CONTENT))
    readings = {"understood": got.ok, "not-found": got.code is Code.NOT_FOUND, "refused": True}
    case.reading("paths.untranslated", readings, f"code={got.code}", got.message)
