"""`tffs-conformance config`: where a build finds the header of the interface, and the host for other machines."""

import shlex
import shutil
from pathlib import Path

import click
import msgspec

from ..harness.native import include_directory, native_directory, portable_host
from ..harness.targets.profile import ProfileFile
from ..reports.waivers import WaiverFile

#: The files that a user writes, as they are read.
SCHEMAS = {"profile": ProfileFile, "waivers": WaiverFile}


@click.command()
@click.option("--includes", is_flag=True, help="Print the compiler's option: -I and a folder.")
@click.option("--tensorflow-paths", is_flag=True, help="With --includes: -I for tensorflow/c/tf_status.h, too.")
@click.option("--cmakedir", is_flag=True, help="The folder of the CMake package, for tffs_conformance_DIR.")
@click.option("--pkgconfigdir", is_flag=True, help="The folder of the .pc file, for PKG_CONFIG_PATH.")
@click.option(
    "--host",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Put the host there that '--host-command' runs elsewhere, in a container or on another machine; its path.",
)
@click.option("--schema", type=click.Choice(list(SCHEMAS)), help="The JSON schema of this TOML file, for editors.")
def config(
    *, includes: bool, tensorflow_paths: bool, cmakedir: bool, pkgconfigdir: bool, host: Path | None, schema: str | None
) -> None:
    """Say where a build finds tf_filesystem_plugin.h, the interface that plugins are compiled against.

    With --host, hand out the host as one file. It needs glibc 2.28 or later where it runs, and neither Python nor a C++
    library.
    """
    if schema:
        click.echo(msgspec.json.format(msgspec.json.encode(msgspec.json.schema(SCHEMAS[schema]))))
        return
    if not (includes or cmakedir or pkgconfigdir or host):
        raise click.UsageError("no option is given: --includes, --cmakedir, --pkgconfigdir, --host or --schema")
    if includes:
        folders = [include_directory(), *[include_directory() / "tensorflow_paths"] * tensorflow_paths]
        click.echo(shlex.join(f"-I{folder}" for folder in folders))
    if cmakedir:
        click.echo(native_directory() / "cmake")
    if pkgconfigdir:
        click.echo(native_directory() / "pkgconfig")
    if host:
        click.echo(handed_out(host))


def handed_out(folder: Path) -> Path:
    """The host for other machines, copied to this folder. Raises NativePartsMissingError and ClickException."""
    program = portable_host()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy2(program, folder))
    except OSError as error:
        raise click.ClickException(str(error)) from None
