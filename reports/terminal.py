"""The summary at the end of a run, made from the report alone: lines of text with the markup of pytest's writer."""

import shlex
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from .claims import ClaimState
from .escape import printable
from .plain import dumps
from .records import CaseRecord, CheckRecord
from .report import REPORT_NAME, Report
from .services import Figures
from .verdicts import TargetVerdict, Verdict
from .waivers import REMEDIES, WaiverState, fingerprint

#: A line and how pytest's terminal writer is to show it.
Line = tuple[str, Mapping[str, bool]]

#: So many cases of one clause are shown whole; the rest is counted.
CASES_SHOWN = 5
_WIDEST = 120
_COLOUR = {
    TargetVerdict.CONFORMANT: "green",
    TargetVerdict.WITH_WAIVERS: "green",
    TargetVerdict.NOT_CONFORMANT: "red",
    TargetVerdict.INCOMPLETE: "yellow",
    TargetVerdict.NOT_CLAIMED: "yellow",
}


def summary(report: Report, *, width: int, directory: Path) -> Iterator[Line]:
    """The lines for one target; `directory` is where its report is."""
    columns = max(60, min(width, _WIDEST))
    target = report.target
    scheme = f" ({target.scheme}://)" if target.scheme else ""
    yield _rule(f" conformance of {printable(target.name)}{printable(scheme)} ", columns), {"bold": True}
    yield f"{report.verdict}: {printable(report.reason)}", {"bold": True, _COLOUR[report.verdict]: True}
    counts = ", ".join(f"{count} {verdict}" for verdict, count in report.counts.by_verdict().items() if count)
    yield f"{len(report.cases)} cases; checks: {counts or 'none'}", {}
    yield from _classes(report)
    yield from _tables(target.tables, columns)
    yield from _claims(report, columns)
    yield from _violations(report, columns)
    yield from _waived(report, columns)
    yield from _warnings(report, columns)
    yield from _readings(report, columns)
    yield from _not_run(report, columns)
    yield from _services(report.services, columns)
    yield "", {}
    yield f"report: {directory / REPORT_NAME}", {}


def _rule(title: str, columns: int) -> str:
    return title.center(columns, "=")


def _classes(report: Report) -> Iterator[Line]:
    for name, account in report.classes.items():
        yield f"  {printable(name):<14} {account.verdict}", {_COLOUR[account.verdict]: True}


def _tables(tables: Mapping[str, str], columns: int) -> Iterator[Line]:
    for answer, title in (("default", "answered by core's default"), ("absent", "absent")):
        ops = [op for op, given in tables.items() if given == answer]
        if ops:
            yield from _wrapped(f"{title}: ", ", ".join(ops), columns)


def _claims(report: Report, columns: int) -> Iterator[Line]:
    """What the profile claims; what is kept beyond that is worth a line of its own."""
    said = {claim.name: dumps(claim.value) for claim in report.claims}
    if said:
        yield from _wrapped("claims: ", ", ".join(f"{name} = {value}" for name, value in said.items()), columns)
    for claim in report.claims:
        if claim.state is ClaimState.UNDER_DECLARED:
            text = f"{claim.name} = {said[claim.name]}, but everything it gives up is kept"
            for line, _ in _wrapped("  under-declared: ", text, columns):
                yield line, {"yellow": True}


def _violations(report: Report, columns: int) -> Iterator[Line]:
    for name, failed in _checks(report, Verdict.VIOLATION):
        clause = report.clauses[name]
        yield "", {}
        yield f"VIOLATION {printable(name)}", {"bold": True, "red": True}
        yield from _wrapped("  rule      ", clause.rule, columns)
        yield from _wrapped("  source    ", "; ".join(clause.source), columns)
        for case, check in failed[:CASES_SHOWN]:
            yield from _wrapped("  stimulus  ", f"{case.id}: {case.stimulus}", columns)
            yield from _wrapped("    expected  ", check.expected, columns)
            said = f" ({check.plugin_said})" if check.plugin_said else ""
            yield from _wrapped("    got       ", check.got + said, columns)
            yield f"    re-run    {printable(_rerun(report, case.id))}", {}
            yield from _found(case.reason or "", columns)
        if len(failed) > CASES_SHOWN:
            yield f"  … and {len(failed) - CASES_SHOWN} more in {REPORT_NAME}", {}
        yield from _wrapped("  check     ", clause.check, columns)
        yield "  waive it with", {"light": True}
        for got in dict.fromkeys(check.got for _, check in failed[:CASES_SHOWN]):
            cases = {case.id for case, check in failed if check.got == got}
            yield from _waiver(name, cases.pop() if len(cases) == 1 else "*", got)


def _found(reason: str, columns: int) -> Iterator[Line]:
    """How a history was shrunk, in words, and where it was written down, in paths and commands to be copied."""
    words, *copied = reason.split("; ")
    yield from _wrapped("    found     ", words, columns) if words else ()
    for text in copied:
        yield f"{'':<14}{printable(text)}", {}


def _waiver(name: str, case: str, got: str) -> Iterator[Line]:
    """The entry to paste into a file of waivers: valid TOML, in which only the dots wait for a person."""
    yield "[[waiver]]", {"light": True}
    for key, value in (
        ("clause", printable(name)),
        ("case", printable(case)),
        ("fingerprint", fingerprint(got)),
        ("reason", "…"),
        ("owner", "…"),
        ("issue", "…"),
    ):
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        yield f'{key} = "{quoted}"', {"light": True}
    yield "# expires = 2027-03-01, a date, after which it fails the run", {"light": True}


def _waived(report: Report, columns: int) -> Iterator[Line]:
    """Each entry of the file of waivers, and what is to be done about those that fail the run."""
    if report.waivers:
        yield "", {}
        yield "waivers:", {"bold": True}
    for number, entry in enumerate(report.waivers, start=1):
        red = {"red": True} if entry.state in REMEDIES else {}
        yield f"  waiver {number} ({printable(entry.clause)}, {printable(entry.case)})", red
        if entry.state in REMEDIES:
            said = f"{entry.state}: {REMEDIES[entry.state]} (owner: {entry.owner}, fingerprint: {entry.fingerprint})"
        elif entry.state is WaiverState.USED:
            said = f"{entry.waived} × {entry.fingerprint}: {entry.reason} (owner: {entry.owner})"
        else:
            said = f"{entry.state}: not all of its cases were run"
        if entry.got_instead:
            said += f"; got instead: {' | '.join(entry.got_instead[:CASES_SHOWN])}"
        for text, _ in _wrapped("    ", said, columns):
            yield text, red


def _warnings(report: Report, columns: int) -> Iterator[Line]:
    for name, checks in _checks(report, Verdict.WARNING):
        yield "", {}
        yield f"WARNING {printable(name)} ({len(checks)} cases)", {"yellow": True}
        yield from _wrapped("  rule      ", report.clauses[name].rule, columns)
        case, check = checks[0]
        yield from _wrapped("  e.g.      ", f"{case.id}: expected {check.expected}, got {check.got}", columns)


def _readings(report: Report, columns: int) -> Iterator[Line]:
    readings: dict[str, Counter[str]] = {}
    for case in report.cases:
        for check in case.checks:
            if check.reading:
                readings.setdefault(check.clause, Counter())[check.reading] += 1
    if readings:
        yield "", {}
        yield "disputed clauses, the reading this plugin follows, and what TensorFlow makes of it:", {}
    for name, counter in readings.items():
        made = {reading.name: reading.tensorflow for reading in report.clauses[name].readings or ()}
        said = " | ".join(f"{reading}: {made[reading]}" if reading in made else reading for reading in counter)
        yield from _wrapped(f"  {printable(name)}: ", said, columns)


def _not_run(report: Report, columns: int) -> Iterator[Line]:
    for verdict in (Verdict.ERROR, Verdict.NOT_RUN, Verdict.ABSENT):
        reasons = Counter(case.reason or "" for case in report.cases if case.verdict is verdict)
        if reasons:
            yield "", {}
            yield f"{verdict}:", {"bold": True, "red": verdict is Verdict.ERROR, "yellow": verdict is not Verdict.ERROR}
        for reason, count in reasons.most_common(12):
            yield from _wrapped(f"  {count:>4} × ", reason, columns)
        if len(reasons) > 12:
            yield f"  … and {len(reasons) - 12} more reasons in {REPORT_NAME}", {}


def _services(measured: Figures | None, columns: int) -> Iterator[Line]:
    if measured is None:
        return
    yield "", {}
    yield from _wrapped("services: ", ", ".join(measured.images), columns)
    if measured.failure is not None:
        for text, _ in _wrapped("  nothing could be measured: ", measured.failure, columns):
            yield text, {"red": True}
        return
    yield f"  what they counted while a file of {measured.size:,} bytes was read, here and then on another node:", {}
    for figure in measured.figures:
        yield from _wrapped(f"  {figure.bytes:>14,}  ", figure.what, columns)


def _checks(report: Report, verdict: Verdict) -> Iterator[tuple[str, list[tuple[CaseRecord, CheckRecord]]]]:
    """The clauses with checks of this verdict, in the order of the catalogue, and those checks with their cases."""
    found: dict[str, list[tuple[CaseRecord, CheckRecord]]] = {}
    for case in report.cases:
        for check in case.checks:
            if check.verdict is verdict:
                found.setdefault(check.clause, []).append((case, check))
    return ((name, found[name]) for name in report.clauses if name in found)


def _rerun(report: Report, case: str) -> str:
    return shlex.join([*report.suite.command, f"--case={case}"])


def _wrapped(head: str, text: str, columns: int) -> Iterator[Line]:
    lines = textwrap.wrap(printable(text), columns - len(head), break_on_hyphens=False) or [""]
    for number, line in enumerate(lines):
        yield (head if number == 0 else " " * len(head)) + line, {}
