"""A file of waivers is read."""

import datetime
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from .. import typed_toml
from ..typed_toml import TomlError
from .model.waivers import Waiver, WaiverError

_Text = Annotated[str, Meta(pattern=r"\S")]


class _Entry(Struct, forbid_unknown_fields=True, kw_only=True):
    clause: Annotated[_Text, Meta(description="The id of the clause whose violations are accepted.")]
    fingerprint: Annotated[_Text, Meta(description="What the waived checks got.")]
    reason: Annotated[_Text, Meta(description="Why they are accepted.")]
    owner: Annotated[_Text, Meta(description="The person or team that answers for it.")]
    case: Annotated[_Text, Meta(description="A case id or a shell pattern.")] = "*"
    issue: Annotated[_Text | None, Meta(description="Where it is discussed.")] = None
    expires: Annotated[datetime.date | None, Meta(description="The last day on which it waives anything.")] = None


class WaiverFile(Struct, forbid_unknown_fields=True):
    """A file of waivers as it is written."""

    waiver: tuple[_Entry, ...] = ()


def read(path: Path, today: datetime.date) -> list[Waiver]:
    """The entries of a file, in their order. Raises WaiverError, or OSError."""
    try:
        entries = typed_toml.read(path, WaiverFile).waiver
    except TomlError as error:
        raise WaiverError(str(error)) from None
    waivers: list[Waiver] = []
    for number, entry in enumerate(entries, start=1):
        waiver = Waiver(**msgspec.structs.asdict(entry), expired=entry.expires is not None and entry.expires < today)
        if any((w.clause, w.case, w.fingerprint) == (waiver.clause, waiver.case, waiver.fingerprint) for w in waivers):
            raise WaiverError(f"{path}: waiver {number} ({waiver.clause}, {waiver.case}) stands there twice")
        waivers.append(waiver)
    return waivers
