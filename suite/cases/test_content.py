"""Content: whatever the bytes look like, however they come and however they go, they are the same."""

import base64
import gzip
import itertools
import struct
from collections.abc import Callable

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.filesystem import WritableFile
from ..engine.case import Case
from ..engine.marks import clauses, many_calls
from .test_bulk import is_stored_otherwise

BYTES = "read.returns-the-bytes"
#: A block of a store that finds equal blocks by their beginnings, and one that differs far inside.
BLOCK = bytes(range(256)) * 256
OTHER = BLOCK[:40_000] + b"?" + BLOCK[40_001:]

CONTENTS: dict[str, bytes] = {
    "one-byte": b"\0",
    "every-byte": bytes(range(256)),
    "nul-at-the-end": b"text\0\0\0",
    "zeros": bytes(8192),
    "zeros-at-the-end": b"x" * 4096 + bytes(8192),
    "line-ends": b"\r\none\r\ntwo\n\rthree\r",
    "control-z": b"before\x1aafter\x04",
    "percent": b"a%20b+c%00&amp;\\n%s",
    "gzip": gzip.compress(b"compressed by whoever wrote it", mtime=0),
    "zip": b"PK\x03\x04\x14\0\0\0\0\0 and what follows",
    "zstd": b"\x28\xb5\x2f\xfd\x04\x58 and what follows",
    "xml": b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>SlowDown</Code></Error>',
    "json": b'{"error": {"code": 503, "message": "try again"}}',
    "utf-8-mark": b"\xef\xbb\xbftext",
    "utf-16": "text".encode("utf-16"),
    "not-utf-8": b"\xff\xfe\x80\xc3\x28",
    "base64": base64.b64encode(bytes(range(48))),
    "multipart": b"--boundary\r\nContent-Type: text/plain\r\n\r\ntext\r\n--boundary--\r\n",
    "chunked": b"5\r\nhello\r\n0\r\n\r\n",
    "record": struct.pack("<QI4sI", 4, 0x1C5F8A9E, b"data", 0xA282EAD8),
    "blocks-alike": BLOCK + OTHER + BLOCK,
}


def at_once(file: WritableFile, content: bytes, case: Case) -> None:
    """One append."""
    case.setup.require(file.append(content))


def in_pieces(file: WritableFile, content: bytes, case: Case) -> None:
    """Three appends with empty ones before, between and behind them."""
    third = len(content) // 3
    for piece in (b"", content[:third], b"", content[third : third + 1], b"", content[third + 1 :], b""):
        case.setup.require(file.append(piece))


def flushed(file: WritableFile, content: bytes, case: Case) -> None:
    """Two appends, with a flush between and two behind them."""
    half = len(content) // 2
    for piece in (content[:half], content[half:]):
        case.setup.require(file.append(piece))
        case.setup.optional(file.flush())
    case.setup.optional(file.flush())


#: How bytes come to a new file, the first way as they come everywhere else, and the clause that is checked.
COMES: dict[str, tuple[Callable[[WritableFile, bytes, Case], None], str]] = {
    "at-once": (at_once, BYTES),
    "in-pieces": (in_pieces, "append.writes-exactly-n"),
    "flushed": (flushed, "append.writes-exactly-n"),
}


def come(case: Case, name: str, way: Callable[[WritableFile, bytes, Case], None], content: bytes) -> str:
    """Write a file in this way, through the backing where the plugin writes none; its URI."""
    if not case.writes_files:
        return case.setup.write(name, content)
    uri = case.uri(name)
    with case.setup, case.setup.opened(case.fs.new_writable_file(uri)) as file:
        way(file, content, case)
        case.setup.require(file.close())
    return uri


def continued(case: Case, content: bytes) -> None:
    """A file with the beginning is opened for appending, twice, at no round number of bytes."""
    cuts = (0, len(content) // 2, len(content) * 3 // 4, len(content))
    uri = case.setup.write("continued", content[: cuts[1]])
    for start, end in itertools.pairwise(cuts[1:]):
        got = case.fs.new_appendable_file(uri)
        if case.check.unimplemented(got):
            return
        with case.setup, case.setup.opened(got) as file:
            case.setup.require(file.append(content[start:end]))
            case.setup.require(file.close())
    case.check.equal("new_appendable_file.keeps-what-exists", "content", content, case.setup.content(uri))


def goes(case: Case, uri: str, content: bytes) -> None:
    """The file is read at the boundaries of powers of two, mapped, copied and renamed."""
    with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as file:
        ends = [0, *(1 << k for k in range(len(content).bit_length()) if 1 << k < len(content)), len(content)]
        for start, end in itertools.pairwise(ends):
            case.check.equal(BYTES, f"data at {start}", content[start:end], file.read(start, end - start).value.data)
    got = case.fs.new_read_only_memory_region_from_file(uri)
    if not case.check.unimplemented(got):
        with case.setup, case.setup.opened(got) as region:
            length = region.length().value
            case.check.equal("length.is-the-file-size", "length", len(content), length)
            data = region.data(0, min(length, len(content))).value[1]
            case.check.equal("data.holds-the-file", "data", content, data)
    for op in ("copy_file", "rename_file"):
        moved = getattr(case.fs, op)(uri, case.uri(op))
        if case.setup.optional(moved):
            case.check.equal(f"{op}.keeps-the-content", "content", content, case.setup.content(case.uri(op)))


@pytest.mark.parametrize("what", list(CONTENTS))
@many_calls(70)
@clauses(BYTES, "append.writes-exactly-n", "new_appendable_file.keeps-what-exists", "length.is-the-file-size",
         "data.holds-the-file", "copy_file.keeps-the-content", "copy_file.succeeds", "rename_file.keeps-the-content",
         "rename_file.succeeds")  # fmt: skip
def test_comes_and_goes(case: Case, what: str) -> None:
    """A file of this content comes in several ways, is read beside another one as long, mapped, copied and renamed."""
    content = CONTENTS[what]
    case.surroundings.within_size(len(content))
    for name, (way, clause) in COMES.items():
        got = case.setup.content(come(case, name, way, content))
        said = "append.writes-exactly-n" if is_stored_otherwise(case, name, content, got) else clause
        # What is wrong already when it comes as everywhere is not laid upon other ways.
        if not case.check.equal(said, "content", content, got) and name == "at-once":
            return
    continued(case, content)
    twin = case.setup.write("twin", content[::-1])
    case.check.equal(BYTES, "content", content[::-1], case.setup.content(twin))
    goes(case, case.uri("at-once"), content)


@clauses("close.keeps-the-data", BYTES, "stat.length-is-the-size")
def test_part(case: Case) -> None:
    """A file that ends where the first part of an upload ends, at 5 MiB, is written, and looked at there."""
    size, end = 5 << 20, b"the end of the last part"
    uri = case.setup.write("file", bytes(size - len(end)) + end)
    case.check.equal("stat.length-is-the-size", "length", size, case.setup.require(case.fs.stat(uri)).length)
    with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as file:
        got = file.read(size - len(end), len(end) + 1)
    if not case.check.status(BYTES, got, Code.OK, Code.OUT_OF_RANGE):
        return
    # What came through the backing says nothing of close.
    kept = "close.keeps-the-data" if case.writes_files else BYTES
    case.check.equal(kept, "data at the end", end, got.value.data)
    case.check.equal(BYTES, "returned", len(end), got.value.returned)
