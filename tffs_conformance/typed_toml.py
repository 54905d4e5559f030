"""Reads TOML files into typed values. What is wrong in a file is one sentence with file, section, entry and key."""

import datetime
import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.inspect import StructType

T = TypeVar("T")

#: The keys that name an entry of an array of tables, the first that it has.
_NAMES = ("id", "name", "clause")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_MISSING = re.compile(r"Object missing required field `(.*)`")

#: What msgspec says, in words for the author of a file.
_PLAIN = {
    " | null": "",
    "Expected": "expected",
    "expected date": "expected a date without quotes such as 2027-03-01",
    r"str matching regex '\\S'": "a text that is not empty",
    "str": "text",
    "object": "table",
}


class TomlError(ValueError):
    """A file is not TOML, or has an unknown key or a value of another type. The text is one sentence."""


def read(path: Path, kind: type[T]) -> T:
    """The content of a file as a value of this type, which may be any that msgspec converts. Raise TomlError."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TomlError(f"{path} is no TOML: {error}") from None
    except RecursionError:
        raise TomlError(f"{path} has more brackets within each other than can be read") from None
    except OSError as error:
        raise TomlError(f"{path} cannot be read: {error.strerror}") from None
    try:
        return _converted(tables, kind)
    except msgspec.ValidationError as error:
        raise TomlError(f"{path}: {_sentence(kind, tables, str(error))}") from None


def _converted(tables: dict[str, Any], kind: type[T]) -> T:
    # A date in quotes is a text.
    return msgspec.convert(tables, kind, builtin_types=(datetime.date, datetime.datetime, datetime.time))


def _sentence(kind: type, tables: dict[str, Any], error: str) -> str:
    what, _, at = error.partition(" - at `$")
    steps = [key or index for key, index in re.findall(r"\.([^.\[\]`]+)|\[(\d+|\.\.\.)\]", at)]
    value: Any = tables
    where: list[str] = []
    for step in steps:
        if isinstance(value, list):
            value = value[int(step)]
            where[-1:] = [f"{where[-1]} {int(step) + 1}{_name(value)}"]
        else:
            where.append(_wrong_key(kind, tables, value, error) if step == "..." else step)
            value = value.get(where[-1])
    if unknown := _UNKNOWN.match(what):
        what = f"has the unknown key {unknown[1]!r}; known are {', '.join(_known(kind, steps))}"
    elif missing := _MISSING.match(what):
        what = f"has no {missing[1]}"
    else:
        what = what.replace("`", "")
        if what.startswith("Expected"):
            for theirs, plain in _PLAIN.items():
                what = what.replace(theirs, plain)
        what = f"is wrong: {what}"
        if what.startswith("is wrong: expected array") and steps[:-1] == [] and _known(kind, [*steps, "0"]):
            what += f"; its entries are written [[{steps[0]}]]"
    return f"{': '.join(where) or 'the file'} {what}"


def _wrong_key(kind: type, tables: dict[str, Any], value: dict[str, Any], error: str) -> str:
    """The key in `value`, a table with keys of any name, that the error is about: the first with which it is raised."""
    entries = list(value.items())
    value.clear()
    for key, entry in entries:
        value[key] = entry
        try:
            _converted(tables, kind)
        except msgspec.ValidationError as raised:
            if str(raised) == error:
                break
    return key


def _name(entry: Any) -> str:
    """The name of an entry in parentheses, with the case that it is about, if it has one."""
    if not isinstance(entry, dict):
        return ""
    keys = [key for key in _NAMES if entry.get(key)][:1] + ["case"] * ("case" in entry)
    # Nothing of it reaches a terminal as it is.
    names = [repr(str(entry[key]))[1:-1] for key in keys]
    return f" ({', '.join(names)})" if names else ""


def _known(kind: type, steps: list[str]) -> list[str]:
    """The keys that a table at this place may have."""
    found: Any = msgspec.inspect.type_info(kind)
    for step in steps:
        if isinstance(found, msgspec.inspect.UnionType):
            found = next(one for one in found.types if not isinstance(one, msgspec.inspect.NoneType))
        if isinstance(found, StructType):
            found = next(field.type for field in found.fields if field.encode_name == step)
        else:
            found = getattr(found, "item_type", None) or getattr(found, "value_type", None)
    if isinstance(found, msgspec.inspect.UnionType):
        found = next(one for one in found.types if isinstance(one, StructType))
    return [field.encode_name for field in found.fields] if isinstance(found, StructType) else []
