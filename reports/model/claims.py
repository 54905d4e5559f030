"""Claims: what a profile said of a target, and what the run says of that. Checked both ways."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from ..plain import fields_of
from .records import CaseRecord
from .verdicts import Verdict, no_counts


class ClaimState(StrEnum):
    """What a run says of a claim."""

    KEPT = "kept"
    BROKEN = "broken"
    UNDER_DECLARED = "under-declared"
    UNCHECKED = "unchecked"


class StatedClaim(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A claim of the profile, and its value."""

    name: Annotated[str, Meta(description="As the profile has it under `[claims]`.")]
    value: Annotated[str | bool, Meta(description="The value that the profile gives it.")]
    text: Annotated[str, Meta(description="What the value means.")]
    supported: Annotated[
        bool | None,
        Meta(
            description="Whether its clauses bind or are declared unsupported; null where it only decides between "
            "readings."
        ),
    ]
    clauses: Annotated[tuple[str, ...], Meta(description="The clauses it is about.")]


class ClaimAccount(StatedClaim, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the profile claims, and what the run says of that."""

    state: Annotated[ClaimState, Meta(description="Under-declared: declared unsupported, and every check conforms.")]
    checks: Annotated[
        Mapping[Verdict, Annotated[int, Meta(ge=1)]], Meta(description="The checks of its clauses by verdict.")
    ]


def accounts(claims: Iterable[StatedClaim], cases: Iterable[CaseRecord]) -> tuple[ClaimAccount, ...]:
    """What a report says of each claim: its state, and the checks of its clauses by verdict."""
    by_clause: dict[str, dict[Verdict, int]] = defaultdict(no_counts)
    for case in cases:
        for check in case.checks:
            by_clause[check.clause][check.verdict] += check.times
    found = []
    for claim in claims:
        about = [by_clause[clause] for clause in claim.clauses if clause in by_clause]
        counts = {verdict: sum(counts[verdict] for counts in about) for verdict in Verdict}
        checks = {verdict: count for verdict, count in counts.items() if count}
        found.append(ClaimAccount(**fields_of(StatedClaim, claim), state=_state(claim, counts), checks=checks))
    return tuple(found)


def _state(claim: StatedClaim, counts: Mapping[Verdict, int]) -> ClaimState:
    if counts[Verdict.VIOLATION] or counts[Verdict.WAIVED]:
        return ClaimState.BROKEN
    good = counts[Verdict.CONFORM] + counts[Verdict.TOLERATED]
    if claim.supported is False:
        if counts[Verdict.ABSENT]:
            return ClaimState.KEPT
        return ClaimState.UNDER_DECLARED if good else ClaimState.UNCHECKED
    return ClaimState.KEPT if good else ClaimState.UNCHECKED
