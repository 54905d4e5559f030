"""Where the native parts are: the host, the runtime, and the plugins that ship with the package."""

import os
from pathlib import Path

import tffs_conformance

#: Names another directory with the native parts, for example a build with a sanitizer.
NATIVE_DIRECTORY_VARIABLE = "TFFS_NATIVE_DIR"

RUNTIME_NAME = "libtensorflow_framework.so.2"


class NativePartsMissing(Exception):
    """The host was not built: the package is used from a bare clone."""


def native_directory() -> Path:
    """The folder that holds `tffs-host`, the runtime and `plugins/`."""
    chosen = os.environ.get(NATIVE_DIRECTORY_VARIABLE)
    candidates = [Path(chosen)] if chosen else [Path(entry) / "_native" for entry in tffs_conformance.__path__]
    for directory in candidates:
        if (directory / "tffs-host").is_file():
            return directory
    looked = ", ".join(str(directory) for directory in candidates)
    raise NativePartsMissing(f"the native parts are not built (no tffs-host in {looked}): run 'pip install .' first")


def include_directory() -> Path:
    """The folder that holds the header of the interface."""
    return Path(__file__).parent / "include"


def plugin_path(name_or_path: str) -> Path:
    """The shared object a user means by `--plugin`: the name of a plugin that ships with the package, or a path.

    A bare word is looked up among the shipped plugins first (`posix`, `fakes/null`); anything else is a path.
    The result need not exist.
    """
    given = Path(name_or_path)
    if not given.suffix and not given.is_absolute() and not name_or_path.startswith("."):
        shipped = native_directory() / "plugins" / given.parent / f"lib{given.name}.so"
        if shipped.is_file():
            return shipped
    return given.absolute()


def shipped_plugins() -> list[str]:
    """Names that `--plugin` takes besides paths."""
    directory = native_directory() / "plugins"
    return sorted(
        str(path.relative_to(directory).with_name(path.stem.removeprefix("lib"))) for path in directory.rglob("lib*.so")
    )
