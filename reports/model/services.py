"""What the services behind a target were, and what they say of a read."""

from typing import Annotated

from msgspec import Meta, Struct


class Figure(Struct, frozen=True, forbid_unknown_fields=True):
    """One counter of the services, and by how much it grew."""

    what: Annotated[str, Meta(description="What the services count.")]
    bytes: Annotated[int, Meta(description="By how many bytes it grew.")]


class Figures(Struct, frozen=True, forbid_unknown_fields=True):
    """A file was read by the target, then by the same plugin on another node of the services: what they counted."""

    images: Annotated[tuple[str, ...], Meta(description="The images of the services.")]
    size: Annotated[int, Meta(ge=0, description="Of the file that was read, in bytes.")]
    figures: Annotated[tuple[Figure, ...], Meta(description="What the services counted meanwhile.")]
    failure: Annotated[str | None, Meta(description="Why there are no figures; null where there are.")]
