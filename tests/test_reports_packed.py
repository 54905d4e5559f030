"""Packed reports: small, read like any other, and what is wrong with one is named."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import output_of
from tests.records import GOOD, report_of
from tffs_conformance.reports import packed
from tffs_conformance.reports.document import load, write, write_packed
from tffs_conformance.reports.errors import AlteredReportError, NotAReportError, ReportError, TruncatedReportError
from tffs_conformance.reports.model.report import PACKED_NAME
from tffs_conformance.reports.publish import NOTES_NAME, publish
from tffs_conformance.reports.site.releases import read
from tffs_conformance.suite.judge.findings import conclude


def test_a_packed_report_is_read_like_any_other(tmp_path: Path) -> None:
    found = report_of(*GOOD)
    path = write_packed(found, tmp_path)
    assert path.name == PACKED_NAME
    assert load(path) == found
    assert gzip.decompress(path.read_bytes()) == write(found, tmp_path).read_bytes()
    # The same report gives the same bytes: no time is in it.
    (tmp_path / "again").mkdir()
    assert write_packed(found, tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda raw: raw[:-9], TruncatedReportError),
        (lambda _: b"", ReportError),
        (lambda _: b"{}", NotAReportError),
        (lambda raw: raw[:10] + b"\xff" * 40, NotAReportError),
        (lambda _: gzip.compress(b"hello"), NotAReportError),
        (lambda raw: gzip.compress(gzip.decompress(raw).replace(b'"read/a"', b'"read/z"')), AlteredReportError),
    ],
    ids=["cut", "empty", "not-packed", "damaged", "something-else", "altered"],
)
def test_a_damaged_packed_report_is_named(
    change: Callable[[bytes], bytes], error: type[ReportError], tmp_path: Path
) -> None:
    path = write_packed(report_of(*GOOD), tmp_path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(error) as raised:
        load(path)
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_a_short_file_with_very_much_in_it_is_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_MOST", 1 << 20)
    (tmp_path / PACKED_NAME).write_bytes(gzip.compress(b" " * (2 << 20)))
    with pytest.raises(NotAReportError, match="more than 1 MiB"):
        load(tmp_path / PACKED_NAME)


def test_published_report_replaces_unpacked_one(tmp_path: Path) -> None:
    place = tmp_path / "mine" / "1"
    place.mkdir(parents=True)
    write(report_of(*GOOD), place)
    assert [one.path.name for one in read(tmp_path, conclude)["mine"]] == ["report.json"]
    assert publish(conclude(report_of(*GOOD)), tmp_path, "mine", "1") == [place / PACKED_NAME, place / NOTES_NAME]
    assert [one.path.name for one in read(tmp_path, conclude)["mine"]] == [PACKED_NAME]


def test_commands_read_packed_reports(tmp_path: Path) -> None:
    path = write_packed(report_of(*GOOD), tmp_path)
    assert "conformant" in output_of("report", "show", path, code=0)
    assert "nothing is broken that was not" in output_of("report", "compare", path, path, code=0)
    assert "written: " in output_of("report", "render", "--badge", path, code=0)
    assert "1 part written" in output_of("report", "merge", tmp_path / "merged", path, code=0)
