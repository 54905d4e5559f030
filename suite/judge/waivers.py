"""What a file of waivers changes: the violations that it accepts, and what became of each entry."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from ...reports.model.records import CaseRecord, CheckRecord
from ...reports.model.verdicts import Verdict, worst
from ...reports.model.waivers import REMEDIES, Entry, Waiver, WaiverAccount, WaiverError, WaiverState
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
    counts = [0] * len(waivers)
    others: list[dict[str, None]] = [{} for _ in waivers]
    ended = [0] * len(waivers)
    unsure = [False] * len(waivers)
    for case in cases:
        for k, waiver in enumerate(waivers):
            if waiver.fits_case(case.id):
                ended[k] += 1
                # What breaks a law shows in cases that are about something else, too.
                unsure[k] |= not is_known(case)
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
            state=_state(waiver, counts[k], bool(others[k]), ended[k] >= waiver.cases, unsure[k]),
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
