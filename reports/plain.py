"""Typed records as JSON text, and back.

msgspec converts between the types and plain Python values, and checks every value that is read. The text itself is
written and read by Python's own json module, because of what a plugin may say: bytes that are not UTF-8 are lone
surrogates in our texts (`os.fsdecode`), JSON holds them as escapes such as `\\udcff`, and msgspec's own encoder and
decoder refuse both.
"""

import hashlib
import json
from typing import Any, NoReturn, TypeVar

import msgspec

T = TypeVar("T")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"JSON has no {constant}")


# Made once: json.dumps and json.loads make one for each call that asks for more than their defaults.
_ENCODER = json.JSONEncoder(allow_nan=False)
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_DECODER = json.JSONDecoder(parse_constant=_refuse)


def plain(value: object) -> Any:
    """A record as dictionaries, lists or tuples, texts and numbers: what JSON can hold."""
    return msgspec.to_builtins(value)


def dumps(value: object) -> str:
    """Plain values as JSON on one line, in ASCII. Raises ValueError for a number that JSON lacks (NaN)."""
    return _ENCODER.encode(value)


def text(value: object) -> str:
    """A record as JSON on one line, in ASCII. Raises ValueError for a number that JSON lacks (NaN)."""
    return dumps(plain(value))


def parse(source: str) -> Any:
    """The plain values of a JSON text. Raises ValueError where it is not JSON."""
    try:
        return _DECODER.decode(source)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def typed(value: object, kind: type[T]) -> T:
    """The record of this type that plain values stand for. Raises ValueError, which names the place, for others."""
    return msgspec.convert(value, kind)


def read(source: str, kind: type[T]) -> T:
    """The record of this type that a JSON text stands for. Raises ValueError."""
    return typed(parse(source), kind)


def digest_of(value: object) -> str:
    """SHA-256 (64 hexadecimal digits) over plain values as compact ASCII JSON with sorted keys. Raises ValueError."""
    return hashlib.sha256(_CANONICAL.encode(value).encode("ascii")).hexdigest()
