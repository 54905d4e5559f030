"""Which findings are told with which: what only follows from an op that is told to be wrong is no finding of its own.

Two rules fold a finding into another one. `TOLD_WITH` compares them case by case: what shows only where the other does.
`Lies` asks what an op is told to do wrong: a finding of which each case shows nothing else, seen through that op, is a
consequence, wherever it shows.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest

from . import losses
from .findings import Finding, by_clause
from .records import CaseRecord, CheckRecord
from .report import Report
from .verdicts import Verdict
from .wrongs import (
    CODE,
    NUMBER,
    OWN,
    STORED,
    THERE,
    TOO_MANY,
    Wrong,
    answers,
    calls,
    explained,
    is_cut,
    is_shared,
    wrongs,
)

#: The ops that change nothing in the storage: what another op answers does not follow from what they said.
LOOKING = frozenset(
    {
        "data",
        "get_children",
        "get_file_size",
        "get_matching_paths",
        "is_directory",
        "length",
        "path_exists",
        "paths_exist",
        "read",
        "stat",
        "tell",
        "translate_name",
    }
)

#: Of two ops that look the second shows what the first says.
SAME = {"length": ("data",), "get_children": ("get_matching_paths",), "stat": ("is_directory", "get_file_size")}

#: Whether a finding is told with one that is told before it: the first rule that fits says so. What is lost, leaked or
#: changed stands under no return code: who mends that may not have mended it.
TOLD_WITH: tuple[tuple[str, Callable[[Finding, Finding], bool], bool], ...] = (
    ("it shows elsewhere as well", lambda it, cause: not it.is_covered_by(cause), False),
    ("that op spoilt what was prepared", lambda it, cause: it.is_spoilt_by(cause), True),
    ("it shows the same wrong value", lambda it, cause: it.shows_what(cause), True),
    ("more than a return code", lambda it, cause: cause.is_code and not it.is_code and it.is_apart(cause), False),
    ("the same op", lambda it, cause: it.op is not None and it.op == cause.op and it.is_akin(cause), True),
    ("a wrong value of its own op", lambda it, _: it.op is not None and not (it.is_code or it.is_stored), False),
    ("met on the way", lambda it, _: not it.is_asked, True),
    ("a return code, after something else", lambda it, _: it.is_code and not it.is_first, True),
    ("a cause of its own", lambda it, cause: True, False),
)


def findings(report: Report, verdict: Verdict = Verdict.VIOLATION) -> list[Finding]:
    """What a run found, causes first."""
    return with_consequences(by_clause(report, verdict))


def told(report: Report) -> tuple[list[Finding], list[Finding]]:
    """What a run found, causes first: the violations, and the warnings that are told with none of them."""
    violated = by_clause(report, Verdict.VIOLATION)
    warned = by_clause(report, Verdict.WARNING)
    found = with_consequences([*violated, *warned])
    kinds: dict[Verdict, list[Finding]] = {Verdict.VIOLATION: [], Verdict.WARNING: []}
    for one in found:
        kinds[one.checks[0][1].verdict].append(one)
    return kinds[Verdict.VIOLATION], kinds[Verdict.WARNING]


def with_consequences(ordered: Iterable[Finding]) -> list[Finding]:
    """The findings of which none is told with another. Causes come first in `ordered`, and lost data before all."""
    ordered = list(ordered)
    found: list[Finding] = []
    lies: dict[str, Lies] = {}
    for finding in ordered:
        cause = _seen_through(finding, found, lies) or next(
            (other for other in found if _is_told_with(finding, other)), None
        )
        alike = next((other for other in found if finding.is_alike(other)), None)
        if cause is not None:
            _fold(finding, cause)
        elif alike is not None:
            alike.alike.append(str(finding.op))
        else:
            found.append(finding)
        if cause is None or cause.op == finding.op:
            lies.setdefault(cause.clause if cause else finding.clause, Lies()).take(finding)
    kept = _without_earlier(found, lies)
    for one in kept:
        one.beside[:] = _in_turn(one, {finding.clause: finding.op for finding in ordered})
    return losses.first(kept, LOOKING)


class Lies:
    """What the ops that a finding tells of are told to do wrong: of each op, by kind."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, set[str]]] = {}

    def take(self, finding: Finding) -> None:
        """Take what is wrong in a finding."""
        for case, check in finding.checks:
            said = () if is_shared(check) else wrongs(case, check)
            kinds = Counter(one.kind for one in said)
            for one in said:
                op = one.op or finding.op
                # What may be one or the other is known of neither, unless it is all the same to an op that looks.
                is_known = kinds[one.kind] == 1 or (op in LOOKING and check.expected.startswith("code="))
                # An op that was not called said nothing.
                if op and is_known and (calls(case, op) or is_cut(case)):
                    self._of.setdefault(op, {}).setdefault(one.kind, set()).update(explained(one.what))

    def are_called(self, case: CaseRecord) -> bool:
        """Whether one of the ops is called in a case."""
        return any(calls(case, liar) for liar in self._of)

    def show(self, case: CaseRecord, check: CheckRecord, op: str | None) -> bool:
        """Whether a check of a clause about `op` may show one of them."""
        return any(
            one.what <= said.get(one.kind, set()) and _is_seen(liar, one, case, check, op)
            for liar, said in self._of.items()
            for one in wrongs(case, check)
        )


def _is_called(op: str, case: CaseRecord, about: str | None) -> bool:
    """Whether a case calls an op, or may do so: of one that is about many ops, some calls are left out."""
    return bool(calls(case, op)) or (about is None and is_cut(case))


def _is_seen(liar: str, one: Wrong, case: CaseRecord, check: CheckRecord, op: str | None) -> bool:
    """Whether what an op does wrong can be what is wrong in a check of a clause about `op`."""
    owner = one.op or op
    if owner == liar:
        return True
    if one.kind == OWN:
        return False
    if one.kind == CODE:
        return owner is None and any(code != "OK" and answers(case, liar, code) for code in one.what)
    if liar in LOOKING:
        # A tree is made by listing and reading: who only asks makes nothing of it, and what is there too many was read.
        is_own = owner is not None and check.expected.startswith("code=")
        is_said = owner in LOOKING and not STORED.match(check.expected) and owner not in SAME.get(liar, ())
        is_listed = liar == "get_children" and not any(what.startswith(TOO_MANY) for what in one.what)
        is_read = STORED.match(check.expected) and not is_listed
        # Who repeats what another op says repeats its number.
        number = check.got.rpartition("=")[2]
        is_another = one.kind == NUMBER and owner in SAME.get(liar, ()) and not _is_said(liar, number, case)
        if is_own or is_said or is_another or (one.kind == THERE and is_read):
            return False
    return _is_called(liar, case, op)


def _is_said(op: str, number: str, case: CaseRecord) -> bool:
    """Whether an answer of an op may have this number in it, in a case."""
    return (
        not number.isdigit()
        or is_cut(case)
        or any(re.search(rf"\b{re.escape(number)}\b", call) for call in calls(case, op))
    )


def _fold(finding: Finding, cause: Finding) -> None:
    cause.beside.extend((finding.clause, *finding.beside))
    cause.spoilt.update((finding.cases.keys() | finding.spoilt) - cause.cases.keys())


def _in_turn(finding: Finding, ops: Mapping[str, str | None]) -> list[str]:
    """What is told with a finding, for the first are shown: a clause of each other op in turn, then its own."""
    of_op: dict[str | None, list[str]] = {}
    for name in finding.beside:
        of_op.setdefault(ops[name], []).append(name)
    own = of_op.pop(finding.op, [])
    turns = zip_longest(*of_op.values())
    return [name for turn in turns for name in turn if name is not None] + own


def _is_told_with(finding: Finding, cause: Finding) -> bool:
    return next(told for _, fits, told in TOLD_WITH if fits(finding, cause))


def _seen_through(finding: Finding, found: Sequence[Finding], lies: dict[str, Lies]) -> Finding | None:
    """Of findings that show together what each case of this one found, the one that shows the most of it."""
    shown = Counter[str]()
    seen: dict[str, list[str]] = {}
    for case, check in finding.checks:
        if is_shared(check):
            continue
        showing = [
            other.clause
            for other in found
            if not other.is_kept_in(case) and lies[other.clause].show(case, check, finding.op)
        ]
        if not showing and STORED.match(check.expected):
            # What a case finds in the storage follows from what it was told before.
            showing = seen.get(case.id, [])
        if not showing and finding.is_code and not finding.is_asked:
            # What an op answers where nobody asked for it follows from what was wrong in the case.
            showing = [other.clause for other in found if lies[other.clause].are_called(case)]
        if not showing:
            return None
        shown.update(showing)
        seen.setdefault(case.id, showing)
    return max(found, key=lambda other: shown[other.clause]) if shown else None


def _without_earlier(found: list[Finding], lies: dict[str, Lies]) -> list[Finding]:
    """Without those that follow from one that is told after them, and from which that one does not follow."""
    kept = list(found)
    for finding in found:
        others = [
            other
            for other in kept
            if other is not finding and _is_as_bad(other, finding) and _seen_through(other, [finding], lies) is None
        ]
        cause = _seen_through(finding, others, lies)
        if cause is not None:
            _fold(finding, cause)
            cause.alike.extend(finding.alike)
            kept.remove(finding)
    return kept


def _is_as_bad(one: Finding, other: Finding) -> bool:
    """Whether the one is no warning where the other is a violation: no violation is told with a warning."""
    (_, first), (_, second) = one.checks[0], other.checks[0]
    return first.verdict is not Verdict.WARNING or second.verdict is Verdict.WARNING
