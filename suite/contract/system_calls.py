"""What system calls can answer, and what that is to TensorFlow: `system_calls.toml`."""

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...harness.ops.codes import Code

EINTR = "EINTR"


@dataclass(frozen=True, slots=True)
class Failing:
    """How a call can fail. The op is to answer as ever where an error is `transparent`.

    An error that is in `only` is one of calls whose line has that, a regular expression. `loses` is what is lost by the
    failure itself, whatever else is called: `bytes` that were written, or their `durability`. Other calls are followed
    for what they do: one that `writes` changes the bytes of a file.
    """

    errors: tuple[str, ...]
    transparent: frozenset[str]
    only: Mapping[str, str]
    loses: str
    writes: bool

    def possible(self, line: str) -> tuple[str, ...]:
        """The errors that the call of this line can have."""
        return tuple(error for error in self.errors if re.search(self.only.get(error, ""), line))


@functools.cache
def calls() -> Mapping[str, Failing]:
    """How each call can fail, by its name."""
    return {
        name: Failing(
            tuple(table["errors"]),
            frozenset(table.get("transparent", ())),
            table.get("only", {}),
            table.get("loses", ""),
            table.get("writes", False),
        )
        for table in _read()["call"]
        for name in table["names"]
    }


@functools.cache
def codes() -> Mapping[str, Code]:
    """The code of TensorFlow for each error."""
    return {error: Code[code] for code, errors in _read()["codes"].items() for error in errors}


@functools.cache
def allowed() -> frozenset[tuple[str, str]]:
    """Ops and errors of which an answer of OK with less than there is breaks nothing."""
    return frozenset((one["op"], one["error"]) for one in _read()["allowed"])


@functools.cache
def _read() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
