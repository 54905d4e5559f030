"""`tffs-conformance doctor`: what a machine has of the things the suite uses."""

import ctypes.util
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

import click
import pytest

from .. import __version__
from ..harness.hosting.loader import BlockedError, Loader
from ..harness.launchers.local import Local
from ..harness.native import NativePartsMissingError, native_directory
from ..harness.ops.outcomes import DiedError
from ..harness.power.mounted import DEVICE, lacking
from ..harness.targets.shipped import ShippedPlugin, plugin_path, shipped
from ..reports.escape import printable
from ..reports.patterns import nearest
from ..suite.contract.catalogue import catalogue


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing: whether it is there, and what follows."""

    name: str
    found: bool
    required: bool
    detail: str


def findings(plugin: ShippedPlugin | None = None) -> Iterator[Requirement]:
    """Look at what every run needs, and at what one with a plugin of the suite needs beside that."""
    linux = platform.system() == "Linux"
    yield Requirement("Linux", linux, True, platform.platform() if linux else "the host runs on Linux only")
    yield _host()
    for tool, use, package in (
        ("c++", "builds plugins and the suite's native parts", "g++"),
        ("gdb", "looks into a plugin by hand", "gdb"),
        ("bwrap", "keeps a plugin from what is not its own: --sandbox", "bubblewrap"),
        ("strace", "fails the system calls of a plugin, or kills it there: --conditions=syscalls,kill", "strace"),
        ("valgrind", "finds what a plugin does to memory: --sanitizer=memcheck", "valgrind"),
    ):
        yield _tool(tool, use, package)
    power = lacking()
    yield Requirement("FUSE", power is None, False, f"--conditions=power: {power}" if power else DEVICE)
    for sanitizer, runtime in (("address", "asan"), ("thread", "tsan")):
        found = ctypes.util.find_library(runtime)
        lacks = f"--sanitizer={sanitizer} is for plugins that name it; on Debian: apt-get install g++"
        yield Requirement(f"lib{runtime}", found is not None, False, found or lacks)
    reader = find_spec("yaml")
    advice = "it reads the compose file of --services: pip install 'tffs-conformance[services]'"
    yield Requirement("PyYAML", reader is not None, False, str(reader.origin) if reader else advice)
    if plugin is not None and plugin.services:
        yield _tool("docker", f"runs the services of {plugin.name}", "docker.io")
    if plugin is not None:
        library = _library(plugin)
        yield Requirement(plugin.name, bool(library), True, library or f"the plugin is not built, {plugin.advice}")


def _tool(name: str, use: str, package: str) -> Requirement:
    path = shutil.which(name)
    return Requirement(name, path is not None, False, path or f"it {use}; on Debian: apt-get install {package}")


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
@click.argument("plugin", required=False, metavar="[NAME]")
def doctor(plugin: str | None) -> None:
    """Say what this machine lacks, what it would be good for, and how to get it.

    With the NAME of a plugin that ships with the suite, such as dragonfly, also what that one needs. What is 'missing'
    has to be there, and the exit code is 1; 'without' it a run does all the same.
    """
    if plugin is not None and plugin not in shipped():
        raise click.UsageError(f"{printable(plugin)} is no plugin of the suite{nearest(plugin, shipped())}")
    bad = False
    for finding in findings(shipped()[plugin] if plugin is not None else None):
        bad = bad or (finding.required and not finding.found)
        lack = ("missing", "red") if finding.required else ("without", "yellow")
        word, color = ("ok     ", "green") if finding.found else lack
        click.echo(f"{click.style(word, fg=color)} {finding.name}: {finding.detail}")
    click.echo(f"suite {__version__}, pytest {pytest.__version__}, {len(catalogue())} clauses")
    raise SystemExit(1 if bad else 0)
