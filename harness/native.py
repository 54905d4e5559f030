"""Where the native parts are: the host, the runtime, and the folder of the plugins that ship with the package."""

import os
import sys
from pathlib import Path

from .. import __path__ as package

#: Names another directory with the native parts, for example a build with a sanitizer.
NATIVE_DIRECTORY_VARIABLE = "TFFS_NATIVE_DIR"

RUNTIME_NAME = "libtensorflow_framework.so.2"
#: The library with TensorFlow's C++ symbols, for plugins that import such.
CXX_NAME = "libtensorflow_cc.so.2"
#: What users call the runtime that this package brings.
STAND_IN = "stand-in"


class NativePartsMissingError(Exception):
    """The host was not built: the package is used from a bare clone."""


def native_directory() -> Path:
    """The folder that holds `tffs-host`, the runtime and `plugins/`. Raises NativePartsMissingError.

    In a bare clone, from which Python runs modules such as `third_party.judge`, it is that of the installed package.
    """
    chosen = os.environ.get(NATIVE_DIRECTORY_VARIABLE)
    installed = [Path(entry, "tffs_conformance") for entry in sys.path]
    candidates = [Path(chosen)] if chosen else [folder / "_native" for folder in (*map(Path, package), *installed)]
    for directory in candidates:
        if (directory / "tffs-host").is_file():
            return directory
    looked = candidates[0]
    raise NativePartsMissingError(
        f"the native parts are not built (no tffs-host in {looked}): run 'pip install .' first"
    )


def portable_host() -> Path:
    """The host as one file that other machines run. Raises NativePartsMissingError."""
    program = native_directory() / "portable" / "tffs-host"
    if not program.is_file():
        raise NativePartsMissingError(
            f"the host for other machines is not built (no {program}): it takes the package ziglang when the native"
            " parts are built"
        )
    return program


def include_directory() -> Path:
    """The folder that holds the header of the interface."""
    return Path(__file__).parent / "include"
