"""Waivers: known violations that a run accepts, each with an owner, a reason and perhaps an end.

An entry waives the checks of its clause, in cases that fit its pattern, whose `got` is its fingerprint. Whatever an
entry says that is no longer so makes the run fail, with the entry named: nobody carries a waiver that is not needed.
"""

import datetime
import fnmatch
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from ..escape import printable
from .records import CaseRecord, CheckRecord
from .verdicts import Verdict, worst

REQUIRED = ("clause", "fingerprint", "reason", "owner")
OPTIONAL = ("case", "issue", "expires")


class WaiverError(Exception):
    """A waiver is not as it should be; the text is one sentence that names the entry."""


class WaiverState(StrEnum):
    """What a run says of an entry."""

    USED = "used"
    UNNEEDED = "unneeded"
    CHANGED = "changed"
    EXPIRED = "expired"
    NOT_JUDGED = "not judged"


#: What fails the run, and what a person is to do about it.
REMEDIES: Mapping[WaiverState, str] = {
    WaiverState.UNNEEDED: "its cases ran and there was nothing to waive: remove it",
    WaiverState.CHANGED: (
        "the fingerprint changed: look at the violation, which is another one now, and fix or waive that"
    ),
    WaiverState.EXPIRED: "it expired: fix the violation, or agree on a new date",
}


class Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person wrote into the file of waivers."""

    clause: Annotated[str, Meta(description="The id of the clause whose violations it accepts.")]
    case: Annotated[str, Meta(description="A case id or a shell pattern.")]
    fingerprint: Annotated[str, Meta(description="What the waived checks got.")]
    reason: Annotated[str, Meta(description="Why they are accepted.")]
    owner: Annotated[str, Meta(description="Who answers for it.")]
    issue: Annotated[str | None, Meta(description="Where it is discussed.")]
    expires: Annotated[datetime.date | None, Meta(description="The last day on which it waives anything.")]

    def fits(self, clause: str, case: str) -> bool:
        """Whether the entry is about this clause in this case. A case id stands for itself, brackets and all."""
        return clause == self.clause and self.fits_case(case)

    def fits_case(self, case: str) -> bool:
        """Whether the entry is about this case."""
        return case == self.case or fnmatch.fnmatchcase(case, self.case)

    def is_of(self, got: str) -> bool:
        """Whether the fingerprint is this one, as the report has it or as a terminal shows it."""
        return self.fingerprint in (got, fingerprint(got))


class Waiver(Entry, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry in a run: `expired` says that it is over.

    `cases` counts the cases of the suite that fit: an entry that waived nothing is unneeded only where all of them
    ended.
    """

    expired: bool = False
    cases: int = 0


class WaiverAccount(Entry, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of the file of waivers, and what the run says of it."""

    state: Annotated[
        WaiverState,
        Meta(
            description="Unneeded, changed and expired entries fail the run. Not judged: not all of its cases were run."
        ),
    ]
    waived: Annotated[int, Meta(ge=0, description="How many checks it waived.")]
    got_instead: Annotated[
        tuple[str, ...],
        Meta(description="What violations of the clause in its cases got that are not waived."),
    ]


def fingerprint(got: str) -> str:
    """What a file of waivers says for this `got`: the text as a terminal shows it, for TOML cannot hold every text."""
    return printable(got)


def read(path: Path, today: datetime.date) -> list[Waiver]:
    """The entries of a file, in their order. Raises WaiverError, or OSError."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WaiverError(f"{path} is no TOML: {error}") from None
    entries = tables.pop("waiver", [])
    if tables:
        raise WaiverError(f"{path}: the unknown key {next(iter(tables))!r}; a file of waivers has [[waiver]] only")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise WaiverError(f"{path}: each waiver begins with [[waiver]]")
    waivers: list[Waiver] = []
    for number, entry in enumerate(entries, start=1):
        where = f"{path}: waiver {number} ({entry.get('clause', 'no clause')}, {entry.get('case', '*')})"
        waiver = _entry(where, entry, today)
        if any((w.clause, w.case, w.fingerprint) == (waiver.clause, waiver.case, waiver.fingerprint) for w in waivers):
            raise WaiverError(f"{where} stands there twice")
        waivers.append(waiver)
    return waivers


def _entry(where: str, entry: Mapping[str, Any], today: datetime.date) -> Waiver:
    if unknown := [key for key in entry if key not in REQUIRED + OPTIONAL]:
        raise WaiverError(f"{where} has the unknown key {unknown[0]!r}; known are {', '.join(REQUIRED + OPTIONAL)}")
    if missing := [key for key in REQUIRED if key not in entry]:
        raise WaiverError(f"{where} has no {missing[0]}")
    for key, value in entry.items():
        if key == "expires":
            if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
                raise WaiverError(f"{where}: expires is a date without quotes, such as 2027-03-01")
        elif not isinstance(value, str) or not value.strip():
            raise WaiverError(f"{where}: {key} is a text that says something")
    expires = entry.get("expires")
    defaults = {"case": "*", "issue": None, "expires": None}
    return Waiver(**{**defaults, **entry}, expired=expires is not None and expires < today)


def counted(waivers: Iterable[Waiver], cases: Sequence[str], rare: Sequence[str]) -> list[Waiver]:
    """The entries, each with the number of `cases` that fit it, or of `rare` ones, which not every run has."""
    return [
        replace(waiver, cases=sum(map(waiver.fits_case, cases)) or sum(map(waiver.fits_case, rare)))
        for waiver in waivers
    ]


def hold_to(path: Path, waivers: Iterable[Waiver], clauses: Iterable[str]) -> None:
    """Raise WaiverError for an entry about a clause that is not among `clauses`, or that fits no case."""
    known = frozenset(clauses)
    for number, waiver in enumerate(waivers, start=1):
        if waiver.clause not in known:
            raise WaiverError(f"{path}: waiver {number}: there is no clause {waiver.clause!r}")
        if not waiver.cases:
            raise WaiverError(f"{path}: waiver {number} ({waiver.clause}): no case fits {waiver.case!r}")


def waiving(waivers: Iterable[Waiver], case: str, check: CheckRecord) -> Waiver | None:
    """The entry that waives a check which is a violation, or was one."""
    for waiver in waivers:
        if not waiver.expired and waiver.fits(check.clause, case) and waiver.is_of(check.got):
            return waiver
    return None


def waived(record: CaseRecord, waivers: Sequence[Waiver]) -> CaseRecord:
    """The record with the violations waived that an entry is about."""
    if record.verdict is not Verdict.VIOLATION or not waivers:
        return record
    checks = tuple(
        replace(check, verdict=Verdict.WAIVED)
        if check.verdict is Verdict.VIOLATION and waiving(waivers, record.id, check)
        else check
        for check in record.checks
    )
    return replace(record, checks=checks, verdict=worst(check.verdict for check in checks))


def accounts(waivers: Sequence[Waiver], cases: Iterable[CaseRecord]) -> tuple[WaiverAccount, ...]:
    """What a report says of each entry: its state, how many checks it waived, and what else its violations gave."""
    counts = [0] * len(waivers)
    others: list[dict[str, None]] = [{} for _ in waivers]
    ended = [0] * len(waivers)
    unsure = [False] * len(waivers)
    for case in cases:
        for k, waiver in enumerate(waivers):
            if waiver.fits_case(case.id):
                ended[k] += 1
                unsure[k] |= case.verdict in (Verdict.NOT_RUN, Verdict.ERROR) and waiver.clause in case.clauses
        for check in case.checks:
            if check.verdict is Verdict.WAIVED:
                if entry := waiving(waivers, case.id, check):
                    counts[waivers.index(entry)] += check.times
            elif check.verdict is Verdict.VIOLATION:
                for k, waiver in enumerate(waivers):
                    if waiver.fits(check.clause, case.id):
                        others[k][check.got] = None
    return tuple(
        WaiverAccount(
            **{key: getattr(waiver, key) for key in Entry.__struct_fields__},
            state=_state(waiver, counts[k], bool(others[k]), ended[k] >= waiver.cases and not unsure[k]),
            waived=counts[k],
            got_instead=tuple(others[k]),
        )
        for k, waiver in enumerate(waivers)
    )


def stale(reports: Iterable[Sequence[WaiverAccount]]) -> list[WaiverAccount]:
    """The entries that fail the run. Where several targets share a file, one that needs an entry is enough."""
    entries = [entry for report in reports for entry in report]
    used = {(e.clause, e.case, e.fingerprint) for e in entries if e.state in (WaiverState.USED, WaiverState.NOT_JUDGED)}
    return [
        entry
        for entry in entries
        if entry.state in REMEDIES
        and not (entry.state is WaiverState.UNNEEDED and (entry.clause, entry.case, entry.fingerprint) in used)
    ]


def _state(waiver: Waiver, count: int, others: bool, complete: bool) -> WaiverState:
    if waiver.expired:
        return WaiverState.EXPIRED
    if count:
        return WaiverState.USED
    if others:
        return WaiverState.CHANGED
    return WaiverState.UNNEEDED if complete else WaiverState.NOT_JUDGED
