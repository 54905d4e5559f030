"""What an author's build finds of an installed package: the header, by CMake, by pkg-config and by hand."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tffs_conformance import __version__

needs_cmake = pytest.mark.skipif(
    not (shutil.which("cmake") and shutil.which("ninja")), reason="cmake or ninja is not there: pip install cmake ninja"
)

#: A plugin in one file, which compiles against the header and nothing else.
PLUGIN = """
#include "tf_filesystem_plugin.h"
#include "tf_filesystem_plugin.h"

void TF_InitPlugin(TF_FilesystemPluginInfo* info) { info->num_schemes = 0; }
"""
CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.20)
project(mine LANGUAGES C CXX)
find_package(tffs_conformance {version} REQUIRED)
find_package(tffs_conformance REQUIRED)
add_library(mine MODULE plugin.c)
add_library(mine_too MODULE plugin.cc)
target_link_libraries(mine PRIVATE tffs_conformance::headers)
target_link_libraries(mine_too PRIVATE tffs_conformance::headers)
"""


def told(*options: str) -> str:
    command = [sys.executable, "-m", "tffs_conformance", "config", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plugin.c").write_text(PLUGIN)
    (tmp_path / "plugin.cc").write_text(PLUGIN)
    return tmp_path


def exports_the_entry_point(plugin: Path) -> bool:
    shown = subprocess.run(["nm", "-D", "--defined-only", str(plugin)], capture_output=True, text=True, check=True)
    return re.search(r" T TF_InitPlugin$", shown.stdout, re.MULTILINE) is not None


def test_config_asks_what_is_wanted() -> None:
    command = [sys.executable, "-m", "tffs_conformance", "config"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "--cmakedir" in done.stderr) == (2, True)


@pytest.mark.parametrize(("compiler", "name"), [("cc -std=c11", "plugin.c"), ("c++ -std=c++17", "plugin.cc")])
def test_includes(folder: Path, compiler: str, name: str) -> None:
    flags = "-shared -fPIC -fvisibility=hidden -Wall -Wextra -Wpedantic -Werror"
    # As a shell reads it, who takes a folder with a blank apart.
    command = f"{compiler} {flags} {told('--includes')} {name} -o libmine.so"
    subprocess.run(["sh", "-c", command], cwd=folder, check=True)
    assert exports_the_entry_point(folder / "libmine.so")


def cmake(folder: Path, version: str) -> subprocess.CompletedProcess[str]:
    (folder / "CMakeLists.txt").write_text(CMAKE_LISTS.format(version=version))
    command = ["cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-Dtffs_conformance_DIR={told('--cmakedir')}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@needs_cmake
def test_cmake(folder: Path) -> None:
    done = cmake(folder, __version__)
    assert done.returncode == 0, done.stderr
    subprocess.run(["cmake", "--build", "build"], cwd=folder, check=True)
    assert exports_the_entry_point(folder / "build/libmine.so")
    assert exports_the_entry_point(folder / "build/libmine_too.so")


@needs_cmake
@pytest.mark.parametrize("version", ["0.1.0", "99.0"])
def test_cmake_refuses_another_series(folder: Path, version: str) -> None:
    done = cmake(folder, version)
    assert done.returncode != 0
    assert f"version: {__version__}" in " ".join(done.stderr.split())


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is not there: apt-get install pkg-config")
def test_pkg_config(folder: Path) -> None:
    asked = f"PKG_CONFIG_PATH={told('--pkgconfigdir')} pkg-config --print-errors"
    command = f'cc -std=c11 -shared -fPIC $({asked} --cflags "tffs-conformance = {__version__}") plugin.c -o libmine.so'
    subprocess.run(["sh", "-ec", command], cwd=folder, check=True)
    assert exports_the_entry_point(folder / "libmine.so")
