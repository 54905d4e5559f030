"""Reports for the forms: one in which there is something of everything, the same with hostile texts, and large ones."""

import datetime

from msgspec.structs import replace

from tests.hostile_report import HOSTILE, spoiled
from tests.records import COSTS, GOOD, HEADER, case, clause, record, report_of, waiver
from tffs_conformance.reports.model.claims import StatedClaim
from tffs_conformance.reports.model.header import ReadingFacts, digest
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord, Ending
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.services import Figure, Figures
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.reports.plain import plain, typed
from tffs_conformance.suite.judge.reports import build


def full() -> Report:
    """A report with checks of every verdict and something in every part."""
    lost = ReadingFacts("lost", "it is lost", "it loses data", harmful=True)
    late = clause("MUST", "write", "sync", disputed="A2", readings=(lost,), tensorflow="It waits.")
    clauses = {**HEADER.clauses, "sync.late": late}
    appends = StatedClaim(name="append", value=True, text="It appends.", supported=True, clauses=("read.succeeds",))
    header = replace(
        HEADER,
        suite=replace(HEADER.suite, catalogue=digest(plain(clauses))),
        clauses=clauses,
        claims=(appends,),
        waivers=(waiver(clause="init.once", issue="https://x.invalid", expires=datetime.date(2030, 1, 1)),),
    )
    services = Figures(("image:1",), 20, (Figure("from a peer", 10),), None)
    return build(header, _cases(), duration=1, left_out=None, services=services, costs=COSTS)


def _cases() -> tuple[CaseRecord, ...]:
    broken = CheckRecord("read.succeeds", Verdict.VIOLATION, "code=OK", "code=UNKNOWN", plugin_said="sorry")
    also = CheckRecord("read.hint", Verdict.WARNING, "a hint", "none", times=3)
    noted = CheckRecord("sync.late", Verdict.INFORMATIONAL, "this", "that", holds=False)
    known = CheckRecord("init.once", Verdict.WAIVED, "code=X", "code=OK")
    found = (
        "shrunk to 1 ops (7 tried): read(); trace t/traces/read-c.json; program t/traces/read-c.cc; pytest --plugin=x"
    )
    calls = ("open() -> OK 1", "read(1) -> UNKNOWN")
    return (
        *GOOD,
        record("read/b", Verdict.VIOLATION, broken, also, ops=calls, stimulus="It is read.", tier="smoke",
               cut="read-b.calls.txt", output="said\n"),
        record("read/c", Verdict.VIOLATION, broken, clauses=("read.hint",), reason=found, cause="append"),
        record("stat/a", Verdict.TOLERATED, CheckRecord("stat.odd", Verdict.TOLERATED, "this", "that", reading="host")),
        record("sync/a", Verdict.WARNING, CheckRecord("sync.late", Verdict.WARNING, "kept", "lost", reading="lost")),
        record("init/b", Verdict.WAIVED, known),
        record("write/a", Verdict.INFORMATIONAL, noted),
        record("write/b", Verdict.NOT_RUN, known, clauses=("init.once", "sync.durable"), ended=Ending.DIED),
        record("x/absent", Verdict.ABSENT, clauses=("stat.odd",), reason="there is no stat"),
        record("x/not-run", Verdict.NOT_RUN, clauses=("sync.durable",), reason="blocked by sync"),
        record("x/error", Verdict.ERROR, clauses=("read.hint",), reason="the suite failed"),
    )  # fmt: skip


def hostile(report: Report) -> Report:
    """The same report, in which every text that may be a plugin's, every name included, goes on with harm."""
    return typed(spoiled(report, lambda text: text and text + HOSTILE), Report)


def large(cases: int) -> Report:
    """A report with so many cases, of which one in fifty finds something."""
    return report_of(*map(_numbered, range(cases)))


def _numbered(number: int) -> CaseRecord:
    is_good = bool(number % 50)
    checks = (("read.succeeds", "conform" if is_good else "violation"), ("read.hint", "conform"))
    ops = () if is_good else ("read(1, 0, 4) -> OK",) * 10
    way = f"It is read, the way {number % 300}."
    return case(f"read/a[{number}]", *checks, ("stat.odd", "tolerated"), stimulus=way, ops=ops)
