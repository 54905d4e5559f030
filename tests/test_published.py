"""The reports that are published with the suite: whole, unaltered, and of runs that left nothing out."""

import re
from pathlib import Path

import pytest

from tffs_conformance.reports.document import load
from tffs_conformance.suite.contract.catalogue import catalogue

PUBLISHED = Path(__file__).parent.parent / "reports" / "published"
REPORTS = sorted(PUBLISHED.glob("*/report.json"))


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.parent.name)
def test_a_published_report(path: Path) -> None:
    found = load(path)
    assert found.verdict == "conformant"
    assert found.suite.tier == "full"
    assert found.left_out is None
    # Who changes the clauses publishes anew.
    assert found.clauses.keys() == catalogue().keys()
    assert not found.counts.violation
    assert not found.counts.error
    assert f"]({path.parent.name}/report.json)" in (PUBLISHED / "README.md").read_text()
    # It is about the plugin, and not about whose machine it was.
    assert not re.search(r"/(home|root|work)/", path.read_text())


@pytest.mark.parametrize("path", sorted(PUBLISHED.glob("tensorflow-*/*/report.json")), ids=lambda path: path.parts[-3])
def test_a_report_on_a_filesystem_of_tensorflow_itself(path: Path) -> None:
    found = load(path)
    assert found.suite.tier == "full"
    assert found.left_out is None
    assert f"TensorFlow {path.parts[-2]} and its interface" in found.target.runtime
    assert not found.counts.error
    # What it breaks is explained, cause first.
    explained = (path.parent / "reproduce.md").read_text()
    assert "| cause | clauses | tried | got |" in explained
    assert not re.search(r"/(home|root|work)/", path.read_text())


def test_what_dragonfly_served_is_published() -> None:
    found = load(PUBLISHED / "dragonfly" / "report.json")
    assert found.counts.not_run == 0
    assert found.services is not None
    grown = {figure.what: figure.bytes for figure in found.services.figures}
    assert grown["bytes that client-b got from its peers (REMOTE_PEER)"] == found.services.size
