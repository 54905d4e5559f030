"""A report as a badge: a picture that says which contract was tried, and the verdict. It needs no network.

No library that draws badges is used: those that were looked at count the badges they have made and write that number
into each, and give a screen reader nothing to say.
"""

from html import escape
from string import Template

from ..model.findings import Findings
from ..model.report import Report
from ..model.verdicts import TargetVerdict
from . import words

#: Each has a contrast of at least 4.5 with white text.
COLOURS = {
    TargetVerdict.CONFORMANT: "#2e7d32",
    TargetVerdict.WITH_WAIVERS: "#5f6f00",
    TargetVerdict.NOT_CONFORMANT: "#c62828",
    TargetVerdict.INCOMPLETE: "#8a5a00",
    TargetVerdict.NOT_CLAIMED: "#616161",
}
#: So many characters of a contract's version are shown.
LONGEST = 40
#: How wide a character is, and what stands beside a text. Whatever font a reader has, a text is fitted to its width.
_WIDTH, _MARGIN = 6.5, 6

_PICTURE = Template("""\
<svg xmlns="http://www.w3.org/2000/svg" width="$width" height="20" role="img" aria-label="$said">
<title>$said</title>
<clipPath id="round"><rect width="$width" height="20" rx="3"/></clipPath>
<g clip-path="url(#round)"><rect width="$split" height="20" fill="#555"/>\
<rect x="$split" width="$rest" height="20" fill="$colour"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="$left" y="14" textLength="$label_width">$label</text>
<text x="$right" y="14" textLength="$message_width">$message</text>
</g>
</svg>
""")


def render(findings: Findings) -> str:
    """The text of badge.svg."""
    return drawn(label(findings.report), message(findings.report), COLOURS[findings.report.verdict])


def drawn(label: str, message: str, colour: str) -> str:
    """A badge that says this on the left and that on the right, on this colour."""
    label_width, message_width = (round(len(text) * _WIDTH, 1) for text in (label, message))
    split, rest = label_width + 2 * _MARGIN, message_width + 2 * _MARGIN
    return _PICTURE.substitute(
        width=split + rest,
        split=split,
        rest=rest,
        left=split / 2,
        right=split + rest / 2,
        label_width=label_width,
        message_width=message_width,
        colour=colour,
        label=escape(label),
        message=escape(message),
        said=escape(f"{label}: {message}"),
    )


def label(report: Report) -> str:
    """What a badge is about: the version of the contract."""
    return f"tffs contract {words.shortened(report.contract, LONGEST)}"


def message(report: Report) -> str:
    """What a badge says: the verdict, and the tier where not all was tried."""
    return report.verdict if report.suite.tier in ("full", "large") else f"{report.verdict} ({report.suite.tier})"
