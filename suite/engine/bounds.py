"""Bounds: how much of a case is remembered and recorded, and where the rest is kept.

A plugin may answer with a gigabyte, or a million times. A record is a few thousand characters whatever it does; the
calls of a case with which something is wrong are whole in the folder of the traces, as long as there is room.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace as changed
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from ...harness.ops.outcomes import Outcome, Read
from ...harness.over_tables.raw import Call
from ...reports.model.records import CaseRecord
from ...reports.model.redaction import PIECE, Redaction
from ...reports.plain import dumps, plain
from .callformat import Cut, ValueFormat, unsplit

#: The length of the JSON of a record is at most this, unless it has very many checks of short texts.
RECORD = 10_000
#: The most characters of the JSON of what a check expected and got: both are always cut in the same place.
COMPARED = 400
#: A case remembers so many bytes of long values; those beyond are remembered by their digests.
REMEMBERED = 8 << 20
#: A value is long from so many bytes on.
LONG = 4096
#: All that a run keeps whole takes so many bytes on the disk at most, in each worker.
KEPT = 256 << 20
#: What is given up, step by step, until a record is short enough: characters of a text, calls, characters of output.
_STEPS = ((4000, 200, 16_000), (1000, 60, 2_000), (400, 30, 500), (200, 12, 200), (80, 5, 100))


class CallLog(list[Call]):
    """The calls of a case. Long values beyond `REMEMBERED` bytes in all are replaced by what is left of them."""

    def __init__(self, redaction: Redaction) -> None:
        super().__init__()
        self._redaction = redaction
        self._room = REMEMBERED
        #: Whether what is called now prepares the stimulus.
        self.is_preparing = False
        #: The places of the calls that prepared the stimulus.
        self.preparing: set[int] = set()

    def append(self, call: Call) -> None:
        """Take a call."""
        op, arguments, outcome = call
        # A loop: nearly all calls are short, and a run makes a hundred thousand.
        for argument in arguments:
            if isinstance(argument, bytes) and len(argument) > LONG:
                arguments = tuple(map(self._remembered, arguments))  # type: ignore[arg-type]
                break
        if isinstance(outcome, Outcome):
            outcome = self._short(outcome)
        if self.is_preparing:
            self.preparing.add(len(self))
        super().append((op, arguments, outcome))

    def forget(self, count: int) -> None:
        """Leave the first calls, so many: those that only found out which op is at fault are no calls of the case."""
        del self[count:]
        self.preparing = {place for place in self.preparing if place < count}

    def _short(self, outcome: Outcome[object]) -> Outcome[object]:
        value = outcome.value
        if isinstance(value, Read) and len(value.data) > LONG:
            outcome = changed(outcome, value=changed(value, data=cast(bytes, self._remembered(value.data))))
        elif isinstance(value, tuple):
            outcome = changed(outcome, value=tuple(map(self._remembered, value)))
        if len(outcome.message) > LONG:
            head = self._redaction.text(outcome.message[: LONG + PIECE - 1])[:LONG]
            said = f"{head}… ({len(outcome.message)} characters, and no more are known)"
            outcome = changed(outcome, message=said)
        return outcome

    def _remembered(self, value: object) -> object:
        if not isinstance(value, bytes) or len(value) <= LONG:
            return value
        self._room -= len(value)
        return value if self._room >= 0 else Cut.of(value)


class Keeper:
    """Writes down whole, in the folder of the traces, what records have a part of. Secrets are taken out there, too."""

    def __init__(self, folder: str | None, redaction: Redaction, room: int = KEPT) -> None:
        self._folder = Path(folder) if folder else None
        self._redaction = redaction
        self._room = room

    def calls(self, case: str, calls: Sequence[Call], form: ValueFormat) -> str | None:
        """Keep the calls of a case; the name of their file, or None where nothing may be kept."""
        if self._folder is None or self._room <= 0:
            return None
        name = re.sub(r"[^a-z0-9]+", "-", case.lower()).strip("-") + ".calls.txt"
        whole = changed(form, most=LONG, kept=self._value)
        lines = (self._redaction.text(whole.line(call)) for call in unsplit(calls, self._redaction))
        try:
            self._write(name, (f"{line}\n".encode("utf-8", "backslashreplace") for line in lines))
        except OSError:
            # The disk is full, for instance: the record tells what it can, and says nothing of a file.
            self._room = 0
            return None
        return name

    def _value(self, data: bytes) -> str:
        """Keep a value under its digest."""
        digest = hashlib.sha256(data).hexdigest()
        assert self._folder is not None
        if not (self._folder / "values" / digest).exists() and len(data) <= self._room:
            self._write(f"values/{digest}", [self._redaction.data(data)])
        return digest

    def _write(self, name: str, pieces: Iterable[bytes]) -> None:
        assert self._folder is not None
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for piece in pieces:
                self._room -= len(piece)
                if self._room < 0:
                    file.write(b"there is no room for more\n")
                    return
                file.write(piece)


def compared(text: str) -> str:
    """What a check expected or got, cut where it is too long for a fingerprint."""
    return _cut(text, COMPARED)


def fitted(record: CaseRecord) -> CaseRecord:
    """The record, short enough: of long texts the beginning is left, of many calls the last."""
    if _length(record) <= RECORD:
        return record
    short = record
    for characters, calls, output in _STEPS:
        short = replace(
            record,
            checks=tuple(
                replace(check, plugin_said=check.plugin_said and _cut(check.plugin_said, characters))
                for check in record.checks
            ),
            reason=record.reason and _cut(record.reason, characters),
            stimulus=_cut(record.stimulus, characters),
            ops=tuple(_cut(op, characters) for op in _last(record.ops, calls)),
            output=_ends(record.output, output),
        )
        if _length(short) <= RECORD:
            break
    return short


def _length(record: CaseRecord) -> int:
    return len(dumps(plain(record)))


def _cut(text: str, most: int) -> str:
    """A text of which the JSON has `most` characters or a few more."""
    if len(text) * 2 <= most and text.isascii() and text.isprintable():
        return text
    written = len(dumps(text[:most]))
    if len(text) <= most and written <= most + 2:
        return text
    left = max(1, min(len(text), most) * most // written)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text[:left]}… ({len(text)} characters, sha256 {digest[:16]}…)"


def _ends(text: str, most: int) -> str:
    """The beginning and the end of an output: how a process ends is said last."""
    if len(text) <= most and len(dumps(text)) <= most + 2:
        return text
    last = text[-most // 2 :]
    while len(dumps(last)) > most * 3 // 4:
        last = last[len(last) // 4 + 1 :]
    return f"{_cut(text, most // 4)}\n{last}"


def _last(lines: tuple[str, ...], most: int) -> tuple[str, ...]:
    """The first line and the last ones, with a line that says how many are missing."""
    if len(lines) <= most:
        return lines
    return (lines[0], f"… {len(lines) - most} calls left out …", *lines[1 - most :])
