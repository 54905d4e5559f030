"""The waivers of a run, and how many cases each of them fits."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from ..reports.model.waivers import Waiver, WaiverError
from ..reports.waivers import read
from ..suite.contract.catalogue import catalogue
from ..suite.engine import index
from ..suite.engine.marks import UNDEFINED
from ..suite.judge.waivers import counted, hold_to
from .run_options import CONDITIONS, SANITIZERS, BadUsageError, not_one_for_each

#: The tiers whose cases no plain run has.
BY_REQUEST = ("large", "deep", UNDEFINED, *SANITIZERS, *CONDITIONS)


def fitting(waivers: list[Waiver]) -> list[Waiver]:
    """The entries, each with the number of cases that fit it."""
    listed = index.cases()
    return counted(
        waivers,
        [case.id for case in listed if case.tier not in BY_REQUEST],
        [case.id for case in listed if case.tier in BY_REQUEST],
    )


def waivers(given: Sequence[str], targets: Sequence[str], under: Sequence[str] = ()) -> dict[str, list[Waiver]]:
    """The waivers of each target by its name; `given` is one file for all or one for each. Raises BadUsageError.

    Entries about what only another condition shows than those of the run are left out: nobody knows whether they are
    needed.
    """
    if len(given) > 1 and len(given) != len(targets):
        raise not_one_for_each("--waivers", len(given), len(targets))
    by_file = {}
    for name in dict.fromkeys(given):
        path = Path(name)
        try:
            by_file[name] = fitting(read(path, date.today()))
            hold_to(path, by_file[name], catalogue())
            by_file[name] = [one for one in by_file[name] if _is_looked_for(one.clause, under)]
        except OSError as error:
            raise BadUsageError(f"--waivers={name}: {error.strerror}") from error
        except WaiverError as error:
            raise BadUsageError(f"--waivers: {error}") from error
    return {name: by_file[given[k if len(given) > 1 else 0]] if given else [] for k, name in enumerate(targets)}


def _is_looked_for(clause: str, under: Sequence[str]) -> bool:
    conditions = catalogue()[clause].conditions
    return not conditions or any(one in conditions for one in under)
