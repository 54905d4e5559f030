"""A report as SARIF 2.1.0, which code scanning reads: a rule a clause, a result what breaks it alike.

The objects are plain dictionaries, held to SARIF's JSON schema by a test. The libraries that have classes for them are
not used: sarif-om saw its last release in 2019, sarif-pydantic brings pydantic into every installation.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any
from urllib.parse import quote

from ..escape import command_line
from ..model.counts import number
from ..model.findings import Finding, Findings, Made
from ..model.report import ClauseAccount, Report
from ..model.verdicts import TargetVerdict, Verdict
from ..plain import dumps
from . import words

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#: GitHub takes so many results and no more.
MOST = 25_000
#: So many characters of one text are shown; GitHub takes 1,024 of a rule's description.
LONGEST = 900
#: How bad a broken clause is, by its level.
LEVELS = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}
#: What becomes a result, and how bad it is.
RESULTS = {Verdict.VIOLATION: "error", Verdict.WARNING: "warning", Verdict.WAIVED: "error"}


def render(findings: Findings) -> str:
    """The text of report.sarif: violations, warnings, then waived violations, of each kind causes first."""
    report = findings.report
    every = (*findings.violations, *findings.warnings, *findings.waived)
    found = [alike for finding in every for alike in _alike(report, finding)]
    found.sort(key=lambda alike: [*RESULTS].index(alike[0][1].verdict))
    run = {
        "tool": {"driver": _driver(report)},
        "automationDetails": {"id": f"tffs-conformance/{_uri(report)}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report, len(found) - MOST)],
        "results": list(islice(_results(report, found), MOST)),
        "properties": {
            "verdict": report.verdict,
            "reason": _cut(report.reason),
            "contract": _cut(report.contract),
            "tier": report.suite.tier,
            "counts": {f"{verdict}": count for verdict, count in report.counts.by_verdict().items()},
        },
    }
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _driver(report: Report) -> dict[str, Any]:
    rules = [_rule(name, clause) for name, clause in report.clauses.items()]
    return {"name": "tffs-conformance", "version": _cut(report.suite.version), "rules": rules}


def _rule(name: str, clause: ClauseAccount) -> dict[str, Any]:
    made = f" TensorFlow: {clause.tensorflow}" if clause.tensorflow else ""
    return {
        "id": _name(name),
        "shortDescription": _message(clause.rule),
        "fullDescription": _message(f"{clause.rule} Source: {'; '.join(clause.source)}"),
        "help": _message(f"{clause.check}{made}"),
        "defaultConfiguration": {"level": LEVELS[clause.level]},
        "properties": {"tags": [_name(clause.conformance_class), clause.level]},
    }


def _invocation(report: Report, left: int) -> dict[str, Any]:
    """How the run went. What went wrong beside the plugin, and what is left out here, is told."""
    notes = [
        {"level": "error", "message": _message(f"{number(count, 'case')} ended in an error: {reason}")}
        for reason, count in words.reasons(report, Verdict.ERROR).most_common()
    ]
    if report.left_out is not None:
        notes.append({"level": "warning", "message": _message(f"Not a whole run: {report.left_out}")})
    if left > 0:
        notes.append({"level": "warning", "message": _message(f"{number(left, 'result')} left out of this file")})
    return {
        "commandLine": _cut(command_line(report.suite.command)),
        "executionSuccessful": report.verdict is not TargetVerdict.INCOMPLETE,
        "toolExecutionNotifications": notes[:100],
    }


def _alike(report: Report, finding: Finding) -> Iterable[list[Made]]:
    """The checks of a clause and an op that got the same, and are waived for the same reason; the plainest first."""
    groups: dict[tuple[str | None, ...], list[Made]] = {}
    for case, check in (*finding.checks, *finding.also, *finding.folded):
        why = words.why_waived(report, case, check) if check.verdict is Verdict.WAIVED else ""
        groups.setdefault((check.verdict, check.clause, check.op, check.got, why), []).append((case, check))
    return groups.values()


def _results(report: Report, found: list[list[Made]]) -> Iterator[dict[str, Any]]:
    places = {name: place for place, name in enumerate(report.clauses)}
    numbers: Counter[tuple[str, str]] = Counter()
    uri = _uri(report)
    for checks in found:
        yield _result(report, checks) | {
            "ruleIndex": places[checks[0][1].clause],
            "partialFingerprints": {"primaryLocationLineHash": _identity(report, checks[0], numbers)},
            "locations": [
                {
                    # GitHub wants a file and a line: a plugin has no source here, so it is the plugin itself.
                    "physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}},
                    "logicalLocations": [{"fullyQualifiedName": _name(checks[0][0].id), "kind": "case"}],
                }
            ],
        }


def _identity(report: Report, made: Made, numbers: Counter[tuple[str, str]]) -> str:
    """What a check is known by from run to run, never twice: what it got does not count, which may differ each time.

    `numbers` counts the checks of a clause in a case.
    """
    case, check = made
    place = check.clause, case.id
    known = "\0".join((report.target.name, report.target.scheme or "", *place, str(numbers[place])))
    numbers[place] += 1
    return f"{hashlib.sha256(known.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}:1"


def _result(report: Report, checks: list[Made]) -> dict[str, Any]:
    case, check = checks[0]
    others = len({case.id for case, _ in checks}) - 1
    said = f"In {words.shortened(case.id, LONGEST)}: {words.shortened(words.warning(report, check), LONGEST)}"
    said += f". So it is in {number(others, 'other case')}" if others else ""
    stimulus = words.shortened(case.stimulus, LONGEST)
    again = words.shortened(words.again(report, case), LONGEST)
    result: dict[str, Any] = {
        "ruleId": _name(check.clause),
        "level": RESULTS[check.verdict],
        "message": {"text": _literal(f"{said}.\n{stimulus}\nAgain: {again}")},
        "occurrenceCount": sum(check.times for _, check in checks),
        "properties": {"case": _cut(case.id), "expected": _cut(check.expected), "got": _cut(words.got(check))},
    }
    if check.verdict is Verdict.WAIVED:
        why = _cut(words.why_waived(report, case, check))
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": why}]
    return result


def _uri(report: Report) -> str:
    """The plugin's name as a relative reference."""
    return quote(words.artifact(report), safe="")


def _name(text: str) -> str:
    """An id: GitHub takes 255 characters."""
    return words.shortened(text, 200)


def _cut(text: str) -> str:
    return words.shortened(text, LONGEST)


def _message(text: str) -> dict[str, str]:
    """A message, which is one paragraph."""
    return {"text": _literal(_cut(text))}


def _literal(text: str) -> str:
    """Text of a message in which nothing is a placeholder or a link (SARIF 2.1.0, 3.11.5 and 3.11.6)."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")
