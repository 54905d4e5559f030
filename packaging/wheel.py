"""Build the wheel of a release: `python packaging/wheel.py DIRECTORY [--once]`.

The sdist is made, and the wheel from it, twice in two directories: both must be the same to the byte. The wheel is for
every CPython that the project supports and for glibc 2.28 on, which auditwheel confirms. `DIRECTORY` gets the sdist,
the wheel and, apart, the debug information. Ends with 1 and a sentence where any of this does not hold.

The headers of objectstore and pugixml's source come from Debian's packages; where those cannot be had, the wheel is
without that plugin and dragonfly, and says so.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import ziglang

PROJECT = Path(__file__).parents[1]
PLATFORM = "manylinux_2_28_x86_64"
HEADERS = ("libcurl4-openssl-dev", "libssl-dev", "nlohmann-json3-dev", "libpugixml-dev")
SOURCE = "pugixml"
#: Where Debian says where its packages are.
SOURCES = Path("/etc/apt/sources.list.d/debian.sources")


class RefusedError(Exception):
    """What was built must not be released."""


def staged(directory: Path) -> list[str]:
    """What the build is told of the needs of the objectstore plugin, which are put into `directory`.

    Raises `OSError` or `subprocess.CalledProcessError` where they cannot be had.
    """
    archives, include = directory / "archives", directory / "include"
    lists = directory / "lists"
    for path in (archives, lists / "partial", directory / "cache/archives/partial"):
        path.mkdir(parents=True)
    wanted = directory / "sources.sources"
    wanted.write_text(re.sub(r"^Types: deb$", "Types: deb deb-src", SOURCES.read_text(), flags=re.MULTILINE))
    # Lists of its own: those of the machine need not have sources.
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={wanted}", "-o", "Dir::Etc::sourceparts=-",
           "-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={directory / 'cache'}",
           "-o", "APT::Sandbox::User=root"]  # fmt: skip
    for command in (["update"], ["download", *HEADERS], ["source", "--download-only", SOURCE]):
        subprocess.run([*apt, *command], cwd=archives, check=True)
    for package in archives.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(directory)], check=True)
    shutil.copytree(directory / "usr/include", include)
    # Debian has what depends on the machine apart; nothing else would look there.
    for apart in include.glob("*-linux-gnu"):
        shutil.copytree(apart, include, dirs_exist_ok=True)
    (archive,) = archives.glob(f"{SOURCE}_*.orig.tar.*")
    shutil.unpack_archive(archive, directory / SOURCE)
    (code,) = (directory / SOURCE).rglob("pugixml.cpp")
    return [f"-Ccmake.define.CMAKE_PREFIX_PATH={directory}", f"-Ccmake.define.PUGIXML_SOURCE={code}"]


def built(sdist: Path, directory: Path, defines: list[str]) -> Path:
    """The wheel, built from the sdist unpacked in `directory`, under the name of its platform."""
    shutil.unpack_archive(sdist, directory)
    (source,) = directory.iterdir()
    raw, repaired = directory / "raw", directory / "repaired"
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", f"--outdir={raw}", *defines]
    toolchain = {"CMAKE_TOOLCHAIN_FILE": str(source / "packaging/zig.cmake"), "CMAKE_GENERATOR": "Ninja"}
    subprocess.run([*command, str(source)], env=os.environ | toolchain, check=True)
    (wheel,) = raw.glob("*.whl")
    # The stand-in for TensorFlow's library is in the wheel, and found by the host; nothing is to be grafted.
    subprocess.run(
        [sys.executable, "-m", "auditwheel", "repair", f"--plat={PLATFORM}", "--only-plat", f"--wheel-dir={repaired}",
         "--exclude=libtensorflow_framework.so.2", str(wheel)], check=True,
    )  # fmt: skip
    (wheel,) = repaired.glob(f"*-py3-none-{PLATFORM}.whl")
    return wheel


def git(*arguments: str) -> str:
    """What git prints about the clone."""
    return subprocess.run(["git", *arguments], cwd=PROJECT, capture_output=True, text=True, check=True).stdout.strip()


def digest(path: Path) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def differing(one: Path, other: Path) -> list[str]:
    """The names of the files in which two wheels differ."""
    with zipfile.ZipFile(one) as first, zipfile.ZipFile(other) as second:
        sums = [{info.filename: info.CRC for info in wheel.infolist()} for wheel in (first, second)]
    return sorted({name for name, _ in sums[0].items() ^ sums[1].items()})


def release(out: Path, times: int) -> None:
    """Build, compare, and put what is fit for release into `out`. Raises `RefusedError` where it is not."""
    # The archives have the time of the last commit, whenever they are made, and the wheel has its digest.
    os.environ.setdefault("SOURCE_DATE_EPOCH", git("log", "-1", "--format=%ct"))
    os.environ.setdefault("TFFS_COMMIT", git("describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"))
    out.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [sys.executable, "-m", "build", "--sdist", "--no-isolation", f"--outdir={out}"], cwd=PROJECT, check=True
    )
    sdist = max(out.glob("*.tar.gz"), key=lambda path: path.stat().st_mtime)
    with tempfile.TemporaryDirectory(prefix="tffs-wheel-") as scratch:
        at = Path(scratch)
        defines = [f"-Ccmake.define.TFFS_ZIG={Path(ziglang.__path__[0]) / 'zig'}"]
        try:
            defines += staged(at / "staged")
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"the wheel is without the plugins objectstore and dragonfly: {error}")
        wheels = []
        for name in ("once", "and-again")[:times]:
            (at / name).mkdir()
            wheels.append(built(sdist, at / name, defines))
        if len({digest(wheel) for wheel in wheels}) != 1:
            raise RefusedError(f"built {times} times, the wheels differ in {differing(*wheels)}")
        for debug in wheels[0].parents[1].glob("*/build/*/debug"):
            shutil.copytree(debug, out / "debug", dirs_exist_ok=True)
        wheel = Path(shutil.copy(wheels[0], out))
    subprocess.run([sys.executable, "-m", "auditwheel", "show", str(wheel)], check=True)
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes, {times} × the same")
    print(f"{sdist.name}: {sdist.stat().st_size:,} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--once", action="store_true", help="do not build a second time to compare")
    given = parser.parse_args()
    try:
        release(given.directory.resolve(), 1 if given.once else 2)
    except RefusedError as refused:
        sys.exit(str(refused))
