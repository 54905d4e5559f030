"""What TensorFlow's interface hides of the contract: `through.toml`."""

import functools
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ... import typed_toml


class Hidden(Struct, frozen=True, forbid_unknown_fields=True):
    """Clauses that are out of reach through TensorFlow, and why."""

    clauses: tuple[str, ...]
    why: str


class _ProgramsFile(Struct, forbid_unknown_fields=True):
    hidden: tuple[Hidden, ...]


@functools.cache
def hidden() -> Mapping[str, str]:
    """The clauses that are out of reach through TensorFlow, each with the reason."""
    entries = typed_toml.read(Path(__file__).with_suffix(".toml"), _ProgramsFile).hidden
    return {name: entry.why for entry in entries for name in entry.clauses}
