"""Runtimes: the libraries that give a plugin its `TF_*` symbols. The stand-in of this package, or TensorFlow's own.

TensorFlow is named by the folder that holds its libraries, by `tensorflow` for the one that is installed beside this
package, or as pip names a release (`tensorflow-cpu==2.16.*`): that is fetched once and kept.
"""

import importlib.util
import os
import platform
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from ... import files
from ..native import RUNTIME_NAME, STAND_IN

#: The library with TensorFlow's C++ symbols, for plugins that import such.
CXX_NAME = "libtensorflow_cc.so.2"
#: The packages of an index that are a TensorFlow.
PACKAGES = ("tensorflow", "tensorflow-cpu")
#: How a folder of an installed release is called.
_INSTALLED = re.compile(r"tensorflow(?:_(?:cpu|gpu|intel|rocm))?-([^-]+)\.dist-info")


#: Pythons whose wheels are taken if there is none for this one, the newest first.
PYTHONS = ("3.10", "3.9", "3.8", "3.7")
#: What the names of wheels for Linux say of the glibc that they need.
GLIBCS = ("manylinux_2_17", "manylinux2014", "manylinux_2_12", "manylinux2010")


class NoRuntimeError(Exception):
    """There is no such runtime; the text is one sentence."""


class NoWheelError(NoRuntimeError):
    """There is no wheel of it."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime. `libraries` are paths where the hosts run, the one of the C functions first; none for the stand-in.

    `more` are those that only some plugins need. `version` is empty where nobody knows it.
    """

    name: str = STAND_IN
    version: str = ""
    libraries: tuple[str, ...] = ()
    more: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip()

    @property
    def whole(self) -> "Runtime":
        """The same with all its libraries."""
        return Runtime(self.name, self.version, self.libraries + self.more)


def find(given: str, *, here: bool = True) -> Runtime:
    """The runtime that a user means; a folder of another machine where not `here`. Raises NoRuntimeError."""
    if given == STAND_IN:
        return Runtime()
    if not here:
        return Runtime("TensorFlow", "", (f"{given}/{RUNTIME_NAME}",))
    if given == "tensorflow":
        return installed(_beside())
    if Path(given).is_dir() or given.startswith((os.sep, ".", "~")):
        return installed(_folder(Path(given).expanduser()))
    return installed(_released(given))


def installed(folder: Path) -> Runtime:
    """The TensorFlow whose libraries are in this folder."""
    more = tuple(str(path) for path in (folder / CXX_NAME,) if path.is_file())
    return Runtime("TensorFlow", _version(folder), (str(folder / RUNTIME_NAME),), more)


def _version(folder: Path) -> str:
    """What the folder is a release of: it stands beside the folder, or in its name."""
    for path in sorted(folder.parent.iterdir()):
        if found := _INSTALLED.fullmatch(path.name):
            return found[1]
    return ""


def _beside() -> Path:
    spec = importlib.util.find_spec("tensorflow")
    for place in (spec and spec.submodule_search_locations) or ():
        if (Path(place) / RUNTIME_NAME).is_file():
            return Path(place)
    raise NoRuntimeError(f"no TensorFlow is installed for {sys.executable}; 'tensorflow-cpu==2.21.*' would fetch one")


def _folder(given: Path) -> Path:
    """The folder of TensorFlow's libraries: the one that was given, or the one in that environment of Python."""
    inside = ("", "tensorflow", "lib/python3*/site-packages/tensorflow", "lib")
    for pattern in inside:
        for folder in sorted(given.glob(pattern)) if pattern else [given]:
            if (folder / RUNTIME_NAME).is_file():
                return folder.resolve()
    raise NoRuntimeError(f"no {RUNTIME_NAME} is in {given}, nor where an environment of Python has it")


# Releases -------------------------------------------------------------------------------------------------------------


def cache() -> Path:
    """Where releases are kept that were fetched."""
    return files.cache() / "runtimes"


def _released(given: str) -> Path:
    """The libraries of a release as pip names it, from the cache where it has one that fits."""
    try:
        wanted = Requirement(given)
    except InvalidRequirement:
        wanted = None
    if wanted is None or wanted.name not in PACKAGES or wanted.url or wanted.marker or wanted.extras:
        raise NoRuntimeError(
            f"{given!r} is no runtime, which is {STAND_IN}, tensorflow, a folder, or a release such as"
            " tensorflow-cpu==2.21.*"
        )
    fitting = [release for release in kept(wanted.name) if release in wanted.specifier]
    if fitting:
        return _place(wanted.name, max(fitting))
    return _fetched(wanted)


def kept(package: str) -> list[Version]:
    """The releases of a package that are in the cache, the oldest first."""
    found = cache().glob(f"{package}-[0-9]*/tensorflow/{RUNTIME_NAME}")
    return sorted(Version(path.parents[1].name.removeprefix(f"{package}-")) for path in found)


def _place(package: str, release: Version) -> Path:
    return cache() / f"{package}-{release}" / "tensorflow"


def _fetched(wanted: Requirement) -> Path:
    """Fetch a wheel with pip, and put what is needed of it into the cache."""
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache(), prefix=".fetching-") as folder:
        print(f"fetching {wanted} with pip, for good, into {cache()} …", file=sys.stderr, flush=True)
        unpacked, needed = Path(folder, "unpacked", "tensorflow"), Path(folder, "needed", "tensorflow")
        unpack_wheel(str(wanted), unpacked.parent)
        if not (unpacked / RUNTIME_NAME).is_file():
            raise NoRuntimeError(f"the wheel of {wanted} has no {RUNTIME_NAME}")
        release = _version(unpacked)
        needed.mkdir(parents=True)
        for library in (RUNTIME_NAME, CXX_NAME):
            if (unpacked / library).is_file():
                (unpacked / library).rename(needed / library)
        # The file that has the version in its name, as beside an installed one.
        (needed.parent / f"tensorflow-{release}.dist-info").touch()
        place = _place(wanted.name, Version(release))
        # Another process may have been faster.
        if not place.parent.exists():
            needed.parent.rename(place.parent)
    return place


def unpack_wheel(requirement: str, folder: Path) -> None:
    """Let pip unpack the wheel that it chooses into a folder. Raises NoWheelError.

    What is wanted of it are shared objects that need no Python. So if a release has no wheel for this Python, that for
    an older one will do.
    """
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--only-binary=:all:", "--no-compile"]
    failures = []
    for python in ("", *PYTHONS):
        older = [f"--python-version={python}", *(f"--platform={one}_{platform.machine()}" for one in GLIBCS)]
        options = [f"--target={folder}", *(older if python else [])]
        done = subprocess.run([*command, *options, requirement], stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode == 0:
            return
        failures.append((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    # If none helps, the one for this Python is what the reader asked for.
    raise NoWheelError(f"pip does not fetch {requirement}: {failures[0]}")
