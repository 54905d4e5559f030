"""`tffs-conformance published add`: a report is put among those that are published."""

import contextlib
from pathlib import Path

import click

from ...harness.native import NativePartsMissingError, native_directory
from ...harness.targets import runtimes
from ...harness.targets.shipped import shipped
from ...reports.anonymous import anonymous
from ...reports.escape import printable
from ...reports.model.report import Report
from ...reports.publish import NotPublishableError, publish
from ...suite.judge.findings import conclude
from ..report.reading import load

#: Where a clone keeps them.
PUBLISHED = Path("reports", "published")


@click.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="REPORT.JSON")
@click.option("--as", "name", metavar="NAME", help="The folder of the plugin (default: the plugin's name).")
@click.option(
    "--version",
    metavar="VERSION",
    help="The release of the plugin. A plugin that ships with the suite has the suite's.",
)
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default=PUBLISHED,
    metavar="DIR",
    help=f"The folder of the published reports (default: {PUBLISHED}); it is made where there is none.",
)
def add(path: Path, name: str | None, version: str | None, into: Path) -> None:
    """Put a report among those that are published: DIR/NAME/VERSION/report.json.gz.

    The report must be whole, unaltered, without errors, and of the tier 'full' or 'large'. Paths of this folder, of the
    suite and of people's homes are cut off in what is published. Where there is no reproduce.md, a draft is written:
    the command, and the findings, causes first. Finish it by hand: say how each finding was confirmed.
    """
    report = load(path)
    folders = [Path.cwd(), runtimes.cache()]
    # From a bare clone reports can be published, too.
    with contextlib.suppress(NativePartsMissingError):
        folders.append(native_directory().parent)
    try:
        own = conclude(anonymous(report, folders))
        for written in publish(own, into, name or report.target.name, version or _version(report)):
            click.echo(f"written: {written}")
    except (NotPublishableError, OSError) as error:
        raise click.ClickException(str(error)) from None


def _version(report: Report) -> str:
    name = report.target.name
    if name in shipped() and f"--plugin={name}" in report.suite.command:
        return report.suite.version
    raise click.UsageError(f"--version is missing: which release of {printable(name)} is it?")
