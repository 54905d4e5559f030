"""A report that a command was given, read; what is wrong with it is told in one sentence."""

from pathlib import Path

import click

from ...reports import document
from ...reports.errors import ReportError
from ...reports.escape import printable
from ...reports.model.report import Report
from ...run.report_folders import SELECTION, holds_whole_run
from ...suite.judge.reports import recover


class UnreadableError(click.ClickException):
    """A report that cannot be read, told by its exit code from what is found in one that can."""

    exit_code = 2


def load(path: Path) -> Report:
    """The report that is in this file. Raises ClickException."""
    try:
        return document.load(path)
    except (ReportError, OSError) as error:
        raise click.ClickException(str(error)) from None


def load_or_recover(path: Path) -> Report:
    """The same. From the journal of a run that was killed, its report is written first, if it can be.

    Raises ClickException.
    """
    if path.suffix != ".jsonl":
        return load(path)
    try:
        recovered = recover(path)
    except (ReportError, OSError) as error:
        raise click.ClickException(str(error)) from None
    try:
        click.echo(f"written: {document.write(recovered, path.parent)}", err=True)
    except OSError as error:
        # It is shown all the same, for its journal may be there because the disk is full.
        click.echo(f"note: the report cannot be written: {printable(error.strerror or str(error))}", err=True)
    return recovered


def read(path: Path) -> Report:
    """The same, and nothing is written. Raises UnreadableError."""
    try:
        return recover(path) if path.suffix == ".jsonl" else document.load(path)
    except (ReportError, OSError) as error:
        raise UnreadableError(str(error)) from None


def tell_selection(path: Path, report: Report) -> Report:
    """The report. Where a user left something out of its run, it is said so, and where that of the whole run is."""
    if report.suite.selection:
        # Only a selection that left a whole run's report alone is in a folder of this name.
        folder = path.absolute().parent
        kept = path.parent.parent if folder.name == SELECTION and holds_whole_run(folder.parent) else None
        whole = f"; the report of the whole run is in {kept}" if kept is not None else ""
        said = f"{path} is of a selection: {' '.join(report.suite.selection)}{whole}"
        click.echo(f"note: {printable(said)}", err=True)
    return report
