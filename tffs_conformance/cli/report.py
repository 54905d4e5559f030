"""`tffs-conformance report`: a report that was written before, on the terminal."""

from pathlib import Path

import click

from ..reports import document, terminal
from ..reports.errors import ReportError
from ..reports.journal import recover
from ..reports.report import Report


@click.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-v", "verbosity", count=True, help="All findings, and the calls of the first; twice: the calls of all.")
def report(path: Path, verbosity: int) -> None:
    """Show a report again. From the journal of a run that was killed, write its report first, marked incomplete."""
    if path.suffix == ".jsonl":
        try:
            loaded = recover(path)
            click.echo(f"written: {document.write(loaded, path.parent)}", err=True)
        except (ReportError, OSError) as error:
            raise click.ClickException(str(error)) from None
    else:
        loaded = load(path)
    for text, markup in terminal.summary(loaded, width=100, directory=path.parent, verbosity=verbosity):
        colour = next((name for name in ("red", "green", "yellow") if markup.get(name)), None)
        click.secho(text, bold=markup.get("bold"), fg=colour)


def load(path: Path) -> Report:
    """A report that is in this file. What is wrong with it is told in one sentence."""
    try:
        return document.load(path)
    except (ReportError, OSError) as error:
        raise click.ClickException(str(error)) from None
