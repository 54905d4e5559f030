"""Wheels: pip downloads one, and what is wanted of it is unpacked."""

import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

from packaging.utils import parse_wheel_filename
from packaging.version import Version


class NoWheelError(Exception):
    """There is no such wheel; the text is one sentence."""


def download(requirement: str, folder: Path) -> Path:
    """The wheel that pip chooses, put into an empty folder. Raises NoWheelError."""
    command = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", str(folder))
    done = subprocess.run([*command, requirement], stderr=subprocess.PIPE, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        said = done.stderr.strip().splitlines()
        raise NoWheelError(
            f"pip does not fetch {requirement}: {said[-1] if said else f'exit status {done.returncode}'}"
        )
    return wheels[0]


def version(wheel: Path) -> Version:
    """What a wheel is a release of."""
    return parse_wheel_filename(wheel.name)[1]


def unpack(wheel: Path, members: Iterable[str], into: Path) -> None:
    """Unpack these members of a wheel, those of them that it has."""
    with zipfile.ZipFile(wheel) as file:
        file.extractall(into, sorted(set(members).intersection(file.namelist())))
