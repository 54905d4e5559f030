"""What a file of waivers changes: the violations that it accepts, and what became of each entry."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from ...reports.model.records import CaseRecord, CheckRecord
from ...reports.model.verdicts import Verdict, worst
from ...reports.model.waivers import REMEDIES, Entry, Waiver, WaiverAccount, WaiverError, WaiverState
from ...reports.patterns import nearest
from ...reports.plain import fields_of
from .tried import is_known


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
        if (name := waiver.clause) not in known:
            raise WaiverError(f"{path}: waiver {number}: there is no clause {name!r}{nearest(name, known)}")
        if not waiver.cases:
            raise WaiverError(f"{path}: waiver {number} ({waiver.clause}): no case fits {waiver.case!r}")


def waiving(waivers: Iterable[Waiver], case: str, check: CheckRecord) -> Waiver | None:
    """The entry that waives a check which is a violation, or was one."""
    for waiver in waivers:
        if not waiver.expired and waiver.fits(check.clause, case) and waiver.is_of(check.got):
            return waiver
    return None


def waived(record: CaseRecord, waivers: Sequence[Waiver]) -> CaseRecord:
    """The record with the violations waived that an entry is about; whatever else there is in it stays."""
    if not record.checks or not waivers:
        return record
    checks = tuple(
        replace(check, verdict=Verdict.WAIVED)
        if check.verdict is Verdict.VIOLATION and waiving(waivers, record.id, check)
        else check
        for check in record.checks
    )
    return replace(record, checks=checks, verdict=worst(check.verdict for check in checks))


def as_seen(record: CaseRecord) -> CaseRecord:
    """The record with nothing waived."""
    if all(check.verdict is not Verdict.WAIVED for check in record.checks):
        return record
    checks = tuple(
        replace(check, verdict=Verdict.VIOLATION) if check.verdict is Verdict.WAIVED else check
        for check in record.checks
    )
    return replace(record, checks=checks, verdict=worst(check.verdict for check in checks))


def accounts(waivers: Sequence[Waiver], cases: Iterable[CaseRecord]) -> tuple[WaiverAccount, ...]:
    """What a report says of each entry: its state, how many checks it waived, and what else its violations gave."""
    cases = tuple(cases)
    return tuple(_account(waiver, waivers, [case for case in cases if waiver.fits_case(case.id)]) for waiver in waivers)


def _account(waiver: Waiver, waivers: Sequence[Waiver], cases: Sequence[CaseRecord]) -> WaiverAccount:
    """What a report says of one of the entries, of which these are the cases."""
    count, others = 0, dict[str, None]()
    checks = ((case.id, check) for case in cases for check in case.checks if check.clause == waiver.clause)
    for name, check in checks:
        if check.verdict is Verdict.WAIVED:
            count += check.times * (waiving(waivers, name, check) is waiver)
        elif check.verdict is Verdict.VIOLATION:
            others[check.got] = None
    # What breaks a law shows in cases that are about something else, too.
    unsure = not all(map(is_known, cases))
    state = _state(waiver, count, bool(others), len(cases) >= waiver.cases, unsure)
    return WaiverAccount(**fields_of(Entry, waiver), state=state, waived=count, got_instead=tuple(others))


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


def _state(waiver: Waiver, count: int, others: bool, complete: bool, unsure: bool) -> WaiverState:
    if waiver.expired:
        return WaiverState.EXPIRED
    if count:
        return WaiverState.USED
    # What it is about may show in a case that was left out, whatever others show.
    if not complete:
        return WaiverState.NOT_JUDGED
    if others:
        return WaiverState.CHANGED
    return WaiverState.NOT_JUDGED if unsure else WaiverState.UNNEEDED
