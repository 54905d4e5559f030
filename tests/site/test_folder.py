"""The folder of a site: what is written, what is left alone, and what is refused."""

import re
from pathlib import Path, PurePosixPath

import pytest

from tests.records import CLAUSES, GOOD, case, report_of
from tffs_conformance.reports.document import write
from tffs_conformance.reports.site.folder import MARKER

from .pages import broken_links, files, made, put, refused


def test_the_same_reports_make_the_same_site(published: Path) -> None:
    first = files(made(published))
    assert files(made(published, out="again")) == first
    assert files(made(published)) == first


def test_a_site_is_replaced_and_what_others_put_there_stays(published: Path) -> None:
    site = made(published)
    (site / "CNAME").write_text("example.org")
    (site / "plugins" / "other" / "mine.txt").write_text("mine")
    (published / "other" / "2" / "report.json").unlink()
    made(published)
    left = {name for name in files(site) if name.startswith("plugins/other/")}
    assert left == {"plugins/other/mine.txt"}
    assert not (site / "plugins" / "other" / "2").exists()
    assert (site / "CNAME").read_text() == "example.org"
    assert broken_links(site) == []


def test_a_folder_that_is_no_site_is_refused_and_left_alone(published: Path) -> None:
    (published.parent / "site").mkdir()
    (published.parent / "site" / "thesis.tex").write_text("years of work")
    assert "is not empty, and no site" in refused(published)
    assert files(published.parent / "site") == {"thesis.tex": b"years of work"}
    (published.parent / "file").write_text("")
    assert "is no folder" in refused(published, out="file")


@pytest.mark.parametrize("name", ["../kept.txt", "/kept.txt", "plugins/../../kept.txt", "away/kept.txt"])
def test_nothing_outside_of_the_folder_is_removed(name: str, published: Path) -> None:
    kept = published.parent / "kept.txt"
    kept.write_text("kept")
    site = made(published)
    (site / "away").symlink_to(published.parent)
    names = [name.replace("/kept.txt", str(kept)) if name == "/kept.txt" else name]
    (site / MARKER).write_text("\n".join(names))
    made(published)
    assert kept.read_text() == "kept"


def test_nothing_is_written_through_a_link(published: Path) -> None:
    site, elsewhere = published.parent / "site", published.parent / "elsewhere"
    elsewhere.mkdir()
    site.mkdir()
    (site / MARKER).touch()
    (site / "clauses").symlink_to(elsewhere)
    assert "a link leads elsewhere" in refused(published)
    assert list(elsewhere.iterdir()) == []
    (site / MARKER).unlink()
    (site / MARKER).symlink_to(elsewhere / "x")
    assert "no site" in refused(published)


def test_what_is_not_published_whole_is_refused(published: Path) -> None:
    part = report_of(*GOOD, left_out="--clause=x")
    write(part, published / "other" / "2")
    assert re.search(r"other.2.report\.json: the report is not of a whole run: --clause=x", refused(published))
    assert not (published.parent / "site").exists()


def test_a_damaged_report_is_refused(published: Path) -> None:
    path = published / "other" / "2" / "report.json"
    path.write_text(path.read_text()[:-40])
    assert "breaks off" in refused(published)


@pytest.mark.parametrize(
    "place", [PurePosixPath("loose"), PurePosixPath("a/b/c"), PurePosixPath("a#b/1"), PurePosixPath(".")]
)
def test_a_report_in_the_wrong_place_is_refused(place: PurePosixPath, published: Path) -> None:
    (published / place).mkdir(parents=True, exist_ok=True)
    (published / place / "report.json").write_bytes((published / "other" / "2" / "report.json").read_bytes())
    assert "is not at PLUGIN/VERSION/report.json" in refused(published)


def test_a_clause_that_can_be_no_file_is_refused(published: Path) -> None:
    evil = CLAUSES | {"../../evil": CLAUSES["read.hint"]}
    put(published, "evil", "1", case("read/a", ("read.succeeds", "conform")), clauses=evil)
    assert "'../../evil' is no id of a clause" in refused(published)


def test_a_folder_without_reports_is_refused(tmp_path: Path) -> None:
    (tmp_path / "published").mkdir()
    assert "has no published report" in refused(tmp_path / "published")


def test_what_is_no_address_is_refused(published: Path) -> None:
    assert "--source" in refused(published, "--source=javascript:alert(1)", code=2)
    assert not (published.parent / "site").exists()
