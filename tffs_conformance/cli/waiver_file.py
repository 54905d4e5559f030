"""Bring a file of waivers up to date with a report: kept entries stay as people wrote them, comments and all."""

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tomlkit
import tomlkit.exceptions
from msgspec.structs import replace

from ..reports.model.records import CaseRecord
from ..reports.model.report import Report
from ..reports.model.verdicts import Verdict
from ..reports.model.waivers import Waiver, WaiverError, WaiverState, fingerprint
from ..reports.patterns import fits
from ..reports.waiver_entries import Breach, grouped, written
from ..suite.judge.waivers import accounts

_HEAD = re.compile(r"^\s*\[\[\s*waiver\s*\]\]")


@dataclass(slots=True)
class Changes:
    """What became of the entries, one line each."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


def update(
    path: Path,
    waivers: Sequence[Waiver],
    report: Report,
    *,
    reason: str,
    owner: str,
    issue: str | None,
    expires: datetime.date,
) -> Changes:
    """Rewrite the file at `path`, which holds `waivers`, for the violations in `report`.

    Entries that waive something stay; those that expired get `expires` as their new end, those whose fingerprint
    changed get the one seen; entries that nothing needs, and those about clauses that the report lacks, go. What is
    left of the violations gets entries with `reason`, `owner`, `issue` and `expires`. Raises WaiverError where the file
    is not laid out entry by entry, or OSError.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    preamble, blocks = _blocks(path, text, len(waivers))
    left = _breaches(report)
    # As if nothing was waived and nothing expired: what is unneeded then is not needed at all.
    bare = [replace(waiver, expired=False) for waiver in waivers]
    states = [account.state for account in accounts(bare, map(_unwaived, report.cases))]
    # First come the entries that are right as they are, so that no other takes what they are about.
    claims = [_claim(left, waiver) for waiver in waivers]
    changes, kept = Changes(), [preamble]
    for waiver, block, state, claimed in zip(waivers, blocks, states, claims, strict=True):
        named = f"{waiver.clause}, {waiver.case}: {waiver.fingerprint}"
        edits: dict[str, object] = {}
        others = [breach for breach in left if waiver.fits(*breach[:2])]
        if not claimed and others:
            # The clause is still broken there, in another way.
            edits["fingerprint"] = fingerprint(others[0][2])
            claimed = _claim(left, replace(waiver, fingerprint=others[0][2]))  # noqa: PLW2901
        if waiver.clause not in report.clauses or (not claimed and state is not WaiverState.NOT_JUDGED):
            changes.dropped.append(named)
            continue
        if waiver.expired and claimed:
            edits["expires"] = expires
        if edits:
            changes.updated.append(f"{named} ({', '.join(f'{key} = {value}' for key, value in edits.items())})")
        kept.append(_edited(block, edits))
    for clause, case, got in grouped(left):
        changes.added.append(f"{clause}, {case}: {got}")
        entry = {"clause": clause, "case": case, "fingerprint": got, "reason": reason, "owner": owner}
        kept.append(written(entry | ({"issue": issue} if issue else {}) | {"expires": expires}))
    _replace(path, "".join(kept))
    return changes


def waive(
    path: Path,
    waivers: Sequence[Waiver],
    report: Report,
    *,
    clauses: str,
    reason: str,
    owner: str,
    issue: str | None,
    expires: datetime.date | None,
) -> list[str]:
    """Add entries to the file at `path`, which holds `waivers`: for each violation in `report` that none of them fits.

    `clauses` is a pattern: violations of other clauses stay as they are, and so does all that the file has. One
    line for each entry. Raises WaiverError where the file has such an entry, which does not fit any more, or OSError.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    left = {breach: None for breach in _breaches(report) if fits(clauses, breach[0])}
    for waiver in waivers:
        if not waiver.expired:
            _claim(left, waiver)
    added = []
    for clause, case, got in grouped(left):
        for number, waiver in enumerate(waivers, start=1):
            if (waiver.clause, waiver.case, waiver.fingerprint) == (clause, case, got):
                raise WaiverError(f"{path}: waiver {number} ({clause}, {case}) says so already, and it expired")
        added.append(f"{clause}, {case}: {got}")
        entry: dict[str, object] = {
            "clause": clause,
            "case": case,
            "fingerprint": got,
            "reason": reason,
            "owner": owner,
        }
        optional = {"issue": issue, "expires": expires}
        text += written(entry | {key: value for key, value in optional.items() if value is not None})
    try:
        tomlkit.parse(text)
    except tomlkit.exceptions.ParseError as error:
        raise WaiverError(f"{path}: entries begin with [[waiver]], else none can be added: {error}") from None
    if added:
        _replace(path, text if waivers else text.lstrip("\n"))
    return added


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(f"{path.name}.tmp")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _blocks(path: Path, text: str, count: int) -> tuple[str, list[str]]:
    """What stands before the first entry, and each entry with the comment right above it."""
    lines = text.splitlines(keepends=True)
    starts = []
    for number, line in enumerate(lines):
        if _HEAD.match(line):
            while number and lines[number - 1].lstrip().startswith("#"):
                number -= 1  # noqa: PLW2901 - up to the first line of the comment
            starts.append(number)
    if len(starts) != count:
        raise WaiverError(f"{path}: each entry begins with [[waiver]] on a line of its own, else it is not rewritten")
    ends = [*starts[1:], len(lines)]
    blocks = ["".join(lines[start:end]) for start, end in zip(starts, ends, strict=False)]
    return "".join(lines[: starts[0]] if starts else lines), [b if b.endswith("\n") else b + "\n" for b in blocks]


def _claim(left: dict[Breach, None], waiver: Waiver) -> list[Breach]:
    """Take from `left` what an entry is about."""
    claimed = [(clause, case, got) for clause, case, got in left if waiver.fits(clause, case) and waiver.is_of(got)]
    for breach in claimed:
        del left[breach]
    return claimed


def _breaches(report: Report) -> dict[Breach, None]:
    """The violations, waived or not, as clause, case and `got`."""
    return {
        (check.clause, case.id, check.got): None
        for case in report.cases
        for check in case.checks
        if check.verdict in (Verdict.VIOLATION, Verdict.WAIVED)
    }


def _unwaived(case: CaseRecord) -> CaseRecord:
    """The case as it would have ended without waivers."""
    checks = tuple(
        replace(check, verdict=Verdict.VIOLATION) if check.verdict is Verdict.WAIVED else check for check in case.checks
    )
    return replace(case, checks=checks)


def _edited(block: str, edits: Mapping[str, object]) -> str:
    if not edits:
        return block
    document = tomlkit.parse(block)
    entry = document["waiver"][0]
    for key, value in edits.items():
        entry[key] = value
    return tomlkit.dumps(document)
