"""Lines of text for a terminal, wrapped and escaped."""

import textwrap
from collections.abc import Iterator, Mapping

from ..escape import printable

#: A line and how pytest's terminal writer is to show it.
Line = tuple[str, Mapping[str, bool]]

_NARROWEST, _WIDEST = 60, 120


def fitting(width: int) -> int:
    """The columns to write in, on a terminal of this width."""
    return max(_NARROWEST, min(width, _WIDEST))


def rule(title: str, columns: int) -> str:
    """A line with a title in its middle."""
    return title.center(columns, "=")


def wrapped(head: str, text: str, columns: int) -> Iterator[Line]:
    """Any text behind a head, in as many lines as it needs."""
    lines = textwrap.wrap(printable(text), columns - len(head), break_on_hyphens=False) or [""]
    for place, line in enumerate(lines):
        yield (head if place == 0 else " " * len(head)) + line, {}
