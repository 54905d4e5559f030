"""What system calls can answer, and what that is to TensorFlow: `system_calls.toml`."""

import functools
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ... import typed_toml
from ...harness.ops.codes import Code
from .statuses import CodeName

EINTR = "EINTR"


class Failing(Struct, frozen=True, forbid_unknown_fields=True):
    """How the calls of these names can fail. The op is to answer as ever where an error is `transparent`.

    An error that is in `only` is one of calls whose line has that, a regular expression. `loses` is what is lost by the
    failure itself, whatever else is called: `bytes` that were written, or their `durability`. Other calls are followed
    for what they do: one that `writes` changes the bytes of a file.
    """

    names: tuple[str, ...]
    errors: tuple[str, ...]
    transparent: frozenset[str] = frozenset()
    only: dict[str, str] = {}
    loses: str = ""
    writes: bool = False

    def possible(self, line: str) -> tuple[str, ...]:
        """The errors that the call of this line can have."""
        return tuple(error for error in self.errors if re.search(self.only.get(error, ""), line))


@functools.cache
def calls() -> Mapping[str, Failing]:
    """How each call can fail, by its name."""
    return {name: failing for failing in _read().call for name in failing.names}


@functools.cache
def codes() -> Mapping[str, Code]:
    """The code of TensorFlow for each error."""
    return {error: Code[code] for code, errors in _read().codes.items() for error in errors}


@functools.cache
def allowed() -> frozenset[tuple[str, str]]:
    """Ops and errors of which an answer of OK with less than there is breaks nothing."""
    return frozenset((one.op, one.error) for one in _read().allowed)


class _Allowed(Struct, forbid_unknown_fields=True):
    op: str
    error: str
    why: str


class _SystemCallsFile(Struct, forbid_unknown_fields=True):
    call: tuple[Failing, ...]
    codes: dict[CodeName, tuple[str, ...]]
    allowed: tuple[_Allowed, ...]


@functools.cache
def _read() -> _SystemCallsFile:
    return typed_toml.read(Path(__file__).with_suffix(".toml"), _SystemCallsFile)
