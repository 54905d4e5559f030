"""What can be wrong with a report, each as a type of its own; the text is one sentence for a person."""

from pathlib import Path


class ReportError(Exception):
    """Something about a report or journal that keeps it from being used."""

    def __init__(self, path: Path | None, sentence: str) -> None:
        super().__init__(f"{path}: {sentence}" if path else sentence)


class EmptyReportError(ReportError):
    """The file holds nothing."""


class NotAReportError(ReportError):
    """The file is something else."""


class TruncatedReportError(ReportError):
    """The file began as a report and lacks its end."""


class WrongSchemaError(ReportError):
    """The file is a report, but not as its schema says."""


class AlteredReportError(ReportError):
    """The report does not agree with its end marker or with itself: its cases, counts, verdicts or clauses changed."""


class DuplicateCaseError(ReportError):
    """One case stands twice in one report."""


class UndeclaredClauseError(ReportError):
    """A case names a clause that the header lacks."""


class PartsDisagreeError(ReportError):
    """Reports that are to be merged are not of one run: of another suite, another target, or other options."""
