"""The report as a page: one file that a browser opens without a network, by keyboard, on a phone and in the dark."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..escape import command_line
from ..model.abi import spans
from ..model.findings import Finding, Findings
from ..model.header import ReadingFacts
from ..model.records import CaseRecord
from ..model.report import ClauseAccount, Report
from ..model.verdicts import Verdict, checks_made
from ..model.waivers import REMEDIES
from ..waiver_entries import breaches, entries, written
from . import cost_table, words
from .meanings import OF_CHECK, OF_TARGET, OF_TIER
from .page import address, page
from .page_data import page_data

#: So many waivers of one clause are shown; `tffs-conformance waive` writes them all.
WAIVERS_SHOWN = 5
#: So many of the slowest cases are shown.
SLOWEST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Told:
    """A finding with all that a person needs to act on it."""

    finding: Finding
    anchor: str
    clause: ClauseAccount
    waivers: list[str]
    more_waivers: int


@dataclass(frozen=True, slots=True)
class FollowedReading:
    """A reading of a disputed clause that the plugin follows; `facts` are missing of one that the clause lacks."""

    clause: str
    name: str
    times: int
    facts: ReadingFacts | None


@dataclass(frozen=True, slots=True)
class TimeBar:
    """What takes time: seconds, and their share of the largest in percent."""

    name: str
    seconds: float
    share: float
    cases: int = 1


def render(findings: Findings) -> str:
    """The text of the page."""
    report = findings.report
    seen = list(_seen(report))
    return page(
        "report.html",
        script="report.js",
        report=report,
        command=command_line(report.suite.command),
        again=lambda case: command_line([*report.suite.command, f"--case={case}"]),
        waive=lambda clause: command_line(
            ["tffs-conformance", "waive", "report.json", f"--clause={clause}", "--owner=WHO", "--reason=WHY"]
        ),
        findings=list(_told(report, findings.violations)),
        warnings=list(_anchored(findings.warnings)),
        unsettled=list(_unsettled(report)),
        harmful=[one for one in seen if one.facts and one.facts.harmful],
        accepted=[one for one in seen if not (one.facts and one.facts.harmful)],
        answered={who: [op for op, by in report.target.tables.items() if by == who] for who in ("default", "absent")},
        groups=_groups(report.clauses),
        ops=sorted({clause.op for clause in report.clauses.values() if clause.op}),
        spans=spans,
        cost_table=cost_table,
        words=words,
        remedies=REMEDIES,
        kinds=OF_CHECK,
        meaning=OF_TARGET.__getitem__,
        tried=OF_TIER[report.suite.tier],
        checks_made=checks_made,
        slowest=_slowest(report.cases),
        modules=_modules(report.cases),
        data=page_data(report),
    )


def _anchored(found: Iterable[Finding]) -> Iterator[tuple[str, Finding]]:
    """Findings, each with a place of its own on the page: several may be of one clause."""
    places = Counter[str]()
    for finding in found:
        places[finding.clause] += 1
        count = places[finding.clause]
        yield address(finding.clause) + (f"-{count}" if count > 1 else ""), finding


def _told(report: Report, found: Iterable[Finding]) -> Iterator[Told]:
    waivers = entries(breaches(report, Verdict.VIOLATION), report, {"reason": "WHY", "owner": "WHO"})
    for anchor, finding in _anchored(found):
        mine = [entry for entry in waivers if entry["clause"] == finding.clause]
        yield Told(
            finding,
            anchor,
            report.clauses[finding.clause],
            [written(entry).strip() for entry in mine[:WAIVERS_SHOWN]],
            max(0, len(mine) - WAIVERS_SHOWN),
        )


def _unsettled(report: Report) -> Iterator[tuple[Verdict, list[tuple[str, list[str]]]]]:
    """Of each verdict that says nothing of the plugin: the reasons, the most frequent first, and the cases of each."""
    for verdict in (Verdict.ERROR, Verdict.NOT_RUN, Verdict.ABSENT):
        cases: dict[str, list[str]] = {}
        for case in report.cases:
            if words.has(case, verdict):
                cases.setdefault(words.why(case), []).append(case.id)
        if cases:
            yield verdict, sorted(cases.items(), key=lambda one: -len(one[1]))


def _seen(report: Report) -> Iterator[FollowedReading]:
    for name, clause in report.clauses.items():
        facts = {reading.name: reading for reading in clause.readings or ()}
        for reading, times in (clause.readings_seen or {}).items():
            yield FollowedReading(name, reading, times, facts.get(reading))


def _groups(clauses: Mapping[str, ClauseAccount]) -> dict[str, dict[str, ClauseAccount]]:
    """The clauses by class."""
    groups: dict[str, dict[str, ClauseAccount]] = {}
    for name, clause in clauses.items():
        groups.setdefault(clause.conformance_class, {})[name] = clause
    return groups


def _slowest(cases: Iterable[CaseRecord]) -> list[TimeBar]:
    first = sorted(cases, key=lambda case: (-case.duration, case.id))[:SLOWEST_SHOWN]
    most = max((case.duration for case in first), default=0) or 1
    return [TimeBar(case.id, case.duration, 100 * case.duration / most) for case in first]


def _modules(cases: Iterable[CaseRecord]) -> list[TimeBar]:
    """What the cases of each theme take together: what stands before the slash of their ids."""
    durations: dict[str, list[float]] = {}
    for case in cases:
        durations.setdefault(case.id.partition("/")[0], []).append(case.duration)
    most = max(map(sum, durations.values()), default=0) or 1
    costs = [TimeBar(name, sum(spent), 100 * sum(spent) / most, len(spent)) for name, spent in durations.items()]
    return sorted(costs, key=lambda cost: (-cost.seconds, cost.name))
