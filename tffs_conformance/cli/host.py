"""`tffs-conformance host`: the host as one file, for machines that have nothing else of the suite."""

import shutil
from pathlib import Path

import click

from ..harness.native import NativePartsMissingError, portable_host


@click.command()
@click.option(
    "--export",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    required=True,
    help="Copy the host to this folder, which is made where it is missing.",
)
def host(folder: Path) -> None:
    """Hand out the host that '--host-command' runs elsewhere: in a container, on another machine.

    It needs glibc 2.28 or later there, and neither Python nor a C++ library.
    """
    try:
        program = portable_host()
    except NativePartsMissingError as error:
        raise click.ClickException(str(error)) from None
    folder.mkdir(parents=True, exist_ok=True)
    click.echo(shutil.copy2(program, folder))
