"""Troubles of a network, and what an op may answer in one: `network.toml`."""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...harness.network.exchanges import Break
from ...harness.ops.codes import Code


@dataclass(frozen=True, slots=True)
class Trouble:
    """What happens to connections: toxics of toxiproxy, or none is made where the service is `down`."""

    what: str
    down: bool
    toxics: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Ending:
    """A trouble that ends within an op: how `{}`, which is a request, or its answer, breaks off."""

    what: str
    ends: Break
    every: int


@functools.cache
def endings() -> Sequence[Ending]:
    """The troubles that end within an op."""
    return [Ending(one["what"], Break(**one["ends"]), one.get("every", 0)) for one in _read()["ending"]]


@functools.cache
def troubles() -> Mapping[str, Trouble]:
    """The troubles by name."""
    return {
        one["name"]: Trouble(one["what"], one.get("down", False), one.get("toxics", [])) for one in _read()["trouble"]
    }


@functools.cache
def passing() -> frozenset[Code]:
    """The codes that say: try again."""
    return frozenset(Code[name] for name in _read()["passing"])


@functools.cache
def _read() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
