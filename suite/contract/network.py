"""Troubles of a network, and what an op may answer in one: `network.toml`."""

import functools
import tomllib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ...harness.network.exchanges import Break, Disturbance
from ...harness.ops.codes import Code


class Trouble(msgspec.Struct, frozen=True):
    """What happens to connections while an op is performed."""

    name: str
    what: str
    disturbance: Disturbance


class Ending(msgspec.Struct, frozen=True):
    """A trouble that ends within an op: how `{}`, which is a request, or its answer, breaks off."""

    what: str
    ends: Break
    every: int = 0


class _Table(msgspec.Struct, frozen=True):
    passing: Sequence[str]
    trouble: Sequence[Trouble]
    ending: Sequence[Ending]


def endings() -> Sequence[Ending]:
    """The troubles that end within an op."""
    return _read().ending


def troubles() -> Sequence[Trouble]:
    """The troubles that last."""
    return _read().trouble


@functools.cache
def passing() -> frozenset[Code]:
    """The codes that say: try again."""
    return frozenset(Code[name] for name in _read().passing)


@functools.cache
def _read() -> _Table:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Table)
