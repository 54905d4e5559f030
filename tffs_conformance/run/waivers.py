"""The waivers of a run, and how many cases each of them fits."""

from ..reports.waivers import Waiver, counted
from ..suite.engine import collect
from ..suite.engine.marks import UNDEFINED


def fitting(waivers: list[Waiver]) -> list[Waiver]:
    """The entries, each with the number of cases that fit it."""
    listed = collect.cases()
    return counted(
        waivers,
        [case.id for case in listed if case.tier != UNDEFINED],
        [case.id for case in listed if case.tier == UNDEFINED],
    )
