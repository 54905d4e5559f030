"""The storage behind the plugin, read and written through the backing."""

import pytest

from ...harness.ops.codes import Code
from ...harness.over_tables.files import handle_of
from ..engine.case import Case
from ..engine.marks import clauses, large, over_tables
from .large import LEAST, PIECE, needs_room, pace
from .test_write import handed_over

CONTENT = bytes(range(256)) * 16
#: The offsets in a sparse file, in bytes, that hold data.
MARKS = {0: b"start", 2**31 - 3: b"around 2^31", 2**32 - 3: b"around 2^32", 5 * 2**30: b"the end"}
LARGE = 5 * 2**30 + 7


@clauses("close.keeps-the-data")
def test_written(case: Case) -> None:
    """What the plugin wrote is read by somebody else."""
    case.write("file", CONTENT)
    case.equal("close.keeps-the-data", "content", CONTENT, case.backing.read(case.backing_name("file")))


@clauses("sync.makes-data-visible")
def test_synced(case: Case) -> None:
    """What the plugin synced is read by somebody else, while the file is open."""
    with case.setup(), case.opened(case.fs.new_writable_file(case.uri("file"))) as file:
        case.require(file.append(CONTENT))
        handed_over(case, file.sync())
        case.equal("sync.makes-data-visible", "content", CONTENT, case.backing.read(case.backing_name("file")))


@clauses("read.returns-the-bytes")
def test_seeded(case: Case) -> None:
    """What somebody else wrote is read by the plugin."""
    uri = case.uri("file")
    case.backing.write(case.backing_name("file"), CONTENT)
    case.equal("read.returns-the-bytes", "content", CONTENT, case.content(uri))


@clauses("flush_caches.results-reflect-the-store")
def test_flush_caches(case: Case) -> None:
    """Somebody else changes, adds and removes what the plugin has seen; then caches are flushed."""
    clause = "flush_caches.results-reflect-the-store"
    for name in ("changed", "removed"):
        case.write(name, b"old")
    before = case.tree()
    case.check(clause, len(before) == 2, "2 files", f"{len(before)} files")
    case.backing.write(case.backing_name("changed"), b"changed meanwhile")
    case.backing.write(case.backing_name("added"), b"added")
    case.backing.delete(case.backing_name("removed"))
    case.require(case.fs.flush_caches())
    case.equal(clause, "tree", {"changed": b"changed meanwhile", "added": b"added"}, case.tree())
    case.equal(clause, "length", 17, case.require(case.fs.stat(case.uri("changed"))).length)
    case.status(clause, case.fs.path_exists(case.uri("removed")), Code.NOT_FOUND)


@pytest.mark.parametrize("offset", [pytest.param(offset, id=str(offset)) for offset in MARKS])
@clauses("new_random_access_file.large-files", "read.returns-the-bytes")
def test_large(case: Case, offset: int) -> None:
    """A file of more than 5 GiB is read at this offset."""
    uri = case.write_sparse("large", MARKS)
    case.equal("new_random_access_file.large-files", "length", LARGE, case.require(case.fs.stat(uri)).length)
    case.equal("new_random_access_file.large-files", "size", LARGE, case.require(case.fs.get_file_size(uri)))
    with case.setup(), case.opened(case.fs.new_random_access_file(uri)) as file:
        got = file.read(offset, len(MARKS[offset]))
        behind = file.read(LARGE - 1, 2)
    case.equal("read.returns-the-bytes", "data", MARKS[offset], got.value.data)
    case.status("new_random_access_file.large-files", behind, Code.OUT_OF_RANGE)
    case.equal("new_random_access_file.large-files", "returned", 1, behind.value.returned)


#: More than a number of 31 bits counts, and than Linux reads at once.
AT_ONCE = 2**31 + 4096


@large
@over_tables
@clauses("read.ok-is-exactly-n", "read.returns-the-bytes", "read.succeeds")
def test_one_read_of_2_gib(case: Case) -> None:
    """More than 2 GiB of a file are read in one call, as TensorFlow reads a large tensor."""
    marks = {0: b"start", 2**31 - 3: b"around 2^31", AT_ONCE - 3: b"end"}
    uri = case.write_sparse("large", marks)
    needs_room(case)
    with case.patient(LEAST), case.setup(), case.opened(case.fs.new_random_access_file(uri)) as file:
        seconds = pace(case, lambda: case.require(case.tables.read_large(handle_of(file), PIECE, ())))
        places = [(offset, len(data)) for offset, data in marks.items()]
        with case.patient(seconds):
            got = case.tables.read_large(handle_of(file), AT_ONCE, places)
    case.status("read.succeeds", got, Code.OK)
    case.equal("read.ok-is-exactly-n", "returned", AT_ONCE, got.value.returned)
    case.equal("read.returns-the-bytes", "data at the marks", b"".join(marks.values()), got.value.data)


@large
@clauses("tell.on-an-appendable-file", "new_appendable_file.keeps-what-exists")
def test_append_to_a_large_file(case: Case) -> None:
    """Something is appended to a file of more than 5 GiB."""
    uri = case.write_sparse("large", MARKS)
    # A store may have to write all of it anew, as it does a smaller one.
    smaller = case.write_sparse("smaller", {PIECE: b"end"})
    seconds = pace(case, lambda: _appended(case, smaller))
    with case.patient(seconds):
        position = _appended(case, uri)
        length = case.require(case.fs.stat(uri)).length
    case.reading(
        "tell.on-an-appendable-file", {"file": position == LARGE, "handle": position == 0}, f"position={position}"
    )
    case.equal("new_appendable_file.keeps-what-exists", "length", LARGE + 4, length)


def _appended(case: Case, uri: str) -> int:
    """Append something to a file; the position that its handle had before."""
    with case.setup(), case.opened(case.fs.new_appendable_file(uri)) as file:
        position = case.require(file.tell())
        case.require(file.append(b"more"))
        case.require(file.close())
    return position
