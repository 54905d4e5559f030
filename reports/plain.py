"""Typed records as JSON text, and back.

msgspec converts between the types and plain Python values, and checks every value that is read. The text itself is
written and read by Python's own json module, because of what a plugin may say: bytes that are not UTF-8 are lone
surrogates in our texts (`os.fsdecode`), JSON holds them as escapes such as `\\udcff`, and msgspec's own encoder and
decoder refuse both.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Any, NoReturn, TypeVar

import msgspec

T = TypeVar("T")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"JSON has no {constant}")


# Made once: json.dumps and json.loads make one for each call that asks for more than their defaults.
_ENCODER = json.JSONEncoder(allow_nan=False)
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_DECODER = json.JSONDecoder(parse_constant=_refuse)


def fields_of(kind: type[msgspec.Struct], value: msgspec.Struct) -> dict[str, Any]:
    """The fields of `kind`, by name, as a record of a kind that has more of them gives them."""
    return {name: getattr(value, name) for name in kind.__struct_fields__}


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


def digest_of_all(records: Iterable[object]) -> str:
    """The same over a list of records."""
    digest = Digest()
    for record in records:
        digest.add(plain(record))
    return digest.text()


class Digest:
    """The same over a list of which one value comes after the other: there may be very many."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()
        self._before = b"["

    def add(self, value: object) -> None:
        """Go on with these plain values. Raises ValueError."""
        self._sha256.update(self._before + _CANONICAL.encode(value).encode("ascii"))
        self._before = b","

    def text(self) -> str:
        """The digest of the list so far."""
        whole = self._sha256.copy()
        whole.update(b"[]" if self._before == b"[" else b"]")
        return whole.hexdigest()
