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
from ..native import CXX_NAME, RUNTIME_NAME, STAND_IN

#: The packages of an index that are a TensorFlow.
PACKAGES = ("tensorflow", "tensorflow-cpu")
#: How a folder of an installed release is called.
_INSTALLED = re.compile(r"tensorflow(?:_(?:cpu|gpu|intel|rocm))?-([^-]+)\.dist-info")
#: Pythons whose wheels are taken if there is none for this one, the newest first, and the platform of these wheels.
PYTHONS = ("3.10", "3.9", "3.8", "3.7")
PLATFORM = f"manylinux2014_{platform.machine()}"


class NoRuntimeError(Exception):
    """There is no such runtime; the text is one sentence."""


class NoWheelError(NoRuntimeError):
    """There is no wheel of it."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime. `libraries` are paths where the hosts run, the one of the C functions first; none for the stand-in.

    `more` are those that only some plugins need. `version` is empty where it is not known.
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
        spec = importlib.util.find_spec("tensorflow")
        folders = [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
        advice = f"TensorFlow is installed for {sys.executable}; 'tensorflow-cpu==2.21.*' would fetch one"
    elif Path(given).is_dir() or given.startswith((os.sep, ".", "~")):
        folder = Path(given).expanduser()
        inside = sorted(folder.glob("lib/python3*/site-packages/tensorflow"))
        folders = [folder, folder / "tensorflow", *inside, folder / "lib"]
        advice = f"{RUNTIME_NAME} is in {folder}, nor where an environment of Python has it"
    else:
        return installed(_released(given))
    for folder in folders:
        if (folder / RUNTIME_NAME).is_file():
            return installed(folder.resolve())
    raise NoRuntimeError(f"no {advice}")


def installed(folder: Path) -> Runtime:
    """The TensorFlow whose libraries are in this folder; its version is in the name of a folder beside that."""
    more = tuple(str(path) for path in (folder / CXX_NAME,) if path.is_file())
    beside = (_INSTALLED.fullmatch(path.name) for path in sorted(folder.parent.iterdir()))
    version = next((found[1] for found in beside if found), "")
    return Runtime("TensorFlow", version, (str(folder / RUNTIME_NAME),), more)


# Releases -------------------------------------------------------------------------------------------------------------


def cache() -> Path:
    """The folder of the releases that were fetched."""
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
    found = cache().glob(f"{wanted.name}-[0-9]*/tensorflow/{RUNTIME_NAME}")
    fetched = {Version(path.parents[1].name.removeprefix(f"{wanted.name}-")): path.parent for path in found}
    fitting = [*wanted.specifier.filter(fetched)]
    return fetched[max(fitting)] if fitting else _fetched(wanted)


def _fetched(wanted: Requirement) -> Path:
    """Fetch a wheel with pip, and put what is needed of it into the cache."""
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache(), prefix=".fetching-") as name:
        print(f"fetching {wanted} with pip, for good, into {cache()} …", file=sys.stderr, flush=True)
        unpacked, needed = Path(name, "unpacked"), Path(name, "needed")
        unpack_wheel(str(wanted), unpacked)
        if not (unpacked / "tensorflow" / RUNTIME_NAME).is_file():
            raise NoRuntimeError(f"the wheel of {wanted} has no {RUNTIME_NAME}")
        release = installed(unpacked / "tensorflow").version
        (needed / "tensorflow").mkdir(parents=True)
        for library in (RUNTIME_NAME, CXX_NAME):
            if (unpacked / "tensorflow" / library).is_file():
                (unpacked / "tensorflow" / library).rename(needed / "tensorflow" / library)
        # The folder that has the version in its name, as beside an installed one.
        (needed / f"tensorflow-{release}.dist-info").mkdir()
        place = cache() / f"{wanted.name}-{release}"
        # Another process may have been faster.
        if not place.exists():
            needed.rename(place)
    return place / "tensorflow"


def unpack_wheel(requirement: str, folder: Path) -> None:
    """Let pip unpack the wheel that it chooses into a folder. Raises NoWheelError.

    What is wanted of it are shared objects that need no Python. So if a release has no wheel for this Python, that for
    an older one will do.
    """
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--only-binary=:all:", "--no-compile"]
    failures = []
    for older in ((), *((f"--python-version={python}", f"--platform={PLATFORM}") for python in PYTHONS)):
        given = [*command, f"--target={folder}", *older, requirement]
        done = subprocess.run(given, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode == 0:
            return
        failures.append((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    # If none helps, the one for this Python is what the reader asked for.
    raise NoWheelError(f"pip does not fetch {requirement}: {failures[0]}")
