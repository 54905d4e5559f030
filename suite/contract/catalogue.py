"""The catalogue of clauses: every checkable sentence of the contract, read from `suite/contract/clauses/*.toml`."""

import difflib
import fnmatch
import functools
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ...reports.model.header import ClauseFacts, ReadingFacts, digest
from ...reports.plain import plain

#: The version of the contract: the release of TensorFlow whose interface it is about, a slash, and major.minor of what
#: the clauses demand. `versions.toml` has the digest of each version; docs/versioning.md says which number moves.
CONTRACT_VERSION = "tensorflow-2.21/2.1"

CLASSES = (
    "read",
    "write",
    "directories",
    "listing",
    "glob",
    "memory-region",
    "rename-copy",
    "paths",
    "registration",
    "transactions",
    "configuration",
    "concurrency",
    "robustness",
    "scenarios",
    "memory-safety",
    "thread-safety",
    "system-calls",
    "survival",
    "network",
    "processes",
    "power",
    "out-of-memory",
)


class Level(StrEnum):
    """How much a clause binds, and so what a breach of it is: a violation, a warning, or neither."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class CatalogueError(Exception):
    """A file of the catalogue has an entry that is not valid. The text is one sentence that names it."""


class UnknownClauseError(KeyError):
    """There is no clause with this id. The text names similar ids."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class Reading:
    """One accepted answer to a disputed clause.

    `tensorflow` says how TensorFlow works with a plugin that answers so. A `harmful` answer loses data.
    """

    name: str
    text: str
    tensorflow: str
    harmful: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """One checkable sentence of the contract.

    `rule` is the sentence, `source` where it comes from, `check` what an author should look at where it is broken. `op`
    is empty for a rule about more than one op. `tensorflow` says what TensorFlow makes of a breach, where that
    is known. `untested` says why no case checks it. A clause that has `conditions` is checked in runs under one of them
    only, and is no part of the contract's version. `disputed` says why its sources contradict each other; then
    `readings` has the accepted answers.
    """

    id: str
    level: Level
    conformance_class: str
    rule: str
    source: tuple[str, ...]
    check: str
    op: str = ""
    tensorflow: str | None = None
    untested: str | None = None
    conditions: tuple[str, ...] = ()
    disputed: str | None = None
    readings: tuple[Reading, ...] = ()


_REQUIRED = {"id", "level", "class", "rule", "source", "check"}
_OPTIONAL = {"op", "tensorflow", "untested", "conditions", "disputed", "readings"}


def read(files: Iterable[Path]) -> dict[str, Clause]:
    """Read the clauses of some files, in their order. Raise CatalogueError."""
    clauses: dict[str, Clause] = {}
    for file in files:
        try:
            tables = tomllib.loads(file.read_text(encoding="utf-8")).get("clause", [])
        except tomllib.TOMLDecodeError as error:
            raise CatalogueError(f"{file.name}: {error}") from error
        for table in tables:
            clause = _clause(file.name, table)
            if clause.id in clauses:
                raise CatalogueError(f"{file.name}: {clause.id} stands in the catalogue twice")
            clauses[clause.id] = clause
    return clauses


def _clause(where: str, table: Mapping[str, Any]) -> Clause:
    name = table.get("id", "a clause without id")
    keys = set(table)
    if missing := _REQUIRED - keys:
        raise CatalogueError(f"{where}: {name} lacks {', '.join(sorted(missing))}")
    if unknown := keys - _REQUIRED - _OPTIONAL:
        raise CatalogueError(f"{where}: {name} has the unknown key {', '.join(sorted(unknown))}")
    if table["level"] not in Level.__members__:
        raise CatalogueError(f"{where}: {name} has the unknown level {table['level']!r}")
    if table["class"] not in CLASSES:
        raise CatalogueError(f"{where}: {name} has the unknown class {table['class']!r}")
    if ("disputed" in table) != bool(table.get("readings")):
        raise CatalogueError(f"{where}: {name} must have both 'disputed' and 'readings', or neither")
    source = table["source"]
    return Clause(
        id=name,
        level=Level(table["level"]),
        conformance_class=table["class"],
        rule=table["rule"],
        source=(source,) if isinstance(source, str) else tuple(source),
        check=table["check"],
        op=table.get("op", ""),
        tensorflow=table.get("tensorflow"),
        untested=table.get("untested"),
        conditions=tuple(table.get("conditions", ())),
        disputed=table.get("disputed"),
        readings=tuple(Reading(**reading) for reading in table.get("readings", ())),
    )


@functools.cache
def catalogue() -> Mapping[str, Clause]:
    """All clauses by id, such as `read.succeeds`."""
    return read(sorted((Path(__file__).parent / "clauses").glob("*.toml")))


def clause(name: str) -> Clause:
    """The clause with this id. Raise UnknownClauseError."""
    try:
        return catalogue()[name]
    except KeyError:
        near = difflib.get_close_matches(name, catalogue(), n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UnknownClauseError(f"there is no clause {name!r}{hint}") from None


def matching(pattern: str) -> list[Clause]:
    """The clauses whose id matches a shell pattern such as `read.*`."""
    return [entry for name, entry in catalogue().items() if fnmatch.fnmatchcase(name, pattern)]


@functools.cache
def causes_first() -> tuple[str, ...]:
    """Patterns of clause ids, causes before consequences."""
    table = tomllib.loads((Path(__file__).parent / "order.toml").read_text(encoding="utf-8"))
    return tuple(table["causes_first"])


def order(name: str) -> int:
    """Where a broken clause is told: before the clauses that are likely to be broken for the same cause."""
    patterns = causes_first()
    return next((k for k, pattern in enumerate(patterns) if fnmatch.fnmatchcase(name, pattern)), len(patterns))


def for_report(conditions: Collection[str] = ()) -> dict[str, ClauseFacts]:
    """The clauses as a report carries them, by id: those of every run, and of a run under one of these conditions."""
    return {
        entry.id: ClauseFacts(
            level=entry.level.value,
            conformance_class=entry.conformance_class,
            op=entry.op or None,
            rule=entry.rule,
            source=entry.source,
            check=entry.check,
            tensorflow=entry.tensorflow,
            order=order(entry.id),
            untested=entry.untested,
            disputed=entry.disputed,
            readings=tuple(ReadingFacts(r.name, r.text, r.tensorflow, r.harmful) for r in entry.readings) or None,
        )
        for entry in catalogue().values()
        if not entry.conditions or not set(entry.conditions).isdisjoint(conditions)
    }


def current_digest(conditions: Collection[str] = ()) -> str:
    """SHA-256 of the clauses that `for_report` gives, as `reports.header.digest` has it."""
    return digest(plain(for_report(conditions)))
