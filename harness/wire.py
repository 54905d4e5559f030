"""The client's end of the wire: frames of integers and byte strings, as docs/wire.md defines them.

The host's end is `harness/host/wire.h`; the two are twins.
"""

import contextlib
import fcntl
import functools
import mmap
import os
import struct
from collections.abc import Callable, Iterable, Iterator

Value = int | bytes

_LENGTH = struct.Struct("<I")
_TAGGED_INTEGER = struct.Struct("<cq")
_TAGGED_LENGTH = struct.Struct("<cI")
#: Code, empty message and watch.
_STATUS = struct.Struct("<cqcIcq")
_INTEGER_TAG = ord("i")

LENGTH_BYTES = _LENGTH.size
LARGEST_BODY = 256 << 20
#: Bytes that are read at a time: what a pipe holds unless it was told otherwise.
CHUNK = 1 << 16
#: Bytes that a pipe holds for a large frame: the most that Linux gives to everybody.
PIPE_BYTES = 1 << 20

_WRAP = 1 << 64
_SIGN = 1 << 63


#: Of the frames, the commands and their answers: docs/wire.md.
WIRE_VERSION = 7


class WireError(Exception):
    """The bytes are no frame."""


def encode(command: str, values: Iterable[Value] = ()) -> bytes:
    """The frame of one request. Integers from -2**63 to 2**64-1; those from 2**63 travel with the same bits."""
    body = values_of(command, values)
    if len(body) > LARGEST_BODY:
        raise WireError(f"a frame of {len(body)} bytes is over the limit of {LARGEST_BODY}")
    return _LENGTH.pack(len(body)) + body


def values_of(command: str, values: Iterable[Value] = ()) -> bytes:
    """The body of one request: what stands in its frame, or in a program."""
    parts = [_command(command)]
    for value in values:
        if isinstance(value, bytes):
            parts.append(_TAGGED_LENGTH.pack(b"s", len(value)) + value)
        else:
            parts.append(_TAGGED_INTEGER.pack(b"i", value - _WRAP if value >= _SIGN else value))
    return b"".join(parts)


@functools.cache
def _command(command: str) -> bytes:
    name = command.encode()
    return _TAGGED_LENGTH.pack(b"s", len(name)) + name


class Frames:
    """The frames in a stream of bytes that comes in pieces. Takes time as the bytes grow, however large a frame is."""

    def __init__(self) -> None:
        self._pending = b""
        self._large: memoryview | None = None  # a frame that comes in many pieces, as long as it will be
        self._filled = 0

    def read(self, descriptor: int) -> bool:
        """Take what there is to read from `descriptor`; False at its end. Raises BlockingIOError, WireError."""
        if self._large is not None:
            got = os.readv(descriptor, [self._large[self._filled :]])
            self._filled += got
            return got > 0
        chunk = os.read(descriptor, CHUNK)
        self._pending = self._pending + chunk if self._pending else chunk
        if len(self._pending) >= CHUNK:
            needed = LENGTH_BYTES + _body_length(self._pending)
            if needed > len(self._pending):
                widen(descriptor)
                self._large = _room(needed)
                self._filled = len(self._pending)
                self._large[: self._filled] = self._pending
                self._pending = b""
        return bool(chunk)

    def take(self) -> "Reply | None":
        """The next whole frame, None where it is not all there. Raises WireError."""
        if self._large is not None:
            if self._filled < len(self._large):
                return None
            frame, self._large = self._large, None
            return Reply(frame, LENGTH_BYTES)
        pending = self._pending
        if len(pending) < LENGTH_BYTES:
            return None
        end = LENGTH_BYTES + _body_length(pending)
        if len(pending) == end:
            self._pending = b""
            return Reply(pending, LENGTH_BYTES)
        if len(pending) < end:
            return None
        self._pending = pending[end:]
        return Reply(pending[:end], LENGTH_BYTES)


def _room(size: int) -> memoryview:
    """So many bytes to read into, in large pages where there are any: to touch them first costs as much as to copy."""
    room = mmap.mmap(-1, size)
    with contextlib.suppress(OSError):
        room.madvise(mmap.MADV_HUGEPAGE)
    return memoryview(room)


def widen(descriptor: int) -> None:
    """Let a pipe hold more at a time, where the machine allows it: a large frame then costs fewer turns."""
    with contextlib.suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _body_length(frame: bytes) -> int:
    length: int = _LENGTH.unpack_from(frame)[0]
    if length > LARGEST_BODY:
        raise WireError(f"a frame of {length} bytes is over the limit of {LARGEST_BODY}")
    return length


class Reply:
    """The values of one frame, taken one after the other; each `take_*` says what it expects.

    `body` holds the values from byte `at` on. `damaged` makes what is raised where another value stands there, or none:
    WireError, unless the client knows what the plugin has to do with it.
    """

    __slots__ = ("_at", "_body", "damaged")

    def __init__(self, body: bytes | memoryview, at: int = 0) -> None:
        self._body = body
        self._at = at
        self.damaged: Callable[[str], Exception] = WireError

    def is_a(self, kind: bytes) -> bool:
        """Whether the next value is this byte string; it is not taken."""
        at = self._at + _TAGGED_LENGTH.size
        return self._body[self._at : at + len(kind)] == _TAGGED_LENGTH.pack(b"s", len(kind)) + kind

    @property
    def more(self) -> bool:
        """Whether there are values left."""
        return self._at < len(self._body)

    def take_status(self) -> tuple[int, str, int]:
        """A number, a text and a number: code, message and watch, as the answer of every op has them."""
        body, at = self._body, self._at
        if len(body) - at >= _STATUS.size:
            tag, code, tag_of_text, length, tag_of_watch, watch = _STATUS.unpack_from(body, at)
            if not length and (tag, tag_of_text, tag_of_watch) == (b"i", b"s", b"i"):
                self._at = at + _STATUS.size
                return code, "", watch
        return self.take_number(), self.take_text(), self.take_number()

    def take(self) -> Value:
        """The next value, whatever it is."""
        return self.take_number() if self.more and self._body[self._at] == _INTEGER_TAG else self.take_bytes()

    def take_number(self) -> int:
        """A signed 64-bit number."""
        try:
            tag, value = _TAGGED_INTEGER.unpack_from(self._body, self._at)
        except struct.error as error:
            raise self.damaged(f"the frame ends where a number belongs: {error}") from error
        if tag != b"i":
            raise self.damaged("no number stands where one belongs")
        self._at += _TAGGED_INTEGER.size
        return value  # type: ignore[no-any-return]

    def take_bytes(self) -> bytes:
        """A byte string."""
        try:
            tag, length = _TAGGED_LENGTH.unpack_from(self._body, self._at)
        except struct.error as error:
            raise self.damaged(f"the frame ends where bytes belong: {error}") from error
        start = self._at + _TAGGED_LENGTH.size
        end = start + length
        if tag != b"s":
            raise self.damaged("no bytes stand where they belong")
        if end > len(self._body):
            raise self.damaged("a byte string ends after its frame")
        self._at = end
        return bytes(self._body[start:end])

    def take_reply(self) -> "Reply":
        """A byte string that holds values of its own."""
        reply = Reply(self.take_bytes())
        reply.damaged = self.damaged
        return reply

    def take_text(self) -> str:
        """A byte string as a name is decoded: bytes that are not UTF-8 become lone surrogates."""
        text = self.take_bytes()
        return os.fsdecode(text) if text else ""

    def take_texts(self) -> Iterator[str]:
        """All that is left, texts one and all."""
        while self.more:
            yield self.take_text()


def unsigned(value: int) -> int:
    """The unsigned 64-bit number that travelled as `value`."""
    return value + _WRAP if value < 0 else value
