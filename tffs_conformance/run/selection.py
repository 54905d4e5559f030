"""What a run leaves out of its tier, and what a report says of it."""

from collections.abc import Set
from typing import Any

from .run_options import RunOptions


def selection(option: Any, options: RunOptions) -> tuple[str, ...]:
    """The options that leave something out, as a user gave them: `--clause=read.*`."""
    given = (
        ("-k", option.keyword),
        ("-m", option.markexpr),
        ("--clause", options.clause),
        ("--case", options.case),
        ("--lf", getattr(option, "lf", False) or None),
    )
    return tuple(name if value is True else f"{name}={value}" for name, value in given if value)


def left_out(selected: tuple[str, ...], interrupted: bool, planned: Set[str] | None, ended: int) -> str | None:
    """Why a run is not a whole one, or None. `planned` are the node ids collected, `ended` counts those that ran."""
    if interrupted:
        return "the run was interrupted"
    if selected:
        return f"only a selection was run: {' '.join(selected)}"
    if planned is not None and ended < len(planned):
        return f"{len(planned) - ended} cases were not reached"
    return None
