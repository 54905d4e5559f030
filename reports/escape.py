"""Text from a plugin made safe to show: a terminal must never obey it."""

import shlex
import unicodedata
from collections.abc import Iterable

#: Unicode categories whose characters steer a terminal, hide, or are no characters: controls (C0, C1, DEL), format
#: characters (bidirectional overrides, zero-width joiners, tags), surrogates, private use, unassigned, line and
#: paragraph separators.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def printable(text: str) -> str:
    """`text` on one line, with everything that could steer a terminal written as an escape of Python's.

    A byte that was no UTF-8 (a lone surrogate of surrogateescape) is shown as the byte it was. Backslashes are doubled
    where anything else was escaped, so that an escape cannot be faked; text without such characters is unchanged.
    """
    if text.isascii() and text.isprintable():
        return text
    if not any(steers(character) for character in text):
        return text
    return "".join(_escaped(character) for character in text)


def command_line(arguments: Iterable[str]) -> str:
    """A command on one line that means the same when it is pasted into bash, and steers no terminal until then."""
    return " ".join(map(_word, arguments))


def _word(argument: str) -> str:
    if printable(argument) == argument:
        return shlex.quote(argument)
    return "$'" + "".join(map(_bash, argument)) + "'"


def _bash(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if not steers(character):
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def steers(character: str) -> bool:
    """Whether a character could steer a terminal, hides, or is none."""
    return unicodedata.category(character) in _UNSAFE


def _escaped(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    if not steers(character):
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
