"""The page of the report: its gate stops at versions that it does not know, and it names every error."""

import re
import subprocess
import sys
from pathlib import Path

from tests.pages import PROJECT, blocks
from tffs_conformance.reports import errors
from tffs_conformance.reports.forms import FORMS

PAGE = PROJECT / "docs" / "report.md"


def test_its_gate_names_a_version_that_it_does_not_know(tmp_path: Path) -> None:
    (tmp_path / "tffs-report").mkdir()
    (tmp_path / "tffs-report" / "report.json").write_text('{"schema": "tffs-conformance/report/3.1"}')
    gate = next(block.text for block in blocks(PAGE) if block.file == "gate.py")
    done = subprocess.run([sys.executable, "-c", gate], cwd=tmp_path, text=True, capture_output=True, check=False)
    assert done.returncode
    assert "a version this gate does not know" in done.stderr


def test_it_names_every_error_and_every_form() -> None:
    every = {name for name, kind in vars(errors).items() if isinstance(kind, type)} - {"Path"}
    text = PAGE.read_text()
    assert every <= set(re.findall(r"`(\w+)`", text))
    assert [form.name for form in FORMS if f"--{form.name}" not in text or form.file not in text] == []
