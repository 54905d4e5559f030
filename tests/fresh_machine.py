"""Both commands of the README, as printed, on a fresh Debian with only python3, venv, git and a C++ compiler.

The Debian is a chroot from the cache of `build_images.py`; it needs root. Registries are reached as on this machine,
and what pip has downloaded is shared. Of the suite the smoke tier is run, of the project's tests one file, and no lint:
here it is seen that they start.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reference_plugins.dragonfly.services import build_images

PROJECT = Path(__file__).parent.parent
#: What a command is given besides, by the tool at its end.
GIVEN = {"posix": "--tier=smoke", "lint,tests": "-- tests/test_paths.py"}


def commands() -> list[str]:
    """The one-line commands of the README that set something up."""
    return re.findall(r"^python3 -m venv .*$", (PROJECT / "README.md").read_text(), re.MULTILINE)


def test_the_readme_has_two_commands() -> None:
    assert [next(end for end in GIVEN if command.endswith(end)) for command in commands()] == list(GIVEN)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("not run: needs root")
    root = tmp_path_factory.mktemp("fresh") / "debian"
    build_images.unpack(build_images.system(build_images.machine()), root)
    subprocess.run(["git", "clone", "-q", str(PROJECT), str(root / "clone")], check=True)
    mounts = {"/proc": root / "proc", "/dev": root / "dev"}
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pip"
    if cache.exists():
        mounts[str(cache)] = root / "root" / ".cache" / "pip"
    for source, target in mounts.items():
        target.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--bind", source, str(target)], check=True)
    yield root
    for target in mounts.values():
        subprocess.run(["umount", "-l", str(target)], check=True)
    shutil.rmtree(root)


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("command", commands(), ids=["suite", "tests"])
def test_command(machine: Path, command: str) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/root", "LANG": "C.UTF-8", "TOX_SKIP_ENV": "lint"}
    given = next(given for end, given in GIVEN.items() if command.endswith(end))
    done = subprocess.run(
        [str(shutil.which("chroot")), str(machine), "sh", "-c", f"cd /clone && {command} {given}"],
        env=environment, text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    assert re.search(r"\d+ passed", done.stdout)
