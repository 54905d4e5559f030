"""Reading: counts, codes and bytes at every boundary."""

from contextlib import ExitStack

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.filesystem import RandomAccessFile
from ...harness.ops.outcomes import Outcome, Read
from ..engine.answers import Answer
from ..engine.case import Case
from ..engine.marks import clauses, many_calls, smoke

#: All byte values, with NUL and newline, so that a plugin that treats bytes as text shows.
CONTENT = bytes(range(256)) * 4
SIZE = len(CONTENT)


def reader(case: Case, content: bytes = CONTENT) -> RandomAccessFile:
    """Set up a file with this content and open it for reading."""
    uri = case.setup.write("file", content)
    with case.setup:
        return case.setup.opened(case.fs.new_random_access_file(uri))


def whole(case: Case, got: Outcome[Read], offset: int, n: int) -> None:
    """Check a read inside the file: code, count and bytes."""
    case.check.status("read.succeeds", got, Code.OK)
    case.check.equal("read.ok-is-exactly-n", "returned", n, got.value.returned)
    case.check.equal("read.returns-the-bytes", "data", CONTENT[offset : offset + n], got.value.data)


INSIDE = clauses("read.succeeds", "read.ok-is-exactly-n", "read.returns-the-bytes")


@smoke
@clauses("read.succeeds", "new_random_access_file.succeeds", "read.ok-is-exactly-n", "read.returns-the-bytes",
         "random_access_file.cleanup.succeeds")  # fmt: skip
def test_plain(case: Case) -> None:
    """A file is read from its start to its end."""
    with reader(case) as file:
        whole(case, file.read(0, SIZE), 0, SIZE)
        ended = file.cleanup()
    case.check.status("random_access_file.cleanup.succeeds", ended, Code.OK)


@pytest.mark.parametrize(
    ("offset", "n"),
    [
        pytest.param(0, 1, id="first-byte"),
        pytest.param(SIZE - 1, 1, id="last-byte"),
        pytest.param(0, SIZE - 1, id="all-but-one"),
        pytest.param(1, SIZE - 1, id="to-the-exact-end"),
        pytest.param(511, 2, id="across-a-sector"),
        pytest.param(100, 256, id="middle"),
    ],
)
@INSIDE
def test_inside(case: Case, offset: int, n: int) -> None:
    """A read lies inside the file."""
    with reader(case) as file:
        whole(case, file.read(offset, n), offset, n)


@pytest.mark.parametrize(
    ("offset", "n"),
    [
        pytest.param(0, SIZE + 1, id="one-more-than-there-is"),
        pytest.param(SIZE - 1, 2, id="last-byte-and-one-more"),
        pytest.param(10, 1 << 20, id="far-more-than-there-is"),
    ],
)
@clauses("read.short-read-is-out-of-range", "read.returns-the-bytes")
def test_across_the_end(case: Case, offset: int, n: int) -> None:
    """A read begins inside the file and ends behind it."""
    with reader(case) as file:
        got = file.read(offset, n)
    case.check.status("read.short-read-is-out-of-range", got, Code.OUT_OF_RANGE)
    case.check.equal("read.short-read-is-out-of-range", "returned", SIZE - offset, got.value.returned)
    case.check.equal("read.returns-the-bytes", "data", CONTENT[offset:], got.value.data)


@pytest.mark.parametrize(
    "offset",
    [
        pytest.param(SIZE, id="at-the-end"),
        pytest.param(SIZE + 1, id="one-behind"),
        pytest.param(2**31 - 1, id="below-2-31"),
        pytest.param(2**31, id="2-31"),
        pytest.param(2**32, id="2-32"),
        pytest.param(2**32 + 1, id="above-2-32"),
        pytest.param(2**62, id="2-62"),
    ],
)
@clauses("read.past-the-end-is-out-of-range")
def test_past_the_end(case: Case, offset: int) -> None:
    """A read begins at or behind the end."""
    with reader(case) as file:
        got = file.read(offset, 10)
    case.check.status("read.past-the-end-is-out-of-range", got, Code.OUT_OF_RANGE)
    case.check.equal("read.past-the-end-is-out-of-range", "returned", 0, got.value.returned)


@pytest.mark.parametrize(
    "offset",
    [
        pytest.param(2**63 - 11, id="ending-at-2-63"),
        pytest.param(2**63 - 1, id="below-2-63"),
        pytest.param(2**63, id="2-63"),
        pytest.param(2**64 - 10, id="ending-at-2-64"),
        pytest.param(2**64 - 1, id="below-2-64"),
    ],
)
@clauses("read.offset-no-file-has", "read.return-agrees-with-the-code", "read.return-on-error")
def test_offset_no_file_has(case: Case, offset: int) -> None:
    """A read begins where no file can have a byte."""
    with reader(case) as file:
        got = file.read(offset, 10)
    none = got.value.returned <= 0
    readings = {
        "end-of-file": got.code is Code.OUT_OF_RANGE and none,
        "invalid": got.code not in (Code.OK, Code.OUT_OF_RANGE) and none,
    }
    case.check.reading(
        "read.offset-no-file-has", readings, f"code={got.code} returned={got.value.returned}", got.message
    )


@clauses("read.past-the-end-is-out-of-range")
def test_empty_file(case: Case) -> None:
    """An empty file has no first byte."""
    with reader(case, b"") as file:
        got = file.read(0, 1)
    case.check.status("read.past-the-end-is-out-of-range", got, Code.OUT_OF_RANGE)
    case.check.equal("read.past-the-end-is-out-of-range", "returned", 0, got.value.returned)


@pytest.mark.parametrize("offset", [pytest.param(0, id="start"), pytest.param(SIZE - 1, id="last-byte")])
@clauses("read.zero-bytes-inside-is-ok")
def test_zero_bytes_inside(case: Case, offset: int) -> None:
    """0 bytes are read inside the file."""
    with reader(case) as file:
        got = file.read(offset, 0)
    case.check.status("read.zero-bytes-inside-is-ok", got, Code.OK)
    case.check.equal("read.zero-bytes-inside-is-ok", "returned", 0, got.value.returned)


@pytest.mark.parametrize("offset", [pytest.param(SIZE, id="at-the-end"), pytest.param(SIZE + 7, id="behind")])
@clauses("read.zero-bytes-at-the-end")
def test_zero_bytes_at_the_end(case: Case, offset: int) -> None:
    """0 bytes are read at or behind the end."""
    with reader(case) as file:
        got = file.read(offset, 0)
    nothing = got.value.returned == 0
    readings = {"exact": got.code is Code.OK and nothing, "end-of-file": got.code is Code.OUT_OF_RANGE and nothing}
    case.check.reading(
        "read.zero-bytes-at-the-end", readings, f"code={got.code} returned={got.value.returned}", of=Answer.of(got)
    )


@pytest.mark.parametrize(
    "ranges",
    [
        pytest.param([(0, 100), (0, 100)], id="twice"),
        pytest.param([(500, 100), (400, 100), (0, 100)], id="backwards"),
        pytest.param([(0, 100), (50, 100), (25, 100)], id="overlapping"),
        pytest.param([(0, 2000), (0, 100)], id="after-the-end"),
    ],
)
@clauses("read.repeats")
def test_order(case: Case, ranges: list[tuple[int, int]]) -> None:
    """Ranges are read in an order other than that of the file."""
    with reader(case) as file:
        for offset, n in ranges:
            got = file.read(offset, n)
            if case.check.status("read.repeats", got, Code.OK, Code.OUT_OF_RANGE):
                case.check.equal("read.repeats", f"data at {offset}", CONTENT[offset : offset + n], got.value.data)


@clauses("read.repeats")
def test_two_files_at_once(case: Case) -> None:
    """Two handles of one file do not share a position."""
    with reader(case) as one, case.setup.opened(case.fs.new_random_access_file(case.uri("file"))) as other:
        for offset in (0, 300, 600):
            case.check.equal("read.repeats", "one", CONTENT[offset : offset + 9], one.read(offset, 9).value.data)
            case.check.equal("read.repeats", "other", CONTENT[9 : 9 + offset], other.read(9, offset).value.data)


@many_calls(180)
@clauses("read.repeats")
def test_many_files_at_once(case: Case) -> None:
    """Thirty files are open at once, and read in turn."""
    with case.setup, ExitStack() as stack:
        files = []
        for k in range(30):
            uri = case.setup.write(f"file{k}", bytes([k]) * (k + 1))
            files.append(stack.enter_context(case.setup.opened(case.fs.new_random_access_file(uri))))
        for k in (*range(30), *reversed(range(30))):
            case.check.equal("read.repeats", f"data of file{k}", bytes([k]) * (k + 1), files[k].read(0, 99).value.data)


@clauses("read.repeats", "random_access_file.cleanup.succeeds")
def test_one_of_two_ends(case: Case) -> None:
    """Of two handles of one file the first is cleaned up; the other reads on."""
    first = reader(case)
    with case.setup.opened(case.fs.new_random_access_file(case.uri("file"))) as second:
        case.check.equal("read.repeats", "before", CONTENT[:9], second.read(0, 9).value.data)
        case.check.status("random_access_file.cleanup.succeeds", first.cleanup(), Code.OK)
        case.check.equal("read.repeats", "after", CONTENT[9:99], second.read(9, 90).value.data)


@pytest.mark.parametrize("change", ["overwrite", "append", "delete", "rename", "replace"])
@clauses("new_random_access_file.after-the-file-changed", "read.return-agrees-with-the-code")
def test_the_file_changes(case: Case, change: str) -> None:
    """An open file changes: what a reader sees of it is open, and the op comes back."""
    with reader(case) as file:
        file.read(0, 10)
        match change:
            case "overwrite":
                case.setup.write("file", b"overwritten")
            case "append":
                with case.setup, case.setup.opened(case.fs.new_appendable_file(case.uri("file"))) as writer:
                    case.setup.require(writer.append(b"appended"))
                    case.setup.require(writer.close())
            case "delete":
                case.setup.require(case.fs.delete_file(case.uri("file")))
            case "rename":
                case.setup.require(case.fs.rename_file(case.uri("file"), case.uri("moved")))
            case _:
                case.setup.require(case.fs.rename_file(case.setup.write("other", b"replaced"), case.uri("file")))
        got = file.read(0, SIZE + 100)
    old = got.value.data == CONTENT
    case.check.note(
        "new_random_access_file.after-the-file-changed", f"code={got.code} " + ("as before" if old else "changed")
    )


@many_calls(300)
@clauses("read.return-agrees-with-the-code")
def test_byte_by_byte(case: Case) -> None:
    """A file is read in steps of every size from one byte on, past its end."""
    with reader(case, CONTENT[:50]) as file:
        for n in range(1, 60):
            offset = 0
            data = b""
            while len(data) < 50:
                piece = file.read(offset, n).value.data
                if not piece:
                    break
                data += piece
                offset += n
            case.check.equal("read.return-agrees-with-the-code", f"data in steps of {n}", CONTENT[:50], data)
