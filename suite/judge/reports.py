"""From the cases of a run to its report: they are counted, and the counts judged."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import asdict, replace

from ...reports.document import write
from ...reports.journal import Ended, Footer, Journal, read
from ...reports.model import claims
from ...reports.model.costs import Costs
from ...reports.model.counts import Counts
from ...reports.model.header import ClauseFacts, Header
from ...reports.model.records import CaseRecord
from ...reports.model.report import SCHEMA, ClassAccount, ClauseAccount, End, Report
from ...reports.model.services import Figures
from ...reports.model.tally import Tally
from ...reports.model.verdicts import JUDGED, Verdict
from ...reports.plain import digest_of_all, fields_of
from . import waivers
from .met import histories
from .targets import KEPT, judge_class, judge_target

#: Clauses that say what an op leaves behind. No class is conformant in which nothing can look at that.
EFFECTS = frozenset(
    {
        "append.writes-exactly-n",
        "copy_file.keeps-the-content",
        "create_dir.creates-an-empty-directory",
        "delete_file.deletes",
        "rename_file.keeps-the-content",
    }
)


class UnwrittenError(Exception):
    """There is a report, and no room for it, or another `error` of the system that kept it from being written."""

    def __init__(self, report: Report, error: OSError) -> None:
        super().__init__(str(error))
        self.report = report
        self.error = error


def build(
    header: Header,
    cases: Iterable[CaseRecord],
    *,
    duration: float | None,
    left_out: str | None,
    services: Figures | None = None,
    costs: Costs | None = None,
) -> Report:
    """The report of a run: its header and its cases, in any order: a report sorts them by id.

    `duration` is in seconds, None where nobody knows; `left_out` says why something was left out, None for a whole
    run; `services` is what was measured of them, `costs` what the plugin costs. Raises
    DuplicateCaseError, and UnknownClauseError where a case names a clause that the header lacks.
    """
    ordered = tuple(sorted(cases, key=lambda case: case.id))
    tally = Tally(header.clauses)
    for case in ordered:
        tally.add(case)
    for clause in _unseen(tally, header):
        tally.not_run[tally.facts[clause].conformance_class][clause] = None
    classes = _classes(tally, header.target.tables, left_out)
    judgement = judge_target(
        tally.counts,
        cases=len(ordered),
        executed_must=tally.executed_must,
        selected_must=tally.selected_must,
        left_out=left_out,
        not_run=[clause for those in tally.not_run.values() for clause in those],
        untried=tally.untried,
    )
    return Report(
        schema=SCHEMA,
        contract=header.contract,
        suite=replace(header.suite, duration=duration),
        target=header.target,
        verdict=judgement.verdict,
        reason=judgement.reason,
        left_out=left_out,
        counts=Counts.of(tally.counts),
        executed=tally.executed,
        classes=classes,
        clauses={name: _clause(tally, name) for name in header.clauses},
        claims=claims.accounts(header.claims, ordered),
        waivers=waivers.accounts(header.waivers, ordered),
        services=services,
        costs=costs,
        histories=histories(ordered),
        cases=ordered,
        end=End(cases=len(ordered), sha256=digest_of_all(ordered)),
    )


def recover(path: Path) -> Report:
    """The report of a journal, whether its run ended or not. Raises what `journal.read` raises."""
    ended = read(path)
    return _report(ended, ended.footer)


def _report(ended: Ended, footer: Footer) -> Report:
    ran = asdict(footer)
    ran.pop("cases")
    return build(ended.header, ended.cases, **ran)


def finish(
    journal: Journal,
    *,
    duration: float,
    left_out: str | None,
    services: Figures | None = None,
    costs: Costs | None = None,
) -> Report:
    """Close a journal and write report.json beside it; the report. Raises UnwrittenError."""
    try:
        journal.close(duration=duration, left_out=left_out, services=services, costs=costs)
    except OSError as error:
        raise UnwrittenError(_report(read(journal.path), journal.footer), error) from error
    report = recover(journal.path)
    try:
        write(report, journal.path.parent)
    except OSError as error:
        raise UnwrittenError(report, error) from error
    return report


def _unseen(tally: Tally, header: Header) -> Iterator[str]:
    """The clauses of EFFECTS of which every case lacks an op to look with, while their own op passed."""
    if any(header.target.tables.get(op) == "plugin" for op in ("path_exists", "stat", "get_children")):
        looked_at = {"create_dir.creates-an-empty-directory", "delete_file.deletes"}
    else:
        looked_at = set()
    given_up = looked_at | {clause for claim in header.claims if claim.supported is False for clause in claim.clauses}
    for clause in EFFECTS & tally.clauses.keys() - given_up:
        facts, counts = tally.facts[clause], tally.clauses[clause]
        passed = any(tally.clauses.get(f"{facts.op}.succeeds", {}).get(verdict) for verdict in KEPT)
        looked = any(counts[verdict] for verdict in JUDGED)
        if passed and counts[Verdict.ABSENT] and not looked and header.target.tables.get(facts.op or "") == "plugin":
            yield clause


def _classes(tally: Tally, tables: Mapping[str, str], left_out: str | None) -> dict[str, ClassAccount]:
    """Each class with its verdict, in the order of the catalogue."""
    accounts, untried = {}, tally.untried
    for name, counts in tally.classes.items():
        ops = {facts.op for facts in tally.facts.values() if facts.conformance_class == name and facts.op}
        # The plugin was loaded, and has none of the ops that the class is about.
        lacking = bool(ops) and all(tables.get(op) == "absent" for op in ops)
        open_ones = {name: untried[name]} if untried.get(name) else {}
        judgement = judge_class(
            counts, left_out=left_out, not_run=tally.not_run[name], untried=open_ones, lacking=lacking
        )
        accounts[name] = ClassAccount(verdict=judgement.verdict, reason=judgement.reason, counts=Counts.of(counts))
    return accounts


def _clause(tally: Tally, name: str) -> ClauseAccount:
    return ClauseAccount(
        **fields_of(ClauseFacts, tally.facts[name]),
        verdict=tally.verdict(name),
        counts=Counts.of(tally.clauses[name]),
        readings_seen=tally.readings(name),
    )
