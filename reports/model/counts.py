"""Checks counted by verdict."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from msgspec import Meta, Struct, field

from .verdicts import Verdict

#: So many ids are named on one line; the rest is counted.
NAMED = 6
Count = Annotated[int, Meta(ge=0)]


class Counts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Checks by verdict."""

    conform: Count
    tolerated: Count
    informational: Count
    warning: Count
    violation: Count
    absent: Count
    waived: Count
    not_run: Count = field(name="not run")
    error: Count
    does_not_apply: Count = field(name="does not apply")

    @classmethod
    def of(cls, counts: Mapping[Verdict, int]) -> Self:
        """The counts of a mapping that has all ten."""
        return cls(**{verdict.name.lower(): count for verdict, count in counts.items()})

    def __getitem__(self, verdict: Verdict) -> int:
        count: int = getattr(self, verdict.name.lower())
        return count

    def by_verdict(self) -> dict[Verdict, int]:
        """The counts as a mapping, in the order of `Verdict`."""
        return {verdict: self[verdict] for verdict in Verdict}


def number(count: int, noun: str) -> str:
    """A count and its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def few(names: Sequence[str]) -> str:
    """The first of these names, and how many more there are."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f", … and {more} more" if more > 0 else "")
