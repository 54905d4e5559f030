"""Plugins with several faults: has each a finding of its own in the report, a cause first, and is there little else?

Draws 60 plugins from the table of faults, the same every time, each with two to five faults at once; --draw=NAME draws
others. Runs a part of the tier quick and the cases of their clauses on each, and writes FOLDER/<number>/report.json; an
existing report is not made again. --save adds what the reports found wrong to headlines.jsonl.xz: tests/test_score.py
scores that file without a plugin.

A fault that a check shows has to have a finding of its own: one about its op or, if it is about no op, about a clause
that it breaks; what is listed under a finding does not count. Findings are the violations and the warnings on the
terminal. Left out are faults that hang, because each case of theirs waits, and those that change the same op, or break
the same clause of no op, as another one of the plugin: one finding would be right for both.
"""

import json
import lzma
import random
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests import fakes
from tests.faults.driven import BUSY, all_cases, of_clause
from tests.records import record, report_of
from tests.score.faults import KnownFault, known
from tests.verdict_runs import BACKING, FEW_HISTORIES, Run, perform
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports.document import load
from tffs_conformance.reports.model.findings import Finding
from tffs_conformance.reports.model.records import OF_OTHERS, CheckRecord, Ending, StatementKind
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract.catalogue import catalogue, for_report
from tffs_conformance.suite.judge.findings import conclude

PLUGINS, MIN_FAULTS, MAX_FAULTS = 60, 2, 5
#: The seed of the plugins in SAVED.
DRAW = "headlines"
#: Of a longer table of cases that differ in a parameter alone, every STEP-th is run.
MAX_ROWS, STEP = 12, 4
#: What the reports of these plugins found wrong.
SAVED = Path(__file__).with_name("headlines.jsonl.xz")
#: What must not fall: faults with a finding of their own, first findings that are a cause; what must not grow: findings
#: a fault.
NAMED, FIRST, PER_FAULT = 0.95, 0.98, 1.5


@dataclass(frozen=True)
class HeadlineScore:
    """What the headlines of one plugin are worth."""

    faults: tuple[KnownFault, ...]
    headlines: tuple[Finding, ...]

    @property
    def unseen(self) -> list[KnownFault]:
        """The faults that no check shows: a crash may hide them, or only the tier large has a case."""
        made = [check for one in self.headlines for _, check in (*one.checks, *one.folded)]

        def shows(check: CheckRecord, fault: KnownFault) -> bool:
            return check.op in fault.ops or is_about(check.clause, fault)

        return [fault for fault in self.faults if not any(shows(check, fault) for check in made)]

    @property
    def unnamed(self) -> list[KnownFault]:
        """The faults that a check shows and that have no finding of their own."""
        named = [fault for fault in self.faults if any(is_caused_by(one, fault) for one in self.headlines)]
        return [fault for fault in self.faults if fault not in (*named, *self.unseen)]

    @property
    def begins_with_a_cause(self) -> bool:
        """Whether the first headline is about a fault."""
        return any(is_caused_by(one, fault) for one in self.headlines[:1] for fault in self.faults)


def figures(scores: Sequence[HeadlineScore]) -> tuple[float, float, float]:
    """The shares of faults with a finding of their own and of first findings that are a cause, and findings a fault."""
    faults = sum(len(one.faults) - len(one.unseen) for one in scores)
    named = 1 - sum(len(one.unnamed) for one in scores) / faults
    first = sum(one.begins_with_a_cause for one in scores) / len(scores)
    return named, first, sum(len(one.headlines) for one in scores) / faults


def lines(scores: Sequence[HeadlineScore]) -> Iterator[str]:
    """The figures, and each miss."""
    named, first, per_fault = figures(scores)
    yield f"{sum(len(one.unseen) for one in scores)} of {sum(len(one.faults) for one in scores)} faults are in no check"
    yield f"{named:.1%} of the others have a finding of their own (at least {NAMED:.0%})"
    yield f"{first:.1%} of {len(scores)} plugins begin with a cause (at least {FIRST:.0%})"
    yield f"{per_fault:.2f} findings a fault (at most {PER_FAULT})"
    for score in scores:
        if score.unnamed or not score.begins_with_a_cause:
            yield f"{', '.join(map(str, score.faults))}: without one: {', '.join(map(str, score.unnamed)) or 'none'}"
            yield f"   findings: {', '.join(f'{one.op} {one.does}' for one in score.headlines) or 'none'}"


def is_about(clause: str, fault: KnownFault) -> bool:
    """Whether a clause is of the fault's op, or one that it breaks, of no op or if it breaks none of its ops."""
    ops = {name: catalogue()[name].op for name in (clause, *fault.clauses)}
    breaks_own = any(ops[name] in fault.ops for name in fault.clauses)
    return ops[clause] in fault.ops or (clause in fault.clauses and not (ops[clause] and breaks_own))


def is_caused_by(finding: Finding, fault: KnownFault) -> bool:
    """Whether a finding is about the fault."""
    return not {finding.op, *finding.alike}.isdisjoint(fault.ops) or is_about(finding.clause, fault)


def drawn(draw: str) -> list[tuple[KnownFault, ...]]:
    """The plugins, each by its faults."""
    chance = random.Random(draw)
    pool = [one for one in known() if one.fake == "faulty" and "hang" not in one.name]
    plugins = []
    for number in range(PLUGINS):
        faults: list[KnownFault] = []
        while len(faults) < MIN_FAULTS + number % (MAX_FAULTS - MIN_FAULTS + 1):
            one = chance.choice(pool)
            common = {name for other in faults for name in {*one.clauses} & {*other.clauses}}
            output = fakes.printed("faulty", _together([*faults, one]))
            if all(catalogue()[name].op for name in common) and "another fault does so" not in output:
                faults.append(one)
        plugins.append(tuple(faults))
    return plugins


def _together(faults: Sequence[KnownFault]) -> str:
    return ",".join(fault.value for fault in faults)


def run_of(number: int, faults: Sequence[KnownFault]) -> Run:
    """The run of a plugin with these faults."""
    tables: dict[str, list[str]] = {}
    for case in all_cases("quick"):
        tables.setdefault(case.id.partition("[")[0], []).append(case.id)
    cases = {case for table in tables.values() for case in (table if len(table) <= MAX_ROWS else table[::STEP])}
    for name in {name for one in faults for name in one.clauses}:
        cases.update(case.id for case in of_clause(name) if case.tier != "large")
    given = (f"--plugin={plugin_path('fakes/faulty')}", f"--env=TFFS_FAULT={_together(faults)}", BACKING)
    return Run(str(number), (*given, f"--call-timeout={BUSY}", *FEW_HISTORIES), set(), cases)


def save(draw: str, reports: Mapping[int, Report], plugins: Sequence[Sequence[KnownFault]]) -> None:
    """Add what reports found wrong to SAVED, in place of what it has of the same plugins."""
    plugins_found = {json.loads(line)["name"]: line for line in _saved()}
    for number, report in reports.items():
        name = f"{draw}/{number}"
        faults = [one.value for one in plugins[number]]
        plugins_found[name] = json.dumps({"name": name, "faults": faults, "cases": _wrong(report)})
    SAVED.write_bytes(lzma.compress("\n".join(plugins_found.values()).encode(), preset=9 | lzma.PRESET_EXTREME))


def _wrong(report: Report) -> list[dict[str, object]]:
    """What a report found wrong, as far as findings are made of it."""
    cases = []
    for case in report.cases:
        checks = [check for check in case.checks if check.verdict in (Verdict.VIOLATION, Verdict.WARNING)]
        if checks:
            facts = {key: getattr(case, key) for key in ("id", "clauses", "ended", "cause", "executed", "tier")}
            facts["ops"] = len(case.ops)
            rows = [(one.clause, one.verdict, one.times, one.op, one.kind, one.code, *_extent(one)) for one in checks]
            cases.append({**facts, "checks": rows})
    return cases


def _extent(check: CheckRecord) -> tuple[str, int]:
    """What of the texts of a check decides its place: what stands for others, and how long the texts are."""
    is_shared = check.expected == OF_OTHERS
    return (OF_OTHERS, len(check.got)) if is_shared else ("", len(check.expected) + len(check.got))


def _saved() -> list[str]:
    return lzma.decompress(SAVED.read_bytes()).decode().splitlines()


def saved_scores() -> Iterator[tuple[str, HeadlineScore]]:
    """The scores of SAVED, with the names of the plugins."""
    faults = {one.value: one for one in known() if one.fake == "faulty"}
    for line in _saved():
        plugin = json.loads(line)
        cases = []
        for case in plugin["cases"]:
            checks = [
                CheckRecord(clause, Verdict(verdict), said, "x" * size, times=times, op=op,
                            kind=kind and StatementKind(kind), code=code)
                for clause, verdict, times, op, kind, code, said, size in case.pop("checks")
            ]  # fmt: skip
            more = {"ended": Ending(case.pop("ended")), "clauses": tuple(case.pop("clauses"))}
            calls = ("call",) * case.pop("ops")
            cases.append(record(case.pop("id"), Verdict.VIOLATION, *checks, ops=calls, **more, **case))
        report = report_of(*cases, clauses=for_report())
        yield plugin["name"], score(report, [faults[name] for name in plugin["faults"]])


def score(report: Report, faults: Sequence[KnownFault]) -> HeadlineScore:
    """What the headlines of a report are worth, if the plugin has these faults."""
    found = conclude(report)
    return HeadlineScore(tuple(faults), (*found.violations, *found.warnings))


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draw", default=DRAW, help="the seed of the plugins (default: %(default)s)")
    parser.add_argument("--save", action="store_true", help=f"add what was found wrong to {SAVED.name}")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="default: %(default)s")


def run(given: Namespace) -> bool:
    """Make the reports that are missing, print the score, and return whether it is reached."""
    fakes.build()
    folder, plugins = given.folder.resolve(), drawn(given.draw)

    def reported(number: int) -> Report:
        path = folder / str(number) / "report.json"
        if not path.exists() and not perform(run_of(number, plugins[number]), sys.executable, folder):
            raise SystemExit(f"{number}: no report; {path.with_name('output.txt')} says why")
        return load(path)

    with ThreadPoolExecutor(given.workers) as workers:
        reports = dict(enumerate(workers.map(reported, range(len(plugins)))))
    if given.save:
        save(given.draw, reports, plugins)
    scores = [score(report, plugins[number]) for number, report in reports.items()]
    print(*lines(scores), sep="\n")
    named, first, per_fault = figures(scores)
    return named >= NAMED and first >= FIRST and per_fault <= PER_FAULT
