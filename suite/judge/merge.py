"""One report of several: of the shards of a run, of its parts on several machines, of a run and of what it left out.

The parts agree on the suite, the target and the options. The report is the one that a single run would have given, but
for its times.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import takewhile
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ...reports.errors import PartsDisagreeError
from ...reports.escape import printable
from ...reports.model.claims import StatedClaim
from ...reports.model.header import Header, SuiteFacts
from ...reports.model.records import CaseRecord
from ...reports.model.repeats import breaches, is_worse, united
from ...reports.model.report import Report
from ...reports.model.waivers import Entry, Waiver, WaiverState
from ...reports.plain import fields_of
from .course import is_as_asked
from .differences import facts
from .reports import build
from .waivers import as_seen, waived

#: What parts may have differently: each runs on its own machine, and leaves out what the others do.
_OWN = ("left out", "python", "platform")
#: What of a command is about a machine.
_PLACES = ("--plugin=", "--plugin-profile=", "--root=", "--backing=", "--host-command=")


class Suite(Struct, frozen=True):
    """What only the suite of the parts knows: why its tier is not whole, and how many of its cases fit each waiver."""

    left_out: Callable[[SuiteFacts, Collection[str]], str | None]
    counted: Callable[[SuiteFacts, list[Waiver]], list[Waiver]]


class Merged(Struct, frozen=True):
    """The report, the cases that several parts have, and of these those that ended with different verdicts.

    `places` has the folder of the part that each case is from.
    """

    report: Report
    repeated: tuple[str, ...]
    differing: tuple[str, ...]
    places: dict[str, Path]


def merge(parts: Iterable[tuple[Path, Report]], suite: Suite) -> Merged:
    """The report of the parts, each with its path, of which there is at least one.

    Where several have a case, what counts is the worst that was seen, and whatever was wrong in any. Raises
    PartsDisagreeError.
    """
    cases: dict[str, tuple[CaseRecord, Path]] = {}
    repeated: dict[str, None] = {}
    differing: dict[str, None] = {}
    headers: list[tuple[Path, Report]] = []
    for path, part in parts:
        headers.append((path, replace(part, cases=())))
        _agree(headers[0], headers[-1])
        for case in part.cases:
            if case.id not in cases:
                cases[case.id] = (case, path.parent)
                continue
            before, place = cases[case.id]
            repeated[case.id] = None
            if before.verdict is not case.verdict or breaches(before) != breaches(case):
                differing[case.id] = None
            cases[case.id] = (united(before, case), path.parent if is_worse(case, before) else place)
    reports = [part for _, part in headers]
    options = _all(option for part in reports for option in part.suite.selection)
    whole = any(part.left_out is None for part in reports)
    left_out = None if whole else suite.left_out(replace(reports[0].suite, selection=options), cases.keys())
    if is_as_asked(left_out):
        # Nobody asked for a part that was cut short.
        texts = (str(part.left_out) for part in reports if not is_as_asked(part.left_out))
        left_out = "; ".join((*_all(texts), str(left_out)))
    durations = [part.suite.duration for part in reports]
    header = header_of(reports, () if left_out is None else options, suite.counted)
    report = build(
        header,
        # An entry that is over in one part waived something in another.
        (waived(as_seen(case), header.waivers) for case, _ in cases.values()),
        duration=None if None in durations else round(sum(filter(None, durations)), 3),
        left_out=left_out,
        services=next((part.services for part in reports if part.services is not None), None),
        costs=next((part.costs for part in reports if part.costs is not None), None),
    )
    return Merged(report, tuple(repeated), tuple(differing), {name: place for name, (_, place) in cases.items()})


def _agree(first: tuple[Path, Report], other: tuple[Path, Report]) -> None:
    """Raise PartsDisagreeError where two parts are not of one run."""
    theirs, ours = _said(first[1]), _said(other[1])
    for what in theirs | ours:
        if theirs.get(what) != ours.get(what):
            one, two = (printable(said.get(what, "none")) for said in (ours, theirs))
            raise PartsDisagreeError(other[0], f"its {what} is {one}, and that of {first[0]} is {two}")


def _said(report: Report) -> dict[str, str]:
    """What parts agree on, by name."""
    said = {what: value for what, value in facts(report).items() if what not in _OWN}
    entries = [[str(getattr(entry, key)) for key in Entry.__struct_fields__] for entry in report.waivers]
    typed = [word for word in report.suite.command if not word.startswith(_PLACES)]
    tables = [f"{op}: {answer}" for op, answer in report.target.tables.items()]
    return said | {
        "command": " ".join(typed),
        "list of ops": ", ".join(tables),
        "list of waivers": "; ".join(", ".join(entry) for entry in entries) or "none",
    }


def header_of(
    reports: Sequence[Report], selection: tuple[str, ...], counted: Callable[[SuiteFacts, list[Waiver]], list[Waiver]]
) -> Header:
    """The header of the parts: that of the first, with what the others have differently.

    An entry that expired before any of them is over for all.
    """
    first = reports[0]
    entries = [
        # As long as nobody counts them there may be others.
        Waiver(
            **fields_of(Entry, said[0]),
            expired=any(one.state is WaiverState.EXPIRED for one in said),
            cases=sys.maxsize,
        )
        for said in zip(*(part.waivers for part in reports), strict=True)
    ]
    return Header(
        contract=first.contract,
        suite=replace(
            first.suite,
            selection=selection,
            python=" | ".join(_all(part.suite.python for part in reports)),
            platform=" | ".join(_all(part.suite.platform for part in reports)),
            started=min(part.suite.started for part in reports),
        ),
        target=replace(first.target, root=_root([part.target.root for part in reports])),
        clauses=first.clauses,
        claims=tuple(StatedClaim(**fields_of(StatedClaim, claim)) for claim in first.claims),
        waivers=tuple(counted(first.suite, entries)),
    )


def _all(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _root(roots: Sequence[str | None]) -> str | None:
    """The URI below which all cases worked: each run has a root of its own."""
    known = [root for root in roots if root is not None]
    if len(known) != len(roots):
        return None
    steps = zip(*(root.split("/") for root in known), strict=False)
    common = [step[0] for step in takewhile(lambda step: len(set(step)) == 1, steps)]
    scheme, mark, _ = known[0].rpartition("://")
    return "/".join(common) if len(common) > mark.count("/") else scheme + mark
