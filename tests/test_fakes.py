"""The tables of the fakes' pages are what the fakes say of themselves."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.test_suite import run
from tffs_conformance.harness.native import NATIVE_DIRECTORY_VARIABLE, RUNTIME_NAME, native_directory

PAGES = sorted((Path(__file__).parents[1] / "reference_plugins" / "fakes").glob("*.md"))
#: Loads a plugin in a process of its own.
ASK = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[2]).TF_InitPlugin(ctypes.create_string_buffer(64))
"""


def asked(plugin: str, fault: str) -> str:
    """What a fake says to the standard error when it is asked for a fault."""
    native = native_directory()
    libraries = [str(native / RUNTIME_NAME), str(native / "plugins" / "fakes" / f"lib{plugin}.so")]
    environment = os.environ | {"TFFS_FAULT": fault}
    done = subprocess.run([sys.executable, "-c", ASK, *libraries], env=environment, capture_output=True, check=False)
    return done.stderr.decode()


def told(plugin: str) -> list[tuple[str, str, str]]:
    """Name, what it does, and what that breaks, of each fault of a fake."""
    rows = re.findall(r"^(.+)\t(.+)\t(.+)$", asked(plugin, "no such fault"), re.MULTILINE)
    assert rows
    return rows


@pytest.mark.parametrize("plugin", ["faulty", "malformed"])
def test_every_fault_stands_in_a_table(plugin: str) -> None:
    rows = [re.sub(r"\\([*\[\]_\\])", r"\1", line) for page in PAGES for line in page.read_text().splitlines()]
    # A fault that fits many ops stands there once, with where it fits.
    single = [row for row in told(plugin) if plugin == "malformed" or ":" not in row[0]]
    missing = [
        line for line in (f"| `{name}` | {what} | {breaks} |" for name, what, breaks in single) if line not in rows
    ]
    assert not missing, "\n".join(missing)
    names = Counter(line.split("|")[1] for line in rows if line.startswith("| `"))
    assert [name for name, _, _ in single if names[f" `{name}` "] != 1] == []


def test_several_faults_are_of_several_ops() -> None:
    said = asked("faulty", "read.short-is-ok,stat.mtime-seconds,read.overrun")
    assert "read.overrun changes read, and another fault does so, too" in said
    assert "no such fault names none" in asked("faulty", "stat.mtime-seconds,no such fault")


def test_where_they_are_not_built_a_run_says_how(tmp_path: Path) -> None:
    for name in ("tffs-host", RUNTIME_NAME):
        (tmp_path / name).symlink_to(native_directory() / name)
    done = run(tmp_path, "--plugin=fakes/null", **{NATIVE_DIRECTORY_VARIABLE: str(tmp_path)})
    assert (done.returncode, "not built" in done.stderr, "python -m tests.fakes" in done.stderr) == (4, True, True)


def test_every_fault_of_the_table_exists() -> None:
    known = {name for plugin in ("faulty", "malformed") for name, _, _ in told(plugin)}
    table = (Path(__file__).with_name("faults.toml")).read_text()
    used = {fault for _, fault in re.findall(r'"(faulty|malformed) ([^"]+)"', table)}
    with_argument = {name for name in used if name.startswith(("size:", "scheme:"))}
    assert sorted(used - known - with_argument) == []
