"""Op calls as people read them."""

from collections.abc import Mapping

from ...harness.outcomes import Outcome
from ...harness.raw import Call
from ...harness.tables import FILESYSTEM, TABLES

_ON_FILESYSTEM = frozenset(TABLES[FILESYSTEM])
#: Longer byte strings are shown by their length and their first bytes.
_SHOWN = 40
#: Of longer lists the first entries are shown.
_ENTRIES = 12


def show(value: object) -> str:
    """A value in few characters."""
    if isinstance(value, bytes):
        return repr(value) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}… ({len(value)} bytes)"
    if isinstance(value, str):
        return repr(value) if len(value) <= 2 * _SHOWN else f"{value[:_SHOWN]!r}… ({len(value)} characters)"
    if isinstance(value, dict):
        return "{" + _few([f"{show(key)}: {show(entry)}" for key, entry in value.items()]) + "}"
    if isinstance(value, list | tuple):
        return "[" + _few([show(entry) for entry in value]) + "]"
    return str(value) if isinstance(value, int) else repr(value)


def differing(one: Mapping[str, object], other: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """What each of two mappings has that the other has not, or has otherwise."""
    mine = {key: value for key, value in one.items() if key not in other or other[key] != value}
    theirs = {key: value for key, value in other.items() if key not in one or one[key] != value}
    return mine, theirs


def _few(shown: list[str]) -> str:
    more = len(shown) - _ENTRIES
    return ", ".join(shown[:_ENTRIES] + ([f"and {more} more"] if more > 0 else []))


def line(call: Call) -> str:
    """One call: op, arguments, and what came of it."""
    op, arguments, outcome = call
    shown = arguments[1:] if op in _ON_FILESYSTEM else arguments
    head = f"{op}({', '.join(show(_text(argument)) for argument in shown)})"
    if not isinstance(outcome, Outcome):
        return f"{head} -> {outcome}"
    value = "" if outcome.value is None else f" {show(outcome.value)}"
    return f"{head} -> {outcome.code}{value}" + (f" [{outcome.message}]" if outcome.message else "")


def _text(argument: object) -> object:
    if isinstance(argument, bytes) and len(argument) <= 4 * _SHOWN:
        try:
            return argument.decode()
        except UnicodeDecodeError:
            return argument
    return argument
