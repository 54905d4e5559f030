"""The score of headlines: of plugins with several faults, is each fault told, the cause first, and nothing else?

`python -m tests.headlines FOLDER` draws 60 plugins from the table of faults, the same every time, each with two to five
faults at once; `--draw=NAME` draws 60 others. It runs a part of the tier `must` and cases of their clauses on each, and
keeps FOLDER/<number>/report.json; a report that is there already is not made again. Then it prints the score, and each
miss. What the reports found wrong `--keep=FILE` adds to a file of those of other draws: tests/test_headlines.py scores
`tests/headlines.jsonl.xz`, without a plugin.

A fault is told where a headline is about its op or, for what is about no op, is a clause that it is known to break, and
where such a clause is named under a headline. What a reader sees counts: of a long list under a headline the names that
are printed. Headlines are the violations and the warnings, as the terminal has them.

Left out are faults that hang, since each case of theirs waits, and those that change the same op, or break the same
clause of no op, as another one of the plugin: one headline would be right for both.
"""

import argparse
import json
import lzma
import random
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests import fakes
from tests.faults.driven import BUSY, all_cases, of_clause
from tests.records import record, report_of
from tests.test_fakes import asked
from tests.verdict_runs import BACKING, TABLES, Run, liars, perform
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports.document import load
from tffs_conformance.reports.model.consequences import told
from tffs_conformance.reports.model.counts import few
from tffs_conformance.reports.model.findings import Finding
from tffs_conformance.reports.model.records import CheckRecord, Ending
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract.catalogue import catalogue, for_report
from tffs_conformance.suite.engine.collect import Listed

#: So many plugins are drawn, and the least and the most faults of one.
PLUGINS, FEWEST, MOST = 60, 2, 5
#: What these plugins are drawn by. Of the second draw the first were looked at as the last rules were made.
DRAWS = ("headlines", "held-out")
#: Of cases that differ in a parameter alone so many are run, and those of a longer table in steps; all cases of the
#: clauses of the faults come on top: some faults need one name.
ROWS, STEP = 12, 4
#: What the reports of these plugins found wrong.
KEPT = Path(__file__).with_name("headlines.jsonl.xz")
#: What has to be reached: faults that are told, first headlines that are a cause, and headlines for each fault.
TOLD, FIRST, PER_FAULT = 0.95, 0.95, 1.3
#: The share of the faults that may be told only under a headline about another one.
FOLDED = 0.05


@dataclass(frozen=True)
class Fault:
    """A fault of `libfaulty.so`, the clauses that it is known to break, and the ops whose fault it is."""

    name: str
    clauses: frozenset[str]
    ops: frozenset[str]

    @property
    def of_no_op(self) -> set[str]:
        """Those of its clauses that are about no op."""
        return {name for name in self.clauses if not catalogue()[name].op}

    def is_about(self, clause: str) -> bool:
        """Whether a clause is of its op, or one that it is known to break and none of its op is."""
        if catalogue()[clause].op in self.ops:
            return True
        return clause in self.clauses and (clause in self.of_no_op or not any(map(self._is_of_its_op, self.clauses)))

    def _is_of_its_op(self, clause: str) -> bool:
        return catalogue()[clause].op in self.ops

    def is_told_in(self, finding: Finding) -> bool:
        """Whether a reader of a finding learns of it."""
        shown = few(finding.beside)
        named = [finding.clause, *(name for name in finding.beside if name in shown)]
        return any(map(self.is_about, named)) or bool(self.ops & {finding.op, *finding.alike})

    def is_cause_of(self, finding: Finding) -> bool:
        """Whether a headline is about it."""
        return finding.op in self.ops or self.is_about(finding.clause)

    def is_headline(self, finding: Finding) -> bool:
        """Whether a headline is about it, or says the same of its op."""
        return self.is_cause_of(finding) or bool(self.ops & set(finding.alike))


@dataclass(frozen=True)
class Score:
    """What the headlines of one plugin are worth."""

    faults: tuple[Fault, ...]
    headlines: tuple[Finding, ...]
    broken: frozenset[str]

    @property
    def untold(self) -> list[Fault]:
        """The faults that no headline tells."""
        return [fault for fault in self.faults if not any(map(fault.is_told_in, self.headlines))]

    @property
    def folded(self) -> list[Fault]:
        """The faults that are told under a headline about another one alone."""
        return [
            fault
            for fault in self.faults
            if fault not in self.untold and not any(map(fault.is_headline, self.headlines))
        ]

    @property
    def begins_with_a_cause(self) -> bool:
        """Whether the first headline is about a fault."""
        return any(fault.is_cause_of(one) for one in self.headlines[:1] for fault in self.faults)

    @property
    def other(self) -> list[str]:
        """The headlines that are about none of the faults."""
        return [one.clause for one in self.headlines if not any(fault.is_cause_of(one) for fault in self.faults)]


@dataclass(frozen=True)
class Total:
    """The scores of all plugins together."""

    scores: Sequence[Score]

    @property
    def faults(self) -> int:
        return sum(len(one.faults) for one in self.scores)

    @property
    def told(self) -> float:
        """The share of the faults that is told."""
        return 1 - sum(len(one.untold) for one in self.scores) / self.faults

    @property
    def folded(self) -> float:
        """The share of the faults that is told under a headline about another one alone."""
        return sum(len(one.folded) for one in self.scores) / self.faults

    @property
    def first(self) -> float:
        """The share of the plugins of which the first headline is about a fault."""
        return sum(one.begins_with_a_cause for one in self.scores) / len(self.scores)

    @property
    def per_fault(self) -> float:
        """How many headlines there are for a fault."""
        return sum(len(one.headlines) for one in self.scores) / self.faults

    @property
    def is_reached(self) -> bool:
        """Whether all that has to be reached is."""
        return self.told >= TOLD and self.first >= FIRST and self.per_fault <= PER_FAULT and self.folded <= FOLDED

    def lines(self) -> Iterator[str]:
        """What there is to say of it, the misses last."""
        yield f"{len(self.scores)} plugins with {self.faults} faults"
        yield f"told: {self.told:.1%} of the faults (at least {TOLD:.0%})"
        yield f"under another: {self.folded:.1%} are told only under another one's headline (at most {FOLDED:.0%})"
        yield f"first: {self.first:.1%} begin with a cause (at least {FIRST:.0%})"
        yield f"headlines for each fault: {self.per_fault:.2f} (at most {PER_FAULT})"
        for number, score in enumerate(self.scores):
            yield f"{number}: {', '.join(fault.name for fault in score.faults)}"
            for fault in score.untold:
                seen = [name for name in score.broken if fault.is_about(name)]
                yield f"   not told: {fault.name}; broken: {few(sorted(seen)) or 'nothing of it'}"
            for fault in score.folded:
                under = next(one.clause for one in score.headlines if fault.is_told_in(one))
                yield f"   under another: {fault.name}, under {under}"
            if not score.begins_with_a_cause:
                yield f"   first: {score.headlines[0].clause if score.headlines else 'no headline'}"
            if score.other:
                yield f"   about no fault: {', '.join(score.other)}"


def known() -> list[Fault]:
    """The faults that can be drawn, by name."""
    clauses: dict[str, set[str]] = {}
    for clause, fake in TABLES["faults"].items():
        plugin, _, name = fake.partition(" ")
        if plugin == "faulty":
            clauses.setdefault(name, set()).add(clause)
    for name, clause in TABLES["further"].items():
        clauses.setdefault(name, set()).add(clause)
    facts = {"clauses": {one.id: {"op": one.op} for one in catalogue().values()}}
    return [
        Fault(name, frozenset(broken), frozenset(op for op in liars(Run(f"faulty {name}", (), broken), facts) if op))
        for name, broken in sorted(clauses.items())
        if "hang" not in name
    ]


def drawn(draw: str = DRAWS[0]) -> list[tuple[Fault, ...]]:
    """The plugins, each by its faults."""
    chance = random.Random(draw)
    pool = known()
    plugins = []
    for number in range(PLUGINS):
        size = FEWEST + number % (MOST - FEWEST + 1)
        faults: list[Fault] = []
        while len(faults) < size:
            one = chance.choice(pool)
            if not any(one.of_no_op & other.of_no_op for other in faults) and _can_be_one([*faults, one]):
                faults.append(one)
        plugins.append(tuple(faults))
    return plugins


def _can_be_one(faults: Sequence[Fault]) -> bool:
    """Whether a plugin can have all of these faults at once."""
    return "another fault does so" not in asked("faulty", _together(faults))


def _together(faults: Sequence[Fault]) -> str:
    return ",".join(fault.name for fault in faults)


def _tables(cases: Iterable[Listed]) -> Iterable[list[str]]:
    """The ids of cases; those that differ in a parameter alone together."""
    tables: dict[str, list[str]] = {}
    for case in cases:
        tables.setdefault(case.id.partition("[")[0], []).append(case.id)
    return tables.values()


def run_of(number: int, faults: Sequence[Fault]) -> Run:
    """The run of a plugin with these faults."""
    cases = {case for table in _tables(all_cases("must")) for case in (table if len(table) <= ROWS else table[::STEP])}
    for name in {name for one in faults for name in one.clauses}:
        cases.update(case.id for case in of_clause(name) if case.tier != "large")
    given = (
        f"--plugin={plugin_path('fakes/faulty')}",
        f"--env=TFFS_FAULT={_together(faults)}",
        f"--call-timeout={BUSY}",
        "--seed=1",
        "--examples=10",
        BACKING,
    )
    return Run(str(number), given, set(), cases)


def _wrong(report: Report, name: str, faults: Sequence[Fault]) -> str:
    """What a report found wrong, as far as findings are made of it, on one line of JSON."""
    cases = []
    for case in report.cases:
        checks = [check for check in case.checks if check.verdict in (Verdict.VIOLATION, Verdict.WARNING)]
        if checks:
            kept = {key: getattr(case, key) for key in ("id", "clauses", "ops", "ended", "cause", "executed", "tier")}
            made = [(one.clause, one.verdict, one.expected, one.got, one.reading, one.times) for one in checks]
            cases.append({**kept, "checks": made})
    return json.dumps({"name": name, "faults": [fault.name for fault in faults], "cases": cases})


def keep(path: Path, draw: str, reports: Mapping[int, Report], plugins: Sequence[Sequence[Fault]]) -> None:
    """Add what reports found wrong to the file at `path`, in place of what it has of the same plugins."""
    lines = {json.loads(line)["name"]: line for line in _lines(path)}
    lines |= {f"{draw}/{number}": _wrong(one, f"{draw}/{number}", plugins[number]) for number, one in reports.items()}
    path.write_bytes(lzma.compress("\n".join(lines.values()).encode(), preset=9 | lzma.PRESET_EXTREME))


def _lines(path: Path) -> list[str]:
    return lzma.decompress(path.read_bytes()).decode().splitlines() if path.exists() else []


def kept(path: Path = KEPT) -> Iterator[tuple[str, Score]]:
    """The scores of what a file has, with the names of the plugins."""
    faults = {one.name: one for one in known()}
    for line in _lines(path):
        plugin = json.loads(line)
        cases = [
            record(
                case.pop("id"),
                Verdict.VIOLATION,
                *(
                    CheckRecord(clause, Verdict(verdict), expected, got, reading, times=times)
                    for clause, verdict, expected, got, reading, times in case.pop("checks")
                ),
                **case | {"ended": Ending(case["ended"]), "clauses": tuple(case["clauses"]), "ops": tuple(case["ops"])},
            )
            for case in plugin["cases"]
        ]
        report = report_of(*cases, clauses=for_report())
        yield plugin["name"], score(report, [faults[name] for name in plugin["faults"]])


def score(report: Report, faults: Sequence[Fault]) -> Score:
    """What the headlines of a report are worth, if the plugin has these faults."""
    violations, warnings = told(report)
    headlines = (*violations, *warnings)
    broken = frozenset(name for one in headlines for name in (one.clause, *one.beside))
    return Score(tuple(faults), headlines, broken)


def reported(folder: Path, number: int, faults: Sequence[Fault]) -> Report:
    """The report of a plugin, which is made where there is none."""
    path = folder / str(number) / "report.json"
    if not path.exists() and not perform(run_of(number, faults), sys.executable, folder):
        sys.exit(f"{number}: no report; {path.with_name('output.txt')} says why")
    return load(path)


def main() -> None:
    """Make the reports that are not there yet, and print the score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draw", default=DRAWS[0], help="what the plugins are drawn by")
    parser.add_argument("--first", type=int, default=PLUGINS, help="so many of them are run")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where what they found wrong is kept")
    parser.add_argument("--workers", type=int, default=2, help="so many plugins are run at once")
    given = parser.parse_args()
    folder = given.folder.resolve()
    fakes.build()
    plugins = drawn(given.draw)[: given.first]

    def one(number: int) -> Report:
        started = time.monotonic()
        found = reported(folder, number, plugins[number])
        print(f"{number + 1}/{len(plugins)} {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
        return found

    with ThreadPoolExecutor(given.workers) as workers:
        reports = dict(enumerate(workers.map(one, range(len(plugins)))))
    if given.keep:
        keep(given.keep, given.draw, reports, plugins)
    total = Total([score(report, plugins[number]) for number, report in reports.items()])
    print("\n".join(total.lines()))
    sys.exit(not total.is_reached)


if __name__ == "__main__":
    main()
