"""Bring a file of waivers up to date with a report: kept entries stay as people wrote them, comments and all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tomlkit
from msgspec.structs import replace
from tomlkit.exceptions import ParseError
from tomlkit.items import AoT, Comment, Item, Key
from tomlkit.toml_document import TOMLDocument

from ..reports.document import write_whole
from ..reports.model.records import CaseRecord
from ..reports.model.report import Report
from ..reports.model.verdicts import Verdict
from ..reports.model.waivers import Waiver, WaiverError, WaiverState, fingerprint
from ..reports.patterns import fits
from ..reports.waiver_entries import Breach, breaches, entries, written
from ..suite.judge.waivers import accounts


@dataclass(slots=True)
class Changes:
    """What became of the entries, one line each."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


def update(path: Path, waivers: Sequence[Waiver], report: Report, why: Mapping[str, object]) -> Changes:
    """Rewrite the file at `path`, which holds `waivers`, for the violations in `report`.

    Entries that waive something stay; those that expired get the `expires` of `why` as their new end, those whose
    fingerprint changed get the one seen; entries that nothing needs, and those about clauses that the report lacks, go.
    What is left of the violations gets entries with the keys of `why`. Raises WaiverError where the file is not laid
    out entry by entry, or OSError.
    """
    document, tables = _parsed(path)
    left = breaches(report, Verdict.VIOLATION, Verdict.WAIVED)
    # As if nothing was waived and nothing expired: what is unneeded then is not needed at all.
    bare = [replace(waiver, expired=False) for waiver in waivers]
    states = [account.state for account in accounts(bare, map(_unwaived, report.cases))]
    # First come the entries that are right as they are, so that no other takes what they are about.
    claims = [_claim(left, waiver) for waiver in waivers]
    changes, gone = Changes(), list[int]()
    for number, (waiver, state, claimed) in enumerate(zip(waivers, states, claims, strict=True)):
        named = f"{waiver.clause}, {waiver.case}: {waiver.fingerprint}"
        edits: dict[str, object] = {}
        others = [breach for breach in left if waiver.fits(*breach[:2])]
        if not claimed and others and state is not WaiverState.NOT_JUDGED:
            # The clause is still broken there, in another way.
            edits["fingerprint"] = fingerprint(others[0][2])
            claimed = _claim(left, replace(waiver, fingerprint=others[0][2]))  # noqa: PLW2901
        if waiver.clause not in report.clauses or (not claimed and state is not WaiverState.NOT_JUDGED):
            changes.dropped.append(named)
            gone.append(number)
            continue
        if waiver.expired and claimed:
            edits["expires"] = why["expires"]
        if edits:
            changes.updated.append(f"{named} ({', '.join(f'{key} = {value}' for key, value in edits.items())})")
            tables[number].update(edits)
    for number in reversed(gone):
        _drop(document, tables, number)
    added = entries(left, report, why)
    _write(path, document, added)
    changes.added = _lines(added)
    return changes


def waive(path: Path, waivers: Sequence[Waiver], report: Report, clauses: str, why: Mapping[str, object]) -> list[str]:
    """Add entries to the file at `path`, which holds `waivers`: for each violation in `report` that none of them fits.

    `clauses` is a pattern: violations of other clauses stay as they are, and so does all that the file has. One
    line for each entry. Raises WaiverError where the file has an entry for one of them, which expired, or OSError.
    """
    document, _ = _parsed(path)
    left = {breach: None for breach in breaches(report, Verdict.VIOLATION, Verdict.WAIVED) if fits(clauses, breach[0])}
    for waiver in waivers:
        if not waiver.expired:
            _claim(left, waiver)
    added = entries(left, report, why)
    for number, waiver in enumerate(waivers, start=1):
        if waiver.expired and _claim(left, waiver):
            raise WaiverError(
                f"{path}: waiver {number} ({waiver.clause}, {waiver.case}) says so already, and it expired"
            )
    if added:
        _write(path, document, added)
    return _lines(added)


def _parsed(path: Path) -> tuple[TOMLDocument, AoT]:
    """A file that may be there, and its entries. What is changed in these is changed in the file, and all else kept."""
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8") if path.exists() else "")
    except ParseError as error:
        raise WaiverError(f"{path} is no TOML: {error}") from None
    tables = document.get("waiver", tomlkit.aot())
    if not isinstance(tables, AoT):
        raise WaiverError(f"{path}: entries begin with [[waiver]] on a line of their own, else none can be changed")
    return document, tables


def _drop(document: TOMLDocument, tables: AoT, number: int) -> None:
    """Take out an entry and the comment right above it, which is the end of what stands before it."""
    above, below = tables[number - 1].value.body if number else document.body, tables[number].value.body
    # Last in the document are the entries themselves.
    above[_comment(above, len(above) if number else len(above) - 1)] = below[_comment(below, len(below))]
    del tables[number]
    if not tables:
        document.body.pop()


def _comment(body: list[tuple[Key | None, Item]], end: int) -> slice:
    """Where the comment is that ends there."""
    start = end
    while start and isinstance(body[start - 1][1], Comment):
        start -= 1
    return slice(start, end)


def _write(path: Path, document: TOMLDocument, added: Sequence[Mapping[str, object]]) -> None:
    """Write a file, with these entries at its end."""
    text = tomlkit.dumps(document)
    write_whole(path, [(text + "".join(map(written, added)))[not text :]])


def _lines(added: Sequence[Mapping[str, object]]) -> list[str]:
    return ["{clause}, {case}: {fingerprint}".format_map(entry) for entry in added]


def _claim(left: dict[Breach, None], waiver: Waiver) -> list[Breach]:
    """Take from `left` what an entry is about."""
    claimed = [(clause, case, got) for clause, case, got in left if waiver.fits(clause, case) and waiver.is_of(got)]
    for breach in claimed:
        del left[breach]
    return claimed


def _unwaived(case: CaseRecord) -> CaseRecord:
    """The case as it would have ended without waivers."""
    checks = tuple(
        replace(check, verdict=Verdict.VIOLATION) if check.verdict is Verdict.WAIVED else check for check in case.checks
    )
    return replace(case, checks=checks)
