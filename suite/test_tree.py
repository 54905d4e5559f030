"""Directories, names and metadata: what the ops that answered OK left behind."""

import time

import pytest

from tffs_conformance.harness.codes import Code
from tffs_conformance.harness.outcomes import Watch
from tffs_conformance.suite.case import Case
from tffs_conformance.suite.marks import clauses, smoke


@smoke
@clauses("create_dir.succeeds", "stat.says-the-kind")
def test_create(case: Case) -> None:
    """A directory is created."""
    case.status("create_dir.succeeds", case.fs.create_dir(case.uri("new")), Code.OK)
    case.equal("stat.says-the-kind", "is_directory", 1, case.fs.stat(case.uri("new")).value.is_directory)


@smoke
@clauses("recursively_create_dir.succeeds", "recursively_create_dir.creates-parents")
def test_create_recursively(case: Case) -> None:
    """A directory is created with two parents."""
    case.status("recursively_create_dir.succeeds", case.fs.recursively_create_dir(case.uri("a/b/c")), Code.OK)
    case.equal("recursively_create_dir.creates-parents", "tree", {"a": None, "a/b": None, "a/b/c": None}, case.tree())


@pytest.mark.parametrize("sibling", [pytest.param(n, id=n) for n in ("names", "name-s", "name.s", "nam")])
@clauses("delete_file.deletes")
def test_delete_file(case: Case, sibling: str) -> None:
    """A file is deleted beside one whose name begins alike."""
    uri = case.write("name", b"gone")
    case.write(sibling, b"stays")
    with case.setup():
        case.done(case.fs.delete_file(uri))
    case.equal("delete_file.deletes", "tree", {sibling: b"stays"}, case.tree())


@clauses("delete_dir.deletes")
def test_delete_dir(case: Case) -> None:
    """A directory is deleted beside one whose name begins alike."""
    uri = case.mkdir("name")
    case.mkdir("names")
    with case.setup():
        case.done(case.fs.delete_dir(uri))
    case.equal("delete_dir.deletes", "tree", {"names": None}, case.tree())


@smoke
@clauses("delete_recursively.deletes-everything", "delete_recursively.counters-are-zero-on-success")
def test_delete_recursively(case: Case) -> None:
    """A tree is deleted beside things whose names begin alike."""
    case.mkdir("tree")
    case.mkdir("tree/inner")
    case.mkdir("tree/inner/empty")
    case.write("tree/inner/file", b"gone")
    case.write("tree/file", b"gone")
    case.write("tree-file", b"stays")
    case.mkdir("trees")
    got = case.fs.delete_recursively(case.uri("tree"))
    counters = (got.value.files, got.value.dirs)
    case.equal("delete_recursively.counters-are-zero-on-success", "files, dirs", (0, 0), counters)
    case.equal("delete_recursively.deletes-everything", "tree", {"tree-file": b"stays", "trees": None}, case.tree())


@pytest.mark.parametrize("count", [pytest.param(n, id=str(n)) for n in (0, 1, 2, 100)])
@clauses("get_children.names-every-entry-once", "get_children.names-only")
def test_children(case: Case, count: int) -> None:
    """A directory with so many entries, every second one a directory, is listed."""
    case.mkdir("directory")
    expected = []
    for k in range(count):
        expected.append(f"entry{k:03}")
        if k % 2:
            case.mkdir(f"directory/entry{k:03}")
        else:
            case.write(f"directory/entry{k:03}", b"")
    case.mkdir("directory-beside")
    got = case.done(case.fs.get_children(case.uri("directory")))
    case.equal("get_children.names-every-entry-once", "entries", expected, sorted(got.names))
    bad = [name for name in got.names if "/" in name or name in (".", "..")]
    case.equal("get_children.names-only", "entries that are no names", [], bad)


@clauses("get_children.names-every-entry-once")
def test_children_are_not_recursive(case: Case) -> None:
    """A directory with a tree below it is listed."""
    case.mkdir("a")
    case.mkdir("a/b")
    case.write("a/b/c", b"")
    got = case.done(case.fs.get_children(case.uri("a")))
    case.equal("get_children.names-every-entry-once", "entries", ["b"], sorted(got.names))


@clauses("get_children.empty-directory-is-zero")
def test_children_of_nothing(case: Case) -> None:
    """An empty directory is listed."""
    case.mkdir("empty")
    got = case.fs.get_children(case.uri("empty"))
    case.status("get_children.empty-directory-is-zero", got, Code.OK)
    case.equal("get_children.empty-directory-is-zero", "returned", 0, got.value.returned)


@pytest.mark.parametrize("content", [pytest.param(b"", id="empty"), pytest.param(b"12345", id="five-bytes")])
@clauses(
    "stat.length-is-the-size", "get_file_size.is-stat-length", "stat.says-the-kind", "stat.mtime-is-in-nanoseconds"
)
def test_statistics(case: Case, content: bytes) -> None:
    """A file was just written."""
    before = time.time_ns()
    uri = case.write("file", content)
    got = case.done(case.fs.stat(uri))
    case.equal("stat.length-is-the-size", "length", len(content), got.length)
    case.equal("stat.says-the-kind", "is_directory", 0, got.is_directory)
    if case.fs.available("get_file_size"):
        case.equal("get_file_size.is-stat-length", "size", len(content), case.fs.get_file_size(uri).value)
    # A clock of the store may be a day off; a wrong unit is off by a factor of a thousand. 0 says: not known.
    day = 86_400 * 10**9
    sane = got.mtime_nsec == 0 or abs(got.mtime_nsec - before) < day
    seen = "mtime within a day" if sane else f"mtime has {len(str(abs(got.mtime_nsec)))} digits"
    case.check("stat.mtime-is-in-nanoseconds", sane, "mtime within a day", seen)


@smoke
@clauses("is_directory.true-for-a-directory")
def test_is_directory(case: Case) -> None:
    """A directory is asked whether it is one."""
    got = case.fs.is_directory(case.mkdir("directory"))
    case.equal("is_directory.true-for-a-directory", "returned", 1, got.value)
    case.status("is_directory.true-for-a-directory", got, Code.OK)


@clauses("paths_exist.is-true-if-all-exist", "paths_exist.fills-every-status", "paths_exist.takes-no-statuses")
def test_several_paths(case: Case) -> None:
    """A file, a directory and something missing are asked for at once."""
    file, directory, missing = case.write("file", b""), case.mkdir("directory"), case.uri("missing")
    asked = case.fs.paths_exist([file, missing, directory])
    case.equal("paths_exist.is-true-if-all-exist", "returned", False, asked.value.returned)
    codes = [status.code for status in asked.value.statuses or ()]
    case.equal("paths_exist.fills-every-status", "codes", [Code.OK, Code.NOT_FOUND, Code.OK], codes)
    case.equal("paths_exist.takes-no-statuses", "all", True,
               case.fs.paths_exist([file, directory], with_statuses=False).value.returned)  # fmt: skip
    case.equal("paths_exist.takes-no-statuses", "not all", False,
               case.fs.paths_exist([missing, file], with_statuses=False).value.returned)  # fmt: skip


@clauses("paths_exist.nothing-asked-is-true")
def test_no_paths(case: Case) -> None:
    """Nothing is asked for."""
    case.equal("paths_exist.nothing-asked-is-true", "returned", True, case.fs.paths_exist([]).value.returned)


@smoke
@clauses("translate_name.succeeds", "translate_name.form")
def test_translate(case: Case) -> None:
    """A URI with everything in it that translation removes."""
    got = case.fs.translate_name(case.uri() + "/./a//b/../c/")
    case.check("translate_name.succeeds", got.value is not None, "a name", "NULL" if got.value is None else "a name")
    case.note("translate_name.form", f"name={got.value}")


@smoke
@clauses("flush_caches.succeeds")
def test_flush_caches(case: Case) -> None:
    """Caches are flushed while there is a file."""
    uri = case.write("file", b"content")
    case.status("flush_caches.succeeds", case.fs.flush_caches(), Code.OK)
    case.equal("flush_caches.succeeds", "content", b"content", case.content(uri))


@clauses("common.wrapper-unchanged", "common.arguments-unchanged", "common.results-distinct",
         "common.results-terminated", "robustness.no-overrun")  # fmt: skip
def test_watch(case: Case) -> None:
    """The way through the common ops, with everything watched that they may not touch."""
    case.mkdir("directory")
    uri = case.write("directory/file", b"content")
    case.write("directory/other", b"")
    seen = Watch.NOTHING
    for outcome in (case.fs.stat(uri), case.fs.path_exists(uri), case.fs.get_children(case.uri("directory"))):
        seen |= outcome.watch
    with case.opened(case.fs.new_random_access_file(uri)) as file:
        seen |= file.read(0, 3).watch | file.read(3, 100).watch
    for bit, name in (
        (Watch.WRAPPER_CHANGED, "common.wrapper-unchanged"),
        (Watch.ARGUMENT_CHANGED, "common.arguments-unchanged"),
        (Watch.SHARED_ENTRIES, "common.results-distinct"),
        (Watch.NULL_ENTRY, "common.results-terminated"),
        (Watch.OVERRUN, "robustness.no-overrun"),
    ):
        case.check(name, bit not in seen, "kept", "kept" if bit not in seen else str(bit.name))
