"""Listing: every entry once, and nothing else."""

import pytest

from ...harness import paths
from ...harness.codes import Code
from ...harness.outcomes import Watch
from ..engine.case import Case
from ..engine.marks import clauses, smoke

ONCE = "get_children.names-every-entry-once"


@smoke
@clauses("get_children.succeeds", ONCE, "get_children.returns-the-count")
def test_plain(case: Case) -> None:
    """A directory with a file and a directory in it is listed."""
    case.write("file", b"")
    case.mkdir("directory")
    got = case.fs.get_children(case.uri())
    case.status("get_children.succeeds", got, Code.OK)
    case.equal(ONCE, "entries", ["directory", "file"], sorted(got.value.names))


@pytest.mark.parametrize("count", [pytest.param(n, id=str(n)) for n in (0, 1, 2, 100)])
@clauses(ONCE, "get_children.names-only", "get_children.returns-the-count")
def test_count(case: Case, count: int) -> None:
    """A directory with so many entries, every second one a directory, is listed."""
    case.mkdir("directory")
    expected = [f"entry{k:03}" for k in range(count)]
    for k, name in enumerate(expected):
        if k % 2:
            case.mkdir(f"directory/{name}")
        else:
            case.write(f"directory/{name}", b"")
    case.mkdir("directory-beside")
    names = case.require(case.fs.get_children(case.uri("directory"))).names
    case.equal(ONCE, "entries", expected, sorted(names))
    bad = [name for name in names if "/" in name or name in (".", "..")]
    case.equal("get_children.names-only", "entries that are no names", [], bad)


@clauses(ONCE, "delete_recursively.deletes-everything")
def test_a_thousand(case: Case) -> None:
    """A directory with 1,000 entries, as many as stores give in one page, is listed and deleted."""
    case.mkdir("directory")
    expected = [f"entry{k:04}" for k in range(1000)]
    for name in expected:
        case.mkdir(f"directory/{name}")
    names = case.require(case.fs.get_children(case.uri("directory"))).names
    case.equal(ONCE, "entries", 1000, len(names))
    case.equal(ONCE, "missing or foreign", [], sorted(set(expected).symmetric_difference(names)))
    case.require(case.fs.delete_recursively(case.uri("directory")))
    case.equal("delete_recursively.deletes-everything", "tree", {}, case.tree())


@clauses(ONCE)
def test_not_recursive(case: Case) -> None:
    """A directory with a tree below it is listed."""
    case.mkdir("a")
    case.mkdir("a/b")
    case.write("a/b/c", b"")
    case.equal(ONCE, "entries", ("b",), case.require(case.fs.get_children(case.uri("a"))).names)


@clauses(ONCE)
def test_siblings(case: Case) -> None:
    """Directories whose names begin alike have children of the same names."""
    for directory in ("a", "ab", "a-b", "a.b"):
        case.mkdir(directory)
        case.write(f"{directory}/{directory}-child", b"")
        case.write(f"{directory}/child", b"")
    for directory in ("a", "ab", "a-b", "a.b"):
        names = case.require(case.fs.get_children(case.uri(directory))).names
        case.equal(ONCE, f"entries of {directory}", sorted([f"{directory}-child", "child"]), sorted(names))


@clauses(ONCE)
def test_changes(case: Case) -> None:
    """A directory is listed after each of several changes."""
    uri = case.mkdir("directory")

    def listed(*expected: str) -> None:
        names = case.require(case.fs.get_children(uri)).names
        case.equal(ONCE, "entries", sorted(expected), sorted(names))

    listed()
    case.write("directory/a", b"")
    listed("a")
    case.mkdir("directory/b")
    listed("a", "b")
    case.require(case.fs.rename_file(case.uri("directory/a"), case.uri("directory/c")))
    listed("b", "c")
    case.require(case.fs.delete_dir(case.uri("directory/b")))
    listed("c")
    case.require(case.fs.delete_file(case.uri("directory/c")))
    listed()


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param("/", id="trailing-slash"),
        pytest.param("//", id="two-slashes"),
        pytest.param("/.", id="dot"),
        pytest.param("/../directory", id="dot-dot"),
    ],
)
@clauses(ONCE)
def test_spelling(case: Case, spelling: str) -> None:
    """The path of the directory ends in something that translation removes."""
    case.mkdir("directory")
    case.write("directory/file", b"")
    names = case.require(case.fs.get_children(case.uri("directory") + spelling)).names
    case.equal(ONCE, "entries", ("file",), names)


@clauses("get_children.empty-directory-is-zero", "get_children.no-entries")
def test_nothing(case: Case) -> None:
    """An empty directory is listed."""
    case.mkdir("empty")
    got = case.fs.get_children(case.uri("empty"))
    case.status("get_children.empty-directory-is-zero", got, Code.OK)
    case.equal("get_children.empty-directory-is-zero", "returned", 0, got.value.returned)
    block = Watch.OBJECT_SET in got.watch
    case.reading("get_children.no-entries", {"block": block, "null": not block}, "a block" if block else "NULL")


@clauses("get_children.return-on-error", "get_children.no-entries")
def test_error(case: Case) -> None:
    """A directory that is not there is listed: no entries come with the error."""
    got = case.fs.get_children(case.uri("missing"))
    case.equal("get_children.return-on-error", "entries", (), got.value.names)
    block = Watch.OBJECT_SET in got.watch
    case.reading("get_children.no-entries", {"block": block, "null": not block}, "a block" if block else "NULL")


@clauses("get_children.order")
def test_order(case: Case) -> None:
    """Files that were written in no order are listed."""
    for name in ("b", "d", "a", "c"):
        case.write(name, b"")
    names = "".join(case.require(case.fs.get_children(case.uri())).names)
    orders = {"abcd": "sorted", "dcba": "in reverse", "bdac": "as created", "cadb": "last created first"}
    case.note("get_children.order", orders.get(names, "other"))


@clauses("get_children.of-the-root")
def test_root(case: Case) -> None:
    """The root of the scheme is listed, and asked about."""
    uri = paths.parse(case.uri())
    root = f"{uri.prefix}/"
    listed, asked = case.fs.get_children(root), case.fs.stat(root)
    directory = listed.ok and asked.ok and bool(asked.value.is_directory)
    case.reading("get_children.of-the-root", {"directory": directory, "nothing": True},
                 f"get_children: {listed.code}, stat: {asked.code}")  # fmt: skip
