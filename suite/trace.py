"""Op calls as people read them."""

from tffs_conformance.harness.outcomes import Outcome
from tffs_conformance.harness.raw import Call
from tffs_conformance.harness.tables import FILESYSTEM, TABLES

_ON_FILESYSTEM = frozenset(TABLES[FILESYSTEM])
#: Longer byte strings are shown by their length and their first bytes.
_SHOWN = 40


def show(value: object) -> str:
    """A value in few characters."""
    if isinstance(value, bytes):
        return repr(value) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}… ({len(value)} bytes)"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {show(entry)}" for key, entry in value.items()) + "}"
    return str(value) if isinstance(value, int) else repr(value)


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
