"""The storage behind the plugin, read and written through the backing."""

import pytest

from ...harness.ops.codes import Code
from ...harness.over_tables.files import handle_of
from ..engine.case import Case
from ..engine.marks import clauses, large, over_tables
from .large import LEAST, PIECE, needs_room, pace
from .test_write import handed_over

ONCE = "get_children.names-every-entry-once"
CONTENT = bytes(range(256)) * 16
#: The offsets in a sparse file, in bytes, that hold data.
MARKS = {0: b"start", 2**31 - 3: b"around 2^31", 2**32 - 3: b"around 2^32", 5 * 2**30: b"the end"}
LARGE = 5 * 2**30 + 7


@clauses("close.keeps-the-data")
def test_written(case: Case) -> None:
    """What the plugin wrote is read by somebody else."""
    around = case.surroundings
    if not case.writes_files:
        case.missing("new_writable_file")
    case.setup.write("file", CONTENT)
    stored = around.backing.read(around.backing_name("file"))
    case.check.equal("close.keeps-the-data", "content", CONTENT, stored)


@clauses("sync.makes-data-visible")
def test_synced(case: Case) -> None:
    """What the plugin synced is read by somebody else, while the file is open."""
    around = case.surroundings
    with case.setup, case.setup.opened(case.fs.new_writable_file(case.uri("file"))) as file:
        case.setup.require(file.append(CONTENT))
        handed_over(case, file.sync())
        stored = around.backing.read(around.backing_name("file"))
        case.check.equal("sync.makes-data-visible", "content", CONTENT, stored)


@clauses("read.returns-the-bytes")
def test_seeded(case: Case) -> None:
    """What somebody else wrote is read by the plugin."""
    uri, around = case.uri("file"), case.surroundings
    around.backing.write(around.backing_name("file"), CONTENT)
    case.check.equal("read.returns-the-bytes", "content", CONTENT, case.setup.content(uri))


@clauses("flush_caches.results-reflect-the-store", ONCE)
def test_flush_caches(case: Case) -> None:
    """Somebody else changes, adds and removes what the plugin has seen; then caches are flushed."""
    clause, around = "flush_caches.results-reflect-the-store", case.surroundings
    for name in ("changed", "removed"):
        case.setup.write(name, b"old")
    # What is seen wrongly before that says nothing of caches.
    if not case.tree_is(ONCE, {"changed": b"old", "removed": b"old"}):
        return
    around.backing.write(around.backing_name("changed"), b"changed meanwhile")
    around.backing.write(around.backing_name("added"), b"added")
    around.backing.delete(around.backing_name("removed"))
    case.setup.require(case.fs.flush_caches())
    case.tree_is(clause, {"changed": b"changed meanwhile", "added": b"added"})
    case.check.equal(clause, "length", 17, case.setup.require(case.fs.stat(case.uri("changed"))).length)
    case.check.status(clause, case.fs.path_exists(case.uri("removed")), Code.NOT_FOUND)


@pytest.mark.parametrize("offset", [pytest.param(offset, id=str(offset)) for offset in MARKS])
@clauses("new_random_access_file.large-files", "read.returns-the-bytes", "read.short-read-is-out-of-range")
def test_large(case: Case, offset: int) -> None:
    """A file of more than 5 GiB is read at this offset."""
    uri = case.setup.write_sparse("large", MARKS)
    case.check.equal(
        "new_random_access_file.large-files", "stat: length", LARGE, case.setup.require(case.fs.stat(uri)).length
    )
    size = case.setup.require(case.fs.get_file_size(uri))
    case.check.equal("new_random_access_file.large-files", "get_file_size: size", LARGE, size)
    with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as file:
        got = file.read(offset, len(MARKS[offset]))
        behind = file.read(LARGE - 1, 2)
    case.check.equal("read.returns-the-bytes", "data", MARKS[offset], got.value.data)
    case.check.status("read.short-read-is-out-of-range", behind, Code.OUT_OF_RANGE)
    case.check.equal("read.short-read-is-out-of-range", "returned", 1, behind.value.returned)


#: More than a number of 31 bits counts, and than Linux reads at once.
AT_ONCE = 2**31 + 4096


@large
@over_tables
@clauses("read.ok-is-exactly-n", "read.returns-the-bytes", "read.succeeds")
def test_one_read_of_2_gib(case: Case) -> None:
    """More than 2 GiB of a file are read in one call, as TensorFlow reads a large tensor."""
    marks = {0: b"start", 2**31 - 3: b"around 2^31", AT_ONCE - 3: b"end"}
    uri = case.setup.write_sparse("large", marks)
    needs_room()
    with case.surroundings.patient(LEAST), case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as file:
        seconds = pace(case, lambda: case.setup.require(case.tables.read_large(handle_of(file), PIECE, ())))
        places = [(offset, len(data)) for offset, data in marks.items()]
        with case.surroundings.patient(seconds):
            got = case.tables.read_large(handle_of(file), AT_ONCE, places)
    case.check.status("read.succeeds", got, Code.OK)
    case.check.equal("read.ok-is-exactly-n", "returned", AT_ONCE, got.value.returned)
    case.check.equal("read.returns-the-bytes", "data at the marks", b"".join(marks.values()), got.value.data)


@large
@clauses("tell.on-an-appendable-file", "new_appendable_file.keeps-what-exists")
def test_append_to_a_large_file(case: Case) -> None:
    """Something is appended to a file of more than 5 GiB."""
    uri = case.setup.write_sparse("large", MARKS)
    # A store may have to write all of it anew, as it does a smaller one.
    smaller = case.setup.write_sparse("smaller", {PIECE: b"end"})
    seconds = pace(case, lambda: _appended(case, smaller))
    with case.surroundings.patient(seconds):
        position = _appended(case, uri)
        length = case.setup.require(case.fs.stat(uri)).length
    case.check.reading(
        "tell.on-an-appendable-file", {"file": position == LARGE, "handle": position == 0}, f"position={position}"
    )
    case.check.equal("new_appendable_file.keeps-what-exists", "length", LARGE + 4, length)


def _appended(case: Case, uri: str) -> int:
    """Append something to a file; the position that its handle had before."""
    with case.setup, case.setup.opened(case.fs.new_appendable_file(uri)) as file:
        position = case.setup.require(file.tell())
        case.setup.require(file.append(b"more"))
        case.setup.require(file.close())
    return position
