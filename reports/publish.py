"""Published reports: `<plugin>/<version>/report.json.gz`, and `reproduce.md` beside it, which a person finishes.

A published report is of a whole run of the tier `full` or `large`. It names no folder of the machine.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from .document import write_packed
from .escape import printable
from .model.findings import Findings
from .model.report import REPORT_NAME, Report
from .model.verdicts import TargetVerdict
from .reproduce import draft

#: The file beside a published report that says how to make it again, and what stands behind each finding.
NOTES_NAME = "reproduce.md"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


class NotPublishableError(Exception):
    """What keeps a report from being published. The text is one sentence."""


def is_name(text: str) -> bool:
    """Whether a folder of published reports can have this name: letters, digits and `.`, `_`, `+`, `-`, at most 100."""
    return _NAME.fullmatch(text) is not None


def hold(report: Report) -> None:
    """Raise NotPublishableError for a report that says less than a whole run of `full` or `large` without errors."""
    if report.left_out is not None:
        raise NotPublishableError(f"the report is not of a whole run: {printable(report.left_out)}")
    if report.suite.tier not in ("full", "large"):
        raise NotPublishableError(
            f"the report is of the tier {report.suite.tier}, and only those of the tiers full and large are published"
        )
    if report.counts.error:
        raise NotPublishableError(f"the report has errors ({report.counts.error}): what they hide is unknown")
    if report.verdict is TargetVerdict.INCOMPLETE:
        raise NotPublishableError(f"the report is incomplete: {printable(report.reason)}")


def publish(
    findings: Findings,
    into: Path,
    name: str,
    version: str,
    *,
    command: Sequence[str] | None = None,
    explained: str = "",
) -> list[Path]:
    """Write a report to its place below `into`; the paths that were written.

    `name` and `version` are folder names, see `is_name`. A report that is there is replaced, packed or not. A draft of
    `reproduce.md` is written where there is none; it says `command` or the command of the report, and of the findings
    where they are `explained`. Raises NotPublishableError or OSError.
    """
    for part in (name, version):
        if not is_name(part):
            raise NotPublishableError(
                f"{printable(part)!r} is no name of a folder: use letters, digits, '.', '_', '+' and '-'"
            )
    hold(findings.report)
    place = into / name / version
    place.mkdir(parents=True, exist_ok=True)
    written = [write_packed(findings.report, place)]
    (place / REPORT_NAME).unlink(missing_ok=True)
    notes = place / NOTES_NAME
    if not notes.exists():
        notes.write_text(draft(findings, f"{name} {version}", command, explained), encoding="utf-8")
        written.append(notes)
    return written
