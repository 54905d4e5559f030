"""Op calls as people read them: each value in few characters, whatever a plugin answers."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass

from ...harness.ops.outcomes import Outcome
from ...harness.ops.tables import FILESYSTEM, TABLES
from ...harness.over_tables.raw import Call

_ON_FILESYSTEM = frozenset(TABLES[FILESYSTEM])
#: Longer byte strings are shown by their length and their first bytes.
_SHOWN = 40
#: Of longer lists the first entries are shown.
_ENTRIES = 12


@dataclass(frozen=True, slots=True)
class Cut:
    """What is left of a byte string that was too long to be remembered."""

    head: bytes
    length: int
    digest: str

    @classmethod
    def of(cls, data: bytes) -> "Cut":
        """The first bytes, the length, and the digest."""
        return cls(data[:_SHOWN], len(data), hashlib.sha256(data).hexdigest())


@dataclass(frozen=True, slots=True)
class ValueFormat:
    """How values are shown: `presentable` makes the text that a reader sees, before it is cut at `most` characters.

    `kept` takes byte strings that are cut; then they are shown with their digest, which is what they are kept as.
    """

    presentable: Callable[[str], str] = str
    most: int = _SHOWN
    kept: Callable[[bytes], str] | None = None

    def show(self, value: object) -> str:
        """A value in few characters."""
        match value:
            case bytes():
                return repr(value) if len(value) <= self.most else self._cut(value)
            case Cut(head, length, digest):
                return f"{head!r}… ({length} bytes, sha256 {digest})"
            case str():
                text = self.presentable(value)
                return repr(text) if len(text) <= 2 * self.most else f"{text[: self.most]!r}… ({len(text)} characters)"
            case dict():
                return "{" + self._few([f"{self.show(key)}: {self.show(entry)}" for key, entry in value.items()]) + "}"
            case list() | tuple():
                shown = [self.show(entry) for entry in value[: _ENTRIES * self.most]]
                return "[" + self._few(shown, len(value)) + "]"
            case int():
                return str(value)
        if is_dataclass(value):
            parts = (f"{field.name}={self.show(getattr(value, field.name))}" for field in fields(value))
            return f"{type(value).__name__}({', '.join(parts)})"
        return self.show(repr(value)) if len(repr(value)) > self.most else self.presentable(repr(value))

    def line(self, call: Call) -> str:
        """One call: op, arguments, and what came of it."""
        op, arguments, outcome = call
        shown = arguments[1:] if op in _ON_FILESYSTEM else arguments
        head = f"{op}({', '.join(self.show(self._text(argument)) for argument in shown)})"
        if not isinstance(outcome, Outcome):
            return f"{head} -> {self._said(str(outcome))}"
        value = "" if outcome.value is None else f" {self.show(outcome.value)}"
        said = f" [{self._said(outcome.message)}]" if outcome.message else ""
        core = f" (called by core's default {outcome.called_by})" if outcome.called_by else ""
        return f"{head} -> {outcome.code}{value}{said}{core}"

    def _cut(self, value: bytes) -> str:
        digest = f", sha256 {self.kept(value)}" if self.kept else ""
        return f"{value[: self.most]!r}… ({len(value)} bytes{digest})"

    def _few(self, shown: list[str], count: int | None = None) -> str:
        most = _ENTRIES if self.most == _SHOWN else len(shown)
        more = (len(shown) if count is None else count) - most
        return ", ".join(shown[:most] + ([f"and {more} more"] if more > 0 else []))

    def _said(self, text: str) -> str:
        """A text of the plugin's own, which is longer than a name."""
        most = 10 * self.most
        text = self.presentable(text)
        return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"

    def _text(self, argument: object) -> object:
        if isinstance(argument, bytes) and len(argument) <= 4 * self.most:
            try:
                return argument.decode()
            except UnicodeDecodeError:
                return argument
        return argument


_PLAIN = ValueFormat()


def show(value: object, presentable: Callable[[str], str] = str) -> str:
    """A value in few characters; `presentable` makes of a text what a reader sees."""
    return (_PLAIN if presentable is str else ValueFormat(presentable)).show(value)


def differing(one: Mapping[str, object], other: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """What each of two mappings has that the other has not, or has otherwise."""
    mine = {key: value for key, value in one.items() if key not in other or other[key] != value}
    theirs = {key: value for key, value in other.items() if key not in one or one[key] != value}
    return mine, theirs
