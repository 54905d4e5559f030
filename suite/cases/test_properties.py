"""Properties: on every history, plugin and model agree.

A case tries many histories. It takes the result of the smallest on which they differ, else of one with a warning, else
of any that was run.
"""

from contextlib import suppress

from ...harness.ops.outcomes import DiedError
from ..engine.case import Case
from ..engine.marks import clauses, full
from .test_status import FORM, is_one_path

# Hypothesis takes longer to import than most tiers take to start; it is imported where histories are made.
# ruff: noqa: PLC0415


def registered(case: Case) -> None:
    """End the case where there is no scheme to try histories on; one that does not survive loading is tried."""
    with suppress(DiedError):
        case.bench.scheme(case.surroundings.loaded)


@full
@clauses("common.histories-add-up", "robustness.no-crash", "robustness.no-hang")
def test_tree(case: Case) -> None:
    """Files and directories are written, moved, deleted and asked for, in any order."""
    registered(case)
    from ..properties import machines, search

    search.machine(case, machines.Tree)


@full
@clauses("common.histories-add-up", "robustness.no-crash", "robustness.no-hang")
def test_handles(case: Case) -> None:
    """Several files are open at once, and used in any order."""
    registered(case)
    from ..properties import machines, search

    search.machine(case, machines.Handles)


@full
@clauses("read.returns-the-bytes", "robustness.no-crash", "robustness.no-hang")
def test_reads(case: Case) -> None:
    """A file is read in any places, in any order, also behind its end."""
    registered(case)
    from ..properties import search, strategies

    search.given(case, strategies.reads())


@full
@clauses("common.histories-add-up", "robustness.no-crash", "robustness.no-hang", FORM)
def test_spellings(case: Case) -> None:
    """Paths are spelt in ways that translation makes one."""
    registered(case)
    from ..properties import search, strategies

    if case.surroundings.available_ops.isdisjoint(strategies.SPELT):
        case.missing("path_exists")
    uri = case.uri()
    if not is_one_path(case, f"{uri}/a/b", f"{uri}//x/.././/a/./b/"):
        return
    search.given(case, strategies.spellings(case.surroundings.available_ops))


@full
@clauses("get_matching_paths.succeeds", "robustness.no-crash", "robustness.no-hang")
def test_patterns(case: Case) -> None:
    """Any patterns are matched against names that look like patterns; an independent matcher says what is found."""
    registered(case)
    from ..properties import search, strategies

    if "create_dir" in case.bench.claims.ops_given_up:
        case.missing("create_dir")
    search.given(case, strategies.patterns())
