"""Records that tests of the reports are made of: a header with a clause of each kind, and cases that name them."""

from typing import Any

from msgspec.structs import replace

from tffs_conformance.reports.model.abi import AbiFacts, AbiSymbols
from tffs_conformance.reports.model.costs import Cost, Costs, Growth, Point
from tffs_conformance.reports.model.header import ClauseFacts, Header, ReadingFacts, SuiteFacts, TargetRecord, digest
from tffs_conformance.reports.model.records import REST, CaseRecord, CheckRecord, Ending, StatementKind
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.services import Figures
from tffs_conformance.reports.model.verdicts import JUDGED, Verdict, worst
from tffs_conformance.reports.model.waivers import Waiver
from tffs_conformance.reports.plain import plain
from tffs_conformance.suite.judge.reports import build


def clause(level: Any, conformance_class: str, op: str | None, **more: Any) -> ClauseFacts:
    given = {"rule": "It is so.", "source": ("interface", "host"), "check": f"The {op}.", **more}
    return ClauseFacts(level=level, conformance_class=conformance_class, op=op, **given)


CLAUSES = {
    "read.succeeds": clause("MUST", "read", "read"),
    "read.hint": clause("SHOULD", "read", "read"),
    "init.once": clause("MUST", "registration", "init"),
    "stat.odd": clause(
        "MUST",
        "paths",
        "stat",
        disputed="A1",
        readings=(ReadingFacts("header", "this", ""), ReadingFacts("host", "that", "it copes")),
    ),
    "sync.durable": clause("MUST", "write", "sync", untested="needs a power cut"),
}
HEADER = Header(
    contract="test/1",
    suite=SuiteFacts(
        version="0", commit="unknown", catalogue=digest(plain(CLAUSES)), tier="full", seed=7, selection=(),
        options={"call_timeout": 10.0}, python="3.11", platform="linux", started="2026-01-01T00:00:00+00:00",
        duration=None, command=("pytest", "--plugin=mine.so"),
    ),
    target=TargetRecord(
        plugin="/tmp/mine.so",
        name="mine.so",
        sha256="0" * 64,
        size=10,
        scheme="mine",
        root="mine:///tmp/x",
        runtime="stand-in",
        profile=None,
        environment=("A", "B"),
        tables={"read": "plugin", "copy_file": "default", "stat": "absent"},
        abi=AbiFacts(
            releases=("2.1", "2.2", "2.3"),
            loads=("2.2", "2.3"),
            missing=(AbiSymbols(library="", symbols=("TF_New",), count=1, releases=("2.1",)),),
            unknown=(),
            untold=0,
            glibc="2.28",
        ),
        limits={"max_path": 1024},
    ),
    clauses=CLAUSES,
)  # fmt: skip


COSTS = Costs(
    storage="a disk", reference="posix", unmeasured=("copy_file: the plugin has no copy_file",),
    figures=(
        Cost(op="stat", what="each call", points=(Point(at=1, calls=3, median=2, p95=3, reference=1),)),
        Cost(op="get_children", what="get_children", grows="entries of the directory",
             points=tuple(Point(at=n, calls=9, median=n * n, p95=n * n + 1, reference=n) for n in (16, 64, 256)),
             growth=Growth(exponent=2, low=1.9, high=2.1, reference=1)),
        Cost(op="read", what="read", grows="bytes of the file",
             points=(Point(at=4096, calls=9, median=2, p95=3, reference=1, rate=2048e6, reference_rate=4096e6),)),
    ),
)  # fmt: skip


#: How a case ended that did not come to its clauses, by the verdict that it is given.
ENDED = {Verdict.NOT_RUN: Ending.UNABLE, Verdict.ABSENT: Ending.LACKING, Verdict.ERROR: Ending.BROKEN}


def record(name: str, verdict: Verdict, *checks: CheckRecord, **more: Any) -> CaseRecord:
    """A case with these checks, and one for each other clause that it declares; `more` are its other fields.

    It ended as the verdict says, and has the worst of its checks.
    """
    given: dict[str, Any] = {"reason": None, "stimulus": "", "ops": (), "executed": True, "duration": 0.5, "output": ""}
    declared = tuple(check.clause for check in checks)
    fields = given | {"ended": ENDED.get(verdict, Ending.WHOLE), "clauses": declared} | more
    made = {check.clause for check in checks}
    rest = REST[fields["ended"]]
    every = (*checks, *(CheckRecord(clause, rest) for clause in fields["clauses"] if clause not in made))
    found = worst(one.verdict for one in every) if every else verdict
    return CaseRecord(**fields, id=name, verdict=found, checks=every)


def case(name: str, *checks: tuple[str, str], **more: Any) -> CaseRecord:
    """A case with these checks, as (clause, verdict); without a `verdict` it has that of the first."""
    texts = {verdict: ("code=OK", "code=OK") if verdict in JUDGED else () for verdict in Verdict}
    records = [CheckRecord(clause, Verdict(verdict), *texts[Verdict(verdict)]) for clause, verdict in checks]
    return record(name, more.pop("verdict", None) or Verdict(checks[0][1]), *records, **more)


#: A breach that a plugin explains, and that is of an op with a code.
NO_LUCK = CheckRecord(
    "read.succeeds", Verdict.VIOLATION, "code=OK", "code=UNKNOWN", plugin_said="no luck",
    op="read", kind=StatementKind.CODE, code="UNKNOWN",
)  # fmt: skip
GOOD = (case("read/a", ("read.succeeds", "conform")), case("init/a", ("init.once", "conform"), executed=False))


def broken(name: str, got: str = "code=UNKNOWN", about: str = "read.succeeds", **more: Any) -> CaseRecord:
    """A case with one violation."""
    return record(name, Verdict.VIOLATION, CheckRecord(about, Verdict.VIOLATION, "code=OK", got), **more)


def waiver(**given: Any) -> Waiver:
    """An entry of a file of waivers: that of what `case` says of a clause, but for what is given."""
    fields: dict[str, Any] = {"clause": "read.succeeds", "case": "*", "fingerprint": "code=OK", "reason": "known",
                              "owner": "team", "issue": None, "expires": None, "cases": 1}  # fmt: skip
    return Waiver(**(fields | given))


def report_of(
    *cases: CaseRecord,
    left_out: str | None = None,
    duration: float | None = 1,
    services: Figures | None = None,
    costs: Costs | None = None,
    **header: Any,
) -> Report:
    """The report of a run that ended so; `header` are fields of its header."""
    about = replace(HEADER, **header)
    return build(about, cases, duration=duration, left_out=left_out, services=services, costs=costs)
