"""`tffs-conformance published site`: pages of all published reports."""

from pathlib import Path

import click

from ...reports.errors import ReportError
from ...reports.site import folder
from ...reports.site.pages import pages
from ...reports.site.releases import NoSiteError, read
from .add import PUBLISHED


@click.command()
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT")
@click.option(
    "--published",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=PUBLISHED,
    metavar="DIR",
    help=f"The folder of the published reports (default: {PUBLISHED}).",
)
@click.option(
    "--source",
    metavar="URL",
    help="Where the folder of the published reports is on the web: what its notes say of other files leads there.",
)
def site(out: Path, published: Path, source: str | None) -> None:
    """Make a static site of the published reports: plugins by class and by clause, and a page for each of both.

    DIR has PLUGIN/VERSION/report.json, as 'tffs-conformance published add' puts them, with notes in reproduce.md
    beside. The pages need no network, no script and no server: open OUT/index.html, or put the folder on any web
    server.

    OUT is made where it is missing. A site that is there is replaced; a folder with anything else in it is refused.
    """
    if source is not None and not source.startswith(("https://", "http://")):
        raise click.UsageError("--source: the URL of a web page is expected, such as https://…")
    try:
        plugins = read(published)
        folder.claim(out)
        count = folder.write(out, pages(plugins, source))
    except (NoSiteError, ReportError, OSError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"written: {out / 'index.html'} and {count - 1} more files")
