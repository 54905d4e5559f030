"""`tffs-conformance published site`: one site of the published reports, the clauses and the guides."""

from pathlib import Path

import click

from ... import __version__
from ...reports.errors import ReportError
from ...suite.contract.catalogue import CONTRACT_VERSION
from ...suite.judge.findings import conclude
from .add import PUBLISHED


@click.command()
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT")
@click.option(
    "--published",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=PUBLISHED,
    metavar="DIR",
    help=f"The folder of the published reports (default: {PUBLISHED}); of a clone that it is in, the guides are shown.",
)
@click.option(
    "--source",
    metavar="URL",
    help="Where the folder of the published reports is on the web: links to other files of its repository lead there.",
)
@click.option("--url", metavar="URL", help="Where the site will be on the web: the lines that show badges say so.")
def site(out: Path, published: Path, source: str | None, url: str | None) -> None:
    """Make a static site: what may be kept on which plugin, a page for each of them, every clause, and the guides.

    DIR has PLUGIN/VERSION/report.json.gz, as 'tffs-conformance published add' puts them, with notes in reproduce.md
    beside. The pages need no network and no server: open OUT/index.html, or put the folder on any web server. The
    packages that make them are an extra: pip install 'tffs-conformance[site]'.

    OUT is made where it is missing. A site that is there is replaced; a folder with anything else in it is refused.
    """
    # Slow to import, and an extra.
    try:
        from ...reports.site import folder  # noqa: PLC0415
        from ...reports.site.making import made  # noqa: PLC0415
        from ...reports.site.pages import Site  # noqa: PLC0415
        from ...reports.site.releases import NoSiteError, read  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"a site needs {error.name}, which is not installed: pip install 'tffs-conformance[site]'"
        ) from None
    addresses = _address("--source", source), _address("--url", url)
    try:
        made_of = Site(read(published, conclude), *addresses)
        files, complaints = made(made_of, published, __version__, CONTRACT_VERSION)
        folder.claim(out)
        count = folder.write(out, files)
    except (NoSiteError, ReportError, OSError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(complaints, err=True, nl=False)
    click.echo(f"written: {out / 'index.html'} and {count - 1} more files")


def _address(option: str, given: str | None) -> str | None:
    """A URL that ends in a slash."""
    if given is None:
        return None
    if not given.startswith(("https://", "http://")):
        raise click.UsageError(f"{option}: the URL of a web page is expected, such as https://…")
    return f"{given.rstrip('/')}/"
