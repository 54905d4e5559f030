"""The draft of `reproduce.md`: how a published report is made again, and what it found, causes first.

A person finishes it, but for a release whose findings are explained elsewhere. Texts of a plugin stand in code only, so
that no Markdown in them counts.
"""

import re
from collections.abc import Iterator, Sequence

from .escape import command_line, printable
from .forms import words
from .model.findings import Finding, Findings
from .model.header import UNKNOWN
from .model.report import Report
from .model.verdicts import Verdict

#: What stands for each finding in a draft until somebody has confirmed it.
UNCONFIRMED = "Confirmed by: nobody yet."

#: So many characters of a text are shown.
_LONGEST = 500


def draft(findings: Findings, title: str, command: Sequence[str] | None = None, explained: str = "") -> str:
    """The text of `reproduce.md`, in Markdown; `command` makes the report, and stands for the one in it.

    `explained` says, in Markdown, where the findings are confirmed, and stands for them.
    """
    return "\n".join(_lines(findings, title, command or findings.report.suite.command, explained))


def _lines(findings: Findings, title: str, command: Sequence[str], explained: str) -> Iterator[str]:
    report, found = findings.report, findings.violations
    yield f"# {title}"
    yield ""
    yield _block("sh", command_line(command))
    yield ""
    yield "| what | which |"
    yield "|---|---|"
    for what, which in _facts(report):
        yield f"| {what} | {which} |"
    if explained:
        yield from ("", explained)
    elif found:
        yield from (
            "",
            "Causes come first. Say of each how it was confirmed without the suite: by a program of a few lines,",
        )
        yield "a log of the storage, a debugger."
    for number, finding in enumerate(() if explained else found, start=1):
        yield from _finding(report, number, finding)
    yield ""


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    suite, target = report.suite, report.target
    digest = f", SHA-256 {_code(target.sha256)}" if target.sha256 else ""
    yield "plugin", f"{_code(target.plugin)}{digest}"
    yield "runtime", _code(target.runtime)
    commit = "" if suite.commit == UNKNOWN else f", commit {_code(suite.commit)}"
    yield "suite", f"{_code(suite.version)}{commit}, contract {_code(report.contract)}"
    if suite.duration is not None:
        yield "took", f"{suite.duration:.0f} s"
    yield "found", f"{report.verdict}: {_code(report.reason)}, in {len(report.cases):,} cases"
    aside = [f"{report.counts[one]:,} {one}" for one in (Verdict.ABSENT, Verdict.NOT_RUN) if report.counts[one]]
    if aside:
        yield "not judged", ", ".join(aside)


def _finding(report: Report, number: int, finding: Finding) -> Iterator[str]:
    case, check = finding.checks[0]
    said = f" ({check.plugin_said})" if check.plugin_said else ""
    yield from ("", f"## {number} {_code(finding.clause)}", "")
    told = {
        "rule": report.clauses[finding.clause].rule,
        "case": case.id,
        "stimulus": case.stimulus,
        "expected": check.expected,
        "got": check.got + said,
        "seen": f"checks: {finding.times}, cases: {len(finding.cases)}",
        "at fault": words.fault(finding),
        "breaks": ", ".join(finding.beside),
        "the same": ", ".join(finding.alike),
    }
    yield _block("", *(f"{what:<10}{_short(text)}" for what, text in told.items() if text))
    yield from ("", UNCONFIRMED)


def _block(language: str, *lines: str) -> str:
    fence = "`" * max(3, _ticks("".join(lines)) + 1)
    return "\n".join([f"{fence}{language}", *lines, fence])


def _code(text: str) -> str:
    """A text as code in a line or a cell: a bar would end the cell, and no code span can hold a line break."""
    shown = _short(text).replace("|", "\\|")
    ticks = "`" * (_ticks(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _short(text: str) -> str:
    """A text on one line; a long one is in the report."""
    return printable(text if len(text) <= _LONGEST else text[:_LONGEST] + " …")


def _ticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
