"""Which launcher starts the hosts of a target."""

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .launcher import ALLOCATOR, Launcher
from .local import Local

if TYPE_CHECKING:
    from .sanitizers import Sanitizer

#: What tells a host the libraries of its runtime.
RUNTIME_VARIABLE = "TFFS_RUNTIME"
#: So many servers with TensorFlow in them are kept.
MOST_KEPT = 2


def launcher(
    command: Sequence[str],
    environment: Mapping[str, str],
    libraries: Sequence[str] = (),
    through: Sequence[str] = (),
    sanitizer: "Sanitizer | None" = None,
) -> Launcher:
    """What starts hosts with this command and `environment`: this machine, where the command is empty.

    `libraries` are those of the runtime, where that is not the stand-in. `through` is the program of hosts of another
    kind, to which nothing is said of memory: it is TensorFlow's. `sanitizer` is what the plugin was compiled
    for.
    """
    if sanitizer is not None:
        return sanitizer.judging(environment)
    if through:
        return _kept(_pairs(environment), (), tuple(through), _surroundings())
    given = with_runtime(environment, libraries)
    if command:
        from .command import Command  # noqa: PLC0415 - most hosts run on this machine

        return Command(command, given)
    return _kept(_pairs(given), _pairs(ALLOCATOR), (), _surroundings()) if libraries else Local(given)


def sanitizer_of(name: str, plugin: Path) -> "Sanitizer | None":
    """The sanitizer of this name that a plugin is compiled for; None for another tool, or none.

    Raises NotCompiledSoError, NoToolError, NotElfError and OSError.
    """
    if not name:
        return None
    from . import sanitizers  # noqa: PLC0415 - most runs have none

    return sanitizers.of(name, plugin)


def with_runtime(environment: Mapping[str, str], libraries: Sequence[str]) -> Mapping[str, str]:
    """The variables of hosts whose runtime has these libraries; none where it is the stand-in."""
    return {**environment, RUNTIME_VARIABLE: ":".join(libraries)} if libraries else environment


class Kept(Local):
    """Hosts whose server takes seconds to start, for it loads TensorFlow: it is kept for whoever asks next."""

    def close(self) -> None:
        """Wait for what was killed. The server ends with this process, or when others were asked for instead."""
        self.reap()


_Pairs = tuple[tuple[str, str], ...]


# What a server has of this process is part of the question.
@functools.lru_cache(maxsize=MOST_KEPT)
def _kept(environment: _Pairs, allocator: _Pairs, program: tuple[str, ...], surroundings: tuple[object, ...]) -> Kept:
    return Kept(dict(environment), dict(allocator), program)


def _surroundings() -> tuple[object, ...]:
    # pytest says there what it is at, and that is another thing each time.
    return os.getcwd(), _pairs({name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"})


def _pairs(variables: Mapping[str, str]) -> _Pairs:
    return tuple(sorted(variables.items()))
