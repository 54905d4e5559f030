"""Bulk: as many bytes as blocks and parts have, whatever fills them, come, go and replace others whole."""

from collections.abc import Callable, Iterable

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.filesystem import WritableFile
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


def _now_and_then(size: int) -> bytes:
    """Every other block is one of zeros."""
    return b"".join(bytes(BLOCK) if k % 2 else content(BLOCK) for k in range(size // BLOCK + 1))[:size]


#: What fills a file of a size. Blocks of zeros, of all sizes up to a quarter of it, begin and end where blocks do.
FILLINGS: dict[str, Callable[[int], bytes]] = {
    "varied": content,
    "zeros": bytes,
    "zeros-at-the-start": lambda size: bytes(size // 2) + content(size)[size // 2 :],
    "zeros-in-the-middle": lambda size: content(size // 4) + bytes(size // 2) + content(size)[size // 4 + size // 2 :],
    "zeros-at-the-end": lambda size: content(size // 2) + bytes(size - size // 2),
    "zeros-now-and-then": _now_and_then,
    "alike": lambda size: b"x" * size,
}


def look(case: Case, uri: str, most: int) -> bytes:
    """What is in a file, read in pieces; at most `most` bytes."""
    pieces = []
    with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as file:
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


def proven(case: Case, name: str, what: str, inside: bytes, clause: str = BYTES) -> str | None:
    """The URI of a new file; None where not this is read from it, and there is no more to say of it."""
    uri = case.setup.write(name, inside)
    return uri if same(case, clause, f"{what}, as written", inside, look(case, uri, len(inside) + 1)) else None


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


def appended(case: Case, what: str, old: bytes, new: bytes) -> None:
    """One append to a file that is there."""
    uri = case.setup.write(what, old)
    write(case, case.fs.new_appendable_file(uri), new)
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
    """One read."""
    uri = proven(case, what, what, inside)
    if uri:
        with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as file:
            got = file.read(0, len(inside))
        case.check.status("read.succeeds", got, Code.OK)
        case.check.equal("read.ok-is-exactly-n", f"{what}: returned", len(inside), got.value.returned)
        same(case, BYTES, f"{what}, at once", inside, got.value.data)


def mapped(case: Case, what: str, inside: bytes) -> None:
    """A region."""
    uri = proven(case, what, what, inside)
    if uri:
        with case.setup, case.setup.opened(case.fs.new_read_only_memory_region_from_file(uri)) as region:
            length = region.length().value
            case.check.equal("length.is-the-file-size", f"{what}: length", len(inside), length)
            same(case, "data.holds-the-file", what, inside, region.data(0, min(length, len(inside))).value[1])


def moved(case: Case, op: str, what: str, inside: bytes) -> None:
    """A file is copied or renamed to where nothing is."""
    uri, target = proven(case, what, what, inside), case.uri(f"{what}-moved")
    if uri:
        case.setup.require(getattr(case.fs, op)(uri, target))
        same(case, f"{op}.keeps-the-content", what, inside, look(case, target, len(inside) + 1))


def copied(case: Case, what: str, inside: bytes) -> None:
    """A copy."""
    moved(case, "copy_file", what, inside)


def renamed(case: Case, what: str, inside: bytes) -> None:
    """Another name."""
    moved(case, "rename_file", what, inside)


#: How a file comes or goes, and the clauses that tells of.
WAYS: dict[str, tuple[Callable[[Case, str, bytes], None], tuple[str, ...]]] = {
    "at-once": (at_once, (WRITTEN, "append.succeeds", "close.succeeds")),
    "in-pieces": (in_pieces, (WRITTEN, "append.succeeds", "close.succeeds")),
    "in-many-pieces": (in_many_pieces, (WRITTEN, "append.succeeds", "close.succeeds")),
    "begun": (begun, (KEPT, WRITTEN, "new_appendable_file.succeeds", "append.succeeds", "close.succeeds")),
    "continued": (continued, (KEPT, WRITTEN, "new_appendable_file.succeeds", "append.succeeds", "close.succeeds")),
    "read": (read, (BYTES, "read.ok-is-exactly-n", "read.succeeds")),
    "mapped": (mapped, ("data.holds-the-file", "length.is-the-file-size", BYTES,
                        "new_read_only_memory_region_from_file.succeeds")),
    "copied": (copied, ("copy_file.keeps-the-content", "copy_file.succeeds", BYTES)),
    "renamed": (renamed, ("rename_file.keeps-the-content", "rename_file.succeeds", BYTES)),
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
@many_calls(100)
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


#: What a file held that another one replaces.
OLD: dict[str, Callable[[bytes], bytes]] = {
    "all-but-the-first-byte": lambda new: other(new, 0),
    "all-but-a-byte-near-the-start": lambda new: other(new, 5000),
    "all-but-the-middle-byte": lambda new: other(new, len(new) // 2),
    "all-but-a-byte-near-the-end": lambda new: other(new, len(new) - 5000),
    "all-but-the-last-byte": lambda new: other(new, len(new) - 1),
    "half-of-it-but-a-byte": lambda new: other(new[: len(new) // 2], len(new) // 4),
    "more-than-it-but-a-byte": lambda new: other(new, len(new) // 2) + MORE,
    "others": lambda new: b"\xff" * len(new),
}
#: Varied bytes replace each of these, and other fillings two of them.
PAIRS = {filling: tuple(OLD) if filling == "varied" else ("all-but-the-middle-byte", "others") for filling in FILLINGS}
#: The ops that replace a file, the clause for that, and the one for what is there instead in the first place.
REPLACING = {
    "copy_file": ("copy_file.replaces-the-target", BYTES),
    "rename_file": ("rename_file.replaces-the-target", BYTES),
    "new_writable_file": ("new_writable_file.replaces-what-exists", WRITTEN),
}
replacing = pytest.mark.parametrize("op", [pytest.param(op, id=op, marks=clauses(*REPLACING[op])) for op in REPLACING])


def replace(case: Case, op: str, filling: str, olds: Iterable[str], size: int) -> None:
    """A file of this size takes the place of others."""
    new, (clause, before) = FILLINGS[filling](size), REPLACING[op]
    source = proven(case, filling, filling, new, before)
    for old in olds if source else ():
        what = f"{filling}-onto-{old}"
        uri = case.setup.write(what, OLD[old](new))
        if op == "new_writable_file":
            write(case, case.fs.new_writable_file(uri), new)
        elif not case.check.status(clause, getattr(case.fs, op)(source, uri), Code.OK):
            return
        same(case, clause, what, new, look(case, uri, size + len(MORE) + 1))
        if op == "rename_file":
            case.setup.write(filling, new)


@pytest.mark.parametrize("size", [pytest.param(size, id=str(size)) for size in (16 * KIB, 192 * KIB + 1)])
@replacing
@many_calls(250)
def test_replaced(case: Case, op: str, size: int) -> None:
    """Files of this size replace such as differ in a byte, or in all of them."""
    for filling, olds in PAIRS.items():
        replace(case, op, filling, olds, size)


@large
@pytest.mark.parametrize("old", list(OLD))
@replacing
@many_calls(100)
def test_replaced_parts(case: Case, op: str, old: str) -> None:
    """A file of 8 MiB replaces one that differs in a byte, or in all of them."""
    with case.surroundings.patient(LEAST):
        replace(case, op, "varied", [old], 8 * MIB)
