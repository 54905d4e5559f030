"""Claims: what a profile says that a target supports, and how that changes the verdict of a check."""

import fnmatch
import functools
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from ... import typed_toml
from ...harness.ops import paths
from ...reports.model.claims import StatedClaim
from ...reports.patterns import nearest
from .catalogue import catalogue

#: The value of a claim: a word such as `emulated`, or true or false.
Value = str | bool

READ_ONLY = "read_only"
MTIME = "stat.mtime-granularity"
SECOND = 10**9
#: What is in no name that a value of `names` claims. A surrogate is a byte that is not UTF-8.
OTHER_NAMES: Mapping[Value | None, re.Pattern[str]] = {
    "utf-8": re.compile(r"[\udc80-\udcff]"),
    "ascii": re.compile(r"[^\x00-\x7f]"),
    "windows": re.compile(r'[\x00-\x1f\\:*?"<>|\udc80-\udcff]|[ .]$'),
}


class UnknownClaimError(Exception):
    """A profile has an unknown claim or value. The text is one sentence that lists the known ones."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one value of a claim means: an entry of `claims.toml`.

    `supported` is True where it promises its clauses, False where it gives them up, and None where it only decides
    between readings of disputed clauses.
    """

    claim: str
    about: str
    value: Value
    text: str
    supported: bool | None
    clauses: frozenset[str]
    ops: frozenset[str]
    readings: Mapping[str, tuple[str, ...]]

    def __str__(self) -> str:
        return f"{self.claim} = {str(self.value).lower() if isinstance(self.value, bool) else self.value}"


class _ValueEntry(Struct, forbid_unknown_fields=True):
    value: Value
    text: str
    supported: bool | None = None
    clauses: tuple[str, ...] | None = None
    ops: tuple[str, ...] | None = None
    readings: dict[str, tuple[str, ...]] = {}


class _Claim(Struct, forbid_unknown_fields=True):
    name: str
    about: str
    values: tuple[_ValueEntry, ...]
    clauses: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()

    def meaning(self, entry: _ValueEntry) -> Meaning:
        patterns = self.clauses if entry.clauses is None else entry.clauses
        return Meaning(
            claim=self.name,
            about=self.about,
            value=entry.value,
            text=entry.text,
            supported=entry.supported,
            clauses=frozenset(name for name in catalogue() if any(fnmatch.fnmatchcase(name, p) for p in patterns)),
            ops=frozenset(self.ops if entry.ops is None else entry.ops),
            readings=entry.readings,
        )


class _ClaimsFile(Struct, forbid_unknown_fields=True):
    claim: tuple[_Claim, ...]


@functools.cache
def meanings() -> Mapping[str, Mapping[Value, Meaning]]:
    """The meaning of each value of each claim: `meanings()["append"][True]`."""
    claims = typed_toml.read(Path(__file__).parent / "claims.toml", _ClaimsFile).claim
    return {claim.name: {entry.value: claim.meaning(entry) for entry in claim.values} for claim in claims}


def stated(claims: Mapping[str, Value]) -> list[Meaning]:
    """The meanings of these claims. Raise UnknownClaimError."""
    found = []
    names = meanings()
    for name, value in claims.items():
        if (values := names.get(name)) is None:
            raise UnknownClaimError(f"there is no claim {name!r}; known are {', '.join(names)}{nearest(name, names)}")
        # In Python 1 equals True, but a profile must say true.
        meaning = next((m for known, m in values.items() if known == value and type(known) is type(value)), None)
        if meaning is None:
            known = ", ".join(str(known).lower() if isinstance(known, bool) else f'"{known}"' for known in values)
            raise UnknownClaimError(f"the claim {name} is {value!r}; known are {known}")
        found.append(meaning)
    return found


@dataclass(frozen=True, slots=True)
class Claims:
    """What a target claims, in the form that checks need.

    Without a profile it claims nothing, and any reading is right. `limits` are those of the profile: `max_path` and
    `max_name` in bytes of the translated path and of one name in it, `max_file_size` in bytes, `max_open_files`,
    `mtime_granularity_ns` in nanoseconds, 0 where stat does not tell times, and `listing_delay_ms`, after which a
    change is listed.
    """

    limits: Mapping[str, int] = field(default_factory=dict)
    names: Value | None = None
    unsupported: Mapping[str, Meaning] = field(default_factory=dict)
    promised: Mapping[str, Meaning] = field(default_factory=dict)
    decided: Mapping[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    ops_promised: Mapping[str, Meaning] = field(default_factory=dict)
    ops_given_up: Mapping[str, Meaning] = field(default_factory=dict)
    #: The clauses that nobody can look at where ops go through TensorFlow, each with the reason.
    hidden: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, claims: Mapping[str, Value], limits: Mapping[str, int]) -> "Claims":
        """The claims and limits of a profile, checked. Raise UnknownClaimError."""
        all_of_them = stated(claims)
        decided = {
            clause: (readings, str(meaning)) for meaning in all_of_them for clause, readings in meaning.readings.items()
        }
        if "mtime_granularity_ns" in limits:
            coarse = limits["mtime_granularity_ns"]
            # A finer granularity than the promised one breaks nothing. 0 promises nothing.
            allowed = ("fine",) if coarse < SECOND else ("fine", "seconds")
            decided |= {MTIME: (allowed, f"mtime_granularity_ns = {coarse}")} if coarse else {}
        return cls(
            limits=limits,
            names=claims.get("names"),
            unsupported=_by((m for m in all_of_them if m.supported is False), "clauses"),
            promised=_by((m for m in all_of_them if m.supported), "clauses"),
            decided=decided,
            ops_promised=_by((m for m in all_of_them if m.supported), "ops"),
            ops_given_up=_by((m for m in all_of_them if m.supported is False), "ops"),
        )

    @property
    def undecided(self) -> frozenset[str]:
        """The given up clauses of which a model knows no answer: storage that is only read stays as it is."""
        return frozenset(name for name, meaning in self.unsupported.items() if meaning.claim != READ_ONLY)

    def absence(self, clause: str) -> str:
        """Why a clause counts as absent."""
        return self.hidden.get(clause) or f"the profile claims {self.unsupported[clause]}"

    def beyond(self, uri: str) -> str | None:
        """The claim or limit that a case with this path would exceed, in words, or None."""
        if not self.limits and self.names is None:
            return None
        path = paths.translate(uri)
        if any(map(self.is_other_name, path.split("/"))):
            return f"the profile claims names = {self.names}, and another one is needed"
        return self._over("max_name", max(map(_size, path.split("/")))) or self._over("max_path", _size(path))

    def is_other_name(self, name: str) -> bool:
        """Whether a name is none of those that the profile claims a file may have."""
        return self.names in OTHER_NAMES and OTHER_NAMES[self.names].search(name) is not None

    def too_large(self, size: int) -> str | None:
        """The limit that a file of this size, in bytes, would exceed, in words, or None."""
        return self._over("max_file_size", size)

    def _over(self, limit: str, size: int) -> str | None:
        most = self.limits.get(limit)
        return (
            f"the profile limits {limit} to {most}, and {size} are needed" if most is not None and size > most else None
        )


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _by(stated_ones: Iterable[Meaning], what: str) -> dict[str, Meaning]:
    return {name: meaning for meaning in stated_ones for name in getattr(meaning, what)}


def for_report(claims: Mapping[str, Value], known: Container[str]) -> list[StatedClaim]:
    """The claims in the form in which a report has them that knows these clauses."""
    return [
        StatedClaim(
            name=meaning.claim,
            value=meaning.value,
            text=meaning.text,
            supported=meaning.supported,
            clauses=tuple(
                sorted(
                    {
                        *(name for name in meaning.clauses if name in known),
                        *meaning.readings,
                        *(f"{op}.succeeds" for op in meaning.ops if meaning.supported),
                    }
                )
            ),
        )
        for meaning in stated(claims)
    ]
