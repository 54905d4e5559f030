"""The report as a file: its text, written whole or not at all, and read back with what is wrong with it named."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..files import draft
from . import consistency
from .errors import AlteredReportError, EmptyReportError, NotAReportError, TruncatedReportError, WrongSchemaError
from .escape import printable
from .model.records import CaseRecord
from .model.report import PACKED_NAME, REPORT_NAME, SCHEMA, Report
from .packed import contents, packed
from .plain import Digest, digest_of, dumps, parse, plain, text, typed
from .upgrade import UNREADABLE, VERSION_3_0, renamed, upgraded

#: What is before and behind the cases in the text of a report; within a case a line does not end.
_CASES, _END = '\n"cases": [\n', "\n],\n"
_OPENING = f'{{\n"schema": "{SCHEMA.rpartition("/")[0]}/'


def render(report: Report) -> str:
    """The text of report.json: ASCII, one line a clause and a case, so that two reports can be compared by line."""
    return "".join(_pieces(report))


def _pieces(report: Report) -> Iterator[str]:
    opening = "{\n"
    # Cases are made plain one at a time: there may be very many.
    for key, value in plain(replace(report, cases=())).items():
        yield f"{opening}{dumps(key)}: "
        opening = ",\n"
        if key == "cases" and report.cases:
            for place, case in enumerate(report.cases):
                yield (",\n" if place else "[\n") + text(case)
            yield "\n]"
        elif key == "clauses" and value:
            yield "{\n" + ",\n".join(f"{dumps(name)}: {dumps(facts)}" for name, facts in value.items()) + "\n}"
        else:
            yield dumps(value)
    yield "\n}\n"


def write(report: Report, directory: Path) -> Path:
    """Write report.json into `directory`, whole or not at all; the path. Raises OSError."""
    return write_whole(directory / REPORT_NAME, _pieces(report))


def write_packed(report: Report, directory: Path) -> Path:
    """Write report.json.gz into `directory`; the path. Raises OSError."""
    path = directory / PACKED_NAME
    path.write_bytes(packed(render(report)))
    return path


def write_whole(path: Path, pieces: Iterable[str]) -> Path:
    """Write a text, piece by piece, whole or not at all; its path. Raises OSError."""
    with draft(path) as drafted, drafted.open("w", encoding="utf-8") as file:
        file.writelines(pieces)
    return path


def load(path: Path) -> Report:
    """Read and validate a report, of this version or an earlier one, packed or not.

    Raises a ReportError that says in one sentence what is wrong, or OSError.
    """
    source = contents(path).decode("utf-8", errors="replace")
    if not source.strip():
        raise EmptyReportError(path, "the file is empty")
    if found := _by_case(source):
        return _consistent(*found, path)
    try:
        document = parse(source)
    except ValueError:
        if source.startswith(_OPENING) or _OPENING.startswith(source):
            raise TruncatedReportError(path, "the report breaks off: the run that wrote it was cut short") from None
        raise NotAReportError(path, "this is not a report: it is not JSON") from None
    return validate(document, path)


def validate(document: object, path: Path | None = None) -> Report:
    """The report that plain values stand for, held to its types, its end marker and its own cases.

    `path` is for the error. Raises a ReportError.
    """
    if not isinstance(document, dict) or not isinstance(document.get("schema"), str):
        raise NotAReportError(path, "this is not a report: it names no schema")
    named = document["schema"]
    if named in UNREADABLE:
        raise WrongSchemaError(
            path, f"the report follows {named}, which tffs-conformance 1.0.0 reads and this version does not"
        )
    digest = digest_of(document.get("cases", ()))
    document = upgraded(document)
    if document["schema"] != SCHEMA:
        raise WrongSchemaError(
            path,
            f"the report follows {printable(named)}, this version reads {SCHEMA} and earlier ones from {VERSION_3_0}",
        )
    if "end" not in document:
        raise TruncatedReportError(path, "the report lacks its end marker")
    try:
        report = typed(document, Report)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at ")
        place = place.strip("`") or "$"
        raise WrongSchemaError(path, f"{printable(place)} is not as the schema says: {printable(what)}") from None
    except ValueError as error:
        raise WrongSchemaError(path, f"a name in it is not as the schema says: {printable(str(error))}") from None
    return _consistent(report, digest, path)


def _by_case(source: str) -> tuple[Report, str] | None:
    """The report of a text as `write` makes it, and the digest of its cases.

    One case at a time is made plain. None for any other text, and for one with something wrong in it: whoever reads it
    whole can say what.
    """
    begin, end = source.find(_CASES), source.find(_END)
    if not 0 < begin < end:
        return None
    begin += len(_CASES)
    cases: list[CaseRecord] = []
    digest = Digest()
    try:
        document = upgraded(parse(f"{source[:begin]}{source[end:]}"))
        if document.pop("cases") != []:
            return None
        report = typed(document | {"cases": ()}, Report)
        while begin < end:
            line = source[begin : source.index("\n", begin)]
            begin += len(line) + 1
            case = parse(line.removesuffix(","))
            digest.add(case)
            cases.append(typed(case, CaseRecord))
    except (msgspec.MsgspecError, ValueError, LookupError, TypeError):
        return None
    return replace(report, cases=tuple(cases)), digest.text()


def _consistent(report: Report, digest: str, path: Path | None) -> Report:
    """The report, if it agrees with itself, and its end marker with the digest of its cases. Raises a ReportError.

    The tiers of the cases have the names of this version.
    """
    consistency.hold(report, path)
    if report.end.sha256 != digest:
        raise AlteredReportError(path, "the cases are not those the end marker was written for")
    return renamed(report)
