"""Properties: on every history, plugin and model agree.

A case tries many histories. It takes the result of the smallest on which they differ, else of one with a warning, else
of any that was run.
"""

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from ...harness.ops.outcomes import DiedError
from ..engine.case import Case, NoStimulusError
from ..engine.marks import clauses, full, many_calls
from . import names
from .test_content import CONTENTS
from .test_status import FORM, is_one_path

if TYPE_CHECKING:
    from ..properties.tours import TourPlace

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

    if not case.makes_directories:
        case.missing("create_dir")
    search.given(case, strategies.patterns())


#: A directory so far down that a tour is taken in it, with a long path, or where that is too long with a short one.
FAR_DOWN = ("/".join(["n" * 15] * 85), "/".join("d" * 85))
#: Where a tour is taken: `plain`, or with odd names, or far down.
PLACES = ("plain", *names.TOGETHER, "ends", "far-down")
#: What stores list at once.
PAGE = 1000


def place(case: Case, where: str) -> "TourPlace":
    """The place of a tour, of names that the filesystem takes. Raises NoStimulusError where it takes none."""
    from ..properties.tours import NAMES, PLAIN, TourPlace

    flat = not case.makes_directories
    trial = case.trial(case.bench, 0)
    try:
        match where:
            case "plain":
                return PLAIN
            case "far-down":
                for top in FAR_DOWN:
                    below = trial.surroundings.directory + "/".join(("", top, *NAMES))
                    if case.bench.claims.beyond(below) is None and trial.fs.recursively_create_dir(trial.uri(top)).ok:
                        return TourPlace(top)
            case "ends":
                taken = [names.NAMES[label] for label in names.ENDS if takes(trial, flat, names.NAMES[label])]
                if len(taken) > len(NAMES):
                    return TourPlace("" if flat else taken[0], dict(zip(NAMES, taken[1:], strict=False)))
            case _:
                parts = [names.NAMES[label] for label in names.TOGETHER[where]]
                odd = "-".join(part for part in parts if takes(trial, flat, part))
                at = {name: f"{odd}{name}" for name in NAMES}
                if odd and takes(trial, flat, *at.values()):
                    return TourPlace("" if flat else odd, at)
        raise NoStimulusError("there can be no such names")
    finally:
        trial.surroundings.clear()


def takes(case: Case, flat: bool, *levels: str) -> bool:
    """Whether there can be directories of these names, each in the one before; where there are none, a file."""
    for depth in range(1, len(levels) + 1):
        within = levels[:depth]
        if case.bench.claims.beyond("/".join((case.surroundings.directory, *within))) is not None:
            return False
        if not flat and not case.fs.create_dir(case.uri(*within)).ok:
            return False
    return not flat or written(case, case.uri(*levels))


def written(case: Case, uri: str) -> bool:
    """Whether a file can be written there."""
    file = case.fs.new_writable_file(uri).value
    if file is None:
        return False
    with file:
        return file.close().ok


@full
@pytest.mark.parametrize("where", PLACES)
@clauses("common.histories-add-up", "robustness.no-crash", "robustness.no-hang")
def test_tour(case: Case, where: str) -> None:
    """Every op meets every situation of a path, with plain names, with odd ones, and far down."""
    registered(case)
    from ..properties import tours

    tours.tour(case, place(case, where), names.escaped)


@full
@clauses("common.histories-add-up", "robustness.no-crash", "robustness.no-hang")
def test_contents(case: Case) -> None:
    """Files of all kinds of contents are written, copied, renamed, and appended to."""
    registered(case)
    from ..properties import tours

    case.needs("new_writable_file", itself=True)
    too_large = case.bench.claims.too_large
    tours.contents(case, [content for content in CONTENTS.values() if not too_large(len(content) + 1000)])


@full
@many_calls(PAGE + 60)
@clauses("common.histories-add-up", "robustness.no-crash", "robustness.no-hang")
def test_crowded(case: Case) -> None:
    """A directory with a page of entries and one is looked at, changed, and deleted."""
    registered(case)
    from ..properties import tours

    case.needs("create_dir", itself=True)
    tours.crowded(case, PAGE + 1)
