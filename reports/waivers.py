"""A file of waivers is read."""

import datetime
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .model.waivers import Waiver, WaiverError

REQUIRED = ("clause", "fingerprint", "reason", "owner")
OPTIONAL = ("case", "issue", "expires")


def read(path: Path, today: datetime.date) -> list[Waiver]:
    """The entries of a file, in their order. Raises WaiverError, or OSError."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WaiverError(f"{path} is no TOML: {error}") from None
    entries = tables.pop("waiver", [])
    if tables:
        raise WaiverError(f"{path}: the unknown key {next(iter(tables))!r}; a file of waivers has [[waiver]] only")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise WaiverError(f"{path}: each waiver begins with [[waiver]]")
    waivers: list[Waiver] = []
    for number, entry in enumerate(entries, start=1):
        where = f"{path}: waiver {number} ({entry.get('clause', 'no clause')}, {entry.get('case', '*')})"
        waiver = _entry(where, entry, today)
        if any((w.clause, w.case, w.fingerprint) == (waiver.clause, waiver.case, waiver.fingerprint) for w in waivers):
            raise WaiverError(f"{where} stands there twice")
        waivers.append(waiver)
    return waivers


def _entry(where: str, entry: Mapping[str, Any], today: datetime.date) -> Waiver:
    if unknown := [key for key in entry if key not in REQUIRED + OPTIONAL]:
        raise WaiverError(f"{where} has the unknown key {unknown[0]!r}; known are {', '.join(REQUIRED + OPTIONAL)}")
    if missing := [key for key in REQUIRED if key not in entry]:
        raise WaiverError(f"{where} has no {missing[0]}")
    for key, value in entry.items():
        if key == "expires":
            if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
                raise WaiverError(f"{where}: expires is a date without quotes, such as 2027-03-01")
        elif not isinstance(value, str) or not value.strip():
            raise WaiverError(f"{where}: {key} is a text that says something")
    expires = entry.get("expires")
    defaults = {"case": "*", "issue": None, "expires": None}
    return Waiver(**{**defaults, **entry}, expired=expires is not None and expires < today)
