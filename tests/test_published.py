"""The reports that are published with the suite: whole, unaltered, explained, and of runs that left nothing out."""

import fnmatch
import functools
import re
import shlex
from pathlib import Path

import pytest

from tests.test_suite import PUBLISHED, newest_published
from tests.test_versions import RELEASED, UNRELEASED
from tffs_conformance.reports.document import load
from tffs_conformance.reports.escape import command_line
from tffs_conformance.reports.model.report import PACKED_NAME
from tffs_conformance.reports.model.uses import USES, Use, Word
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.reports.packed import contents
from tffs_conformance.reports.publish import NOTES_NAME, hold
from tffs_conformance.reports.reproduce import UNCONFIRMED
from tffs_conformance.reports.site.releases import Release, read
from tffs_conformance.suite.judge.findings import conclude
from third_party import judge, tables

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
    # Of a target of third_party/ it has the plugin and the command that belong to the release.
    *_, plugin, version, _ = path.parts
    if plugin in judge.names() and (target := judge.read(plugin, version)).file.library:
        assert (path.parent, found.target.plugin) == (judge.CLONE / target.published, str(target.shared_object))
        assert shlex.join(target.command) in notes
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


#: Words of notes that speak of a use.
SPEAKS = {Use.DATA_SETS: "training data|records", Use.CHECKPOINTS: "ckpt|checkpoint|state file", Use.LOGS: "events",
          Use.MODELS: "model"}  # fmt: skip


def causes(notes: str) -> dict[int, str]:
    """The causes that notes confirm, by their numbers: a section of each, or a row of a table."""
    parts = re.split(r"^(?:##|\|) (\d+) ", notes, flags=re.MULTILINE)
    return {int(note): text.partition("\n## ")[0] for note, text in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.mark.parametrize("plugin", sorted(path.name for path in PUBLISHED.iterdir() if path.is_dir()))
def test_each_confirmed_cause_is_in_its_uses(plugin: str) -> None:
    release = published()[plugin][0]
    noted = causes(release.path.with_name(NOTES_NAME).read_text())
    touched = {one.note: {*one.loses, *one.breaks} for one in release.known.cause}
    untouched = [int(note) for note, why in release.known.untouched.items() if why]
    assert sorted([*touched, *untouched]) == sorted(noted), (
        f"{plugin}/about.toml: name each cause of the notes once, with the uses that it touches or why it touches none"
    )
    # Nothing else is lost.
    lost = {use for one in release.known.cause for use in one.loses}
    assert {one.use for one in release.decisions if one.word is Word.LOSES} == lost
    shown = {(reason.note, one.use) for one in release.decisions for reason in one.reasons if reason.note}
    assert shown == {(note, use) for note, uses in touched.items() for use in uses}
    broken = {name for name, one in release.report.clauses.items() if one.counts.violation or one.counts.warning}
    for note, text in noted.items():
        named = re.findall(r"`([\w*]+\.[\w*-]+)`", text)
        clauses = {clause for clause in broken for name in named if fnmatch.fnmatchcase(clause, name)}
        assert {one.clause for one in release.known.cause if one.note == note} - {None} <= clauses, note
        rules = [(use, one) for use, its in USES.items() for one in its.rules if not one.expected]
        uses = {use for use, one in rules if one.clause in clauses}
        uses |= {use for use, words in SPEAKS.items() if re.search(words, text)}
        assert uses <= touched.get(note, set()), f"{plugin}: cause {note} touches another use by its clauses or words"
