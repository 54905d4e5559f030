"""Which cases there are, without importing them: an index beside the caches of this user.

It was made by importing all modules of cases, and holds as long as no file changes that can have a say in that: their
contents are read and compared each time, because times and sizes can be the same for different contents.
"""

import functools
import hashlib
import json
import os
import sys
from collections.abc import Container, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ... import __version__, files
from .case_facts import TIERS, CaseFacts

_PACKAGE = Path(__file__).parents[2]
#: What cases are made of.
ROOMS = tuple(_PACKAGE / room for room in ("suite", "harness", "reports"))
_SOURCES = (".py", ".toml", ".tsv")
#: Reports that were published are no sources, and the host has none of these.
_OTHERS = ("__pycache__", "published", "host")


@functools.cache
def cases() -> tuple[CaseFacts, ...]:
    """All cases, in the order in which they are collected."""
    digest = _digest()
    path = _path()
    found = _read(path, digest) if path else None
    if found is None:
        found = _collected()
        if path:
            _write(path, digest, found)
    return found


def plain_first() -> list[CaseFacts]:
    """All cases, those of smaller tiers before those of larger ones, and at last what no plain run has."""
    return sorted(cases(), key=lambda case: TIERS.index(case.tier) if case.tier in TIERS else len(TIERS))


def in_tiers(names: Container[str]) -> list[CaseFacts]:
    """All cases of these tiers."""
    return [case for case in cases() if case.tier in names]


def _collected() -> tuple[CaseFacts, ...]:
    from . import collect  # noqa: PLC0415 - imports pytest, and then all cases

    return tuple(CaseFacts(*_row(case)) for case in collect.cases())


def _row(case: CaseFacts) -> list[Any]:
    return [getattr(case, name) for name in CaseFacts.__slots__]


def _path() -> Path | None:
    """Where the index is; each installation has its own. None where this user has no place for caches."""
    try:
        cache = files.cache()
    except RuntimeError:
        return None
    where = hashlib.sha256(os.fsencode(_PACKAGE)).hexdigest()[:16]
    return cache / f"cases-{where}.json"


def _digest() -> str:
    """Of all that has a say in which cases there are."""
    digest = hashlib.sha256(f"{__version__} {sys.version} {CaseFacts.__slots__}".encode())
    for room in ROOMS:
        for name in _sources(str(room)):
            with open(name, "rb", buffering=0) as file:
                content = file.read()
            digest.update(f"\0{len(name)} {len(content)} ".encode() + os.fsencode(name) + content)
    return digest.hexdigest()


def _sources(folder: str) -> Iterator[str]:
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name.endswith(_SOURCES):
            yield entry.path
        elif entry.name not in _OTHERS and entry.is_dir():
            yield from _sources(entry.path)


def _read(path: Path, digest: str) -> tuple[CaseFacts, ...] | None:
    """What the index has; None where it is of other files, or no index."""
    try:
        kept: Any = json.loads(path.read_bytes())
        if kept["of"] != digest:
            return None
        return tuple(CaseFacts(name, tuple(clauses), *rest) for name, clauses, *rest in kept["cases"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write(path: Path, digest: str, found: tuple[CaseFacts, ...]) -> None:
    """Keep an index, at once or not at all: others may read and write it meanwhile."""
    rows = list(map(_row, found))
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with files.draft(path) as drafted:
            drafted.write_text(json.dumps({"of": digest, "cases": rows}, separators=(",", ":")), encoding="utf-8")
