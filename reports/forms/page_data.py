"""The clauses and cases of a report for the script of its page: JSON, packed by gzip, which the browser unpacks."""

import base64
import zlib
from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from ..escape import command_line
from ..model.records import CaseRecord, CheckRecord
from ..model.report import Report
from ..plain import dumps
from .page import address, shown
from .words import why


def page_data(report: Report) -> Markup:
    """The content of the page's <script id="data">, in base64: no text can end the element, or begin a comment in it.

    Unpacked it is an object with `command`, and with `clauses` and `cases`, whose texts are safe to show already.
    """
    packer = zlib.compressobj(wbits=31)
    # One case after the other: all in one are very large.
    packed = b"".join(packer.compress(piece.encode("ascii")) for piece in _pieces(report))
    return Markup(base64.b64encode(packed + packer.flush()).decode("ascii"))


def _pieces(report: Report) -> Iterator[str]:
    clauses = [
        {"name": name, "level": clause.level, "class": clause.conformance_class, "op": clause.op or ""}
        for name, clause in report.clauses.items()
    ]
    yield f'{{"command": {dumps(command_line(report.suite.command))}, "clauses": {dumps(_shown(clauses))}, "cases": ['
    for place, case in enumerate(report.cases):
        yield f"{',' if place else ''}{dumps(_shown(_case(case)))}"
    yield "]}"


def _case(case: CaseRecord) -> dict[str, Any]:
    return {
        "id": case.id,
        "address": address(case.id),
        "option": command_line([f"--case={case.id}"]),
        "verdict": case.verdict,
        "stimulus": case.stimulus,
        "why": why(case),
        "cause": case.cause or "",
        "clauses": list(case.clauses),
        "executed": case.executed,
        "tier": case.tier or "",
        "seconds": case.duration,
        "cut": case.cut or "",
        "output": case.output,
        "checks": list(map(_check, case.checks)),
        "ops": list(case.ops),
    }


def _check(check: CheckRecord) -> dict[str, Any]:
    return {
        "clause": check.clause,
        "verdict": check.verdict,
        "expected": check.expected,
        "got": check.got,
        "said": check.plugin_said or "",
        "reading": check.reading or "",
        "times": check.times,
    }


def _shown(value: Any) -> Any:
    """Lists and objects of texts and numbers with each text as a page shows it."""
    match value:
        case str():
            return shown(value)
        case list():
            return list(map(_shown, value))
        case dict():
            return {key: _shown(one) for key, one in value.items()}
        case _:
            return value
