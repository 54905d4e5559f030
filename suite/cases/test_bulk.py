"""Bulk: as many bytes as blocks and parts have, whatever fills them, come, go and replace others whole."""

from collections.abc import Callable, Iterable

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.filesystem import RandomAccessFile, WritableFile
from ...harness.ops.outcomes import Outcome
from ..engine.case import Case
from ..engine.marks import clauses, large, many_calls
from .large import LEAST
from .test_sizes import content

BYTES, WRITTEN, KEPT = "read.returns-the-bytes", "append.writes-exactly-n", "new_appendable_file.keeps-what-exists"
KIB, MIB = 1 << 10, 1 << 20
SIZES = (128 * KIB, 256 * KIB - 1)
#: Sizes around those of the parts in which stores take a file, and of several parts, by their names.
LARGE = {
    f"{part}-mib{name}": part * MIB + more
    for part in (5, 8, 16)
    for name, more in (("-less-1", -1), ("", 0), ("-and-1", 1))
} | {
    "15-mib-and-1": 15 * MIB + 1,
    "16-mib-and-700": 16 * MIB + 700,
    "24-mib": 24 * MIB,
    "32-mib-and-1": 32 * MIB + 1,
    "33-mib": 33 * MIB,
}
#: Bytes of one read of a file that is looked at: any reader manages these.
PIECE = 256 * KIB
BLOCK = 4 * KIB
MORE = b"more"


#: What fills a file of a size. Blocks of zeros, of all sizes up to a quarter of it, begin and end where blocks do.
FILLINGS: dict[str, Callable[[int], bytes]] = {
    "varied": content,
    "zeros": bytes,
    "zeros-at-the-start": lambda size: bytes(size // 2) + content(size)[size // 2 :],
    "zeros-in-the-middle": lambda size: content(size // 4) + bytes(size // 2) + content(size)[size // 4 + size // 2 :],
    "zeros-at-the-end": lambda size: content(size // 2) + bytes(size - size // 2),
    "zeros-now-and-then": lambda size: ((content(BLOCK) + bytes(BLOCK)) * (size // BLOCK + 1))[:size],
    "alike": lambda size: b"x" * size,
    "ones": lambda size: b"\xff" * size,
}


def look(case: Case, uri: str, most: int, opened: Outcome[RandomAccessFile | None] | None = None) -> bytes:
    """What is in a file, read in pieces; at most `most` bytes."""
    pieces = []
    with case.setup, case.setup.opened(opened or case.fs.new_random_access_file(uri)) as file:
        for start in range(0, most, PIECE):
            got = file.read(start, min(PIECE, most - start))
            if got.code not in (Code.OK, Code.OUT_OF_RANGE):
                case.setup.require(got)
            pieces.append(got.value.data)
            if got.code is not Code.OK:
                break
    return b"".join(pieces)


def same(case: Case, clause: str, what: str, expected: bytes, got: bytes) -> bool:
    """Compare lengths, and the bytes at the first place where they differ."""
    at = 0
    for step in (KIB, 1) if expected != got else ():
        at = next((k for k in range(at, len(expected), step) if expected[k : k + step] != got[k : k + step]), at)
    is_as_long = case.check.equal(clause, f"{what}: length", len(expected), len(got))
    return case.check.equal(clause, f"{what}: from {at}", expected[at : at + 32], got[at : at + 32]) and is_as_long


def is_stored_otherwise(case: Case, name: str, inside: bytes, got: bytes) -> bool:
    """Whether a file that the plugin wrote, from which this was read, is another one than was written."""
    around = case.surroundings
    if got == inside or not case.writes_files:
        return False
    said = case.fs.stat(case.uri(name))
    if said.ok and len(inside) != len(got) == said.value.length:
        return True
    if around.bench.target.backing is None:
        return False
    return around.backing.read(around.backing_name(name)) not in (None, inside)


def arrived(case: Case, name: str, what: str, inside: bytes, clause: str = BYTES) -> bool:
    """Whether this is read from the file of this name. Where it is not, is it because it was not written?"""
    got = look(case, case.uri(name), len(inside) + 1)
    if got == inside and case.writes_files:
        same(case, WRITTEN, what, inside, got)
    return same(case, WRITTEN if is_stored_otherwise(case, name, inside, got) else clause, what, inside, got)


def proven(case: Case, name: str, what: str, inside: bytes, clause: str = BYTES) -> str | None:
    """The URI of a new file; None where not this is read from it, and there is no more to say of it."""
    uri = case.setup.write(name, inside)
    return uri if arrived(case, name, f"{what}, as written", inside, clause) else None


def write(case: Case, opened: Outcome[WritableFile | None], *pieces: bytes) -> None:
    """Append pieces to what was opened, and close it."""
    with case.setup, case.setup.opened(opened) as file:
        for piece in pieces:
            case.setup.require(file.append(piece))
        case.setup.require(file.close())


# The ways. Each has a file of its own, and says what came of it.


def at_once(case: Case, what: str, inside: bytes) -> None:
    """One append to a new file."""
    uri = case.uri(what)
    write(case, case.fs.new_writable_file(uri), inside)
    same(case, WRITTEN, what, inside, look(case, uri, len(inside) + 1))


def in_pieces(case: Case, what: str, inside: bytes) -> None:
    """Three appends to a new file, at no round number of bytes."""
    uri, third = case.uri(what), len(inside) // 3
    write(case, case.fs.new_writable_file(uri), inside[:third], inside[third : 2 * third + 1], inside[2 * third + 1 :])
    same(case, WRITTEN, what, inside, look(case, uri, len(inside) + 1))


def in_many_pieces(case: Case, what: str, inside: bytes) -> None:
    """As many appends to a new file as there are pieces of 100,003 bytes."""
    uri = case.uri(what)
    write(case, case.fs.new_writable_file(uri), *(inside[k : k + 100_003] for k in range(0, len(inside), 100_003)))
    same(case, WRITTEN, what, inside, look(case, uri, len(inside) + 1))


def synced(case: Case, what: str, inside: bytes) -> None:
    """Appends to a new file, with a flush, a sync, and both between them; the last one is short."""
    uri, third = case.uri(what), len(inside) // 3
    with case.setup, case.setup.opened(case.fs.new_writable_file(uri)) as file:
        for start, end, ops in (
            (0, third, ("flush",)),
            (third, 2 * third + 1, ("sync",)),
            (2 * third + 1, len(inside) - 7, ("flush", "sync")),
            (len(inside) - 7, len(inside), ()),
        ):
            case.setup.require(file.append(inside[start:end]))
            for op in ops:
                case.setup.optional(getattr(file, op)())
        case.setup.require(file.close())
    same(case, WRITTEN, what, inside, look(case, uri, len(inside) + 1))


def appended(case: Case, what: str, old: bytes, *pieces: bytes) -> None:
    """Appends to a file that is there."""
    uri, new = case.setup.write(what, old), b"".join(pieces)
    write(case, case.fs.new_appendable_file(uri), *pieces)
    got = look(case, uri, len(old) + len(new) + 1)
    if same(case, KEPT, f"{what}, what was there", old, got[: len(old)]):
        same(case, WRITTEN, f"{what}, what was appended", new, got[len(old) :])


def begun(case: Case, what: str, inside: bytes) -> None:
    """All of it is appended to a file that is short."""
    appended(case, what, MORE, inside)


def continued(case: Case, what: str, inside: bytes) -> None:
    """Something short is appended to it."""
    # Another file tells whether it is written. A look at this one might be what a later look remembers.
    if proven(case, f"{what}-twin", what, inside, WRITTEN):
        appended(case, what, inside, MORE)


def read(case: Case, what: str, inside: bytes) -> None:
    """One read of all, and of what is behind some places, on a boundary and off it; and of more than there is."""
    uri, size = proven(case, what, what, inside), len(inside)
    if uri:
        with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as file:
            for start in (0, 1, BLOCK, BLOCK + 1, size // 2 - 1, size - PIECE):
                got = file.read(start, size - start)
                case.check.status("read.succeeds", got, Code.OK)
                case.check.equal("read.ok-is-exactly-n", f"{what}: returned", size - start, got.value.returned)
                same(case, BYTES, f"{what}, at once from {start}", inside[start:], got.value.data)
            short = file.read(BLOCK - 1, size)
        case.check.status("read.short-read-is-out-of-range", short, Code.OUT_OF_RANGE)
        same(case, BYTES, f"{what}, and more", inside[BLOCK - 1 :], short.value.data)


def mapped(case: Case, what: str, inside: bytes) -> None:
    """A region."""
    uri = proven(case, what, what, inside)
    if uri:
        with case.setup, case.setup.opened(case.fs.new_read_only_memory_region_from_file(uri)) as region:
            length = region.length().value
            case.check.equal("length.is-the-file-size", f"{what}: length", len(inside), length)
            same(case, "data.holds-the-file", what, inside, region.data(0, min(length, len(inside))).value[1])


def is_gone(case: Case, clause: str, uri: str) -> None:
    """What an op has taken away is not there."""
    got = case.fs.path_exists(uri)
    if not case.check.unimplemented(got):
        case.check.status(clause, got, Code.NOT_FOUND)


def stays(case: Case, what: str, uri: str, inside: bytes) -> bool:
    """Whether the source of a copy is what it was."""
    clause, opened = "copy_file.source-stays", case.fs.new_random_access_file(uri)
    return case.check.status(clause, opened, Code.OK) and same(
        case, clause, f"{what}, the source", inside, look(case, uri, len(inside) + 1, opened)
    )


def copied(case: Case, what: str, inside: bytes) -> None:
    """A copy, whose source is deleted then."""
    uri, target = proven(case, what, what, inside), case.uri(f"{what}-copied")
    if not uri:
        return
    case.setup.require(case.fs.copy_file(uri, target))
    is_right = same(case, "copy_file.keeps-the-content", what, inside, look(case, target, len(inside) + 1))
    if stays(case, what, uri, inside) and is_right and case.setup.optional(case.fs.delete_file(uri)):
        is_gone(case, "delete_file.deletes", uri)
        left = look(case, target, len(inside) + 1)
        same(case, "copy_file.keeps-the-content", f"{what}, without its source", inside, left)


def renamed(case: Case, what: str, inside: bytes) -> None:
    """Another name."""
    uri, target = proven(case, what, what, inside), case.uri(f"{what}-renamed")
    if uri:
        case.setup.require(case.fs.rename_file(uri, target))
        is_gone(case, "rename_file.source-is-gone", uri)
        same(case, "rename_file.keeps-the-content", what, inside, look(case, target, len(inside) + 1))


def deleted(case: Case, what: str, inside: bytes) -> None:
    """It is deleted, and written again and deleted with its directory."""
    case.setup.mkdir_where_known(what)
    uri = case.setup.write(f"{what}/file", inside)
    case.setup.require(case.fs.delete_file(uri))
    is_gone(case, "delete_file.deletes", uri)
    case.setup.mkdir_where_known(f"{what}-tree")
    uri = case.setup.write(f"{what}-tree/file", inside)
    if case.setup.optional(case.fs.delete_recursively(case.uri(f"{what}-tree"))):
        is_gone(case, "delete_recursively.deletes-everything", uri)


#: How a file comes or goes, and the clauses that tells of.
WAYS: dict[str, tuple[Callable[[Case, str, bytes], None], tuple[str, ...]]] = {
    "at-once": (at_once, (WRITTEN, "append.succeeds", "close.succeeds")),
    "in-pieces": (in_pieces, (WRITTEN, "append.succeeds", "close.succeeds")),
    "in-many-pieces": (in_many_pieces, (WRITTEN, "append.succeeds", "close.succeeds")),
    "synced": (synced, (WRITTEN, "append.succeeds", "close.succeeds", "flush.succeeds", "sync.succeeds")),
    "begun": (begun, (KEPT, WRITTEN, "new_appendable_file.succeeds", "append.succeeds", "close.succeeds")),
    "continued": (continued, (KEPT, WRITTEN, "new_appendable_file.succeeds", "append.succeeds", "close.succeeds")),
    "read": (read, (BYTES, WRITTEN, "read.ok-is-exactly-n", "read.succeeds", "read.short-read-is-out-of-range")),
    "mapped": (mapped, ("data.holds-the-file", "length.is-the-file-size", BYTES, WRITTEN,
                        "new_read_only_memory_region_from_file.succeeds")),
    "copied": (copied, ("copy_file.keeps-the-content", "copy_file.succeeds", "copy_file.source-stays",
                        "delete_file.deletes", "delete_file.succeeds", BYTES, WRITTEN)),
    "renamed": (renamed, ("rename_file.keeps-the-content", "rename_file.succeeds", "rename_file.source-is-gone", BYTES,
                          WRITTEN)),
    "deleted": (deleted, ("delete_file.deletes", "delete_file.succeeds", "delete_recursively.deletes-everything",
                          "delete_recursively.succeeds")),
}  # fmt: skip


def by(*ways: str) -> pytest.MarkDecorator:
    """These ways, each with its own clauses."""
    return pytest.mark.parametrize("way", [pytest.param(way, id=way, marks=clauses(*WAYS[way][1])) for way in ways])


def go(case: Case, way: str, filling: str, size: int) -> None:
    """A file of this size comes or goes in one way."""
    case.surroundings.within_size(size + len(MORE))
    WAYS[way][0](case, filling, FILLINGS[filling](size))


@pytest.mark.parametrize("size", [pytest.param(size, id=str(size)) for size in SIZES])
@by("at-once", "in-pieces", "begun", "continued", "mapped", "copied", "renamed")
@many_calls(150)
def test_filled(case: Case, way: str, size: int) -> None:
    """Files of this size come or go in one way, with each filling."""
    for filling in FILLINGS:
        go(case, way, filling, size)


@large
@pytest.mark.parametrize("size", list(LARGE))
@by(*WAYS)
@many_calls(300)
def test_parts(case: Case, way: str, size: str) -> None:
    """A file of about as many bytes as parts have comes or goes in one way."""
    with case.surroundings.patient(LEAST):
        go(case, way, "varied", LARGE[size])


@large
@pytest.mark.parametrize("filling", [filling for filling in FILLINGS if filling != "varied"])
@by(*WAYS)
@many_calls(100)
def test_filled_parts(case: Case, way: str, filling: str) -> None:
    """A file of 8 MiB with this filling comes or goes in one way."""
    with case.surroundings.patient(LEAST):
        go(case, way, filling, 8 * MIB)


def other(inside: bytes, at: int) -> bytes:
    """The same but for one byte."""
    return inside[:at] + bytes([inside[at] ^ 1]) + inside[at + 1 :]


#: So many bytes more than what takes its place has a file that is longer.
LONGER = 5000
#: What a file held that another one replaces.
OLD: dict[str, Callable[[bytes], bytes]] = {
    "all-but-the-first-byte": lambda new: other(new, 0),
    "all-but-a-byte-near-the-start": lambda new: other(new, 5000),
    "all-but-the-middle-byte": lambda new: other(new, len(new) // 2),
    "all-but-a-byte-near-the-end": lambda new: other(new, len(new) - 5000),
    "all-but-the-last-byte": lambda new: other(new, len(new) - 1),
    "half-of-it-but-a-byte": lambda new: other(new[: len(new) // 2], len(new) // 4),
    "more-than-it-but-a-byte": lambda new: other(new, len(new) // 2) + MORE,
    "others": lambda new: b"\xfe" * len(new),
    "few": lambda new: MORE,
    "more": lambda new: b"\xfe" * (len(new) + LONGER),
}
#: Varied bytes replace each of these, and other fillings two as long, a shorter and a longer one.
SOME = ("all-but-the-middle-byte", "others", "few", "more")
PAIRS = {filling: tuple(OLD) if filling == "varied" else SOME for filling in FILLINGS}
#: The ops that replace a file, with the clause for that, the one for what is there instead in the first place, and the
#: one for what comes of the source.
REPLACING = {
    "copy_file": ("copy_file.replaces-the-target", BYTES, "copy_file.source-stays", WRITTEN),
    "rename_file": ("rename_file.replaces-the-target", BYTES, "rename_file.source-is-gone", WRITTEN),
    "new_writable_file": ("new_writable_file.replaces-what-exists", WRITTEN),
}
replacing = pytest.mark.parametrize("op", [pytest.param(op, id=op, marks=clauses(*REPLACING[op])) for op in REPLACING])


def replace(case: Case, op: str, filling: str, olds: Iterable[str], size: int) -> None:
    """A file of this size takes the place of others."""
    new, (clause, before, *_) = FILLINGS[filling](size), REPLACING[op]
    source = proven(case, filling, filling, new, before)
    if source is None:
        return
    for old in olds:
        what = f"{filling}-onto-{old}"
        uri = case.setup.write(what, OLD[old](new))
        if op == "new_writable_file":
            write(case, case.fs.new_writable_file(uri), new)
        elif not case.check.status(clause, getattr(case.fs, op)(source, uri), Code.OK):
            return
        same(case, clause, what, new, look(case, uri, size + LONGER + 1))
        if op == "copy_file" and not stays(case, what, source, new):
            return
        if op == "rename_file":
            is_gone(case, "rename_file.source-is-gone", source)
            case.setup.write(filling, new)


@pytest.mark.parametrize("size", [pytest.param(size, id=str(size)) for size in (16 * KIB, 192 * KIB + 1)])
@replacing
@many_calls(600)
def test_replaced(case: Case, op: str, size: int) -> None:
    """Files of this size replace such as differ in a byte, or in all of them."""
    for filling, olds in PAIRS.items():
        replace(case, op, filling, olds, size)


@large
@pytest.mark.parametrize("old", list(OLD))
@replacing
@many_calls(200)
def test_replaced_parts(case: Case, op: str, old: str) -> None:
    """A file of 8 MiB replaces one that differs in a byte, or in all of them."""
    with case.surroundings.patient(LEAST):
        for filling in ("varied", "zeros-at-the-end"):
            replace(case, op, filling, [old], 8 * MIB)


#: More appends than anything that counts a round number of them.
APPENDS = 10_003


@large
@pytest.mark.parametrize("op", [
    pytest.param(op, id=op, marks=clauses(*more, WRITTEN, f"{op}.succeeds", "append.succeeds", "close.succeeds"))
    for op, more in (("new_writable_file", ()), ("new_appendable_file", (KEPT,)))
])  # fmt: skip
@many_calls(APPENDS)
def test_many_appends(case: Case, op: str) -> None:
    """A new file, or one that is there, is opened once for more than 10,000 appends of a few bytes."""
    pieces = [b"%d," % k for k in range(APPENDS)]
    case.surroundings.within_size(sum(map(len, pieces)) + len(MORE))
    with case.surroundings.patient(LEAST):
        if op == "new_appendable_file":
            appended(case, "file", MORE, *pieces)
        else:
            uri, inside = case.uri("file"), b"".join(pieces)
            write(case, case.fs.new_writable_file(uri), *pieces)
            same(case, WRITTEN, "file", inside, look(case, uri, len(inside) + 1))
