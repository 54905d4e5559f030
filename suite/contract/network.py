"""Troubles of a network, and what an op may answer in one: `network.toml`."""

import functools
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ... import typed_toml
from ...harness.network.exchanges import Break, Disturbance
from ...harness.ops.codes import Code
from .statuses import CodeName


class Trouble(Struct, frozen=True, forbid_unknown_fields=True):
    """What happens to connections while an op is performed."""

    name: str
    what: str
    disturbance: Disturbance


class BrokenExchange(Struct, frozen=True, forbid_unknown_fields=True):
    """A trouble that ends within an op: how `{}`, which is a request, or its answer, breaks off."""

    what: str
    ends: Break
    every: int = 0


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    passing: tuple[CodeName, ...]
    trouble: tuple[Trouble, ...]
    ending: tuple[BrokenExchange, ...]


def endings() -> Sequence[BrokenExchange]:
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
    return typed_toml.read(Path(__file__).with_suffix(".toml"), _Table)
