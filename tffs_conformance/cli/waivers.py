"""`tffs-conformance waive` and `update-waivers`: a file of waivers gets what a report found, or follows it."""

import datetime
import getpass
from pathlib import Path

import click

from ..reports import document
from ..reports.errors import ReportError
from ..reports.escape import printable
from ..reports.model.waivers import WaiverError
from ..reports.patterns import fits
from ..reports.waivers import read
from ..run.waivers import fitting
from .names import nearest
from .report.reading import tell_selection
from .waiver_file import update
from .waiver_file import waive as add_waivers

#: A waiver that nobody gave an end is looked at again after so many days.
DAYS = 90


@click.command()
@click.argument("report", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="REPORT.JSON")
@click.option("--owner", required=True, help="Who answers for them.")
@click.option("--reason", required=True, help="Why they are accepted.")
@click.option("--clause", "clauses", default="*", metavar="PATTERN", help="Only of these clauses, e.g. 'read.*'.")
@click.option("--expires", type=click.DateTime(["%Y-%m-%d"]), help="The last day on which they are accepted.")
@click.option("--issue", metavar="URL", help="Where they are discussed.")
@click.option(
    "-o",
    "--output",
    "path",
    default="waivers.toml",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file that gets the entries (default: waivers.toml); it is made where there is none.",
)
def waive(
    report: Path,
    owner: str,
    reason: str,
    clauses: str,
    expires: datetime.datetime | None,
    issue: str | None,
    path: Path,
) -> None:
    """Accept the violations of a report: write an entry for each into a file of waivers, which is otherwise kept."""
    for option, value in (("--owner", owner), ("--reason", reason), ("--issue", issue)):
        if value is not None and not value.strip():
            raise click.UsageError(f"{option} says nothing")
    try:
        loaded = tell_selection(report, document.load(report))
        if not any(fits(clauses, name) for name in loaded.clauses):
            raise click.UsageError(f"no clause fits {printable(clauses)!r}{nearest(clauses, loaded.clauses)}")
        added = add_waivers(
            path,
            read(path, datetime.date.today()) if path.exists() else [],
            loaded,
            clauses=clauses,
            reason=reason,
            owner=owner,
            issue=issue,
            expires=expires.date() if expires else None,
        )
    except (ReportError, WaiverError, OSError) as error:
        raise click.ClickException(str(error)) from None
    if not added:
        raise click.ClickException(f"the report has no violation of {clauses} that {path} does not accept already")
    for entry in added:
        click.echo(f"added    {printable(entry)}")
    click.echo(f"written: {path}; pytest … --waivers={path}", err=True)


@click.command("update-waivers")
@click.argument("report", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="REPORT.JSON")
@click.option(
    "--waivers",
    "path",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file to rewrite; it is made where there is none.",
)
@click.option("--owner", help="Who answers for new entries (default: you).")
@click.option("--reason", help="Why new entries are accepted.")
@click.option("--issue", help="Where new entries are discussed.")
@click.option(
    "--expires",
    type=click.DateTime(["%Y-%m-%d"]),
    help=f"The last day of new and renewed entries (default: in {DAYS} days).",
)
def update_waivers(
    report: Path,
    path: Path,
    owner: str | None,
    reason: str | None,
    issue: str | None,
    expires: datetime.datetime | None,
) -> None:
    """Rewrite a file of waivers for the violations of a report.

    Entries that are still needed stay as they are, with their comments; expired ones get a new date, changed ones the
    new fingerprint; what is no longer needed or known goes; violations without an entry get one.
    """
    today = datetime.date.today()
    try:
        loaded = tell_selection(report, document.load(report))
        changes = update(
            path,
            fitting(read(path, today)) if path.exists() else [],
            loaded,
            reason=reason or f"accepted as it was on {today} by update-waivers",
            owner=owner or getpass.getuser(),
            issue=issue,
            expires=expires.date() if expires else today + datetime.timedelta(days=DAYS),
        )
    except (ReportError, WaiverError, OSError) as error:
        raise click.ClickException(str(error)) from None
    for kind, entries in (("added", changes.added), ("updated", changes.updated), ("dropped", changes.dropped)):
        for entry in entries:
            click.echo(f"{kind:<8} {printable(entry)}")
    if not (changes.added or changes.updated or changes.dropped):
        click.echo("nothing to change")
