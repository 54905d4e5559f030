"""Entries of a file of waivers that a report proposes: one for each clause and fingerprint."""

from collections.abc import Mapping

import tomlkit

from .model.report import Report
from .model.verdicts import Verdict
from .model.waivers import fingerprint

#: A violation, waived or not: its clause, its case, and what the check got.
Breach = tuple[str, str, str]


def proposed(report: Report, *, reason: str, owner: str) -> dict[str, list[dict[str, object]]]:
    """By clause, the entries that accept the violations of a report; `written` has the text of each."""
    breaches = {
        (check.clause, case.id, check.got): None
        for case in report.cases
        for check in case.checks
        if check.verdict is Verdict.VIOLATION
    }
    by_clause: dict[str, list[dict[str, object]]] = {}
    for clause, case, got in grouped(breaches):
        entry: dict[str, object] = {
            "clause": clause,
            "case": case,
            "fingerprint": got,
            "reason": reason,
            "owner": owner,
        }
        by_clause.setdefault(clause, []).append(entry)
    return by_clause


def grouped(left: Mapping[Breach, None]) -> list[tuple[str, str, str]]:
    """One entry for each clause and fingerprint: of the one case that gave it, or of all cases."""
    cases: dict[tuple[str, str], list[str]] = {}
    for clause, case, got in left:
        cases.setdefault((clause, fingerprint(got)), []).append(case)
    return [(clause, ids[0] if len(ids) == 1 else "*", got) for (clause, got), ids in cases.items()]


def written(entry: Mapping[str, object]) -> str:
    """An entry as text that a file of waivers may get at its end."""
    entries = tomlkit.aot()
    table = tomlkit.table()
    for key, value in entry.items():
        table[key] = value
    entries.append(table)
    return "\n" + tomlkit.dumps({"waiver": entries}).lstrip("\n")
