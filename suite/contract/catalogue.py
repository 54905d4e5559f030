"""The catalogue of clauses: every checkable sentence of the contract, read from `suite/contract/clauses/*.toml`."""

import fnmatch
import functools
import tomllib
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import force_setattr

from ... import typed_toml
from ...harness.ops.tables import OPS
from ...reports.model.header import ClauseFacts, ReadingFacts, digest
from ...reports.model.records import StatementKind
from ...reports.patterns import nearest
from ...reports.plain import plain
from ...typed_toml import TomlError

#: The version of the contract: the release of TensorFlow whose interface it is about, a slash, and major.minor of what
#: the clauses demand. It is the last of `versions.toml`; docs/contract.md says which number moves.
VERSIONS = Path(__file__).with_name("versions.toml")
CONTRACT_VERSION: str = tomllib.loads(VERSIONS.read_text(encoding="utf-8"))["version"][-1]["name"]

CLASSES = (
    "read", "write", "directories", "listing", "glob", "memory-region", "rename-copy", "paths", "registration",
    "transactions", "configuration", "concurrency", "robustness", "scenarios", "memory-safety", "thread-safety",
    "system-calls", "survival", "network", "processes", "power", "out-of-memory",
)  # fmt: skip


class Level(StrEnum):
    """How much a clause binds, and so what a breach of it is: a violation, a warning, or neither."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class UnknownClauseError(KeyError):
    """There is no clause with this id. The text names similar ids."""

    def __str__(self) -> str:
        return str(self.args[0])


class Reading(Struct, frozen=True, forbid_unknown_fields=True):
    """One accepted answer to a disputed clause.

    `tensorflow` says how TensorFlow works with a plugin that answers so. A `harmful` answer loses data.
    """

    name: str
    text: str
    tensorflow: str
    harmful: bool = False


class Clause(Struct, frozen=True, forbid_unknown_fields=True, rename={"conformance_class": "class"}):
    """One checkable sentence of the contract: an entry of a file in `clauses/`.

    `rule` is the sentence, `source` where it comes from, `check` what an author should look at where it is broken in
    one of the ways of `check_for`; where that is empty, in any way; a MAY needs none. `op` is empty for a rule about
    more than one op; an id that begins with an op, as `read.succeeds` does, gives it. `tensorflow` says what TensorFlow
    makes of a breach, where that is known. `damaging` names readings with which something goes wrong without an error.
    A clause that has `conditions` is checked in runs under one of them only, and is no part of the contract's version.
    Sources of a clause that has `readings`, the accepted answers, contradict each other; `disputed` is their topic.
    """

    id: str
    level: Level
    rule: str
    source: str | tuple[str, ...]
    conformance_class: str = ""
    check: str = ""
    check_for: tuple[StatementKind, ...] = ()
    op: str = ""
    tensorflow: str | None = None
    conditions: tuple[str, ...] = ()
    disputed: str | None = None
    readings: tuple[Reading, ...] = ()
    damaging: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Where it comes from."""
        return (self.source,) if isinstance(self.source, str) else self.source

    def __post_init__(self) -> None:
        if not self.check and self.level is not Level.MAY:
            raise ValueError(f"a {self.level} needs a 'check'")
        force_setattr(self, "check", self.check or "Nothing is wrong: it is recorded.")
        if (op := self.id.rpartition(".")[0]) in OPS:
            force_setattr(self, "op", op)
        if self.disputed and not self.readings:
            raise ValueError("it is 'disputed', but has no 'readings'")
        if self.readings and not self.disputed:
            force_setattr(self, "disputed", "beyond the register")
        if unknown := set(self.damaging) - {reading.name for reading in self.readings}:
            raise ValueError(f"there is no reading {unknown.pop()!r} that could be 'damaging'")


class _ClauseFile(Struct, forbid_unknown_fields=True, rename={"conformance_class": "class"}):
    clause: tuple[Clause, ...]
    #: Of the clauses that name none.
    conformance_class: str = ""


def read(files: Iterable[Path]) -> dict[str, Clause]:
    """Read the clauses of some files, in their order. Raise TomlError."""
    clauses: dict[str, Clause] = {}
    for file in files:
        found = typed_toml.read(file, _ClauseFile)
        for clause in found.clause:
            force_setattr(clause, "conformance_class", clause.conformance_class or found.conformance_class)
            if clause.conformance_class not in CLASSES:
                known = ", ".join(CLASSES)
                raise TomlError(f"{file}: {clause.id}: the class {clause.conformance_class!r} is none of {known}")
            if clause.id in clauses:
                raise TomlError(f"{file}: {clause.id} stands in the catalogue twice")
            clauses[clause.id] = clause
    return clauses


@functools.cache
def catalogue() -> Mapping[str, Clause]:
    """All clauses by id, such as `read.succeeds`."""
    return read(sorted((Path(__file__).parent / "clauses").glob("*.toml")))


def clause(name: str) -> Clause:
    """The clause with this id. Raise UnknownClauseError."""
    try:
        return catalogue()[name]
    except KeyError:
        raise UnknownClauseError(f"there is no clause {name!r}{nearest(name, catalogue())}") from None


def matching(pattern: str) -> list[Clause]:
    """The clauses whose id matches a shell pattern such as `read.*`."""
    return [entry for name, entry in catalogue().items() if fnmatch.fnmatchcase(name, pattern)]


class _Order(Struct, forbid_unknown_fields=True):
    causes_first: tuple[str, ...]


@functools.cache
def causes_first() -> tuple[str, ...]:
    """Patterns of clause ids, causes before consequences."""
    return typed_toml.read(Path(__file__).parent / "order.toml", _Order).causes_first


@functools.cache
def order(name: str) -> int:
    """Where a broken clause is told: before the clauses that are likely to be broken for the same cause."""
    return next((k for k, one in enumerate(causes_first()) if fnmatch.fnmatchcase(name, one)), len(causes_first()))


def for_report(conditions: Collection[str] = ()) -> dict[str, ClauseFacts]:
    """The clauses as a report carries them, by id: those of every run, and of a run under one of these conditions."""
    return {
        entry.id: ClauseFacts(
            level=entry.level.value,
            conformance_class=entry.conformance_class,
            op=entry.op or None,
            rule=entry.rule,
            source=entry.sources,
            check=entry.check,
            check_for=entry.check_for,
            tensorflow=entry.tensorflow,
            order=order(entry.id),
            disputed=entry.disputed,
            readings=tuple(ReadingFacts(r.name, r.text, r.tensorflow, r.harmful) for r in entry.readings) or None,
            damaging=entry.damaging,
        )
        for entry in catalogue().values()
        if not entry.conditions or not set(entry.conditions).isdisjoint(conditions)
    }


def current_digest(conditions: Collection[str] = ()) -> str:
    """SHA-256 of the clauses that `for_report` gives, as `reports.header.digest` has it."""
    return digest(plain(for_report(conditions)))
