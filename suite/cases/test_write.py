"""Writing: appends, positions, and the content afterwards."""

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.filesystem import WritableFile
from ...harness.ops.outcomes import Outcome, Source
from ..engine.case import Case
from ..engine.marks import clauses, smoke

BYTES = bytes(range(256))


def writer(case: Case, name: str = "file") -> WritableFile:
    """Create a file and open it for writing."""
    with case.setup:
        return case.setup.opened(case.fs.new_writable_file(case.uri(name)))


def appender(case: Case) -> WritableFile:
    """Open a file for appending."""
    with case.setup:
        return case.setup.opened(case.fs.new_appendable_file(case.uri("file")))


def fill(case: Case, file: WritableFile, *pieces: bytes) -> None:
    """Append these pieces to a file, and close it."""
    with file:
        for piece in pieces:
            case.setup.require(file.append(piece))
        case.setup.require(file.close())


def holds(case: Case, clause: str, content: bytes, name: str = "file") -> None:
    """Check the content of a file."""
    case.check.equal(clause, "content", content, case.setup.content(case.uri(name)))


def handed_over(case: Case, got: Outcome[None]) -> None:
    """Require a flush or sync of the plugin's own. Core's default does nothing, so without one the case is absent."""
    if got.source is not Source.PLUGIN:
        case.missing(got.op)
    case.setup.require(got)


@smoke
@clauses("append.succeeds", "tell.succeeds", "flush.succeeds", "sync.succeeds", "close.succeeds",
         "new_writable_file.succeeds", "writable_file.cleanup.succeeds", "close.then-cleanup",
         "append.writes-exactly-n")  # fmt: skip
def test_plain(case: Case) -> None:
    """A file is written, flushed, synced, closed and cleaned up."""
    file = writer(case)
    case.check.status("append.succeeds", file.append(b"plain"), Code.OK)
    told = file.tell()
    if not case.check.unimplemented(told):
        case.check.status("tell.succeeds", told, Code.OK)
    case.check.status("flush.succeeds", file.flush(), Code.OK)
    case.check.status("sync.succeeds", file.sync(), Code.OK)
    case.check.status("close.succeeds", file.close(), Code.OK)
    ended = file.cleanup()
    case.check.status("writable_file.cleanup.succeeds", ended, Code.OK)
    case.check.status("close.then-cleanup", ended, Code.OK)
    holds(case, "append.writes-exactly-n", b"plain")


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([BYTES], id="every-byte"),
        pytest.param([b"a", b"", b"b"], id="an-empty-piece-between"),
        pytest.param([b"\0" * 1000], id="nothing-but-nul"),
        pytest.param([BYTES * 256, BYTES * 257], id="larger-than-a-buffer"),
    ],
)
@clauses("append.writes-exactly-n", "append.succeeds", "close.succeeds")
def test_append(case: Case, pieces: list[bytes]) -> None:
    """Pieces are appended to a new file."""
    case.surroundings.within_size(sum(map(len, pieces)))
    with writer(case) as file:
        for piece in pieces:
            if not case.check.status("append.succeeds", file.append(piece), Code.OK):
                return
        case.setup.require(file.close())
    holds(case, "append.writes-exactly-n", b"".join(pieces))


@clauses("append.zero-bytes", "close.succeeds")
def test_append_nothing(case: Case) -> None:
    """0 bytes are appended, as core does when it copies an empty file."""
    with writer(case) as file:
        got = file.append(b"")
        case.setup.require(file.close())
    case.check.status("append.zero-bytes", got, Code.OK)
    holds(case, "append.zero-bytes", b"")


@clauses("tell.is-the-write-position", "tell.changes-nothing", "tell.return-agrees-with-the-code", "tell.succeeds",
         "append.succeeds")  # fmt: skip
def test_tell(case: Case) -> None:
    """The position is asked for after every append."""
    with writer(case) as file:
        expected = 0
        for piece in (b"", b"four", b"", BYTES * 300):
            case.setup.require(file.append(piece))
            expected += len(piece)
            first, second = case.setup.require(file.tell()), case.setup.require(file.tell())
            case.check.equal("tell.is-the-write-position", "position", expected, first)
            case.check.equal("tell.changes-nothing", "position", first, second)


@clauses("tell.on-an-appendable-file", "tell.is-the-write-position", "tell.succeeds", "new_appendable_file.succeeds")
def test_tell_on_an_appendable_file(case: Case) -> None:
    """The position of a file of 10 bytes that was opened for appending."""
    case.setup.write("file", b"0123456789")
    with appender(case) as file:
        first = case.setup.require(file.tell())
        case.setup.require(file.append(b"more"))
        second = case.setup.require(file.tell())
    case.check.reading("tell.on-an-appendable-file", {"file": first == 10, "handle": first == 0}, f"position={first}")
    expected = 4 if first == 0 and second == 4 else 14
    case.check.equal("tell.is-the-write-position", "position", expected, second)


@clauses("flush.makes-data-visible", "flush.succeeds")
def test_flush(case: Case) -> None:
    """A reader is opened after flush, while the file is still open."""
    with writer(case) as file:
        case.setup.require(file.append(b"flushed"))
        handed_over(case, file.flush())
        case.check.equal("flush.makes-data-visible", "content", b"flushed", case.setup.tree().get("file"))


@clauses("sync.makes-data-visible", "sync.succeeds")
def test_sync(case: Case) -> None:
    """A reader is opened after sync, while the file is still open."""
    with writer(case) as file:
        case.setup.require(file.append(b"synced"))
        handed_over(case, file.sync())
        case.check.equal("sync.makes-data-visible", "content", b"synced", case.setup.tree().get("file"))


@clauses("close.keeps-the-data", "close.succeeds")
def test_close_without_flush(case: Case) -> None:
    """Data is appended and the file closed, without a flush, and read before cleanup."""
    with writer(case) as file:
        case.setup.require(file.append(b"kept"))
        case.setup.require(file.close())
        holds(case, "close.keeps-the-data", b"kept")


@clauses("close.keeps-the-data", "close.succeeds", "flush.succeeds", "append.succeeds")
def test_close_after_flush(case: Case) -> None:
    """More data is appended after a flush, then the file is closed."""
    with writer(case) as file:
        case.setup.require(file.append(b"before"))
        case.setup.require(file.flush())
        case.setup.require(file.append(b"after"))
        case.setup.require(file.close())
    holds(case, "close.keeps-the-data", b"beforeafter")


@clauses("writable_file.cleanup.succeeds", "writable_file.cleanup.unclosed-data")
def test_cleanup_without_close(case: Case) -> None:
    """A file is dropped without close; the fate of its data is open, the filesystem goes on."""
    file = writer(case)
    case.setup.require(file.append(b"dropped"))
    case.check.status("writable_file.cleanup.succeeds", file.cleanup(), Code.OK)
    case.setup.write("another", b"works")
    holds(case, "writable_file.cleanup.succeeds", b"works", "another")
    left = case.setup.tree().get("file")
    readings = {"kept": left == b"dropped", "dropped": left != b"dropped"}
    case.check.reading("writable_file.cleanup.unclosed-data", readings, f"content={left!r}")


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([], id="opened-only"),
        pytest.param(["append"], id="appended"),
        pytest.param(["append", "flush"], id="flushed"),
        pytest.param(["append", "flush", "append"], id="appended-after-flush"),
        pytest.param(["append", "sync"], id="synced"),
    ],
)
@clauses("writable_file.cleanup.succeeds", "close.then-cleanup")
def test_lives(case: Case, steps: list[str]) -> None:
    """Files end in every way: cleaned up with and without close, ten of each, in a host that goes on."""
    for close in (False, True):
        for k in range(10):
            file = writer(case, f"file{k}")
            for step in steps:
                case.setup.require(file.append(b"piece") if step == "append" else getattr(file, step)())
            if close:
                case.setup.require(file.close())
            clause = "close.then-cleanup" if close else "writable_file.cleanup.succeeds"
            case.check.status(clause, file.cleanup(), Code.OK)
    expected = b"piece" * steps.count("append")
    holds(case, "close.then-cleanup", expected, "file9")


@clauses("new_writable_file.unflushed-data")
def test_unflushed(case: Case) -> None:
    """Somebody looks for a new file, and for what was appended to it, before flush and close."""
    with writer(case) as file:
        there = case.fs.path_exists(case.uri("file")).ok
        case.setup.require(file.append(b"unflushed"))
        seen = case.setup.content(case.uri("file")) if there else b""
        case.setup.require(file.close())
    readings = {"at-once": seen == b"unflushed", "file-at-once": there, "later": True}
    case.check.reading("new_writable_file.unflushed-data", readings, f"there={there} content={seen!r}")


@pytest.mark.parametrize("again", [pytest.param(False, id="new"), pytest.param(True, id="over-another")])
@clauses("new_writable_file.seen-after-close", "new_writable_file.replaces-what-exists", "close.succeeds")
def test_nothing_appended(case: Case, again: bool) -> None:
    """A file is opened for writing and closed, with nothing appended."""
    if again:
        case.setup.write("file", b"older")
    fill(case, writer(case))
    case.tree_is("new_writable_file.seen-after-close", {"file": b""})
    length = case.setup.require(case.fs.stat(case.uri("file"))).length
    case.check.equal("new_writable_file.replaces-what-exists", "length", 0, length)


@clauses("append.writes-exactly-n", "close.keeps-the-data", "append.succeeds", "close.succeeds")
def test_two_writers(case: Case) -> None:
    """Two files are written in turn, in pieces that look alike."""
    with writer(case, "one") as one, writer(case, "two") as two:
        for k in range(20):
            case.setup.require(one.append(b"1%d" % k))
            case.setup.require(two.append(b"2%d" % k))
        case.setup.require(two.close())
        case.setup.require(one.close())
    expected = {"one": b"".join(b"1%d" % k for k in range(20)), "two": b"".join(b"2%d" % k for k in range(20))}
    case.tree_is("append.writes-exactly-n", expected)
    holds(case, "close.keeps-the-data", expected["one"], "one")


@clauses("new_appendable_file.keeps-what-exists", "new_writable_file.replaces-what-exists",
         "new_appendable_file.succeeds", "append.succeeds", "close.succeeds")  # fmt: skip
def test_one_after_the_other(case: Case) -> None:
    """A file is written, appended to, written anew and appended to again, each by a handle of its own."""
    for start in (b"first", b"second start"):
        case.setup.write("file", start)
        holds(case, "new_writable_file.replaces-what-exists", start)
        with appender(case) as file:
            case.setup.require(file.append(b"-more"))
            case.setup.require(file.flush())
            case.setup.require(file.append(b"-most"))
            case.setup.require(file.close())
        holds(case, "new_appendable_file.keeps-what-exists", start + b"-more-most")


@pytest.mark.parametrize("count", [pytest.param(n, id=str(n)) for n in (2, 17, 1000)])
@clauses("append.writes-exactly-n", "append.succeeds", "close.succeeds")
def test_small_appends(case: Case, count: int) -> None:
    """So many pieces of one to seven bytes are appended."""
    pieces = [BYTES[k % 200 : k % 200 + k % 7 + 1] for k in range(count)]
    fill(case, writer(case), *pieces)
    holds(case, "append.writes-exactly-n", b"".join(pieces))


@clauses("sync.where-it-is-absent")
def test_sync_where_it_is_absent(case: Case) -> None:
    """A file is synced; where the plugin has no sync, TensorFlow flushes."""
    with writer(case) as file:
        case.setup.require(file.append(b"synced"))
        got = file.sync()
        case.setup.require(file.close())
    present = got.source is Source.PLUGIN
    case.check.reading("sync.where-it-is-absent", {"present": present, "flush": not present}, f"code={got.code}")


@pytest.mark.parametrize(
    "old",
    [
        pytest.param(b"old content", id="longer"),
        pytest.param(b"o", id="shorter"),
        pytest.param(b"old" * 50_000, id="much-longer"),
    ],
)
@clauses("new_writable_file.replaces-what-exists", "new_writable_file.succeeds")
def test_overwrite(case: Case, old: bytes) -> None:
    """A file that exists is written anew."""
    case.needs("new_writable_file", itself=True)
    case.setup.write("file", old)
    case.setup.write("file", b"new")
    holds(case, "new_writable_file.replaces-what-exists", b"new")


@clauses("new_appendable_file.keeps-what-exists", "new_appendable_file.succeeds", "append.succeeds", "close.succeeds")
def test_append_to_what_exists(case: Case) -> None:
    """A file is opened for appending twice."""
    case.setup.write("file", b"one")
    for piece in (b"two", b"three"):
        fill(case, appender(case), piece)
    holds(case, "new_appendable_file.keeps-what-exists", b"onetwothree")


@clauses(
    "new_appendable_file.creates-what-is-missing", "new_appendable_file.succeeds", "append.succeeds", "close.succeeds"
)
def test_append_to_nothing(case: Case) -> None:
    """A file that does not exist is opened for appending."""
    fill(case, appender(case), b"first")
    holds(case, "new_appendable_file.creates-what-is-missing", b"first")


@pytest.mark.parametrize("there", [pytest.param(False, id="missing"), pytest.param(True, id="existing")])
@clauses("new_appendable_file.creates-what-is-missing", "new_appendable_file.keeps-what-exists",
         "new_appendable_file.succeeds", "close.succeeds")  # fmt: skip
def test_append_nothing_at_all(case: Case, there: bool) -> None:
    """A file is opened for appending and closed, with nothing appended."""
    old = case.setup.write("file", b"older") if there else None
    fill(case, appender(case))
    name = "new_appendable_file.keeps-what-exists" if old else "new_appendable_file.creates-what-is-missing"
    case.tree_is(name, {"file": b"older" if old else b""})


#: Sizes of pieces, in bytes: small ones that a buffer keeps, and large ones that it does not.
MIXED = {
    "small-then-large": [3, 300_000],
    "large-then-small": [300_000, 3],
    "around-4096": [1, 4095, 1, 4096, 4097, 2, 8192],
    "around-65536": [7, 65535, 1, 65536, 9, 65537, 131072, 5],
    "growing": [4**k for k in range(10)],
    "shrinking": [4 ** (9 - k) for k in range(10)],
}


@pytest.mark.parametrize("sizes", list(MIXED))
@clauses("append.writes-exactly-n", "append.succeeds", "close.succeeds")
def test_mixed_sizes(case: Case, sizes: str) -> None:
    """Pieces of small and of large sizes are appended in turn; each has bytes of its own."""
    case.surroundings.within_size(sum(MIXED[sizes]))
    pieces = [bytes([33 + k]) * size for k, size in enumerate(MIXED[sizes])]
    fill(case, writer(case), *pieces)
    whole = b"".join(pieces)
    case.check.equal("append.writes-exactly-n", "content", whole, case.setup.content(case.uri("file"), len(whole) + 1))


@clauses("new_writable_file.unflushed-data")
def test_unflushed_over_another(case: Case) -> None:
    """A file is written anew; somebody looks what is at its path before flush and close."""
    uri = case.setup.write("file", b"older")
    with writer(case) as file:
        case.setup.require(file.append(b"unflushed"))
        there = case.fs.path_exists(uri).ok
        seen = case.setup.content(uri) if there else b""
        case.setup.require(file.close())
    readings = {
        "at-once": seen == b"unflushed",
        "old-content": seen == b"older",
        "file-at-once": there and seen == b"",
        "later": not there,
    }
    case.check.reading("new_writable_file.unflushed-data", readings, f"there={there} content={seen!r}")


@clauses("close.then-cleanup")
def test_another_between_close_and_cleanup(case: Case) -> None:
    """One file is closed, another one opened, the first cleaned up, and the other written."""
    first = writer(case, "first")
    case.setup.require(first.append(b"first"))
    case.setup.require(first.close())
    with writer(case, "second") as second:
        case.setup.require(second.append(b"before"))
        # The ops that come behind the cleanup show what it took from a file that is not its own.
        for got in (first.cleanup(), second.append(b", after"), second.close()):
            case.check.status("close.then-cleanup", got, Code.OK)
    expected = {"first": b"first", "second": b"before, after"}
    case.tree_is("close.then-cleanup", expected)
