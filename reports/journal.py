"""The journal: what a run knew, line by line, so that a killed run still gives a report.

One JSON object a line: the header, then a case as each ends, then a footer. A report is always made from the journal,
after a run that ended well as after one that did not.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from .document import REPORT_NAME, Document, Roll, build, write
from .errors import EmptyReport, NotAReport, TruncatedReport
from .header import Header
from .records import CaseRecord
from .services import Figures

FORMAT = "tffs-conformance/journal/1"

#: The file name of a journal in the directory of a run.
JOURNAL_NAME = "journal.jsonl"

#: What a report from a journal without a footer says it left out.
KILLED = "the run was killed"

#: A secret shorter than this is not looked for: it would be found in half of all words.
_SHORTEST_SECRET = 4


class Journal:
    """A journal being written. Every line is one write, so a killed run loses at most the line it was writing."""

    def __init__(self, path: Path, clauses: Iterable[str], secrets: Mapping[str, str]) -> None:
        self.path = path
        self._file = path.open("wb", buffering=0)
        self._roll = Roll(clauses, path)
        self._secrets = {
            value: f"<{name}>"
            for name, value in sorted(secrets.items(), key=lambda item: -len(item[1]))
            if len(value) >= _SHORTEST_SECRET
        }

    @classmethod
    def open(cls, directory: Path, header: Header, secrets: Mapping[str, str] | None = None) -> Self:
        """Begin a journal in `directory`, which is made; a report of an earlier run in it is removed.

        `secrets` (name to value) are replaced by `<name>` wherever a text holds them. Raises OSError.
        """
        directory.mkdir(parents=True, exist_ok=True)
        (directory / REPORT_NAME).unlink(missing_ok=True)
        journal = cls(directory / JOURNAL_NAME, (clause.id for clause in header.clauses), secrets or {})
        journal._line({"journal": FORMAT, "header": header.to_json()})
        return journal

    def case(self, record: CaseRecord) -> None:
        """Write down a case that ended.

        Raises DuplicateCase and UnknownClause, both defects of the suite, before anything is written.
        """
        self._roll.enter(record)
        self._line({"case": record.to_json()})

    def close(self, *, duration: float, left_out: str | None, services: Figures | None = None) -> Document:
        """Write the footer and report.json beside the journal; the report. `duration` is in seconds.

        `left_out` says what kept the run from being whole, or is None; `services` what was measured of them. Raises
        OSError.
        """
        footer = {"cases": len(self._roll), "duration": round(duration, 3), "left_out": left_out}
        self._line({"footer": footer | {"services": services.to_json() if services else None}})
        self._file.close()
        document = recover(self.path)
        write(document, self.path.parent)
        return document

    def _line(self, value: Mapping[str, Any]) -> None:
        line = memoryview(json.dumps(self._without_secrets(value), allow_nan=False).encode("ascii") + b"\n")
        while line:
            line = line[self._file.write(line) :]

    def _without_secrets(self, value: Any) -> Any:
        if not self._secrets:
            return value
        if isinstance(value, str):
            for secret, name in self._secrets.items():
                value = value.replace(secret, name)
            return value
        if isinstance(value, Mapping):
            return {key: self._without_secrets(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._without_secrets(item) for item in value]
        return value


def recover(path: Path) -> Document:
    """The report of a journal. One without a footer, its last line torn perhaps, gives a report marked incomplete.

    Raises EmptyReport, NotAReport, TruncatedReport (nothing can be known: the header is torn, or lines are missing
    before the footer), DuplicateCase, or OSError.
    """
    lines = list(_objects(path))
    match lines[0]:
        case {"journal": str(form), "header": dict(header)} if form == FORMAT:
            pass
        case {"journal": other}:
            raise NotAReport(path, f"the journal follows {other!r}, this version reads {FORMAT!r}")
        case _:
            raise NotAReport(path, "this is not a journal: its first line is no header")
    footer: Mapping[str, Any] = {"duration": None, "left_out": KILLED}
    rest = lines[1:]
    try:
        if rest and "footer" in rest[-1]:
            footer = rest.pop()["footer"]
            if footer["cases"] != len(rest):
                raise TruncatedReport(path, f"the footer counts {footer['cases']} cases, the journal has {len(rest)}")
        cases = [CaseRecord.from_json(line["case"]) for line in rest]
        return build(
            header,
            cases,
            duration=footer["duration"],
            left_out=footer["left_out"],
            services=footer.get("services"),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise NotAReport(path, f"a line of the journal does not say what it should: {error!r}") from error


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a journal, at least one; a torn last line is dropped."""
    lines = path.read_bytes().split(b"\n")
    if lines == [b""]:
        raise EmptyReport(path, "the file is empty")
    for number, line in enumerate(lines, start=1):
        if not line and number == len(lines):
            return
        try:
            value = json.loads(line)
        except ValueError:
            if number < len(lines):
                raise NotAReport(path, f"line {number} of the journal is not JSON") from None
            if number == 1:
                raise TruncatedReport(path, "the header of the journal is torn: nothing is known of the run") from None
            return
        if not isinstance(value, dict):
            raise NotAReport(path, f"line {number} of the journal is no object")
        yield value
