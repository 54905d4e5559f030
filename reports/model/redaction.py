"""Secrets: what counts as one, and texts without them.

Only free text is searched, never the names of cases, clauses and verdicts: a secret may well be a word.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from .records import CaseRecord

#: A secret shorter than this is not looked for: it would be found in half of all words.
SHORTEST = 4
#: So many characters of a secret in a row are as secret as all of it.
PIECE = 8

_ANYWHERE = re.compile("SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|PGPASS|CREDENTIAL|CONNECTIONSTRING|APIKEY")
_WORDS = frozenset({"KEY", "KEYS", "PASS", "PWD", "PW", "AUTH", "AUTHORIZATION", "DSN", "SAS", "COOKIE"})
#: The user and the password in a URL.
_CREDENTIALS = re.compile(r"://(?:[^/@\s:]*):([^/@\s]+)@")


def looks_secret(name: str, value: str = "") -> bool:
    """Whether the value of this variable is nobody's business, by its name or by the credentials in it."""
    joined = re.sub(r"[^A-Z0-9]", "", name.upper())
    words = re.split(r"[^A-Z0-9]+", name.upper())
    return (
        bool(_ANYWHERE.search(joined))
        or not _WORDS.isdisjoint(words)
        or any(word.endswith("KEY") for word in words)
        or bool(passwords(value))
    )


def passwords(text: str) -> list[str]:
    """The passwords in the URLs of a text."""
    return _CREDENTIALS.findall(text)


class _Forms:
    """The forms in which secrets are written, and the text that replaces each."""

    def __init__(self, replacements: Mapping[str, str]) -> None:
        # The longest first: one that is a part of another must not cut that one in two.
        forms = sorted(replacements, key=lambda form: (-len(form), form))
        self._replacements = replacements
        self._whole = re.compile("|".join(map(re.escape, forms)))
        self._pieces = {
            form[at : at + PIECE]: replacements[form] for form in reversed(forms) for at in range(len(form) - PIECE + 1)
        }
        # Any `PIECE` characters of a form contain one of these; nearly every text contains none.
        self._hints = {form for form in forms if len(form) < PIECE} | {
            form[at : at + SHORTEST]
            for form in forms
            if len(form) >= PIECE
            for at in range(0, len(form) - SHORTEST + 1, PIECE - SHORTEST + 1)
        }

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """The places of secrets and of pieces of them, from left to right: begin, end, and the replacement."""
        found: list[tuple[int, int, str]] = []
        if not any(hint in text for hint in self._hints):
            return found
        at = 0
        for whole in (*self._whole.finditer(text), None):
            end = whole.start() if whole else len(text)
            while at + PIECE <= end:
                replacement = self._pieces.get(text[at : at + PIECE])
                last = at + PIECE
                if replacement:
                    while last < end and text[last + 1 - PIECE : last + 1] in self._pieces:
                        last += 1
                    found.append((at, last, replacement))
                at = last if replacement else at + 1
            if whole:
                found.append((*whole.span(), self._replacements[whole.group()]))
                at = whole.end()
        return found

    def replace(self, text: str) -> str:
        """A text without secrets."""
        parts, at = [], 0
        for begin, end, replacement in self.spans(text):
            parts += [text[at:begin], replacement]
            at = end
        return "".join([*parts, text[at:]]) if parts else text


class Redaction:
    """Texts without secrets: the name in angle brackets replaces each secret and `PIECE` or more characters of one.

    What is cut before it is redacted is cut `PIECE` - 1 characters later than it is shown: no secret is left in two.
    """

    def __init__(self, secrets: Mapping[str, str], also: Iterable[str] = ()) -> None:
        """`secrets` maps names to values; `also` are texts, such as URLs, of which the passwords are secret."""
        found = {form: f"<{name}>" for name, value in secrets.items() for form in _forms(value)}
        for text in (*secrets.values(), *also):
            found |= {form: "<password>" for password in passwords(text) for form in _forms(password)}
        #: Whether there are any secrets.
        self.is_needed = bool(found)
        self._texts = _Forms(found)
        self._bytes = _Forms({_encoded(form).decode("latin-1"): name for form, name in found.items()})

    def text(self, text: str) -> str:
        """A text without secrets."""
        return self._texts.replace(text) if self.is_needed else text

    def data(self, data: bytes) -> bytes:
        """Bytes without secrets."""
        return self._bytes.replace(data.decode("latin-1")).encode("latin-1", "replace") if self.is_needed else data

    def pieces(self, pieces: Sequence[tuple[int, bytes]]) -> list[bytes]:
        """Pieces of one whole, each with its offset there, without the secrets that lie in more than one of them."""
        whole, skipped, places = bytearray(), 0, [0] * len(pieces)
        for number in sorted(range(len(pieces)), key=lambda number: pieces[number][0]):
            offset, data = pieces[number]
            skipped += max(0, offset - skipped - len(whole))
            places[number] = offset - skipped
            whole[places[number] : places[number] + len(data)] = data
        spans = self._bytes.spans(whole.decode("latin-1")) if self.is_needed else []
        return [_without(data, place, spans) for place, (_, data) in zip(places, pieces, strict=True)]

    def optional(self, text: str | None) -> str | None:
        """A text without secrets, or None."""
        return None if text is None else self.text(text)

    def record(self, record: CaseRecord) -> CaseRecord:
        """A record without secrets."""
        if not self.is_needed:
            return record

        def free(one: Any, *names: str) -> Any:
            return replace(one, **{name: self.optional(getattr(one, name)) for name in names})

        checks = tuple(free(check, "expected", "got", "plugin_said") for check in record.checks)
        ops = tuple(map(self.text, record.ops))
        freed: CaseRecord = free(record, "reason", "stimulus", "output")
        return replace(freed, checks=checks, ops=ops)


def _without(data: bytes, place: int, spans: Iterable[tuple[int, int, str]]) -> bytes:
    """A piece that lies at `place`, without its part of each span that goes beyond it."""
    for begin, end, replacement in reversed([*spans]):
        first, last = begin - place, end - place
        if first < len(data) and last > 0 and not 0 <= first < last <= len(data):
            data = data[: max(0, first)] + replacement.encode() + data[last:]
    return data


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _forms(value: str) -> set[str]:
    """A secret as it is, and as Python, JSON, a URL and an HTTP header write it."""
    if len(value) < SHORTEST:
        return set()
    encoded = _encoded(value)
    # With both quotes before it a text is written with the one escaped, with none before it as it is.
    escaped = {repr(f"\"'{value}")[4:-1], repr(b"\"'" + encoded)[5:-1]}
    return {
        value,
        *escaped,
        *(form.replace("\\'", "'") for form in escaped),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        quote(encoded),
        quote(encoded, safe=""),
        base64.b64encode(encoded).decode(),
    }
