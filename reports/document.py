"""The report as a file: its text, written whole or not at all, and read back with what is wrong with it named."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from . import consistency
from .errors import AlteredReport, EmptyReport, NotAReport, TruncatedReport, WrongSchema
from .escape import printable
from .plain import digest_of, dumps, parse, plain, typed
from .report import REPORT_NAME, SCHEMA, Report
from .upgrade import upgraded

_OPENING = f'{{\n"schema": "{SCHEMA.rpartition("/")[0]}/'


def render(report: Report) -> str:
    """The text of report.json: ASCII, one line a clause and a case, so that two reports can be compared by line."""
    return "".join(_lines(plain(report)))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    opening = "{\n"
    for key, value in document.items():
        yield f"{opening}{dumps(key)}: "
        opening = ",\n"
        if key == "cases" and value:
            yield "[\n" + ",\n".join(dumps(case) for case in value) + "\n]"
        elif key == "clauses" and value:
            yield "{\n" + ",\n".join(f"{dumps(name)}: {dumps(facts)}" for name, facts in value.items()) + "\n}"
        else:
            yield dumps(value)
    yield "\n}\n"


def write(report: Report, directory: Path) -> Path:
    """Write report.json into `directory`, whole or not at all; the path. Raises OSError."""
    path = directory / REPORT_NAME
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        draft.write_text(render(report), encoding="ascii")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def load(path: Path) -> Report:
    """Read and validate a report, of this version or an earlier one.

    Raises a ReportError that says in one sentence what is wrong, or OSError.
    """
    source = path.read_bytes().decode("utf-8", errors="replace")
    if not source.strip():
        raise EmptyReport(path, "the file is empty")
    try:
        document = parse(source)
    except ValueError:
        if source.startswith(_OPENING) or _OPENING.startswith(source):
            raise TruncatedReport(path, "the report breaks off: the run that wrote it was cut short") from None
        raise NotAReport(path, "this is not a report: it is not JSON") from None
    return validate(document, path)


def validate(document: object, path: Path | None = None) -> Report:
    """The report that plain values stand for, held to its types, its end marker and its own cases.

    `path` is for the error. Raises a ReportError.
    """
    if not isinstance(document, dict) or not isinstance(document.get("schema"), str):
        raise NotAReport(path, "this is not a report: it names no schema")
    named = document["schema"]
    document = upgraded(document)
    if document["schema"] != SCHEMA:
        raise WrongSchema(path, f"the report follows {printable(named)}, this version reads {SCHEMA} and earlier ones")
    if "end" not in document:
        raise TruncatedReport(path, "the report lacks its end marker")
    try:
        report = typed(document, Report)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at ")
        place = place.strip("`") or "$"
        raise WrongSchema(path, f"{printable(place)} is not as the schema says: {printable(what)}") from None
    except ValueError as error:
        raise WrongSchema(path, f"a name in it is not as the schema says: {printable(str(error))}") from None
    consistency.hold(report, path)
    if report.end.sha256 != digest_of(document["cases"]):
        raise AlteredReport(path, "the cases are not those the end marker was written for")
    return report
