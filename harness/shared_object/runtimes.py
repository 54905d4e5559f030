"""Runtimes: the libraries that give a plugin its `TF_*` symbols. The stand-in of this package, or TensorFlow's own.

TensorFlow is named by the folder that holds its libraries, by `tensorflow` for the one that is installed beside this
package, or as pip names a release (`tensorflow-cpu==2.16.*`): that is fetched once and kept.
"""

import importlib.util
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from ..native import RUNTIME_NAME, STAND_IN
from . import wheels
from .wheels import NoWheelError

#: The library with TensorFlow's C++ symbols, for plugins that import such.
CXX_NAME = "libtensorflow_cc.so.2"
#: The packages of an index that are a TensorFlow.
PACKAGES = ("tensorflow", "tensorflow-cpu")
#: How a folder of an installed release is called.
_INSTALLED = re.compile(r"tensorflow(?:_(?:cpu|gpu|intel|rocm))?-([^-]+)\.dist-info")


class NoRuntimeError(Exception):
    """There is no such runtime; the text is one sentence."""


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
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tffs-conformance" / "runtimes"


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
    """Fetch a wheel with pip, and keep what is needed of it."""
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache(), prefix=".fetching-") as folder:
        print(f"fetching {wanted} with pip, for good, into {cache()} …", file=sys.stderr, flush=True)
        try:
            wheel = wheels.download(str(wanted), Path(folder))
        except NoWheelError as error:
            raise NoRuntimeError(str(error)) from error
        release = wheels.version(wheel)
        place = _place(wanted.name, release)
        unpacked = Path(folder, "unpacked")
        wheels.unpack(wheel, [f"tensorflow/{one}" for one in (RUNTIME_NAME, CXX_NAME)], unpacked)
        if not (unpacked / "tensorflow" / RUNTIME_NAME).is_file():
            raise NoRuntimeError(f"{wheel.name} has no {RUNTIME_NAME}")
        # What tells its version, as beside an installed one.
        (unpacked / f"tensorflow-{release}.dist-info").touch()
        # Somebody else may have been faster.
        if not place.parent.exists():
            unpacked.rename(place.parent)
    return place
