"""The summary at the end of a run, made from the report alone: lines of text with the markup of pytest's writer."""

import json
import shlex
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .claims import ClaimState
from .document import REPORT_NAME, Document
from .escape import printable
from .verdicts import TargetVerdict, Verdict
from .waivers import REMEDIES, State, fingerprint

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


def summary(document: Document, *, width: int, directory: Path) -> Iterator[Line]:
    """The lines for one target; `directory` is where its report is."""
    columns = max(60, min(width, _WIDEST))
    target = document["target"]
    scheme = f" ({target['scheme']}://)" if target["scheme"] else ""
    yield _rule(f" conformance of {printable(target['name'])}{printable(scheme)} ", columns), {"bold": True}
    verdict = document["verdict"]
    yield f"{verdict}: {document['reason']}", {"bold": True, _COLOUR[TargetVerdict(verdict)]: True}
    counts = ", ".join(f"{count} {kind}" for kind, count in document["counts"].items() if count)
    yield f"{len(document['cases'])} cases; checks: {counts or 'none'}", {}
    yield from _classes(document)
    yield from _tables(target["tables"], columns)
    yield from _claims(document, columns)
    yield from _violations(document, columns)
    yield from _waived(document, columns)
    yield from _warnings(document, columns)
    yield from _readings(document, columns)
    yield from _not_run(document, columns)
    yield from _services(document["services"], columns)
    yield "", {}
    yield f"report: {directory / REPORT_NAME}", {}


def _rule(title: str, columns: int) -> str:
    return title.center(columns, "=")


def _classes(document: Document) -> Iterator[Line]:
    for name, facts in document["classes"].items():
        yield f"  {name:<14} {facts['verdict']}", {_COLOUR[TargetVerdict(facts["verdict"])]: True}


def _tables(tables: Mapping[str, str], columns: int) -> Iterator[Line]:
    for answer, title in (("default", "answered by core's default"), ("absent", "absent")):
        ops = [op for op, given in tables.items() if given == answer]
        if ops:
            yield from _wrapped(f"{title}: ", ", ".join(ops), columns)


def _claims(document: Document, columns: int) -> Iterator[Line]:
    """What the profile claims; what is kept beyond that is worth a line of its own."""
    said = {claim["name"]: json.dumps(claim["value"]) for claim in document["claims"]}
    if said:
        yield from _wrapped("claims: ", ", ".join(f"{name} = {value}" for name, value in said.items()), columns)
    for claim in document["claims"]:
        if claim["state"] == ClaimState.UNDER_DECLARED:
            text = f"{claim['name']} = {said[claim['name']]}, but everything it gives up is kept"
            for line, _ in _wrapped("  under-declared: ", text, columns):
                yield line, {"yellow": True}


def _violations(document: Document, columns: int) -> Iterator[Line]:
    for name, failed in _checks(document, Verdict.VIOLATION):
        facts = document["clauses"][name]
        yield "", {}
        yield f"VIOLATION {name}", {"bold": True, "red": True}
        yield from _wrapped("  rule      ", facts["rule"], columns)
        yield from _wrapped("  source    ", "; ".join(facts["source"]), columns)
        for case, check in failed[:CASES_SHOWN]:
            yield from _wrapped("  stimulus  ", f"{case['id']}: {case['stimulus']}", columns)
            yield from _wrapped("    expected  ", check["expected"], columns)
            said = f" ({check['plugin_said']})" if check.get("plugin_said") else ""
            yield from _wrapped("    got       ", check["got"] + said, columns)
            yield f"    re-run    {printable(_rerun(document, case['id']))}", {}
            yield from _found(case["reason"] or "", columns)
        if len(failed) > CASES_SHOWN:
            yield f"  … and {len(failed) - CASES_SHOWN} more in {REPORT_NAME}", {}
        yield from _wrapped("  check     ", facts["check"], columns)
        yield "  waive it with", {"light": True}
        for got in dict.fromkeys(check["got"] for _, check in failed[:CASES_SHOWN]):
            cases = {case["id"] for case, check in failed if check["got"] == got}
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
        ("clause", name),
        ("case", case),
        ("fingerprint", fingerprint(got)),
        ("reason", "…"),
        ("owner", "…"),
        ("issue", "…"),
    ):
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        yield f'{key} = "{quoted}"', {"light": True}
    yield "# expires = 2027-03-01, a date, after which it fails the run", {"light": True}


def _waived(document: Document, columns: int) -> Iterator[Line]:
    """Each entry of the file of waivers, and what is to be done about those that fail the run."""
    if document["waivers"]:
        yield "", {}
        yield "waivers:", {"bold": True}
    for number, entry in enumerate(document["waivers"], start=1):
        state = State(entry["state"])
        red = {"red": True} if state in REMEDIES else {}
        yield f"  waiver {number} ({printable(entry['clause'])}, {printable(entry['case'])})", red
        if state in REMEDIES:
            said = f"{state}: {REMEDIES[state]} (owner: {entry['owner']}, fingerprint: {entry['fingerprint']})"
        elif state is State.USED:
            said = f"{entry['waived']} × {entry['fingerprint']}: {entry['reason']} (owner: {entry['owner']})"
        else:
            said = f"{state}: not all of its cases were run"
        if entry["got_instead"]:
            said += f"; got instead: {' | '.join(entry['got_instead'][:CASES_SHOWN])}"
        for text, _ in _wrapped("    ", said, columns):
            yield text, red


def _warnings(document: Document, columns: int) -> Iterator[Line]:
    for name, checks in _checks(document, Verdict.WARNING):
        yield "", {}
        yield f"WARNING {name} ({len(checks)} cases)", {"yellow": True}
        yield from _wrapped("  rule      ", document["clauses"][name]["rule"], columns)
        case, check = checks[0]
        yield from _wrapped("  e.g.      ", f"{case['id']}: expected {check['expected']}, got {check['got']}", columns)


def _readings(document: Document, columns: int) -> Iterator[Line]:
    readings: dict[str, Counter[str]] = {}
    for case in document["cases"]:
        for check in case["checks"]:
            if check.get("reading"):
                readings.setdefault(check["clause"], Counter())[check["reading"]] += 1
    if readings:
        yield "", {}
        yield "disputed clauses, the reading this plugin follows, and what TensorFlow makes of it:", {}
    for name, counter in readings.items():
        made = {reading["name"]: reading["tensorflow"] for reading in document["clauses"][name].get("readings", ())}
        said = " | ".join(f"{reading}: {made[reading]}" if reading in made else reading for reading in counter)
        yield from _wrapped(f"  {name}: ", said, columns)


def _not_run(document: Document, columns: int) -> Iterator[Line]:
    for verdict in (Verdict.ERROR, Verdict.NOT_RUN, Verdict.ABSENT):
        reasons = Counter(case["reason"] or "" for case in document["cases"] if case["verdict"] == verdict)
        if reasons:
            yield "", {}
            yield f"{verdict}:", {"bold": True, "red": verdict is Verdict.ERROR, "yellow": verdict is not Verdict.ERROR}
        for reason, count in reasons.most_common(12):
            yield from _wrapped(f"  {count:>4} × ", reason, columns)
        if len(reasons) > 12:
            yield f"  … and {len(reasons) - 12} more reasons in {REPORT_NAME}", {}


def _services(measured: Mapping[str, Any] | None, columns: int) -> Iterator[Line]:
    if measured is None:
        return
    yield "", {}
    yield from _wrapped("services: ", ", ".join(measured["images"]), columns)
    if measured["failure"] is not None:
        for text, _ in _wrapped("  nothing could be measured: ", measured["failure"], columns):
            yield text, {"red": True}
        return
    yield f"  what they counted while a file of {measured['size']:,} bytes was read, here and then on another node:", {}
    for figure in measured["figures"]:
        yield from _wrapped(f"  {figure['bytes']:>14,}  ", figure["what"], columns)


def _checks(document: Document, verdict: Verdict) -> Iterator[tuple[str, list[tuple[dict[str, Any], dict[str, Any]]]]]:
    """The clauses with checks of this verdict, in the order of the catalogue, and those checks with their cases."""
    found: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for case in document["cases"]:
        for check in case["checks"]:
            if check["verdict"] == verdict:
                found.setdefault(check["clause"], []).append((case, check))
    return ((name, found[name]) for name in document["clauses"] if name in found)


def _rerun(document: Document, case: str) -> str:
    return shlex.join([*document["suite"]["command"], f"--case={case}"])


def _wrapped(head: str, text: str, columns: int) -> Iterator[Line]:
    lines = textwrap.wrap(printable(text), columns - len(head), break_on_hyphens=False) or [""]
    for number, line in enumerate(lines):
        yield (head if number == 0 else " " * len(head)) + line, {}
