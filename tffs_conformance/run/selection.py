"""What a run leaves out of its tier, and what a report says of it."""

import shlex
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Course:
    """How far a run came, in all of its targets.

    `collected` counts the cases that pytest was to run, of all that there are in the tier, `tier`, once for each
    target. `interrupted` says that a person ended the run.
    """

    tier: str
    cases: Set[str]
    targets: int
    collected: int
    ended: int
    selected: tuple[str, ...]
    stops: tuple[str, ...]
    interrupted: bool

    @property
    def is_selection(self) -> bool:
        """Whether the user's own options left something out."""
        return bool(self.selected) and self.collected < len(self.cases) * self.targets

    @property
    def is_done(self) -> bool:
        """Whether all that was collected has ended."""
        return not self.interrupted and self.ended >= self.collected

    @property
    def is_as_asked(self) -> bool:
        """Whether the user's own options left something out, and everything else ended."""
        return self.is_selection and self.is_done

    def left_out(self, ended: Collection[str]) -> str | None:
        """Why not all cases of the tier ended on a target, or None where they did."""
        missing = self.cases - set(ended)
        if not missing:
            return None
        count = f"{len(missing)} of {len(self.cases)} cases of the tier {self.tier} were not run"
        if self.interrupted:
            return f"the run was interrupted; {count}"
        if self.is_selection:
            return f"only a selection was run: {' '.join(self.selected)}; {count}"
        if self.stops and not self.is_done:
            return f"stopped by {' '.join(self.stops)}; {count}"
        return count
