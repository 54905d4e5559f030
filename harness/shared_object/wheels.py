"""Wheels: pip downloads one, and what is wanted of it is unpacked.

What is wanted is a shared object that needs no Python. So where a release has no wheel for this Python, that for an
older one will do.
"""

import platform
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

from packaging.utils import parse_wheel_filename
from packaging.version import Version


class NoWheelError(Exception):
    """There is no such wheel; the text is one sentence."""


#: Pythons whose wheels are taken where there is none for this one, the newest first.
PYTHONS = ("3.10", "3.9", "3.8", "3.7")
#: What wheels for Linux say of the glibc that they need.
GLIBCS = ("manylinux_2_17", "manylinux2014", "manylinux_2_12", "manylinux2010")


def download(requirement: str, folder: Path) -> Path:
    """The wheel that pip chooses, put into an empty folder. Raises NoWheelError."""
    told = ""
    for python in ("", *PYTHONS):
        done = _pip(requirement, folder, python)
        wheels = sorted(folder.glob("*.whl"))
        if done.returncode == 0 and wheels:
            return wheels[0]
        # Where none helps, that for this Python is what the reader asked for.
        told = told or (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    raise NoWheelError(f"pip does not fetch {requirement}: {told}")


def _pip(requirement: str, folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    """Let pip download a wheel for a Python, or for the one that runs."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", str(folder)]
    if python:
        command += [f"--python-version={python}", *(f"--platform={one}_{platform.machine()}" for one in GLIBCS)]
    return subprocess.run([*command, requirement], stderr=subprocess.PIPE, text=True, check=False)


def version(wheel: Path) -> Version:
    """What a wheel is a release of."""
    return parse_wheel_filename(wheel.name)[1]


def unpack(wheel: Path, members: Iterable[str], into: Path) -> None:
    """Unpack these members of a wheel, those of them that it has."""
    with zipfile.ZipFile(wheel) as file:
        file.extractall(into, sorted(set(members).intersection(file.namelist())))
