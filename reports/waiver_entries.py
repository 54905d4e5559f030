"""Entries of a file of waivers: one for each clause and fingerprint of violations."""

import json
from collections.abc import Collection, Mapping

import tomlkit
from tomlkit.items import String, StringType, Trivia

from .model.report import Report
from .model.verdicts import Verdict
from .model.waivers import fingerprint

#: A violation, waived or not: its clause, its case, and what the check got.
Breach = tuple[str, str, str]


def breaches(report: Report, *verdicts: Verdict) -> dict[Breach, None]:
    """What the checks of a report with these verdicts found, each once."""
    return {
        (check.clause, case.id, check.got): None
        for case in report.cases
        for check in case.checks
        if check.verdict in verdicts
    }


def entries(found: Collection[Breach], report: Report, why: Mapping[str, object]) -> list[dict[str, object]]:
    """One entry for each clause and fingerprint of what was found in a report, for all cases if it is from several.

    Where the report has the same of the clause elsewhere and it is accepted there, each case has an entry of its own.
    `why` are the other keys of each, such as its owner; None for those that it does not have.
    """
    said = {key: value for key, value in why.items() if value is not None}
    accepted = {
        (check.clause, fingerprint(check.got))
        for case in report.cases
        for check in case.checks
        if (check.clause, case.id, check.got) not in found
    }
    cases: dict[tuple[str, str], dict[str, None]] = {}
    for clause, case, got in found:
        cases.setdefault((clause, fingerprint(got)), {})[case] = None
    return [
        {"clause": clause, "case": case, "fingerprint": got, **said}
        for (clause, got), those in cases.items()
        for case in (those if len(those) == 1 or (clause, got) in accepted else ("*",))
    ]


def items(entry: Mapping[str, object]) -> dict[str, object]:
    """An entry for tomlkit, whose own way to escape a text of a million characters takes minutes."""
    return {key: _text(value) if isinstance(value, str) else value for key, value in entry.items()}


def _text(value: str) -> String:
    escaped = json.dumps(value, ensure_ascii=False)[1:-1].replace("\x7f", r"\u007f")
    return String(StringType.SLB, value, escaped, Trivia())


def written(entry: Mapping[str, object]) -> str:
    """An entry as text that a file of waivers may get at its end."""
    return "\n" + tomlkit.dumps({"waiver": [items(entry)]})
