"""What the page of the report tells to type and to run works, on a report of 0.1.0 and on one of now."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.records import GOOD, HEADER
from tffs_conformance.cli import main
from tffs_conformance.reports import errors
from tffs_conformance.reports.journal import Journal

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "report.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which a run wrote a report."""
    journal = Journal.open(tmp_path / "tffs-report", HEADER)
    for case in GOOD:
        journal.case(case)
    journal.close(duration=1.0, left_out=None)
    return tmp_path


@pytest.mark.parametrize("block", blocks("python"))
def test_its_programs_run(folder: Path, block: str) -> None:
    done = subprocess.run([sys.executable, "-c", block], cwd=folder, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("conformant 0")


def test_its_gate_names_a_version_that_it_does_not_know(folder: Path) -> None:
    shutil.copy(ROOT / "tests" / "reports" / "report-of-0.1.0.json", folder / "tffs-report" / "report.json")
    done = subprocess.run(
        [sys.executable, "-c", blocks("python")[0]], cwd=folder, text=True, capture_output=True, check=False
    )
    assert "a version this gate does not know" in done.stderr


@pytest.mark.parametrize("line", [*blocks("sh")[0].splitlines(), *re.findall(r"`(tffs-conformance [^`]+)`", PAGE)])
def test_its_commands_run(folder: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(main, shlex.split(line)[1:])
    assert done.exit_code == 0, done.output
    assert f"{len(GOOD)} cases; checks: {len(GOOD)} conform" in done.output


def test_it_names_every_error() -> None:
    every = {name for name, kind in vars(errors).items() if isinstance(kind, type)} - {"Path"}
    assert every <= set(re.findall(r"`(\w+)`", PAGE))
