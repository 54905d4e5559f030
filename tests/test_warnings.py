"""A SHOULD that is not kept is told once: by clause in the summary, and counted by pytest."""

import re
from pathlib import Path

from tests.test_suite import report, run


def test_a_warning_is_told_by_clause_and_not_again_by_pytest(tmp_path: Path) -> None:
    done = run(tmp_path, "--plugin=fakes/faulty", "--env=TFFS_FAULT=long-message:stat", "--clause=stat.m*")
    assert done.returncode == 0, done.stdout + done.stderr
    assert report(tmp_path)["counts"]["warning"]
    assert done.stdout.count("WARNING ") == 1
    assert "ConformanceWarning" not in done.stdout
    assert "warnings summary" not in done.stdout
    assert re.search(r"\d+ passed.*, \d+ warnings? in", done.stdout)
