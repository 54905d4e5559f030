"""The cases of a report as compact JSON, from which the script of the page shows those that are asked for.

Many cases say the same, so each text stands in it once, safe to show already, and everything else names it by its
place. Place 0 is the empty text, which stands for nothing, too.
"""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from ..escape import command_line
from ..model.records import CaseRecord, CheckRecord
from ..model.report import Report
from ..plain import dumps
from .page import address, shown
from .words import why


class _Places(dict[str, int]):
    """Where each text stands: one that is new comes last."""

    def __missing__(self, text: str) -> int:
        place = self[text] = len(self)
        return place


def packed(report: Report) -> Markup:
    """The content of a <script type="application/json">, in ASCII.

    An object: `texts`; `clauses`, by the place of their id [level, class, op]; `cases`, each as _case has it; `odd`, by
    the number of a case whose id cannot stand as it is [its address, its id as a shell takes it]; `command`.
    """
    texts = _Places({"": 0})
    clauses = {
        texts[name]: [clause.level, clause.conformance_class, clause.op or ""]
        for name, clause in report.clauses.items()
    }
    cases = [_case(case, texts) for case in report.cases]
    document = {
        "texts": list(map(shown, texts)),
        "clauses": {place: list(map(shown, facts)) for place, facts in clauses.items()},
        "cases": cases,
        "odd": _odd(report.cases),
        "command": command_line(report.suite.command),
    }
    # In JSON these escapes mean the same. No text can end the element of the script, or begin a comment in it.
    return Markup(dumps(document).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _case(case: CaseRecord, texts: _Places) -> list[object]:
    return [
        texts[case.id],
        texts[case.verdict],
        texts[case.stimulus],
        texts[case.reason or ""],
        texts[case.tier or ""],
        texts[case.cut or ""],
        texts[case.output],
        case.duration,
        int(case.executed),
        [texts[clause] for clause in case.clauses],
        [_check(check, texts) for check in case.checks],
        [texts[op] for op in case.ops],
        texts[case.ended],
        texts[case.cause or ""],
        texts[why(case)],
    ]


def _check(check: CheckRecord, texts: _Places) -> list[int]:
    return [
        texts[check.clause],
        texts[check.verdict],
        texts[check.expected],
        texts[check.got],
        texts[check.plugin_said or ""],
        texts[check.reading or ""],
        check.times,
    ]


def _odd(cases: Sequence[CaseRecord]) -> Mapping[int, list[str]]:
    """The cases whose ids cannot stand as they are in an address or between quotes of a shell."""
    addresses = ((number, case.id, address(case.id)) for number, case in enumerate(cases))
    return {
        number: [its, command_line([f"--case={name}"])] for number, name, its in addresses if its != name or "'" in name
    }
