"""Both commands of the README, run as printed, on a fresh Debian with only python3, venv, git and a C++ compiler.

The Debian is a chroot made by debootstrap; it needs root. Registries are reached as on this machine: its certificates
and the settings of its resolver and of pip are copied in.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
PACKAGES = "python3,python3-venv,git,g++,ca-certificates"
BORROWED = ("etc/ssl/certs/ca-certificates.crt", "etc/resolv.conf", "etc/hosts", "etc/pip.conf")
#: Made once and copied for every run.
CACHE = Path(os.environ.get("TFFS_FRESH_CACHE", "/var/tmp/tffs-fresh-debian"))


def commands() -> list[str]:
    """The one-line commands of the README that set something up."""
    return re.findall(r"^python3 -m venv .*$", (PROJECT / "README.md").read_text(), re.MULTILINE)


def test_the_readme_has_two_commands() -> None:
    assert len(commands()) == 2


def mirror() -> list[str]:
    """Where this machine has its packages from; nothing, where debootstrap's own choice must do."""
    sources = Path("/etc/apt/sources.list.d/debian.sources")
    found = re.search(r"^URIs:\s*(\S+)", sources.read_text(), re.MULTILINE) if sources.exists() else None
    return [found[1]] if found else []


@pytest.fixture(scope="module")
def debian() -> Path:
    if shutil.which("debootstrap") is None or os.geteuid() != 0:
        pytest.skip("not run: needs debootstrap and root")
    if not (CACHE / "usr/bin/g++").exists():
        shutil.rmtree(CACHE, ignore_errors=True)
        command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(CACHE), *mirror()]
        subprocess.run(command, check=True)
    return CACHE


@pytest.fixture
def machine(debian: Path, tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "debian"
    subprocess.run(["cp", "-a", "--reflink=auto", str(debian), str(root)], check=True)
    for name in BORROWED:
        if Path("/", name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(Path("/", name), root / name)
    subprocess.run(["git", "clone", "-q", str(PROJECT), str(root / "clone")], check=True)
    mounts = ("proc", "dev")
    for name in mounts:
        subprocess.run(["mount", "--bind", f"/{name}", str(root / name)], check=True)
    yield root
    for name in mounts:
        subprocess.run(["umount", "-l", str(root / name)], check=True)
    shutil.rmtree(root)


@pytest.mark.parametrize("command", commands(), ids=["suite", "tests"])
def test_command(machine: Path, command: str) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
    done = subprocess.run(
        [str(shutil.which("chroot")), str(machine), "sh", "-c", f"cd /clone && {command}"],
        env=environment, text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
