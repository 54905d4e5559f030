"""Small histories, all of them: each two ops in every situation of two names, and behind a third, on plugin and model.

A case is a block of them. It takes the result of the smallest on which plugin and model differ.
"""

import pytest

from ..contract import statuses
from ..contract.model import OPENS, WRITES
from ..engine.case import Case
from ..engine.marks import clauses, deep
from .test_properties import registered

# Hypothesis takes longer to import than most tiers take to start; it is imported where histories are made.
# ruff: noqa: PLC0415

CHANGES = ("new_writable_file", "new_appendable_file", "create_dir", "recursively_create_dir", "delete_file",
           "delete_dir", "delete_recursively", "rename_file", "copy_file")  # fmt: skip
OPS = (*statuses.ONE_PATH, *statuses.TWO_PATHS, "get_matching_paths", "flush_caches")
#: The situations of a name of its own.
SITUATIONS = (statuses.MISSING, statuses.FILE, statuses.EMPTY_FILE, statuses.EMPTY_DIRECTORY, statuses.FULL_DIRECTORY)
#: Nobody moves or matches what is beside a file that is being written.
HELD = [
    pytest.param(opener, op, id=f"{opener}-{op}")
    for opener in OPENS
    for op in OPS
    if opener not in WRITES or op not in (*statuses.TWO_PATHS, "get_matching_paths")
]


@deep
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("op", OPS)
@clauses("common.histories-add-up", "robustness.no-crash", "robustness.no-hang")
def test_pairs(case: Case, op: str, situation: str) -> None:
    """Each two ops, the first of this kind, in every situation of two names."""
    registered(case)
    from ..properties.block import HistoryBlock

    case.needs(op)
    HistoryBlock(case, lambda maker: maker.pairs(op, situation)).run()


@deep
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("op", CHANGES)
@clauses("common.histories-add-up", "robustness.no-crash", "robustness.no-hang")
def test_reached(case: Case, op: str, situation: str) -> None:
    """Each two ops behind a third of this kind, which changed what was there."""
    registered(case)
    from ..properties.block import HistoryBlock

    case.needs(op)
    HistoryBlock(case, lambda maker: maker.reached(op, situation)).run()


@deep
@pytest.mark.parametrize(("opener", "op"), HELD)
@clauses("common.histories-add-up", "robustness.no-crash", "robustness.no-hang")
def test_held(case: Case, opener: str, op: str) -> None:
    """Each two ops, the first of this kind, while a file is open that is used behind them."""
    registered(case)
    from ..properties.block import HistoryBlock

    case.needs(opener, op)
    HistoryBlock(case, lambda maker: maker.held(opener, op)).run()
