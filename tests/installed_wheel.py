"""The wheel of a release, installed where there is no compiler: on Debian 12 with CPython 3.11, on Debian 13 with 3.13.

`tox run -e wheel` builds it and says which it is in TFFS_WHEEL. The machines are chroots from the cache of
`build_images.py`; they need root.
"""

import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from reference_plugins.dragonfly.services import build_images

WHEEL = Path(os.environ["TFFS_WHEEL"])
PACKAGES = "python3,python3-venv,ca-certificates"
MACHINES = {"bookworm": "Python 3.11", "trixie": "Python 3.13"}
#: What a machine has that has glibc; libgcc_s is opened where something is thrown.
LIBRARIES = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2",
             "libtensorflow_framework.so.2"}  # fmt: skip


def binaries() -> dict[str, ELFFile]:
    with zipfile.ZipFile(WHEEL) as wheel:
        contents = {name: wheel.read(name) for name in wheel.namelist() if "/_native/" in name}
    return {name: ELFFile(BytesIO(data)) for name, data in contents.items() if data.startswith(b"\x7fELF")}


def needed(binary: ELFFile) -> set[tuple[str, str]]:
    """Library and version of each symbol that is looked for."""
    section = binary.get_section_by_name(".gnu.version_r")
    if not isinstance(section, GNUVerNeedSection):
        return set()
    return {(str(library.name), entry.name) for library, entries in section.iter_versions() for entry in entries}


def test_the_wheel_is_whole() -> None:
    names = {Path(name).name for name in binaries()}
    assert {"tffs-host", "libtensorflow_framework.so.2", "libtffs_allocator.so"} <= names
    assert {"libposix.so", "libmemory.so", "libobjectstore_minimal.so"} <= names
    assert not {"libfaulty.so", "libposix_choices.so"} & names


@pytest.mark.parametrize("name", sorted(binaries()))
def test_nothing_newer_than_glibc_2_28(name: str) -> None:
    binary = binaries()[name]
    versions = [version.removeprefix("GLIBC_") for _, version in needed(binary)]
    assert [version for version in versions if tuple(int(part) for part in version.split(".")) > (2, 28)] == []
    dynamic = binary.get_section_by_name(".dynamic")
    assert isinstance(dynamic, DynamicSection)
    assert {tag.needed for tag in dynamic.iter_tags("DT_NEEDED")} <= LIBRARIES  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", sorted(binaries()))
def test_symbols_stay_and_debug_information_is_apart(name: str) -> None:
    sections = {section.name for section in binaries()[name].iter_sections()}
    assert ".symtab" in sections
    assert ".gnu_debuglink" in sections
    assert not {section for section in sections if section.startswith(".debug_")}


def test_nothing_says_where_it_was_built() -> None:
    with zipfile.ZipFile(WHEEL) as wheel:
        telling = [name for name in wheel.namelist() if b"tffs-wheel-" in wheel.read(name)]
    assert telling == []


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """The root of a machine with Python, and which Python."""
    if os.geteuid() != 0:
        pytest.skip("not run: needs root")
    root = tmp_path / "debian"
    build_images.unpack(build_images.system(build_images.System("python", PACKAGES, suite=request.param)), root)
    shutil.copy(WHEEL, root)
    mounts = ("proc", "dev")
    for name in mounts:
        subprocess.run(["mount", "--bind", f"/{name}", str(root / name)], check=True)
    yield root, MACHINES[request.param]
    for name in mounts:
        subprocess.run(["umount", "-l", str(root / name)], check=True)
    shutil.rmtree(root)


def test_it_judges_posix(machine: tuple[Path, str]) -> None:
    root, version = machine
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
    steps = (
        "python3 -m venv /venv",
        f"/venv/bin/pip install -q /{WHEEL.name}",
        "/venv/bin/python --version",
        "/venv/bin/tffs-conformance doctor",
        "cd /tmp",
        "/venv/bin/pytest --plugin=posix --tier=smoke",
    )
    done = subprocess.run(
        [str(shutil.which("chroot")), str(root), "sh", "-c", " && ".join(steps)],
        env=environment, text=True, capture_output=True, check=False,
    )  # fmt: skip
    said = done.stdout[-6000:] + done.stderr[-3000:]
    assert (done.returncode, version in done.stdout) == (0, True), said
    print(said)
