"""A machine without the libraries of the dragonfly plugin: it is told what to install."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tffs_conformance.harness.native import NATIVE_DIRECTORY_VARIABLE, native_directory

PACKAGES = "libcurl4-openssl-dev libssl-dev nlohmann-json3-dev libpugixml-dev"


@pytest.fixture
def without_dragonfly(tmp_path: Path) -> dict[str, str]:
    """The environment of a command that finds everything native but this plugin."""
    native = tmp_path / "native"
    (native / "plugins").mkdir(parents=True)
    there = native_directory()
    for path in [*there.iterdir(), *(there / "plugins").iterdir()]:
        if path.name not in ("plugins", "libdragonfly.so"):
            (native / path.relative_to(there)).symlink_to(path)
    return {**os.environ, NATIVE_DIRECTORY_VARIABLE: str(native)}


def test_doctor_names_the_packages(without_dragonfly: dict[str, str]) -> None:
    command = [sys.executable, "-m", "tffs_conformance", "doctor"]
    done = subprocess.run(command, env=without_dragonfly, capture_output=True, text=True, check=False)
    assert (done.returncode, "missing dragonfly: " in done.stdout, PACKAGES in done.stdout) == (0, True, True)


def test_the_run_names_the_packages(without_dragonfly: dict[str, str]) -> None:
    command = [sys.executable, "-m", "pytest", "--plugin=dragonfly"]
    done = subprocess.run(command, env=without_dragonfly, capture_output=True, text=True, check=False)
    assert (done.returncode, PACKAGES in done.stderr) == (4, True)
