"""The report: the JSON document that is the only truth about a run. Built from records, written and read here."""

import functools
import hashlib
import importlib.resources
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from . import claims, waivers
from .claims import StatedClaim
from .errors import AlteredReport, DuplicateCase, EmptyReport, NotAReport, TruncatedReport, UnknownClause, WrongSchema
from .records import CaseRecord
from .verdicts import JUDGED, TargetVerdict, Verdict, judge_class, judge_target, no_counts, worst
from .waivers import Waiver

SCHEMA = "tffs-conformance/report/1"

#: The file name of a report in the directory of a run.
REPORT_NAME = "report.json"

#: The verdict of a clause that no check was made for.
UNCHECKED = "unchecked"

#: The class whose checks need no op of the plugin: keeping them alone makes nobody conformant.
REGISTRATION = "registration"

_OPENING = f'{{\n"schema": "{SCHEMA.rpartition("/")[0]}/'

Document = dict[str, Any]


def build(
    header: Mapping[str, Any],
    cases: Iterable[CaseRecord],
    *,
    duration: float | None,
    left_out: str | None,
    services: Mapping[str, Any] | None = None,
) -> Document:
    """The report of a run: its header (`Header.to_json()`) and its cases, in any order: a report sorts them by id.

    `duration` is in seconds, None where nobody knows; `left_out` says why something was left out, None for a whole
    run; `services` (`Figures.to_json()`) is what was measured of them. Raises DuplicateCase, and UnknownClause where a
    case names a clause that the header lacks.
    """
    ordered = sorted(cases, key=lambda case: case.id)
    tally = _Tally(header["clauses"], header["target"]["tables"])
    for case in ordered:
        tally.add(case)
    rendered = [case.to_json() for case in ordered]
    classes = tally.classes(left_out)
    judgement = judge_target(
        tally.counts,
        cases=len(ordered),
        executed_must=tally.executed_must,
        left_out=left_out,
        blocked=[name for name, facts in classes.items() if _is_blocked(facts)],
    )
    return {
        "schema": SCHEMA,
        "contract": header["contract"],
        "suite": header["suite"] | {"duration": duration},
        "target": header["target"],
        "verdict": judgement.verdict.value,
        "reason": judgement.reason,
        "left_out": left_out,
        "counts": _plain(tally.counts),
        "executed": {"cases": tally.executed_cases, "must": tally.executed_must},
        "classes": classes,
        "clauses": tally.clauses(),
        "claims": claims.accounts([StatedClaim.from_json(claim) for claim in header["claims"]], ordered),
        "waivers": waivers.accounts([Waiver.from_json(entry) for entry in header["waivers"]], ordered),
        "services": services,
        "cases": rendered,
        "end": {"cases": len(rendered), "sha256": _digest(rendered)},
    }


def _is_blocked(facts: Mapping[str, Any]) -> bool:
    """Whether nothing of a class could be run, and not because of ops in it that are absent."""
    counts = facts["counts"]
    return bool(facts["verdict"] == TargetVerdict.INCOMPLETE and counts[Verdict.NOT_RUN] and not counts[Verdict.ABSENT])


class Roll:
    """Which cases one report takes: each once, and only those that name clauses of its header."""

    def __init__(self, clauses: Iterable[str], path: Path | None = None) -> None:
        self._clauses = frozenset(clauses)
        self._path = path
        self._cases: set[str] = set()

    def __len__(self) -> int:
        return len(self._cases)

    def enter(self, case: CaseRecord) -> None:
        """Take a case. Raises DuplicateCase and UnknownClause, both defects of the suite."""
        if case.id in self._cases:
            raise DuplicateCase(self._path, f"the case {case.id!r} stands in it twice")
        for clause in (*case.clauses, *(check.clause for check in case.checks)):
            if clause not in self._clauses:
                raise UnknownClause(self._path, f"the case {case.id!r} names the unknown clause {clause!r}")
        self._cases.add(case.id)


class _Tally:
    """Counts of checks: in all, by class and by clause."""

    def __init__(self, clauses: Mapping[str, Any], tables: Mapping[str, str]) -> None:
        self._facts = clauses
        self._tables = tables
        self._roll = Roll(clauses)
        self._clauses = {clause: no_counts() for clause in clauses}
        self._classes = {facts["class"]: no_counts() for facts in clauses.values()}
        self._readings: dict[str, dict[str, int]] = {clause: {} for clause in clauses}
        self.counts = no_counts()
        self.executed_cases = 0
        self.executed_must = 0

    def add(self, case: CaseRecord) -> None:
        """Count one case."""
        self._roll.enter(case)
        self.executed_cases += case.executed
        for check in case.checks:
            facts = self._facts[check.clause]
            for counts in (self.counts, self._classes[facts["class"]], self._clauses[check.clause]):
                counts[check.verdict] += 1
            if check.reading is not None:
                readings = self._readings[check.clause]
                readings[check.reading] = readings.get(check.reading, 0) + 1
            if case.executed and check.verdict in JUDGED and facts["level"] == "MUST":
                self.executed_must += facts["class"] != REGISTRATION
        if all(check.verdict is not case.verdict for check in case.checks):
            # The case ended in a way none of its checks shows: it counts once, wherever it was to check something.
            self.counts[case.verdict] += 1
            for conformance_class in {self._facts[clause]["class"] for clause in case.clauses}:
                self._classes[conformance_class][case.verdict] += 1
            for clause in set(case.clauses):
                self._clauses[clause][case.verdict] += 1

    def classes(self, left_out: str | None) -> dict[str, Any]:
        """Each class with its verdict, in the order of the catalogue."""
        judged = {
            name: judge_class(counts, left_out=left_out, lacking=self._lacking(name))
            for name, counts in self._classes.items()
        }
        return {
            name: {
                "verdict": judgement.verdict.value,
                "reason": judgement.reason,
                "counts": _plain(self._classes[name]),
            }
            for name, judgement in judged.items()
        }

    def _lacking(self, name: str) -> bool:
        """Whether the plugin was loaded and has none of the ops that a class is about."""
        ops = {facts["op"] for facts in self._facts.values() if facts["class"] == name and facts["op"]}
        return bool(ops) and all(self._tables.get(op) == "absent" for op in ops)

    def clauses(self) -> dict[str, Any]:
        """Each clause with its facts, its worst verdict and, where it is disputed, the readings seen."""
        clauses = {}
        for clause, facts in self._facts.items():
            counts = self._clauses[clause]
            seen = [verdict for verdict, count in counts.items() if count]
            clauses[clause] = facts | {"verdict": worst(seen).value if seen else UNCHECKED, "counts": _plain(counts)}
            if "disputed" in facts:
                clauses[clause]["readings_seen"] = dict(sorted(self._readings[clause].items()))
        return clauses


def _plain(counts: Mapping[Verdict, int]) -> dict[str, int]:
    return {verdict.value: count for verdict, count in counts.items()}


def _digest(cases: list[dict[str, Any]]) -> str:
    """SHA-256 over the cases as compact ASCII JSON with sorted keys."""
    canonical = json.dumps(cases, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def render(document: Document) -> str:
    """The text of report.json: ASCII, one line a clause and a case, so that two reports can be compared by line."""
    return "".join(_lines(document))


def _lines(document: Document) -> Iterator[str]:
    opening = "{\n"
    for key, value in document.items():
        yield f"{opening}{json.dumps(key)}: "
        opening = ",\n"
        if key == "cases" and value:
            yield "[\n" + ",\n".join(json.dumps(case, allow_nan=False) for case in value) + "\n]"
        elif key == "clauses" and value:
            yield (
                "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in value.items()) + "\n}"
            )
        else:
            yield json.dumps(value, allow_nan=False)
    yield "\n}\n"


def write(document: Document, directory: Path) -> Path:
    """Write report.json into `directory`, whole or not at all; the path. Raises OSError."""
    path = directory / REPORT_NAME
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        draft.write_text(render(document), encoding="ascii")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def load(path: Path) -> Document:
    """Read and validate a report. Raises a ReportError that says what is wrong, or OSError."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    if not text.strip():
        raise EmptyReport(path, "the file is empty")
    try:
        document = json.loads(text)
    except ValueError:
        if text.startswith(_OPENING) or _OPENING.startswith(text):
            raise TruncatedReport(path, "the report breaks off: the run that wrote it was cut short") from None
        raise NotAReport(path, "this is not a report: it is not JSON") from None
    if not isinstance(document, dict) or not isinstance(document.get("schema"), str):
        raise NotAReport(path, "this is not a report: it names no schema")
    if document["schema"] != SCHEMA:
        raise WrongSchema(path, f"the report follows {document['schema']}, this version reads {SCHEMA}")
    if "end" not in document:
        raise TruncatedReport(path, "the report lacks its end marker")
    validate(document, path)
    return document


def validate(document: Document, path: Path | None = None) -> None:
    """Hold a document to its schema and to its end marker; `path` is for the error. Raises a ReportError."""
    import jsonschema  # noqa: PLC0415 - slow to import, and a run writes reports without reading one

    error = jsonschema.exceptions.best_match(_validator().iter_errors(document))
    if error is not None:
        raise WrongSchema(path, f"{error.json_path} is not as the schema says: {error.message}")
    ids = [case["id"] for case in document["cases"]]
    if len(set(ids)) != len(ids):
        twice = next(case for position, case in enumerate(ids) if case in ids[:position])
        raise DuplicateCase(path, f"the case {twice!r} stands in it twice")
    if document["end"]["cases"] != len(ids):
        raise TruncatedReport(
            path, f"the end marker counts {document['end']['cases']} cases, the report has {len(ids)}"
        )
    if document["end"]["sha256"] != _digest(document["cases"]):
        raise AlteredReport(path, "the cases are not those the end marker was written for")


@functools.cache
def _validator() -> Any:
    resource = importlib.resources.files("tffs_conformance.reports") / "schema" / "report-1.schema.json"
    import jsonschema  # noqa: PLC0415

    return jsonschema.Draft202012Validator(json.loads(resource.read_text(encoding="utf-8")))
