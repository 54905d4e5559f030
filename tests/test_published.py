"""The reports that are published with the suite: whole, unaltered, explained, and of runs that left nothing out."""

import functools
import re
from pathlib import Path

import pytest

from tests.test_suite import PUBLISHED, newest_published
from tests.test_versions import RELEASED, UNRELEASED
from tffs_conformance.reports.document import load
from tffs_conformance.reports.escape import command_line
from tffs_conformance.reports.model.report import PACKED_NAME
from tffs_conformance.reports.model.uses import Word
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.reports.packed import contents
from tffs_conformance.reports.publish import NOTES_NAME, hold
from tffs_conformance.reports.reproduce import UNCONFIRMED
from tffs_conformance.reports.site.releases import Release, newest, read
from tffs_conformance.suite.judge.findings import conclude
from third_party import tables

REPORTS = sorted(PUBLISHED.glob("**/report.json*"))
#: The newest of each: those of a release are made with its wheel.
OURS = [newest_published(name) for name in ("posix", "memory", "dragonfly")]


@functools.cache
def published() -> dict[str, list[Release]]:
    return read(PUBLISHED, conclude)


def name(path: Path) -> str:
    return "-".join(path.parent.relative_to(PUBLISHED).parts)


@pytest.mark.parametrize("path", REPORTS, ids=name)
def test_a_published_report(path: Path) -> None:
    assert path.name == PACKED_NAME
    found = load(path)
    hold(found)
    # It is about the plugin, and not about whose machine it was.
    assert not re.search(rb"/(home|root|work)/", contents(path))
    # Nothing is left as it was drafted.
    notes = path.with_name(NOTES_NAME).read_text()
    assert UNCONFIRMED not in notes
    # The pages list it, and count what it has.
    link = f"]({path.relative_to(PUBLISHED)})"
    listed = [line for line in (PUBLISHED / "README.md").read_text().splitlines() if link in line]
    assert listed
    told = [line for line in notes.splitlines() if line.startswith("| found |")]
    absent = sum(case.verdict is Verdict.ABSENT for case in found.cases)
    for said, count in (
        (r"([\d,]+) violations", found.counts.violation),
        (r"in ([\d,]+) cases", len(found.cases)),
        (r"([\d,]+) cases absent", absent),
    ):
        for line in (*listed, *told):
            assert set(re.findall(said, line)) <= {f"{count:,}"}, line


@pytest.mark.parametrize("path", OURS, ids=name)
def test_a_report_on_a_plugin_of_ours(path: Path) -> None:
    found = load(path)
    assert found.suite.version == path.parent.name
    assert found.verdict == "conformant"
    current = found.contract == UNRELEASED or (found.contract, found.suite.catalogue) == RELEASED
    assert current, "the release has other clauses: make the report anew, by step 5 of docs/releasing.md"
    # The command stands in the notes as the report has it.
    assert f"\n{command_line(found.suite.command)}\n" in path.with_name(NOTES_NAME).read_text()


@pytest.mark.parametrize("path", sorted(PUBLISHED.glob("tensorflow-*/*/report.json*")), ids=name)
def test_a_report_on_a_filesystem_of_tensorflow_itself(path: Path) -> None:
    assert f"TensorFlow {path.parts[-2]} and its interface" in load(path).target.runtime
    # What it breaks is explained, cause first; of older releases in the notes of the newest.
    is_newest = path == newest_published(path.parts[-3])
    explains = "| cause | clauses | tried | got |" if is_newest else "(../../history.md)"
    assert explains in path.with_name(NOTES_NAME).read_text()


def test_what_dragonfly_served_is_published() -> None:
    found = load(OURS[-1])
    assert found.counts.not_run == 0
    assert found.services is not None
    grown = {figure.what: figure.bytes for figure in found.services.figures}
    assert grown["bytes that client-b got from its peers (REMOTE_PEER)"] == found.services.size


def test_tables_follow_from_the_reports() -> None:
    text = tables.PAGE.read_text()
    assert [name for name in tables.TABLES if tables.BEGIN.format(name) in text] == ["uses", "releases"]
    assert tables.filled(text, published()) == text


def test_what_a_person_marked_as_lost_is_told_with_how_it_was_seen() -> None:
    marked = [(release, mark) for release in newest(published()) for mark in release.known.loss]
    assert marked
    for release, mark in marked:
        # A mark whose cause no report shows says nothing any more.
        assert any(reason.mark is mark for one in release.decisions for reason in one.reasons), (release.plugin, mark)
        # The notes have the names it speaks of.
        notes = release.path.with_name(NOTES_NAME).read_text()
        assert all(name in notes for name in re.findall("`[^`]+`", mark.says))


#: What the reports say is lost was compared by hand with their cases and notes. Who changes a rule looks again.
LOST = {*(("az", use) for use in ("checkpoints", "logs", "models")), ("hdfs", "checkpoints"),
        ("s3-versitygw", "checkpoints")}  # fmt: skip


def test_nothing_else_is_said_to_be_lost() -> None:
    found = newest(published())
    assert {(one.plugin, d.use) for one in found for d in one.decisions if d.word is Word.LOSES} == LOST
