"""The journal: what a run knew, line by line, so that a killed run still gives a report.

One JSON object a line: the header, then a case as each ends, then a footer. A report is always made from the journal,
after a run that ended well as after one that did not.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, Self

from msgspec import Struct
from msgspec.structs import replace

from ..files import draft
from .errors import DuplicateCaseError, EmptyReportError, NotAReportError, TruncatedReportError
from .escape import printable
from .model.costs import Costs
from .model.header import Header
from .model.records import CaseRecord
from .model.redaction import Redaction
from .model.repeats import united
from .model.report import REPORT_NAME
from .model.services import Figures
from .model.tally import Roll
from .plain import dumps, parse, plain, typed

Format = Literal["tffs-conformance/journal/2"]
FORMAT: Format = "tffs-conformance/journal/2"

#: The file name of a journal in the directory of a run.
JOURNAL_NAME = "journal.jsonl"

#: Where nobody has anything to hide.
NOTHING_SECRET = Redaction({})

#: What a report from a journal without a footer says it left out.
KILLED = "the run was killed"


class HeaderLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first line."""

    journal: Format = FORMAT
    header: Header


class CaseLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A line for each case that ended, in the order in which they ended.

    One that ran `again` takes the place of the line that it has further up.
    """

    case: CaseRecord
    again: bool = False


class Footer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a run ended that was not killed: `cases` counts the lines of cases, `duration` is in seconds."""

    cases: int
    duration: float | None
    left_out: str | None
    services: Figures | None
    costs: Costs | None = None


class FooterLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The last line."""

    footer: Footer


class Journal:
    """A journal being written. Every line is one write, so a killed run loses at most the line it was writing."""

    #: What it ends with, once it was closed, whether or not there was room for that.
    footer: Footer

    def __init__(self, path: Path, drafted: Path, clauses: Iterable[str], redaction: Redaction) -> None:
        self.path = path
        self._file = drafted.open("wb", buffering=0)
        self._roll = Roll(clauses, path)
        self._records: dict[str, CaseRecord] = {}
        self._redaction = redaction

    @classmethod
    def open(cls, directory: Path, header: Header, redaction: Redaction = NOTHING_SECRET) -> Self:
        """Begin a journal in `directory`, which is made; a report of an earlier run in it is removed.

        No text of a case or of services has a secret of `redaction`. Raises OSError; what is there is untouched then.
        """
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / JOURNAL_NAME
        with draft(path) as drafted:
            journal = cls(path, drafted, header.clauses, redaction)
            journal._line(HeaderLine(header=header))
            (directory / REPORT_NAME).unlink(missing_ok=True)
        return journal

    def case(self, record: CaseRecord) -> None:
        """Write down a case that ended.

        Raises DuplicateCaseError and UndeclaredClauseError, both defects of the suite, before anything is written, and
        OSError.
        """
        self._roll.enter(record)
        self._keep(CaseLine(case=self._redaction.record(record)))

    def case_again(self, record: CaseRecord) -> None:
        """Write down a case that ended, and that may have ended before: what counts is the worst that was seen.

        Whatever was wrong in any stays. Raises UndeclaredClauseError and OSError.
        """
        before = self._records.get(record.id)
        if before is None:
            self.case(record)
            return
        self._roll.known(record)
        now = united(before, self._redaction.record(record))
        if now is not before:
            self._keep(CaseLine(case=now, again=True))

    def close(
        self, *, duration: float, left_out: str | None, services: Figures | None = None, costs: Costs | None = None
    ) -> None:
        """Write the footer. `duration` is in seconds.

        `left_out` says what kept the run from being whole, or is None; `services` what was measured of them,
        `costs` what the plugin costs. Raises OSError.
        """
        if services is not None:
            services = replace(services, failure=self._redaction.optional(services.failure))
        costs = costs and costs.without_secrets(self._redaction)
        self.footer = Footer(
            cases=len(self._records), duration=round(duration, 3), left_out=left_out, services=services, costs=costs
        )
        with self._file:
            self._line(FooterLine(footer=self.footer))

    def _keep(self, line: CaseLine) -> None:
        self._line(line)
        self._records[line.case.id] = line.case

    def _line(self, record: Struct) -> None:
        line = memoryview(dumps(plain(record)).encode("ascii") + b"\n")
        before = self._file.tell()
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError:
            # What may be written later does not stand behind a torn line.
            self._file.seek(before)
            self._file.truncate()
            raise


class Ended(Struct, frozen=True):
    """What a journal says: the header, the cases that ended, and how the run did."""

    header: Header
    cases: tuple[CaseRecord, ...]
    footer: Footer


def read(path: Path) -> Ended:
    """What a journal says. One without a footer, its last line torn perhaps, is of a run that was killed.

    Raises EmptyReportError, NotAReportError, TruncatedReportError (nothing can be known: the header is torn, or lines
    are missing before the footer), DuplicateCaseError, UndeclaredClauseError, or OSError.
    """
    objects = _objects(path)
    first = next(objects)
    if "journal" not in first:
        raise NotAReportError(path, "this is not a journal: its first line is no header")
    if first["journal"] != FORMAT:
        raise NotAReportError(path, f"the journal follows {first['journal']!r}, this version reads {FORMAT!r}")
    cases: dict[str, CaseRecord] = {}
    footer = None
    try:
        header = typed(first, HeaderLine).header
        for one in objects:
            if footer is not None:
                raise NotAReportError(path, "the journal goes on after its footer")
            if "footer" in one:
                footer = typed(one, FooterLine).footer
                continue
            line = typed(one, CaseLine)
            if line.case.id in cases and not line.again:
                raise DuplicateCaseError(path, f"the case {line.case.id!r} stands in it twice")
            cases[line.case.id] = line.case
    except ValueError as error:
        raise NotAReportError(
            path, f"a line of the journal does not say what it should: {printable(str(error))}"
        ) from error
    if footer is None:
        footer = Footer(cases=len(cases), duration=None, left_out=KILLED, services=None)
    if footer.cases != len(cases):
        raise TruncatedReportError(path, f"the footer counts {footer.cases} cases, the journal has {len(cases)}")
    return Ended(header, tuple(cases.values()), footer)


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a journal, at least one; a torn last line is dropped."""
    with path.open("rb") as file:
        if not file.peek(1):
            raise EmptyReportError(path, "the file is empty")
        for number, line in enumerate(file, start=1):
            try:
                value = parse(line.decode("utf-8", errors="replace"))
            except ValueError:
                if line.endswith(b"\n"):
                    raise NotAReportError(path, f"line {number} of the journal is not JSON") from None
                if number == 1:
                    raise TruncatedReportError(
                        path, "the header of the journal is torn: nothing is known of the run"
                    ) from None
                return
            if not isinstance(value, dict):
                raise NotAReportError(path, f"line {number} of the journal is no object")
            yield value
