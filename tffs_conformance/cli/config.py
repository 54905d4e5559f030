"""`tffs-conformance config`: where a build finds the header of the interface."""

import shlex

import click

from ..harness.native import include_directory


@click.command()
@click.option("--includes", is_flag=True, help="What a compiler is told: -I and a folder.")
@click.option("--cmakedir", is_flag=True, help="The folder of the CMake package, for tffs_conformance_DIR.")
@click.option("--pkgconfigdir", is_flag=True, help="The folder of the .pc file, for PKG_CONFIG_PATH.")
def config(*, includes: bool, cmakedir: bool, pkgconfigdir: bool) -> None:
    """Say where a build finds tf_filesystem_plugin.h, the interface that plugins are compiled against."""
    if not (includes or cmakedir or pkgconfigdir):
        raise click.UsageError("say what is wanted: --includes, --cmakedir or --pkgconfigdir")
    directory = include_directory()
    if includes:
        click.echo(shlex.quote(f"-I{directory}"))
    if cmakedir:
        click.echo(directory / "cmake")
    if pkgconfigdir:
        click.echo(directory / "pkgconfig")
