"""Sizes around those of buffers, pages and transfers, written and read in several ways."""

import itertools

import pytest

from ...harness.ops.codes import Code
from ...harness.over_tables import programs
from ...harness.over_tables.files import handle_of
from ...harness.over_tables.programs import Program
from ..engine.case import Case, NoStimulusError
from ..engine.marks import clauses, large, over_tables
from .large import BEYOND, COUNT, PIECE, needs_room, pace

SIZES = (0, 1, 511, 512, 513, 4095, 4096, 4097, 65535, 65536, 65537, 131071, 131072, 131073,
         (1 << 20) - 1, 1 << 20, (1 << 20) + 1)  # fmt: skip
#: The period of the content. It is no power of two, so that places that are a buffer apart look different.
PERIOD = bytes(range(251))

sizes = pytest.mark.parametrize("size", [pytest.param(size, id=str(size)) for size in SIZES])


def content(size: int) -> bytes:
    """This many bytes, with every byte value among them."""
    return (PERIOD * (size // len(PERIOD) + 1))[:size]


@sizes
@clauses("read.ok-is-exactly-n", "read.returns-the-bytes", "read.succeeds", "read.short-read-is-out-of-range",
         "read.past-the-end-is-out-of-range", "stat.length-is-the-size", "get_file_size.is-stat-length",
         "stat.succeeds", "get_file_size.succeeds")  # fmt: skip
def test_whole(case: Case, size: int) -> None:
    """A file of this size is read whole, with one byte more, and behind its end, and asked for its size."""
    uri = case.setup.write("file", content(size))
    with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as file:
        if size:
            got = file.read(0, size)
            case.check.status("read.succeeds", got, Code.OK)
            case.check.equal("read.ok-is-exactly-n", "returned", size, got.value.returned)
            case.check.equal("read.returns-the-bytes", "data", content(size), got.value.data)
        tail = file.read(max(0, size - 7), min(7, size))
        more, behind = file.read(0, size + 1), file.read(size, 1)
    case.check.equal("read.returns-the-bytes", "last bytes", content(size)[-7:], tail.value.data)
    case.check.status("read.short-read-is-out-of-range", more, Code.OUT_OF_RANGE)
    case.check.equal("read.short-read-is-out-of-range", "returned", size, more.value.returned)
    case.check.equal("read.short-read-is-out-of-range", "data", content(size), more.value.data)
    case.check.status("read.past-the-end-is-out-of-range", behind, Code.OUT_OF_RANGE)
    case.check.equal("read.past-the-end-is-out-of-range", "returned", 0, behind.value.returned)
    case.check.equal("stat.length-is-the-size", "length", size, case.setup.require(case.fs.stat(uri)).length)
    case.check.equal("get_file_size.is-stat-length", "size", size, case.setup.require(case.fs.get_file_size(uri)))


@sizes
@clauses("append.writes-exactly-n", "tell.is-the-write-position", "append.succeeds", "tell.succeeds", "close.succeeds")
def test_pieces(case: Case, size: int) -> None:
    """A file of this size is appended in three pieces, with the position asked for after each."""
    case.surroundings.within_size(size)
    cuts = sorted({0, size // 3, size // 2 + 1 if size else 0, size})
    uri = case.uri("file")
    with case.setup, case.setup.opened(case.fs.new_writable_file(uri)) as file:
        for start, end in itertools.pairwise(cuts):
            case.setup.require(file.append(content(size)[start:end]))
            case.check.equal("tell.is-the-write-position", "position", end, case.setup.require(file.tell()))
        case.setup.require(file.close())
    case.check.equal("append.writes-exactly-n", "content", content(size), case.setup.content(uri, size + 1))


@sizes
@clauses("copy_file.keeps-the-content", "copy_file.source-stays", "copy_file.succeeds")
def test_copy(case: Case, size: int) -> None:
    """A file of this size is copied."""
    uri = case.setup.write("file", content(size))
    case.setup.require(case.fs.copy_file(uri, case.uri("copy")))
    case.check.equal(
        "copy_file.keeps-the-content", "copy", content(size), case.setup.content(case.uri("copy"), size + 1)
    )
    case.check.equal("copy_file.source-stays", "source", content(size), case.setup.content(uri, size + 1))


@sizes
@clauses("rename_file.keeps-the-content", "rename_file.source-is-gone", "rename_file.succeeds")
def test_rename(case: Case, size: int) -> None:
    """A file of this size is renamed."""
    uri = case.setup.write("file", content(size))
    case.setup.require(case.fs.rename_file(uri, case.uri("moved")))
    case.check.equal(
        "rename_file.keeps-the-content", "content", content(size), case.setup.content(case.uri("moved"), size + 1)
    )
    case.check.status("rename_file.source-is-gone", case.fs.path_exists(uri), Code.NOT_FOUND)


@pytest.mark.parametrize("size", [pytest.param(size, id=str(size)) for size in SIZES if size])
@clauses("data.holds-the-file", "length.is-the-file-size", "new_read_only_memory_region_from_file.succeeds")
def test_region(case: Case, size: int) -> None:
    """A file of this size is mapped."""
    uri = case.setup.write("file", content(size))
    with case.setup, case.setup.opened(case.fs.new_read_only_memory_region_from_file(uri)) as region:
        length = region.length().value
        case.check.equal("length.is-the-file-size", "length", size, length)
        case.check.equal("data.holds-the-file", "data", content(size), region.data(0, min(length, size)).value[1])


@sizes
@clauses("new_appendable_file.keeps-what-exists", "new_appendable_file.succeeds", "append.succeeds", "close.succeeds")
def test_append(case: Case, size: int) -> None:
    """Something is appended to a file of this size."""
    case.surroundings.within_size(size + len(b"more"))
    uri = case.setup.write("file", content(size))
    with case.setup, case.setup.opened(case.fs.new_appendable_file(uri)) as file:
        case.setup.require(file.append(b"more"))
        case.setup.require(file.close())
    expected = content(size) + b"more"
    case.check.equal("new_appendable_file.keeps-what-exists", "content", expected, case.setup.content(uri, size + 5))


@large
@over_tables
@clauses(
    "append.writes-exactly-n",
    "tell.is-the-write-position",
    "stat.length-is-the-size",
    "get_file_size.is-stat-length",
    "read.returns-the-bytes",
    "read.short-read-is-out-of-range",
    "append.succeeds",
    "tell.succeeds",
    "close.succeeds",
)
def test_beyond_2_gib(case: Case) -> None:
    """Thirty-three pieces of 64 MiB and a mark are appended; positions, lengths and bytes behind 2^31 are looked at."""
    if case.bench.target.backing is not None and case.surroundings.backing.has_sparse_files:
        raise NoStimulusError("positions beyond 2 GiB are reached in sparse files of the backing: storage/large")
    needs_room()
    uri, mark = case.uri("file"), b"the end of a long file"
    case.surroundings.within_size(BEYOND + len(mark))
    piece = bytes(PIECE - len(mark)) + mark

    def write_one() -> None:
        with case.setup, case.setup.opened(case.fs.new_writable_file(case.uri("one-piece"))) as file:
            case.setup.require(file.append(piece))
            case.setup.require(file.close())

    # Some stores take the bytes when a file is closed.
    seconds = pace(case, write_one)
    case.setup.require(case.fs.delete_file(case.uri("one-piece")))
    with case.surroundings.patient(seconds):
        with case.setup, case.setup.opened(case.fs.new_writable_file(uri)) as file:
            program = Program(case.tables)
            program.append(handle_of(file), piece)
            # The bytes go to the host once. A store that keeps what it can hold may have no room for all of it.
            case.setup.require(programs.repeat(case.tables, program, COUNT)[0].outcome)
            case.check.equal("tell.is-the-write-position", "position", BEYOND, case.setup.require(file.tell()))
            case.setup.require(file.append(mark))
            case.check.equal(
                "tell.is-the-write-position", "position", BEYOND + len(mark), case.setup.require(file.tell())
            )
            case.setup.require(file.close())
        length = case.setup.require(case.fs.stat(uri)).length
        case.check.equal("stat.length-is-the-size", "length", BEYOND + len(mark), length)
        case.check.equal(
            "get_file_size.is-stat-length", "size", BEYOND + len(mark), case.setup.require(case.fs.get_file_size(uri))
        )
        with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as reader:
            for end in (PIECE, 2**31, BEYOND):
                got = reader.read(end - len(mark), len(mark))
                case.check.equal("read.returns-the-bytes", f"data before {end}", mark, got.value.data)
            got = reader.read(BEYOND, 100)
    case.check.equal("append.writes-exactly-n", "data at the end", mark, got.value.data)
    case.check.status("read.short-read-is-out-of-range", got, Code.OUT_OF_RANGE)


#: Offsets of a file behind 2^31, and behind 2^32, that hold data, and the bytes there.
MARKED = {"2-gib": {0: b"start", 2**31 - 3: b"around 2^31"}, "4-gib": {0: b"start", 2**32 - 3: b"around 2^32"}}


@large
@pytest.mark.parametrize(
    ("op", "size"),
    [
        pytest.param(op, size, id=f"{op}-{size}", marks=clauses(f"{op}.keeps-the-content", f"{op}.succeeds"))
        for op, size in (("rename_file", "2-gib"), ("rename_file", "4-gib"), ("copy_file", "2-gib"))
    ],
)
def test_large_moved(case: Case, op: str, size: str) -> None:
    """A file of holes that is longer than numbers of 31 or 32 bits count is renamed or copied."""
    case.needs(op, itself=True)  # core's default would read every byte of the holes
    if op == "copy_file":
        needs_room()
    marks = MARKED[size]
    uri, target = case.setup.write_sparse("file", marks), case.uri("target")
    move = getattr(case.fs, op)
    piece = case.setup.write_sparse("piece", {PIECE: b"end"})
    # To rename is to copy for some stores.
    seconds = pace(case, lambda: case.setup.require(move(piece, target)))
    case.setup.require(case.fs.delete_file(target))
    end, last = max(marks.items())
    with case.surroundings.patient(seconds):
        case.setup.require(move(uri, target))
        length = case.setup.require(case.fs.stat(target)).length
        case.check.equal(f"{op}.keeps-the-content", "length", end + len(last), length)
        with case.setup, case.setup.opened(case.fs.new_random_access_file(target)) as reader:
            for offset, data in marks.items():
                got = reader.read(offset, len(data))
                case.check.equal(f"{op}.keeps-the-content", f"data at {offset}", data, got.value.data)
