"""What a run leaves out of its tier, and what a report says of it."""

import shlex
from collections.abc import Sequence
from typing import Any

import pytest

from .run_options import RunOptions


def selection(config: pytest.Config, options: RunOptions, paths: Sequence[str]) -> tuple[str, ...]:
    """The options by which a user leaves something out, as they were given: `--clause=read.*`, and paths."""
    option: Any = config.option
    given = (
        *((None, path) for path in paths),
        ("-k", option.keyword),
        ("-m", option.markexpr),
        *(("--clause", pattern) for pattern in options.clauses),
        *(("--case", pattern) for pattern in options.cases),
        ("--shard", "/".join(map(str, options.shard)) if options.shard[1] > 1 else ""),
        *(("--deselect", prefix) for prefix in option.deselect or ()),
        *(("--ignore", path) for path in option.ignore or ()),
        *(("--ignore-glob", path) for path in option.ignore_glob or ()),
        ("--lf", getattr(option, "lf", False)),
        ("--sw", getattr(option, "stepwise", False)),
    )
    return tuple(_shown(name, value) for name, value in given if value)


def stops(config: pytest.Config) -> tuple[str, ...]:
    """The options by which a user ends a run before its end."""
    option: Any = config.option
    given = (("--maxfail", option.maxfail), ("--sw", getattr(option, "stepwise", False)))
    return tuple(_shown(name, value) for name, value in given if value)


def _shown(name: str | None, value: object) -> str:
    if value is True:
        return str(name)
    quoted = shlex.quote(str(value))
    return quoted if name is None else f"{name} {quoted}" if len(name) == 2 else f"{name}={quoted}"
