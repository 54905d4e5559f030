"""The client's end of the wire: frames of integers and byte strings, as docs/wire.md defines them.

The host's end is `harness/host/wire.h`; the two are twins.
"""

import os
import struct
from collections.abc import Iterable, Sequence

Value = int | bytes

_LENGTH = struct.Struct("<I")
_INTEGER = struct.Struct("<q")
_TAGGED_INTEGER = struct.Struct("<cq")
_TAGGED_LENGTH = struct.Struct("<cI")
_INTEGER_TAG, _BYTES_TAG = b"is"

LENGTH_BYTES = _LENGTH.size
LARGEST_BODY = 256 << 20

_WRAP = 1 << 64
_SIGN = 1 << 63


class WireError(Exception):
    """The bytes are no frame."""


def encode(values: Iterable[Value]) -> bytes:
    """One frame. Integers from -2**63 to 2**64-1; those from 2**63 travel as the negative number with the same bits."""
    parts = []
    for value in values:
        if isinstance(value, int):
            parts.append(_TAGGED_INTEGER.pack(b"i", value - _WRAP if value >= _SIGN else value))
        else:
            parts.append(_TAGGED_LENGTH.pack(b"s", len(value)))
            parts.append(value)
    body = b"".join(parts)
    if len(body) > LARGEST_BODY:
        raise WireError(f"a frame of {len(body)} bytes is over the limit of {LARGEST_BODY}")
    return _LENGTH.pack(len(body)) + body


def body_length(frame: bytes) -> int:
    """The length of the body that follows the first `LENGTH_BYTES` bytes."""
    length: int = _LENGTH.unpack_from(frame)[0]
    if length > LARGEST_BODY:
        raise WireError(f"a frame of {length} bytes is over the limit of {LARGEST_BODY}")
    return length


def decode(body: bytes) -> list[Value]:
    """The values of one frame's body."""
    values: list[Value] = []
    at = 0
    end = len(body)
    try:
        while at < end:
            tag = body[at]
            if tag == _INTEGER_TAG:
                values.append(_INTEGER.unpack_from(body, at + 1)[0])
                at += 9
            elif tag == _BYTES_TAG:
                start = at + 5
                at = start + _LENGTH.unpack_from(body, at + 1)[0]
                if at > end:
                    raise WireError("a byte string ends behind its frame")
                values.append(body[start:at])
            else:
                raise WireError(f"unknown tag {tag:#x} at byte {at}")
    except struct.error as error:
        raise WireError(f"the frame ends inside a value: {error}") from error
    return values


class Reply:
    """The values behind `done`, taken one after the other; each `take_*` says what it expects."""

    __slots__ = ("_next", "_values")

    def __init__(self, values: Sequence[Value]) -> None:
        self._values = values
        self._next = 0

    def __len__(self) -> int:
        return len(self._values) - self._next

    def take(self) -> Value:
        """The next value, whatever it is."""
        at = self._next
        if at >= len(self._values):
            raise WireError("the reply is too short")
        self._next = at + 1
        return self._values[at]

    def take_number(self) -> int:
        """A signed 64-bit number."""
        value = self.take()
        if not isinstance(value, int):
            raise WireError("bytes stand where a number belongs")
        return value

    def take_bytes(self) -> bytes:
        """A byte string."""
        value = self.take()
        if not isinstance(value, bytes):
            raise WireError("a number stands where bytes belong")
        return value

    def take_text(self) -> str:
        """A byte string as a name is decoded: bytes that are not UTF-8 become lone surrogates."""
        text = self.take_bytes()
        return os.fsdecode(text) if text else ""


def unsigned(value: int) -> int:
    """The unsigned 64-bit number that travelled as `value`."""
    return value + _WRAP if value < 0 else value
