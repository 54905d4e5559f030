"""What a machine has of the things the suite uses."""

import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

from tffs_conformance.harness import launch
from tffs_conformance.harness.loader import Blocked, Loader
from tffs_conformance.harness.outcomes import Died

#: Plugins that are built only where the libraries are that they need, and the Debian packages with those.
NEEDS = {"dragonfly": ("libcurl4-openssl-dev", "libssl-dev", "nlohmann-json3-dev", "libpugixml-dev")}


def to_be_had(plugin: str) -> str | None:
    """What to do for a plugin that ships with the suite and was not built here; None for any other name."""
    packages = NEEDS.get(plugin)
    return packages and f"on Debian: apt-get install {' '.join(packages)}, then pip install tffs-conformance again"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing: whether it is there, and what follows."""

    name: str
    found: bool
    required: bool
    detail: str


def findings() -> Iterator[Finding]:
    """Look at everything."""
    linux = platform.system() == "Linux"
    yield Finding("Linux", linux, True, platform.platform() if linux else "the host runs on Linux only")
    yield _host()
    for tool, use, package in (
        ("c++", "builds plugins and the suite's native parts", "g++"),
        ("gdb", "looks into a plugin by hand", "gdb"),
        ("valgrind", "finds memory errors of a plugin that was not instrumented", "valgrind"),
        ("docker", "runs the services of the dragonfly plugin", "docker.io"),
    ):
        path = shutil.which(tool)
        yield Finding(tool, path is not None, False, path or f"{use}; on Debian: apt-get install {package}")
    for plugin in NEEDS:
        file = launch.plugin_path(plugin)
        built = file.is_file()
        yield Finding(plugin, built, False, str(file) if built else f"the plugin is not built; {to_be_had(plugin)}")


def _host() -> Finding:
    try:
        directory = launch.native_directory()
        loader = Loader([str(directory / "tffs-host")], launch.plugin_path("posix"), {}, 10)
        try:
            loader.load().host.close()
        finally:
            loader.close()
    except launch.NativePartsMissing as error:
        return Finding("host", False, True, str(error))
    except (Died, Blocked, OSError) as error:
        return Finding("host", False, True, f"it does not start: {error}")
    return Finding("host", True, True, f"{directory / 'tffs-host'} loads posix")
