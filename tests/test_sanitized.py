"""The suite on the reference plugins, all that is native under sanitizers and under valgrind: they say nothing."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.test_suite import run
from tffs_conformance.harness.native import NATIVE_DIRECTORY_VARIABLE, native_directory
from tffs_conformance.reports import document

CLONE = Path(__file__).parents[1]
#: They make a call many times slower, and say so by the exit code of the process.
PATIENT = ("--plugin=posix", "--plugin=memory", "--call-timeout=120", "--examples=20")

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3600)]


def build(sanitizers: str, folder: Path) -> Path:
    """All that is native with these sanitizers; the folder that takes the place of the installed one."""
    for command in (
        ["cmake", "-S", str(CLONE), "-B", str(folder / "build"), "-G", "Ninja", f"-DTFFS_SANITIZE={sanitizers}",
         "-DTFFS_FAKES=ON", f"-DCMAKE_INSTALL_PREFIX={folder / 'out'}"],
        ["cmake", "--build", str(folder / "build")],
        ["cmake", "--install", str(folder / "build")],
    ):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "out" / "tffs_conformance" / "_native"


def judged(directory: Path, native: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setenv(NATIVE_DIRECTORY_VARIABLE, str(native))
    done = run(directory, *PATIENT, *arguments)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    for plugin in ("posix", "memory"):
        assert document.load(directory / "tffs-report" / plugin / "report.json").verdict == "conformant"


@pytest.mark.parametrize("sanitizers", ["address,undefined", "thread"])
def test_sanitizers_have_nothing_to_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sanitizers: str) -> None:
    judged(tmp_path, build(sanitizers, tmp_path), monkeypatch)


def test_valgrind_has_nothing_to_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not there: apt-get install valgrind")
    native = tmp_path / "native"
    native.mkdir()
    for path in native_directory().iterdir():
        if path.name != "tffs-host":
            (native / path.name).symlink_to(path)
    host = native / "tffs-host"
    host.write_text(f'#!/bin/sh\nexec valgrind --quiet --error-exitcode=99 {native_directory() / "tffs-host"} "$@"\n')
    host.chmod(0o755)
    # A process takes a second to start there.
    judged(tmp_path, native, monkeypatch, "--tier=quick", "--host-scope=module")
