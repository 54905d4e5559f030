"""`tffs-conformance report show`: the summary of a report, as at the end of its run."""

from collections.abc import Iterable
from pathlib import Path

import click

from ...reports.forms import terminal
from ...reports.forms.lines import Line
from ...run.github import no_commands
from ...suite.judge.findings import conclude
from .reading import load_or_recover, tell_selection


@click.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-v", "verbosity", count=True, help="All findings, and the calls of the first; twice: the calls of all.")
def show(path: Path, verbosity: int) -> None:
    """Show a report again, as at the end of its run.

    From the journal of a run that was killed, write its report first, marked incomplete.
    """
    report = tell_selection(path, load_or_recover(path))
    show_lines(terminal.summary(conclude(report), width=100, directory=path.parent, verbosity=verbosity))


def show_lines(lines: Iterable[Line]) -> None:
    """Write lines as pytest's terminal writer would; in a job of GitHub's none of them is a command."""
    with no_commands():
        for text, markup in lines:
            colour = next((name for name in ("red", "green", "yellow") if markup.get(name)), None)
            click.secho(text, bold=markup.get("bold"), fg=colour)
