"""Small histories: how many were tried, and what they met."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

Count = Annotated[int, Meta(ge=1)]


class Histories(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The small histories of a case, or of a run: each is some ops in a situation, compared with the model."""

    tried: Annotated[int, Meta(ge=0, description="How many were tried.")]
    left_out: Annotated[int, Meta(ge=0, description="How many were not: time was over, or an op hung too often.")]
    met: Annotated[
        Mapping[str, Mapping[str, Mapping[str, Count]]],
        Meta(
            description="What was met: by op and situation of its path, or of both its paths, each code that was "
            "answered and how often."
        ),
    ]
    never: Annotated[
        Mapping[str, tuple[str, ...]],
        Meta(description="Of a run: by op the situations of the status tables in which it was never called."),
    ] = {}
