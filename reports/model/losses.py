"""Findings of lost data: they are told before all others, whatever their causes."""

import re
from collections.abc import Container, Iterable
from dataclasses import replace

from .findings import Finding, Made
from .wrongs import FILLED, LACKING, STORED, THERE, wrongs

#: How a text ends that says that nothing is in a file.
_NOTHING = re.compile(r"=(b''|None)$")


def first(found: Iterable[Finding], looking: Container[str]) -> list[Finding]:
    """The findings, first those of lost data, each with what shows the loss before what else it has.

    Of an op in `looking` what it says is wrong, and not what is stored.
    """
    others, lost = [], []
    for one in found:
        if one.op is None or one.op in looking or not any(_lost(made) and made[0].cause is None for made in one.checks):
            others.append(one)
        else:
            lost.append(replace(one, checks=tuple(sorted(one.checks, key=lambda made: not _lost(made)))))
    return [*lost, *others]


def _lost(made: Made) -> bool:
    """Whether a file is gone in which something was, or nothing is in it any more."""
    case, check = made
    if not STORED.match(check.expected):
        return False
    if " has {" not in check.expected:
        return _NOTHING.search(check.got) is not None
    return any(one.kind == THERE and f"{LACKING} {FILLED}" in one.what for one in wrongs(case, check))
