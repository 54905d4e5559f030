"""The plugins that have a name: those that ship, by the `plugin.toml` beside each, and those that others declare."""

import functools
import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct

from ... import __path__ as package
from ... import typed_toml
from ..native import native_directory
from . import profile
from .profile import ProfileError

#: The entry points by which a distribution declares plugins: each names a callable without arguments that returns the
#: path of a shared object, or of a profile that names one.
ENTRY_POINTS = "tffs_conformance.plugins"


@dataclass(frozen=True, slots=True)
class ShippedPlugin:
    """One plugin that `--plugin` takes by its name.

    `backing` is the fsspec URL of another way to its files, where `{path}` stands for the path of the root. `services`
    is the compose file with what the plugin needs beside itself. `debian_packages` hold the libraries without which it
    is not built.
    """

    name: str
    backing: str | None = None
    services: Path | None = None
    debian_packages: tuple[str, ...] = ()

    @property
    def shared_object(self) -> Path:
        """The shared object. It is not there where the plugin was not built. Raises NativePartsMissingError."""
        relative = Path(self.name)
        return native_directory() / "plugins" / relative.parent / f"lib{relative.name}.so"

    @property
    def advice(self) -> str:
        """Why this plugin is not there, and how a person gets it."""
        if not self.debian_packages:
            return "only the suite's own tests need it; in a clone: python -m tests.fakes"
        packages = " ".join(self.debian_packages)
        return f"libraries are missing; on Debian: apt-get install {packages}, then pip install tffs-conformance again"


@functools.cache
def shipped() -> Mapping[str, ShippedPlugin]:
    """All of them by name, whether they were built or not: `posix`, `fakes/null`, …"""
    files = (file for entry in package for file in sorted(Path(entry).glob("reference_plugins/*/plugin.toml")))
    return {
        name: ShippedPlugin(
            name, one.backing, file.parent / one.services if one.services else None, one.debian_packages
        )
        for file in files
        for name, one in typed_toml.read(file, dict[str, _PluginToml]).items()
    }


class _PluginToml(Struct, forbid_unknown_fields=True):
    backing: str | None = None
    services: str | None = None
    debian_packages: tuple[str, ...] = ()


def compose_files() -> dict[str, Path]:
    """The compose files of the plugins that need services, by the names of the plugins."""
    return {name: plugin.services for name, plugin in shipped().items() if plugin.services}


def named() -> dict[str, str]:
    """The names of plugins that are here, and where each comes from. Raises NativePartsMissingError."""
    built = sorted(name for name, plugin in shipped().items() if plugin.shared_object.is_file())
    others = importlib.metadata.entry_points(group=ENTRY_POINTS)
    sources = {one.name: f"{one.dist and one.dist.name}, {one.value}" for one in others}
    return sources | dict.fromkeys(built, "ships with tffs-conformance")


@functools.cache
def declared(name: str) -> Path | None:
    """What another distribution declares under this name: a shared object or a profile. Raises ProfileError."""
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS, name=name) if name not in shipped() else ():
        try:
            return Path(entry.load()()).absolute()
        except Exception as error:  # it is code of others
            raise ProfileError(f"{entry.value} cannot be called: {error!r}") from error
    return None


def plugin_path(name_or_path: str) -> Path:
    """The shared object a user means by `--plugin`: the name of a plugin that ships or is declared, or a path.

    A name wins over a file of the same name; `./posix` is the file. The result need not exist. A path has no `..` in
    it, and keeps the last name, which may be that of a link. Raises ProfileError.
    """
    given = name_or_path
    if found := declared(given):
        given = (profile.read(str(found)).plugin if found.suffix == ".toml" else None) or str(found)
    plugin = shipped().get(given)
    path = Path(given)
    return plugin.shared_object if plugin else path.parent.resolve() / path.name
