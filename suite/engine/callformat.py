"""Op calls as people read them: each value in few characters, whatever a plugin answers."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from dataclasses import replace as changed
from itertools import accumulate

from ...harness.ops.outcomes import POISON_SIGNED, POISON_UNSIGNED, Outcome, Read
from ...harness.ops.tables import FILESYSTEM, TABLES
from ...harness.over_tables.raw import Call
from ...reports.model.redaction import PIECE, Redaction

_ON_FILESYSTEM = frozenset(TABLES[FILESYSTEM])
_NOTHING = Redaction({})
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
        return cls(data[: _SHOWN + PIECE - 1], len(data), hashlib.sha256(data).hexdigest())


@dataclass(frozen=True, slots=True)
class ValueFormat:
    """How values are shown: `presentable` makes the text that a reader sees, before it is cut at `most` characters.

    `redaction` takes secrets out of byte strings and of what is in pieces. `kept` takes byte strings that are cut; then
    they are shown with their digest, which is what they are kept as.
    """

    presentable: Callable[[str], str] = str
    redaction: Redaction = _NOTHING
    most: int = _SHOWN
    kept: Callable[[bytes], str] | None = None

    def show(self, value: object) -> str:
        """A value in few characters."""
        match value:
            case bytes():
                return repr(self.redaction.data(value)) if len(value) <= self.most else self._cut(value)
            case Cut(head, length, digest):
                return f"{self._head(head, _SHOWN)}… ({length} bytes, sha256 {digest})"
            case str():
                text = self.presentable(value)
                return repr(text) if len(text) <= 2 * self.most else f"{text[: self.most]!r}… ({len(text)} characters)"
            case dict():
                return "{" + self._few([f"{self.show(key)}: {self.show(entry)}" for key, entry in value.items()]) + "}"
            case list() | tuple():
                shown = [self.show(entry) for entry in self._unsplit(value[: _ENTRIES * self.most])]
                return "[" + self._few(shown, len(value)) + "]"
            case int():
                return "not written" if value in (POISON_SIGNED, POISON_UNSIGNED) else str(value)
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
        return f"{self._head(value, self.most)}… ({len(value)} bytes{digest})"

    def _head(self, value: bytes, most: int) -> str:
        """The first bytes. They are cut after they were redacted: then no part of a secret is left before the cut."""
        return repr(self.redaction.data(value[: most + PIECE - 1])[:most])

    def _unsplit(self, entries: Sequence[object]) -> Sequence[object]:
        """Entries that together are no secret either."""
        texts = [os.fsencode(entry) for entry in entries if isinstance(entry, str | bytes)]
        if not self.redaction.is_needed or len(texts) < len(entries):
            return entries
        places = accumulate(map(len, texts[:-1]), initial=0)
        parts = self.redaction.pieces([*zip(places, texts, strict=False)])
        return [
            part if isinstance(entry, bytes) else os.fsdecode(part) for part, entry in zip(parts, entries, strict=True)
        ]

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


#: A value in few characters.
show = ValueFormat().show


def unsplit(calls: Sequence[Call], redaction: Redaction) -> Sequence[Call]:
    """The calls without the secrets that several reads return together: of one file, or one after the other."""
    if not redaction.is_needed:
        return calls
    opened: dict[object, object] = {}
    reads: dict[int, bytes] = {}
    files: dict[object, dict[int, int]] = {}
    for number, (op, arguments, outcome) in enumerate(calls):
        match arguments, outcome:
            case (_, path), Outcome(value=int() as handle) if op.startswith("new_"):
                opened[handle] = path
            case (handle, int() as offset, _), Outcome(value=Read(data=bytes() as data) | (int(), bytes() as data)):
                files.setdefault(opened.get(handle, handle), {})[number] = offset
                reads[number] = data
    in_time = dict(zip(reads, accumulate(map(len, reads.values()), initial=0), strict=False))
    for places in (*files.values(), in_time):
        parts = redaction.pieces([(place, reads[number]) for number, place in places.items()])
        reads |= zip(places, parts, strict=True)
    whole = list(calls)
    for number, data in reads.items():
        op, arguments, outcome = calls[number]
        assert isinstance(outcome, Outcome)
        value = outcome.value
        read = changed(value, data=data) if isinstance(value, Read) else (0, data)
        whole[number] = (op, arguments, changed(outcome, value=read))
    return whole


def differing(one: Mapping[str, object], other: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """What each of two mappings has that the other has not, or has otherwise."""
    mine = {key: value for key, value in one.items() if key not in other or other[key] != value}
    theirs = {key: value for key, value in other.items() if key not in one or one[key] != value}
    return mine, theirs
