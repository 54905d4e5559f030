"""Waivers: known violations that a run accepts, each with an owner, a reason and perhaps an end.

An entry waives the checks of its clause, in cases that fit its pattern, whose `got` is its fingerprint. Whatever an
entry says that is no longer so makes the run fail, with the entry named: nobody carries a waiver that is not needed.
"""

import datetime
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from ..escape import printable
from ..patterns import fits


class WaiverError(Exception):
    """A waiver is not as it should be; the text is one sentence that names the entry."""


class WaiverState(StrEnum):
    """What a run says of an entry."""

    USED = "used"
    UNNEEDED = "unneeded"
    CHANGED = "changed"
    EXPIRED = "expired"
    NOT_JUDGED = "not judged"


#: What fails the run, and what a person is to do about it.
REMEDIES: Mapping[WaiverState, str] = {
    WaiverState.UNNEEDED: "its cases ran and there was nothing to waive: remove it",
    WaiverState.CHANGED: (
        "the fingerprint changed: look at the violation, which is another one now, and fix or waive that"
    ),
    WaiverState.EXPIRED: "it expired: fix the violation, or agree on a new date",
}


class Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person wrote into the file of waivers."""

    clause: Annotated[str, Meta(description="The id of the clause whose violations it accepts.")]
    case: Annotated[str, Meta(description="A case id or a shell pattern.")]
    fingerprint: Annotated[str, Meta(description="What the waived checks got.")]
    reason: Annotated[str, Meta(description="Why they are accepted.")]
    owner: Annotated[str, Meta(description="The person or team that answers for it.")]
    issue: Annotated[str | None, Meta(description="Where it is discussed.")]
    expires: Annotated[datetime.date | None, Meta(description="The last day on which it waives anything.")]

    def fits(self, clause: str, case: str) -> bool:
        """Whether the entry is about this clause in this case."""
        return clause == self.clause and self.fits_case(case)

    def fits_case(self, case: str) -> bool:
        """Whether the entry is about this case."""
        return fits(self.case, case)

    def is_of(self, got: str) -> bool:
        """Whether the fingerprint is this one, as the report has it or as a terminal shows it."""
        return self.fingerprint in (got, fingerprint(got))


class Waiver(Entry, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry in a run: `expired` says that it is over.

    `cases` counts the cases of the suite that fit: an entry that waived nothing is unneeded only where all of them
    ended.
    """

    expired: bool = False
    cases: int = 0


class WaiverAccount(Entry, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of the file of waivers, and what the run says of it."""

    state: Annotated[
        WaiverState,
        Meta(
            description="Unneeded, changed and expired entries fail the run. Not judged: not all of its cases were run."
        ),
    ]
    waived: Annotated[int, Meta(ge=0, description="How many checks it waived.")]
    got_instead: Annotated[
        tuple[str, ...], Meta(description="What violations of the clause in its cases got that are not waived.")
    ]


def fingerprint(got: str) -> str:
    """What a file of waivers says for this `got`: the text as a terminal shows it, for TOML cannot hold every text."""
    return printable(got)
