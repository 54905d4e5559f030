"""`tffs-conformance report judge`: today's verdicts of an earlier report."""

from collections.abc import Iterator
from pathlib import Path

import click

from ...reports import document
from ...reports.escape import printable
from ...reports.forms.lines import Line, wrapped
from ...reports.model.report import Report
from ...run.comparison_text import lines
from ...suite.judge.again import again
from ...suite.judge.compare import compare
from .reading import read
from .show import show_lines

#: Columns of what is told.
WIDTH = 100


@click.command()
@click.argument("report", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--out", type=click.Path(file_okay=False, path_type=Path), help="A folder for the new report.json.")
@click.option("-v", "verbosity", count=True, help="All clauses and cases of each kind.")
def judge(report: Path, out: Path | None, verbosity: int) -> None:
    """Judge again what an earlier run saw: with the rules and the clauses of this version.

    REPORT is a report.json or a journal. Nothing is run. What changed is told, by clause and by class; with --out the
    new report is written. A report of before schema 3 says less of what its cases saw: what a case kept before it
    ended early counts as not run.

    Exit codes: 0 judged; 1 the new report cannot be written; 2 the file is no report.
    """
    then = read(report)
    now = again(then)
    show_lines(lines(then, now, compare(then, now), width=WIDTH, verbosity=verbosity))
    show_lines(_classes(then, now))
    click.echo(f"today: {now.verdict}: {printable(now.reason)}")
    if out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
            click.echo(f"written: {document.write(now, out)}")
        except OSError as error:
            raise click.ClickException(f"{out}: {error.strerror}") from error


def _classes(then: Report, now: Report) -> Iterator[Line]:
    """The classes with another verdict than then."""
    for name, account in now.classes.items():
        before = then.classes.get(name)
        if before is not None and before.verdict is not account.verdict:
            said = f"{before.verdict} → {account.verdict}: {account.reason}"
            yield from wrapped(f"class {printable(name)}: ", said, WIDTH)
