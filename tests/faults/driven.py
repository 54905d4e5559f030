"""Judges a plugin with a fault on the suite's engine itself, in the process of the test.

A pytest of its own costs a fault two seconds, its cases some milliseconds. Cases and engine are those of a run; only
collection and reporting by pytest are left out.
"""

import functools
import re
import tempfile
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.reports.patterns import fits
from tffs_conformance.run.targets import only_target
from tffs_conformance.suite.contract.catalogue import clause
from tffs_conformance.suite.engine import collect
from tffs_conformance.suite.engine.attempts import run_case
from tffs_conformance.suite.engine.case import Case
from tffs_conformance.suite.engine.case_facts import TIERS
from tffs_conformance.suite.engine.collect import Listed
from tffs_conformance.suite.engine.ending import recorded
from tffs_conformance.suite.engine.first_look import first_look
from tffs_conformance.suite.engine.target import EXAMPLES
from tffs_conformance.suite.engine.workbench import Workbench

#: The name of a fault that hangs.
HANGS = re.compile(r"(?:^|[.,])hang")
#: Seconds that one call may take: of a fault that hangs, and of any other, which may be slow on a busy machine.
HANGING, BUSY = 2, 10
#: Faults with which a plugin has several schemes, and the one that is judged.
OF_SEVERAL = {"cleanup-ends-all": "malformed"}


@dataclass(frozen=True)
class Judged:
    """The records of the cases that were run, and how long they took together, in seconds."""

    records: tuple[CaseRecord, ...]
    seconds: float

    def broken(self, *verdicts: Verdict) -> set[str]:
        """The clauses of which a check has one of these verdicts: if none is given, a violation."""
        wanted = verdicts or (Verdict.VIOLATION,)
        return {check.clause for record in self.records for check in record.checks if check.verdict in wanted}


@functools.cache
def all_cases(tier: str) -> tuple[Listed, ...]:
    """The cases of a tier and of those below it."""
    within = TIERS[: TIERS.index(tier) + 1]
    return tuple(case for case in collect.cases() if case.tier in within)


def named(tier: str, *patterns: str) -> list[Listed]:
    """The cases of a tier, and of those below it, whose ids fit one of these shell patterns. None fits nothing."""
    cases = [case for case in all_cases(tier) if any(fits(pattern, case.id) for pattern in patterns)]
    assert all(any(fits(pattern, case.id) for case in cases) for pattern in patterns), patterns
    return cases


def of_clause(name: str, fault: str = "") -> list[Listed]:
    """The cases that declare this clause: those first that begin like the fault, the large behind the others.

    Of these come first whose ids have more words of the fault, or others of their stems.
    """
    words = _words(fault)
    about = [(case, _words(case.id)) for case in all_cases("large") if name in case.clauses]
    about.sort(key=lambda one: (one[1][:1] != words[:1], one[0].tier == "large", -len({*one[1]} & {*words})))
    return [case for case, _ in about]


def _words(name: str) -> list[str]:
    """The words of a name, cut so that `deletes` is like `delete_file`."""
    return [word[:3] for word in re.findall(r"[a-z]+|[0-9]+", name)]


def of_op(op: str, tier: str) -> list[Listed]:
    """The cases of a tier that declare a clause of this op."""
    return [case for case in all_cases(tier) if any(clause(name).op == op for name in case.clauses)]


def ordered(cases: Iterable[Listed], ops: Collection[str]) -> list[Listed]:
    """The cases about these ops before the others, and the smaller tiers before the larger."""

    def is_about(case: Listed) -> bool:
        return any(clause(name).op in ops for name in case.clauses)

    return sorted(cases, key=lambda case: (not is_about(case), TIERS.index(case.tier)))


def judge(
    plugin: str,
    fault: str,
    cases: Iterable[Listed],
    timeout: float | None = None,
    enough: Callable[[CaseRecord], bool] | None = None,
    examples: int = EXAMPLES,
) -> Judged:
    """Run cases on a plugin with a value of TFFS_FAULT; one call may take `timeout` seconds.

    After a case whose record is `enough`, the others are left out. Properties try `examples` histories.
    """
    started = time.monotonic()
    cases = list(cases)
    timeout = timeout or (HANGING if HANGS.search(fault) else BUSY)
    target = only_target(plugin, OF_SEVERAL.get(fault), None, {"TFFS_FAULT": fault}, timeout)
    with tempfile.TemporaryDirectory() as traces:
        target = replace(target, backing="file://{path}", traces=traces, examples=examples)
        bench = Workbench(target, first_look(target))
        bench.cases = frozenset(case.id for case in cases)
        try:
            records = []
            for listed in cases:
                records.append(run(bench, listed))
                if enough is not None and enough(records[-1]):
                    break
        finally:
            bench.remove_root()
            bench.close()
    return Judged(tuple(records), time.monotonic() - started)


def run(bench: Workbench, listed: Listed) -> CaseRecord:
    """One case, as the fixture `case` and pytest's hooks run it."""
    case = Case(bench, listed.id, listed.clauses, listed.doc, over_tables=listed.over_tables, tier=listed.tier)
    record = recorded(case, run_case(case, lambda one: listed.body(case=one)))
    case.surroundings.clear()
    return record
