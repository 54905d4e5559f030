"""The folder of a site: what is written, what is left alone, and what is refused."""

import re
import shutil
from pathlib import Path, PurePosixPath

import pytest

from tests.records import CLAUSES, GOOD, case, report_of
from tffs_conformance.reports.document import write
from tffs_conformance.reports.site.folder import MARKER

from .pages import broken_links, files, made, put, refused


@pytest.fixture
def earlier(published: Path, plain_site: Path) -> Path:
    """A site of the same reports, where the next one goes."""
    return Path(shutil.copytree(plain_site, published.parent / "site"))


def test_the_same_reports_make_the_same_site(published: Path, earlier: Path) -> None:
    first = files(earlier)
    assert files(made(published)) == first
    assert files(made(published, out="again")) == first


def test_a_site_is_replaced_and_what_others_put_there_stays(published: Path, earlier: Path) -> None:
    (earlier / "CNAME").write_text("example.org")
    (earlier / "plugins" / "other" / "mine.txt").write_text("mine")
    (published / "other" / "2" / "report.json").unlink()
    made(published)
    left = {name for name in files(earlier) if name.startswith("plugins/other/")}
    assert left == {"plugins/other/mine.txt"}
    assert not (earlier / "plugins" / "other" / "2").exists()
    assert (earlier / "CNAME").read_text() == "example.org"
    assert broken_links(earlier) == []


def test_a_folder_that_is_no_site_is_refused_and_left_alone(published: Path) -> None:
    (published.parent / "site").mkdir()
    (published.parent / "site" / "thesis.tex").write_text("years of work")
    assert "is not empty, and no site" in refused(published)
    assert files(published.parent / "site") == {"thesis.tex": b"years of work"}
    (published.parent / "file").write_text("")
    assert "is no folder" in refused(published, out="file")


def test_nothing_outside_of_the_folder_is_removed(published: Path, earlier: Path) -> None:
    outside = published.parent / "outside.txt"
    outside.write_text("outside")
    (earlier / "away").symlink_to(published.parent)
    names = ("../outside.txt", str(outside), "plugins/../../outside.txt", "away/outside.txt")
    (earlier / MARKER).write_text("\n".join(names))
    made(published)
    assert outside.read_text() == "outside"


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
    place = published / "other" / "2"
    write(report_of(*GOOD, left_out="--clause=x"), place)
    assert re.search(r"other.2.report\.json: the report is not of a whole run: --clause=x", refused(published))
    path = place / "report.json"
    path.write_text(path.read_text()[:-40])
    assert "breaks off" in refused(published)
    assert not (published.parent / "site").exists()


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


def test_without_reports_or_an_address_nothing_is_written(published: Path) -> None:
    assert "--source" in refused(published, "--source=javascript:alert(1)", code=2)
    (published.parent / "empty").mkdir()
    assert "has no published report" in refused(published.parent / "empty")
    assert not (published.parent / "site").exists()
