"""`tffs-conformance doctor`: what a machine has of the things the suite uses."""

import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

import click
import pytest

from .. import __version__
from ..harness.hosting.loader import BlockedError, Loader
from ..harness.launchers.local import Local
from ..harness.native import NativePartsMissingError, native_directory
from ..harness.ops.outcomes import DiedError
from ..harness.targets.shipped import ShippedPlugin, plugin_path, shipped
from ..suite.contract.catalogue import Level, catalogue


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing: whether it is there, and what follows."""

    name: str
    found: bool
    required: bool
    detail: str


def findings() -> Iterator[Requirement]:
    """Look at everything."""
    linux = platform.system() == "Linux"
    yield Requirement("Linux", linux, True, platform.platform() if linux else "the host runs on Linux only")
    yield _host()
    for tool, use, package in (
        ("c++", "builds plugins and the suite's native parts", "g++"),
        ("gdb", "looks into a plugin by hand", "gdb"),
        ("valgrind", "finds memory errors of a plugin that was not instrumented", "valgrind"),
        ("docker", "runs the services of the dragonfly plugin", "docker.io"),
    ):
        path = shutil.which(tool)
        yield Requirement(tool, path is not None, False, path or f"{use}; on Debian: apt-get install {package}")
    for plugin in shipped().values():
        if plugin.debian_packages:
            library = _library(plugin)
            yield Requirement(plugin.name, bool(library), False, library or f"the plugin is not built, {plugin.advice}")


def _library(plugin: ShippedPlugin) -> str | None:
    try:
        return str(plugin.shared_object) if plugin.shared_object.is_file() else None
    except NativePartsMissingError:
        return None


def _host() -> Requirement:
    try:
        directory = native_directory()
        loader = Loader(Local(), plugin_path("posix"), 10)
        try:
            loader.load().host.close()
        finally:
            loader.close()
    except NativePartsMissingError as error:
        return Requirement("host", False, True, str(error))
    except (DiedError, BlockedError, OSError) as error:
        return Requirement("host", False, True, f"it does not start: {error}")
    return Requirement("host", True, True, f"{directory / 'tffs-host'} loads posix")


@click.command()
def doctor() -> None:
    """Say what this machine lacks, what it would be good for, and how to get it."""
    bad = False
    for finding in findings():
        bad = bad or (finding.required and not finding.found)
        state = (
            click.style("ok     ", fg="green")
            if finding.found
            else click.style("missing", fg="red" if finding.required else "yellow")
        )
        click.echo(f"{state} {finding.name}: {finding.detail}")
    untested = sum(1 for entry in catalogue().values() if entry.level is Level.MUST and entry.untested)
    versions = f"suite {__version__}, pytest {pytest.__version__}"
    click.echo(f"{versions}, {len(catalogue())} clauses ({untested} MUST untested)")
    raise SystemExit(1 if bad else 0)
