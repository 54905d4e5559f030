"""Findings are concluded from the checks of a report: which are one, which are listed under another, and in what order.

Two breaches are one finding where the same op gave the same wrong code, or a wrong value of the same kind. In a case, a
breach after the wrong answer of an op on which others depend is listed under the finding of that op; nothing is
concluded from one case about another. A leak, a crash, a hang, a race and lost data are never listed under another
finding.
"""

import re
from collections.abc import Iterable, Mapping
from functools import partial

from ...reports.model.findings import Finding, Findings, Made
from ...reports.model.records import OF_OTHERS, CaseRecord, CheckRecord, StatementKind
from ...reports.model.report import Report
from ...reports.model.verdicts import Verdict

#: What makes two breaches one finding: the op, and the code, the kind or the clause.
Key = tuple[str | None, str]

#: The kinds that follow from no wrong answer of another op.
_INDEPENDENT = frozenset({StatementKind.LEAK, StatementKind.CRASH, StatementKind.HANG, StatementKind.ORDER})
#: What of an answer no other op depends on, and the ops on whose answers none does: what they say is only compared.
_HARMLESS = _INDEPENDENT | {StatementKind.OWNERSHIP, StatementKind.OUT_PARAMETER}
_ASKING = frozenset(
    {
        *("path_exists", "paths_exist", "is_directory", "get_file_size", "stat", "get_matching_paths"),
        *("translate_name", "read", "tell", "length", "data"),
    }
)
#: The ops that answer several values side by side, of which each may be wrong for a reason of its own.
_ANSWERS_SEVERAL = frozenset({"stat"})
#: The ops of which no look can say which one lost what was to be written.
_WRITING = frozenset(
    {"new_writable_file", "new_appendable_file", "append", "flush", "sync", "close", "writable_file.cleanup"}
)
#: Those of which no look can say which one wrote wrong bytes.
_WRITING_BYTES = frozenset({"append", "flush", "sync", "close", "writable_file.cleanup"})
#: What an op does wrong, in words after its name.
_DOES: Mapping[StatementKind | None, str] = {
    StatementKind.RETURNED: "returns a wrong value",
    StatementKind.LENGTH: "gives a wrong length",
    StatementKind.TIME: "gives a wrong time",
    StatementKind.TYPE: "gives a wrong type",
    StatementKind.CONTENT: "gives wrong content",
    StatementKind.MISSING: "loses content",
    StatementKind.NAMES: "gives wrong names",
    StatementKind.OUT_PARAMETER: "writes a wrong out-parameter",
    StatementKind.OWNERSHIP: "breaks a rule of ownership",
    StatementKind.LEAK: "leaks",
    StatementKind.ORDER: "fits no order of concurrent calls",
    StatementKind.CRASH: "does not come back",
    StatementKind.HANG: "hangs",
}
#: A number in the id of a case.
_NUMBER = re.compile(r"([0-9]+)")


def conclude(report: Report) -> Findings:
    """A report and what its run found."""
    made = [*broken(report, Verdict.VIOLATION), *broken(report, Verdict.WARNING)]
    found = findings_of(report, made)
    violations = [one for one in found if one.checks[0][1].verdict is Verdict.VIOLATION]
    warnings = [one for one in found if one.checks[0][1].verdict is Verdict.WARNING]
    plainest = {one[1].clause: one for one in sorted(made, key=partial(_place, report), reverse=True)}
    return Findings(report, violations, warnings, findings_of(report, broken(report, Verdict.WAIVED)), plainest)


def findings_of(report: Report, checks: Iterable[Made]) -> list[Finding]:
    """These checks of a report as findings, causes first."""
    own: dict[Key, list[Made]] = {}
    under: list[tuple[str, Key, Made]] = []
    for case, made in _by_case(checks).values():
        # What was prepared may have been wrong before anything was compared.
        first = case.cause
        for check in made:
            key, op = _key(report, check), _op(report, check)
            if first is not None and op != first and check.kind not in _INDEPENDENT and not check.loses:
                under.append((first, key, (case, check)))
            else:
                own.setdefault(key, []).append((case, check))
            first = first or (op if op not in _ASKING and check.kind not in _HARMLESS else None)
    # Nothing is listed under an op of which no finding is shown.
    ops = {_op(report, check) for made in own.values() for _, check in made}
    for first, key, one in under:
        if first not in ops:
            own.setdefault(key, []).append(one)
    joined = (tuple(sorted(made, key=partial(_place, report))) for made in _joined(own))
    found = [Finding(_op(report, made[0][1]), _does(made[0][1]), made) for made in joined]
    ordered = _with_alike(sorted(found, key=partial(_order, report)))
    for first, _, one in under:
        if first in ops:
            of_op = [other for other in ordered if first in {other.op, *other.alike, *(c.op for _, c in other.checks)}]
            next((other for other in of_op if one[0].id in other.cases), of_op[0]).folded.append(one)
    return ordered


def broken(report: Report, verdict: Verdict) -> list[Made]:
    """The checks of a report that have this verdict."""
    return [(case, check) for case in report.cases for check in case.checks if check.verdict is verdict]


def _by_case(checks: Iterable[Made]) -> dict[str, tuple[CaseRecord, list[CheckRecord]]]:
    found: dict[str, tuple[CaseRecord, list[CheckRecord]]] = {}
    for case, check in checks:
        found.setdefault(case.id, (case, []))[1].append(check)
    return found


def _op(report: Report, check: CheckRecord) -> str | None:
    """The op at fault. Reports of before 4.0 name the clause alone."""
    return check.op or report.clauses[check.clause].op


def _key(report: Report, check: CheckRecord) -> Key:
    """What makes a breach one with others."""
    op = _op(report, check)
    if check.code is not None:
        return op, check.code
    if check.kind is StatementKind.MISSING and op in _WRITING:
        return "close", check.kind
    if check.kind is StatementKind.CONTENT and op in _WRITING_BYTES:
        return "append", check.kind
    return op, str(check.kind) if check.kind is not None and op is not None else check.clause


def _does(check: CheckRecord) -> str:
    return f"answers {check.code}" if check.code is not None else _DOES.get(check.kind, "breaks the rule")


def _joined(own: Mapping[Key, list[Made]]) -> Iterable[list[Made]]:
    """The groups; those of one op are joined that break the same clause or show in the same case."""
    joined: dict[Key, list[Made]] = {}
    for key, made in sorted(own.items(), key=lambda one: -len(one[1])):
        same = next((other for other in joined if _may_be_one(key, other) and _meet(made, joined[other])), None)
        joined.setdefault(same or key, []).extend(made)
    return joined.values()


def _may_be_one(key: Key, other: Key) -> bool:
    is_several = key[0] in _ANSWERS_SEVERAL or {key[1], other[1]} & _INDEPENDENT
    return key[0] is not None and key[0] == other[0] and not is_several


def _meet(made: Iterable[Made], others: Iterable[Made]) -> bool:
    places = {text for case, check in others for text in (case.id, check.clause)}
    return any(case.id in places or check.clause in places for case, check in made)


def _order(report: Report, one: Finding) -> tuple[object, ...]:
    """Causes first: what shows before an op is called, what a case is about, what nothing was wrong before."""
    case, check = one.checks[0]
    facts = report.clauses[one.clause]
    return (
        check.verdict is Verdict.WARNING,
        all(case.executed for case in one.cases.values()),
        one.op is None,
        not any(check.clause in case.clauses for case, check in one.checks),
        facts.op != one.op,
        len(case.ops),
        -len(one.cases),
        facts.order,
        one.clause,
    )


def _with_alike(ordered: Iterable[Finding]) -> list[Finding]:
    """The findings, those joined in which other ops answer the same wrong code in the same situation."""
    found: dict[tuple[object, ...], Finding] = {}
    for one in ordered:
        texts = {text for case, check in one.checks for text in (case.id, check.clause)}
        situation = {re.sub(rf"\b{re.escape(str(one.op))}\b", "", text) for text in texts}
        check = one.checks[0][1]
        plain = one.op is None or check.code is None or any(name == f"{one.op}.succeeds" for name in one.clauses)
        key = (id(one),) if plain else (check.verdict, check.code, frozenset(situation))
        if key in found:
            found[key].alike.append(str(one.op))
            found[key].also.extend(one.checks)
        else:
            found[key] = one
    return list(found.values())


def _place(report: Report, made: Made) -> tuple[object, ...]:
    """The plainest first: violations, of no other op's clause, the fewest calls, the shortest input.

    Then a case that is named after the op.
    """
    case, check = made
    calls = len(case.ops) + (1000 if any(call.startswith("…") for call in case.ops[1:2]) else 0)
    named = bool(check.op) and str(check.op) in case.id
    about = check.clause in case.clauses
    return (
        check.verdict is Verdict.WARNING, check.expected == OF_OTHERS, case.cause is not None, not about,
        report.clauses[check.clause].op not in (None, _op(report, check)), calls,
        len(check.expected) + len(check.got), not named, _natural(case.id), case.checks.index(check),
    )  # fmt: skip


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts numbers in names by what they are: 4097 before 1048575."""
    parts = _NUMBER.split(name)
    return [(int(part), "") if place % 2 else (-1, part) for place, part in enumerate(parts)]
