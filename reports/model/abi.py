"""In which releases of TensorFlow a plugin loads, as its file says: what a report holds of it."""

import itertools
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

#: So many symbols of one kind are in a report, the rest is counted; so many kinds; and so long a name.
MOST_SYMBOLS = 20
MOST_GROUPS = 50
LONGEST_SYMBOL = 300


class AbiSymbols(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Symbols that some releases lack."""

    library: Annotated[
        str,
        Meta(
            description="The library of TensorFlow that has them and that the plugin does not name; "
            "empty where none has them."
        ),
    ]
    symbols: Annotated[tuple[str, ...], Meta(description=f"The first {MOST_SYMBOLS}, as linkers name them.")]
    count: Annotated[int, Meta(ge=1, description="How many symbols there are.")]
    releases: Annotated[tuple[str, ...], Meta(min_length=1, description="The releases in which that is so.")]


class AbiFacts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """In which releases of TensorFlow a plugin loads in Python, read from its file before anything is run."""

    releases: Annotated[tuple[str, ...], Meta(description="The releases that were looked at, oldest first.")]
    loads: Annotated[tuple[str, ...], Meta(description="Those in which it loads.")]
    missing: Annotated[tuple[AbiSymbols, ...], Meta(description="What the others lack.")]
    unknown: Annotated[
        tuple[str, ...], Meta(description="Libraries that it names and that were not found: their symbols are unknown.")
    ]
    untold: Annotated[
        int,
        Meta(ge=0, description="How many symbols of templates may be missing or not: the tables have none of them."),
    ]
    glibc: Annotated[str, Meta(description="The oldest glibc that will do; empty for any.")]


def spans(releases: Sequence[str], known: Sequence[str]) -> str:
    """Releases in a few words: the first and the last of those that follow each other in `known`."""
    said = []
    for there, group in itertools.groupby(known, key=lambda release: release in releases):
        if there:
            first, *more = group
            said.append(f"{first} to {more[-1]}" if more else first)
    return ", ".join(said)
