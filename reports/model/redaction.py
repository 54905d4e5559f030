"""Secrets: what counts as one, and texts without them.

Only free text is searched, never the names of cases, clauses and verdicts: a secret may well be a word.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from msgspec.structs import replace

from .records import CaseRecord

#: A secret shorter than this is not looked for: it would be found in half of all words.
SHORTEST = 4

_ANYWHERE = (
    "SECRET",
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PGPASS",
    "CREDENTIAL",
    "CONNECTIONSTRING",
    "APIKEY",
)
_WORDS = frozenset({"KEY", "KEYS", "PASS", "PWD", "PW", "AUTH", "AUTHORIZATION", "DSN", "SAS", "COOKIE"})
#: The user and the password in a URL.
_CREDENTIALS = re.compile(r"://(?:[^/@\s:]*):([^/@\s]+)@")


def looks_secret(name: str, value: str = "") -> bool:
    """Whether the value of this variable is nobody's business, by its name or by the credentials in it."""
    joined = re.sub(r"[^A-Z0-9]", "", name.upper())
    words = re.split(r"[^A-Z0-9]+", name.upper())
    return (
        any(word in joined for word in _ANYWHERE)
        or not _WORDS.isdisjoint(words)
        or any(word.endswith("KEY") for word in words)
        or bool(passwords(value))
    )


def passwords(text: str) -> list[str]:
    """The passwords in the URLs of a text."""
    return _CREDENTIALS.findall(text)


class Redaction:
    """Texts without secrets: each is replaced by its name in angle brackets, as it is or as texts are written."""

    def __init__(self, secrets: Mapping[str, str], also: Iterable[str] = ()) -> None:
        """`secrets` maps names to values; `also` are texts, such as URLs, of which the passwords are secret."""
        found = {form: name for name, value in secrets.items() for form in _forms(value)}
        for text in (*secrets.values(), *also):
            found |= {form: "password" for password in passwords(text) for form in _forms(password)}
        # The longest first: what is a part of another secret must not cut that one in two.
        self._secrets = sorted(
            ((form, f"<{name}>") for form, name in found.items() if len(form) >= SHORTEST),
            key=lambda item: (-len(item[0]), item),
        )

    def text(self, text: str) -> str:
        """A text without secrets."""
        for secret, name in self._secrets:
            text = text.replace(secret, name)
        return text

    def data(self, data: bytes) -> bytes:
        """Bytes without secrets."""
        for secret, name in self._secrets:
            data = data.replace(secret.encode("utf-8", "surrogateescape"), name.encode())
        return data

    def optional(self, text: str | None) -> str | None:
        """A text without secrets, or None."""
        return None if text is None else self.text(text)

    def record(self, record: CaseRecord) -> CaseRecord:
        """A record without secrets."""
        if not self._secrets:
            return record
        checks = tuple(
            replace(
                check,
                expected=self.text(check.expected),
                got=self.text(check.got),
                plugin_said=self.optional(check.plugin_said),
            )
            for check in record.checks
        )
        return replace(
            record,
            checks=checks,
            reason=self.optional(record.reason),
            stimulus=self.text(record.stimulus),
            ops=tuple(map(self.text, record.ops)),
            output=self.text(record.output),
        )


def _forms(value: str) -> set[str]:
    """A secret as it is, and as Python, JSON, a URL and an HTTP header write it."""
    if len(value) < SHORTEST:
        return set()
    encoded = value.encode("utf-8", "surrogateescape")
    return {
        value,
        repr(value)[1:-1],
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        quote(encoded, safe=""),
        base64.b64encode(encoded).decode(),
    }
