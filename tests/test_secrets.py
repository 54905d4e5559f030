"""A secret that a plugin tells stands in nothing that a run leaves behind or shows."""

from pathlib import Path

import pytest

from tests.test_suite import report, run

SECRET = "it's-hunter22-&-more"
PLUGIN = ("--plugin=fakes/faulty", f"--env=FAKE_TOKEN={SECRET}")
FORMS = [f"--report={form}" for form in ("junit", "sarif", "html", "markdown")]


@pytest.mark.parametrize(
    ("fault", "cases"),
    [
        ("tells-secret:stat", ("--clause=stat.*", "--tier=quick")),
        ("tells-secret:stat", ("--case=properties/tree", "--examples=30")),
        ("read.tells-token", ("--clause=read.*", "--clause=read_only_memory_region.*", "--tier=smoke", "-n2")),
        ("read.tells-token", ("--case=properties/contents", "--case=read/*", "--examples=30")),
    ],
)
def test_it_stands_nowhere(tmp_path: Path, fault: str, cases: tuple[str, ...]) -> None:
    github = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    plugin = (*PLUGIN, f"--env=TFFS_FAULT={fault}")
    done = run(tmp_path, *plugin, *cases, "-vv", "-rA", *FORMS, "--junitxml=junit.xml", **github)
    assert done.returncode == 1, done.stdout + done.stderr
    found = report(tmp_path)
    assert found["counts"]["violation"]
    assert found["target"]["environment"]
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in left} >= {"report.json", "journal.jsonl", "junit.xml", "summary.md"}
    assert any(path.suffix == ".cc" for path in left) or not any("properties" in one for one in cases)
    for at in range(len(SECRET) - 7):
        assert SECRET[at : at + 8] not in done.stdout + done.stderr
        assert [path.name for path in left if SECRET[at : at + 8].encode() in path.read_bytes()] == []
    assert "<FAKE_TOKEN>" in (tmp_path / "tffs-report" / "report.json").read_text()
