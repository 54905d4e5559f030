"""A report as a badge for shields.io: the JSON that its endpoint reads."""

from pathlib import Path

from ..model.report import Report
from ..plain import dumps
from .badge import COLOURS, label, message


def render(report: Report, directory: Path) -> str:
    """The text of badge.json."""
    badge = {"schemaVersion": 1, "label": label(report), "message": message(report), "color": COLOURS[report.verdict]}
    return dumps(badge) + "\n"
