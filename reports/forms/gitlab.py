"""A report as GitLab's code quality: what a merge request shows as new and as gone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..model.findings import by_clause
from ..model.report import Report
from ..model.verdicts import Verdict
from ..plain import dumps
from . import words
from .identity import Identities

#: What GitLab calls them.
SEVERITIES = {Verdict.VIOLATION: "major", Verdict.WARNING: "minor"}
#: So many characters of one text are shown.
LONGEST = 1000


def render(report: Report, directory: Path) -> str:
    """The text of gl-code-quality-report.json: violations, then warnings, causes first."""
    return "[\n" + ",\n".join(map(dumps, _problems(report))) + "\n]\n"


def _problems(report: Report) -> Iterator[dict[str, Any]]:
    # GitLab wants a file and a line: a plugin has no source here, so it is the plugin itself.
    location = {"path": words.artifact(report), "lines": {"begin": 1}}
    identities = Identities(report)
    for verdict, severity in SEVERITIES.items():
        for finding in by_clause(report, verdict):
            clause = words.shortened(finding.clause, LONGEST)
            rule = report.clauses[finding.clause].rule
            for case, check in finding.checks:
                said = f"{rule} In {case.id}: {words.warning(report, check)}"
                yield {
                    "description": words.shortened(said, LONGEST),
                    "check_name": clause,
                    "fingerprint": identities.identity((case, check)),
                    "severity": severity,
                    "location": location,
                }
