"""The plugins that only the tests need: `python -m tests.fakes` builds them, and adds them to the installed package.

These are reference_plugins/fakes and reference_plugins/choices. They are built in `build/fakes`, where only what
changed is compiled again, and installed beside the plugins that a wheel has. tests/conftest.py does the same.

`python -m tests.fakes faulty malformed` prints the faults of these fakes as well: name, effect, and what that breaks.
"""

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

from tffs_conformance.harness.native import RUNTIME_NAME, native_directory

CLONE = Path(__file__).parents[1]
BUILD = CLONE / "build" / "fakes"
#: Loads a plugin in a process of its own.
LOAD = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[2]).TF_InitPlugin(ctypes.create_string_buffer(64))
"""


def build() -> None:
    """Bring them up to date, one process at a time. Raises NativePartsMissing, or SystemExit with what went wrong."""
    beside = native_directory().parents[1]
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Once: what is built sees a changed CMakeLists.txt by itself. The ninja of this environment may be gone later.
        if not (BUILD / "build.ninja").exists():
            given = ("-DTFFS_FAKES=ON", "-DTFFS_PORTABLE_HOST=OFF", "-DCMAKE_MAKE_PROGRAM=ninja")
            _cmake("-S", ".", "-B", str(BUILD), "-G", "Ninja", *given)
        _cmake("--build", str(BUILD), "--target", "reference_plugins/fakes/all", "reference_plugins/choices/all")
        _cmake("--install", str(BUILD), "--component", "fakes", "--prefix", str(beside))


def _cmake(*arguments: str) -> None:
    # What pip has installed beside this Python comes first.
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"}
    try:
        done = subprocess.run(
            ["cmake", *arguments], cwd=CLONE, env=environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
    except FileNotFoundError:
        sys.exit("the fakes are not built, for want of cmake: pip install cmake ninja")
    if done.returncode:
        sys.exit(f"the fakes are not built: cmake {' '.join(arguments)}\n{done.stdout[-3000:]}")


def printed(plugin: str, fault: str) -> str:
    """The standard error of a fake that is loaded with a value of TFFS_FAULT."""
    native = native_directory()
    libraries = [str(native / RUNTIME_NAME), str(native / "plugins" / "fakes" / f"lib{plugin}.so")]
    environment = os.environ | {"TFFS_FAULT": fault}
    done = subprocess.run([sys.executable, "-c", LOAD, *libraries], env=environment, capture_output=True, check=False)
    return done.stderr.decode()


def faults(plugin: str) -> list[tuple[str, str, str]]:
    """Name, effect, and what that breaks, of each fault of a fake."""
    return re.findall(r"^(.+)\t(.+)\t(.+)$", printed(plugin, "no such fault"), re.MULTILINE)


if __name__ == "__main__":
    build()
    for fake in sys.argv[1:]:
        print(*("\t".join(row) for row in faults(fake)), sep="\n")
