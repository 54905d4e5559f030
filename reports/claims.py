"""Claims: what a profile said of a target, and what the run says of that. Checked both ways."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from .records import CaseRecord
from .verdicts import Verdict


class ClaimState(StrEnum):
    """What a run says of a claim."""

    KEPT = "kept"
    BROKEN = "broken"
    UNDER_DECLARED = "under-declared"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class StatedClaim:
    """A claim and its value. `clauses` are those that it is about.

    `supported` says that they bind, or that they are declared unsupported, or is None where the claim only decides
    between readings.
    """

    name: str
    value: str | bool
    text: str
    supported: bool | None
    clauses: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The JSON object of a journal's header."""
        return {
            "name": self.name,
            "value": self.value,
            "text": self.text,
            "supported": self.supported,
            "clauses": list(self.clauses),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """The claim an object stands for; TypeError or KeyError where it is none."""
        return cls(**(dict(document) | {"clauses": tuple(document["clauses"])}))


def accounts(claims: Iterable[StatedClaim], cases: Iterable[CaseRecord]) -> list[dict[str, Any]]:
    """What a report says of each claim: its state, and the checks of its clauses by verdict."""
    by_clause: dict[str, dict[Verdict, int]] = {}
    for case in cases:
        for check in case.checks:
            counts = by_clause.setdefault(check.clause, {})
            counts[check.verdict] = counts.get(check.verdict, 0) + 1
    found = []
    for claim in claims:
        counts = dict.fromkeys(Verdict, 0)
        for clause in claim.clauses:
            for verdict, count in by_clause.get(clause, {}).items():
                counts[verdict] += count
        seen = {verdict.value: count for verdict, count in counts.items() if count}
        found.append(claim.to_json() | {"state": _state(claim, counts).value, "checks": seen})
    return found


def _state(claim: StatedClaim, counts: Mapping[Verdict, int]) -> ClaimState:
    if counts[Verdict.VIOLATION] or counts[Verdict.WAIVED]:
        return ClaimState.BROKEN
    good = counts[Verdict.CONFORM] + counts[Verdict.TOLERATED]
    if claim.supported is False:
        if counts[Verdict.ABSENT]:
            return ClaimState.KEPT
        return ClaimState.UNDER_DECLARED if good else ClaimState.UNCHECKED
    return ClaimState.KEPT if good else ClaimState.UNCHECKED
