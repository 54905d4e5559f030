"""A secret that a plugin tells stands in nothing that a run leaves behind or shows."""

from pathlib import Path

import pytest

from tests.test_suite import report, run

SECRET = "it's-hunter22-&-more"
PLUGIN = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=tells-secret:stat", f"--env=FAKE_TOKEN={SECRET}")


@pytest.mark.parametrize(
    "cases",
    [
        ("--clause=stat.*", "--tier=must"),
        ("--case=properties/tree", "--examples=30"),
        ("--clause=stat.*", "-n1", "--tier=must"),
    ],
)
def test_it_stands_nowhere(tmp_path: Path, cases: tuple[str, ...]) -> None:
    done = run(tmp_path, *PLUGIN, *cases, "-vv", "-rA", "--junitxml=junit.xml", "-p", "no:logging")
    assert done.returncode == 1, done.stdout + done.stderr
    found = report(tmp_path)
    assert found["counts"]["violation"]
    assert found["target"]["environment"]
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in left} >= {"report.json", "journal.jsonl", "junit.xml"}
    assert any(path.suffix == ".cc" for path in left) == any("properties" in one for one in cases)
    for form in (SECRET, "hunter22"):
        assert form not in done.stdout + done.stderr
        assert [path.name for path in left if form.encode() in path.read_bytes()] == []
    assert "<FAKE_TOKEN>" in (tmp_path / "tffs-report" / "report.json").read_text()
