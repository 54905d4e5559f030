"""`tffs-conformance waive`: a file of waivers gets what a report found, or follows it."""

import datetime
import getpass
from collections.abc import Mapping
from pathlib import Path

import click

from ..reports import document
from ..reports.errors import ReportError
from ..reports.escape import printable
from ..reports.model.report import Report
from ..reports.model.waivers import Waiver, WaiverError
from ..reports.patterns import fits, nearest
from ..reports.waivers import read
from ..run.waivers import fitting
from .report.reading import tell_selection
from .waiver_file import update
from .waiver_file import waive as add_waivers

#: A waiver that nobody gave an end is looked at again after so many days, where --sync wrote it.
DAYS = 90


@click.command()
@click.argument("report", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="REPORT.JSON")
@click.option("--sync", is_flag=True, help="Let the file follow the report: entries that are not needed go, too.")
@click.option("--owner", help="The person or team that answers for them (with --sync, default: you).")
@click.option("--reason", help="Why they are accepted (with --sync, default: as it was today).")
@click.option("--clause", "clauses", metavar="PATTERN", help="Only of these clauses, e.g. 'read.*'; not with --sync.")
@click.option(
    "--expires",
    type=click.DateTime(["%Y-%m-%d"]),
    help=f"The last day on which they are accepted (with --sync, default: in {DAYS} days).",
)
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
    sync: bool,
    owner: str | None,
    reason: str | None,
    clauses: str | None,
    expires: datetime.datetime | None,
    issue: str | None,
    path: Path,
) -> None:
    """Accept the violations of a report: write an entry for each into a file of waivers, which is otherwise kept.

    With --sync the file follows the report. Entries that are still needed stay as they are, with their comments;
    expired ones get a new date, changed ones the new fingerprint; what is no longer needed or known goes; violations
    without an entry get one.
    """
    for option, value in (("--owner", owner), ("--reason", reason)):
        if value is None and not sync:
            raise click.UsageError(f"Missing option '{option}'.")
    for option, value in (("--owner", owner), ("--reason", reason), ("--issue", issue)):
        if value is not None and not value.strip():
            raise click.UsageError(f"{option} says nothing")
    if sync and clauses is not None:
        raise click.UsageError("--clause is not for --sync, which makes the file follow the whole report")
    today = datetime.date.today()
    if sync:
        reason = reason or f"accepted as it was on {today} by waive --sync"
        owner = owner or getpass.getuser()
    until = expires.date() if expires else today + datetime.timedelta(days=DAYS) if sync else None
    why = {"reason": reason, "owner": owner, "issue": issue, "expires": until}
    try:
        loaded = tell_selection(report, document.load(report))
        waivers = read(path, today) if path.exists() else []
        if sync:
            _follow(path, waivers, loaded, why)
        else:
            _accept(path, waivers, loaded, clauses or "*", why)
    except (ReportError, WaiverError, OSError) as error:
        raise click.ClickException(str(error)) from None


def _accept(path: Path, waivers: list[Waiver], report: Report, clauses: str, why: Mapping[str, object]) -> None:
    """Write entries for what the file does not accept already."""
    if not any(fits(clauses, name) for name in report.clauses):
        raise click.UsageError(f"no clause fits {printable(clauses)!r}{nearest(clauses, report.clauses)}")
    added = add_waivers(path, waivers, report, clauses, why)
    if not added:
        raise click.ClickException(f"the report has no violation of {clauses} that {path} does not accept already")
    for entry in added:
        click.echo(f"added    {printable(entry)}")
    click.echo(f"written: {path}; pytest … --waivers={path}", err=True)


def _follow(path: Path, waivers: list[Waiver], report: Report, why: Mapping[str, object]) -> None:
    """Rewrite the file for the violations of the report."""
    changes = update(path, fitting(waivers), report, why)
    for kind, entries in (("added", changes.added), ("updated", changes.updated), ("dropped", changes.dropped)):
        for entry in entries:
            click.echo(f"{kind:<8} {printable(entry)}")
    if not (changes.added or changes.updated or changes.dropped):
        click.echo("nothing to change")
