"""Listing: every entry once, and nothing else."""

from collections.abc import Callable

import pytest

from ...harness.hosting import leaks
from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Entries, Outcome, Watch
from ..engine.case import Case, NoStimulusError
from ..engine.marks import clauses, full, large, many_calls, over_tables, smoke
from .test_status import FORM, is_one_path

LISTS = "get_children.succeeds"
ONCE = "get_children.names-every-entry-once"
NAMES_ONLY = "get_children.names-only"


def listed(case: Case, directory: str = "") -> list[str]:
    """The sorted entries of a directory."""
    return sorted(case.setup.require(case.fs.get_children(case.uri(directory) if directory else case.uri())).bare)


@smoke
@clauses("get_children.succeeds", ONCE, "get_children.returns-the-count")
def test_plain(case: Case) -> None:
    """A directory with a file and a directory in it is listed."""
    case.setup.write("file", b"")
    case.setup.mkdir("directory")
    got = case.fs.get_children(case.uri())
    case.check.status("get_children.succeeds", got, Code.OK)
    case.check.equal(ONCE, "entries", ["directory", "file"], sorted(got.value.bare))


@pytest.mark.parametrize("count", [pytest.param(n, id=str(n)) for n in (0, 1, 2, 100)])
@clauses(ONCE, LISTS, NAMES_ONLY, "get_children.returns-the-count")
def test_count(case: Case, count: int) -> None:
    """A directory with so many entries, every second one a directory, is listed."""
    expected = [f"entry{k:03}" for k in range(count)]
    entries = {f"directory/{name}": None if k % 2 else b"" for k, name in enumerate(expected)}
    case.setup.build({"directory": None, **entries, "directory-beside": None})
    got = case.setup.require(case.fs.get_children(case.uri("directory")))
    case.check.equal(ONCE, "entries", expected, sorted(got.bare))
    bad = [name for name in got.bare if "/" in name or name in ("", ".", "..")]
    # Only directories may have a slash behind their names, and then all of them.
    behind = sorted(name.removesuffix("/") for name in got.names if name.endswith("/"))
    readings = {"names": not bad and not behind, "slash-behind-directories": not bad and behind == expected[1::2]}
    case.check.reading(NAMES_ONLY, readings, f"entries that are no names: {bad or behind}")


def filled(case: Case, count: int) -> list[str]:
    """Set up a directory of so many entries. Return their names."""
    names = [f"entry{k:04}" for k in range(count)]
    case.setup.build(dict.fromkeys(("directory", *(f"directory/{name}" for name in names))))
    return names


@large
@many_calls(2020)
@clauses(ONCE, LISTS, "get_matching_paths.succeeds", "delete_recursively.deletes-everything",
         "delete_recursively.succeeds", "delete_recursively.counters-are-zero-on-success")  # fmt: skip
def test_two_pages(case: Case) -> None:
    """A directory with 2,005 entries is listed, matched by patterns for all and for most, and deleted."""
    expected = filled(case, 2005)
    case.check.equal(
        ONCE, "missing or foreign", [], sorted(set(expected).symmetric_difference(listed(case, "directory")))
    )
    case.check.equal(ONCE, "entries", 2005, len(listed(case, "directory")))
    for pattern, count in (("*", 2005), ("entry[01]*", 2000), ("entry?00?", 25)):
        matches = case.setup.require(case.fs.get_matching_paths(case.uri("directory") + "/" + pattern)).names
        case.check.equal("get_matching_paths.succeeds", f"matches of {pattern}", (count, count),
                   (len(matches), len(set(matches))))  # fmt: skip
    gone = case.fs.delete_recursively(case.uri("directory"))
    if case.check.status("delete_recursively.succeeds", gone, Code.OK):
        counters = (gone.value.files, gone.value.dirs)
        case.check.equal("delete_recursively.counters-are-zero-on-success", "files, dirs", (0, 0), counters)
    case.tree_is("delete_recursively.deletes-everything", {})


@clauses(ONCE, LISTS)
def test_not_recursive(case: Case) -> None:
    """A directory with a tree below it is listed."""
    case.setup.build({"a": None, "a/b": None, "a/b/c": b""})
    case.check.equal(ONCE, "entries", ["b"], listed(case, "a"))


@clauses(ONCE, LISTS)
def test_siblings(case: Case) -> None:
    """Directories whose names begin alike have children of the same names."""
    for directory in ("a", "ab", "a-b", "a.b"):
        case.setup.build({directory: None, f"{directory}/{directory}-child": b"", f"{directory}/child": b""})
    for directory in ("a", "ab", "a-b", "a.b"):
        expected = sorted([f"{directory}-child", "child"])
        case.check.equal(ONCE, f"entries of {directory}", expected, listed(case, directory))


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param("/", id="trailing-slash"),
        pytest.param("//", id="two-slashes"),
        pytest.param("/.", id="dot"),
        pytest.param("/../directory", id="dot-dot"),
    ],
)
@clauses(ONCE, LISTS, FORM)
def test_spelling(case: Case, spelling: str) -> None:
    """The path of the directory ends in something that translation removes."""
    uri = case.setup.mkdir("directory")
    case.setup.write("directory/file", b"")
    if is_one_path(case, uri, uri + spelling):
        names = case.setup.require(case.fs.get_children(uri + spelling)).names
        case.check.equal(ONCE, "entries", ("file",), names)


@clauses("get_children.empty-directory-is-zero", "get_children.no-entries")
def test_nothing(case: Case) -> None:
    """An empty directory is listed."""
    case.setup.mkdir("empty")
    got = case.fs.get_children(case.uri("empty"))
    case.check.status("get_children.empty-directory-is-zero", got, Code.OK)
    case.check.equal("get_children.empty-directory-is-zero", "returned", 0, got.value.returned)
    block = Watch.OBJECT_SET in got.watch
    case.check.reading("get_children.no-entries", {"block": block, "null": not block}, "a block" if block else "NULL")


@clauses("get_children.return-on-error")
def test_error(case: Case) -> None:
    """A directory that is not there is listed: no entries come with the error."""
    got = case.fs.get_children(case.uri("missing"))
    if got.ok:
        raise NoStimulusError("get_children does not fail here")
    case.check.equal("get_children.return-on-error", "entries", (), got.value.names)


def frees(case: Case, clause: str, fails: Callable[[], Outcome[Entries]]) -> None:
    """Repeat a call that fails: what it allocated for the entries is the plugin's to free."""
    first = fails()
    case.check.implemented(first)
    if first.ok:
        raise NoStimulusError(f"{first.op} does not fail here")

    def repeat(rounds: int) -> None:
        for _ in range(rounds):
            fails()
        case.fs.flush_caches()

    case.fs.flush_caches()
    more = leaks.leaked_per_round(case.surroundings.host, repeat).get("heap", 0)
    case.check.that(clause, not more, "no more memory each time", "more memory each time" if more else
               "no more memory each time", f"{more} bytes each time" if more else "")  # fmt: skip


@full
@over_tables
@pytest.mark.parametrize("what", ["missing", "file"])
@clauses("get_children.frees-on-error", "get_children.return-on-error")
def test_errors_leave_nothing(case: Case, what: str) -> None:
    """What is no directory is listed, many times over."""
    case.setup.write("directory", b"a file") if what == "file" else case.uri()
    path = case.fs.translate(case.uri("directory"))
    frees(case, "get_children.frees-on-error", lambda: case.tables.entries_op("get_children", path))


@clauses("get_children.order")
def test_order(case: Case) -> None:
    """Files that were written in no order are listed."""
    for name in ("b", "d", "a", "c"):
        case.setup.write(name, b"")
    names = "".join(case.setup.require(case.fs.get_children(case.uri())).bare)
    orders = {"abcd": "sorted", "dcba": "in reverse", "bdac": "as created", "cadb": "last created first"}
    case.check.note("get_children.order", orders.get(names, "other"))


@clauses("get_children.of-the-root")
def test_root(case: Case) -> None:
    """The root of the scheme is listed, and asked about."""
    uri = paths.parse(case.uri())
    root = f"{uri.prefix}/"
    listed, asked = case.fs.get_children(root), case.fs.stat(root)
    directory = listed.ok and asked.ok and bool(asked.value.is_directory)
    case.check.reading("get_children.of-the-root", {"directory": directory, "nothing": True},
                 f"get_children: {listed.code}, stat: {asked.code}")  # fmt: skip
