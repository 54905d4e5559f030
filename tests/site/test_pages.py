"""The pages of the site: links, clauses, releases, and what a plugin costs."""

import gzip
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.commands import output_of
from tests.records import CLAUSES, GOOD, case
from tffs_conformance import __version__, reports
from tffs_conformance.reports.site.about import ABOUT_NAME
from tffs_conformance.reports.site.guides import found
from tffs_conformance.reports.site.releases import newest, read
from tffs_conformance.reports.site.standing import CLAUSES as CLAUSE_SIGNS
from tffs_conformance.reports.site.standing import Standing, standings
from tffs_conformance.reports.site.standing import word as word_of
from tffs_conformance.suite.contract.catalogue import CONTRACT_VERSION, for_report

from .pages import (
    ABOUT,
    CLONE,
    Page,
    all_pages,
    broken_links,
    files,
    made,
    put,
    refused,
    text,
    words,
)


def test_every_link_leads_somewhere_and_no_id_stands_twice(published: Path) -> None:
    site = made(published)
    assert broken_links(site) == []
    assert {str(path.relative_to(site)) for path in all_pages(site)} == {
        "index.html", "search.html", "clauses.html", "disputed.html",
        "clauses/init.html", "clauses/read.html", "clauses/stat.html", "clauses/sync.html",
        "plugins/mine/index.html", "plugins/mine/1.9/index.html", "plugins/other/index.html",
    }  # fmt: skip
    for path, page in all_pages(site).items():
        assert sorted(set(page.ids)) == sorted(page.ids), path


@pytest.mark.nightly
def test_all_that_is_published_and_all_guides_are_one_site(tmp_path: Path) -> None:
    site = tmp_path / "site"
    said = output_of("published", "site", site, f"--published={CLONE / 'reports' / 'published'}")
    # Nothing is wrong in a guide, and no page is left out of the contents.
    assert re.fullmatch(r"written: \S+/index.html and \d+ more files\n", said)
    assert broken_links(site) == []
    assert sum(len(content) for content in files(site).values()) < 15_000_000
    sidebar = Page(site / "README.html").links
    for guide in (CLONE / "docs").glob("*.md"):
        assert f"docs/{guide.stem}.html" in sidebar
    plugins = [f"reference_plugins/{name}/README" for name in ("objectstore", "dragonfly", "fakes")]
    for name in ("CONTRIBUTING", "CHANGELOG", *plugins):
        assert f"{name}.html" in sidebar
    each_clause_has_its_place(site)
    assert "posix Yes" in text(site / "index.html")


#: One worker builds it.
of_some = pytest.mark.xdist_group("site")


@of_some
def test_each_clause_has_its_place(site: Path) -> None:
    each_clause_has_its_place(site)


def each_clause_has_its_place(site: Path) -> None:
    # Those of a condition have none until a report of a run under it is published.
    for name in for_report():
        op, _, rest = name.partition(".")
        assert rest.replace(".", "-") in Page(site / "clauses" / f"{op}.html").ids, name


@of_some
def test_what_ends_with_its_process_is_no_place_for_a_checkpoint(site: Path) -> None:
    assert "memory Only in one process" in text(site / "index.html")
    assert "Only in one process." in text(site / "plugins" / "memory" / "index.html")
    assert "tensorflow-io s3 No" in text(site / "index.html")


def test_no_page_of_the_guides_is_endless() -> None:
    guides = found(CLONE / "reports" / "published")
    assert guides is not None
    lengths = {name: len((CLONE / name).read_text(encoding="utf-8").splitlines()) for name in guides.pages}
    # It is looked up, and printed from the types.
    del lengths["docs/report-keys.md"]
    assert {name: length for name, length in lengths.items() if length > 300} == {}


GUIDE = """# A guide

See [the index](README.md), [itself](#a-guide), [the reports](../reports/published/README.md),
[one](../reports/published/mine/1.9/reproduce.md), [code](../src/a.cc#L3), [gone](gone.md).

<b>Bold</b>, and no footnote[^1].
"""


def test_links_of_guides_lead_to_pages_or_to_the_repository(published: Path) -> None:
    clone = published.parent / "clone"
    for folder in ("tffs_conformance", "docs/images", "src", "reports"):
        (clone / folder).mkdir(parents=True)
    shutil.copytree(published, clone / "reports" / "published")
    written = {
        "README.md": "# Read me", "docs/README.md": "# Index\n\nFor authors:\n\n- [A guide](guide.md)\n- [B](b.md)\n",
        "docs/guide.md": GUIDE, "docs/b.md": "# Another", "reports/published/README.md": "# Reports", "src/a.cc": "",
    }  # fmt: skip
    for name, content in written.items():
        (clone / name).write_text(content)

    def links_of_the_guide(*options: str) -> list[str]:
        said = output_of("published", "site", clone / "site", f"--published={clone / 'reports/published'}", *options)
        # What is wrong is told, and where.
        assert [line.partition("guide.md:")[2] for line in said.splitlines() if "WARNING" in line] == [
            "3: WARNING: 'myst' cross-reference target not found: 'gone.md' [myst.xref_missing]"
        ]
        article = (
            (clone / "site" / "docs" / "guide.html").read_text().partition("<article")[2].partition("</article>")[0]
        )
        assert "and no footnote[^1]" in article
        return [
            link for link in re.findall(r'<a class="reference [^"]*" href="([^"]*)"', article) if "gone" not in link
        ]

    to_pages = ["README.html", "#a-guide", "../index.html", "../plugins/mine/1.9/index.html"]
    assert links_of_the_guide() == to_pages
    there = "https://example.org/main"
    assert links_of_the_guide(f"--source={there}/reports/published") == [*to_pages, f"{there}/src/a.cc#L3"]
    captions = re.findall('<span class="caption-text">([^<]*)', (clone / "site" / "index.html").read_text())
    assert captions == ["Plugins", "The contract", "For authors"]


@pytest.mark.parametrize("missing", ["markdown_it", "sphinx.application"])
def test_without_its_packages_no_site_is_made(published: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    for name in [name for name in sys.modules if name.startswith("tffs_conformance.reports.site")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(reports, "site", None, raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    assert f"a site needs {missing}" in (said := refused(published))
    assert "pip install 'tffs-conformance[site]'" in said
    assert not (published.parent / "site").exists()


def test_the_versions_are_shown(published: Path) -> None:
    for path in all_pages(made(published)):
        assert f"suite {__version__} contract {CONTRACT_VERSION}" in words(path.read_text())


def test_pages_need_no_network_and_run_no_script_but_that_of_the_theme(published: Path) -> None:
    site = made(published)
    for path, page in all_pages(site).items():
        markup = path.read_text(encoding="utf-8")
        policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', markup)
        assert policy is not None
        assert policy[1].startswith("default-src 'none'; script-src 'self' file: 'sha256-")
        assert not [link for link in page.loads if "//" in link]
        assert not {name for name in page.attributes if name.startswith("on")}
        assert len(re.findall(r"<script>", markup)) == 1


def test_the_newest_release_speaks_for_a_plugin(published: Path) -> None:
    site = made(published)
    index = text(site / "index.html")
    assert "mine 1.10" in index
    assert "mine 1.9" not in index
    for release in ("mine/1.9", "mine/1.10", "other/2"):
        packed = (site / "plugins" / release / "report.json.gz").read_bytes()
        assert gzip.decompress(packed) == (published / release / "report.json").read_bytes()
    assert "The newest release that was judged is 1.10" in text(site / "plugins" / "mine" / "1.9" / "index.html")


def test_a_report_may_be_packed(published: Path) -> None:
    before = files(made(published))
    path = published / "other" / "2" / "report.json"
    path.with_name("report.json.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    path.unlink()
    assert files(made(published, out="packed")) == before
    path.with_name("report.json.gz").write_bytes(gzip.compress(b"x" * 99)[:-20])
    assert "breaks off" in refused(published)
    path.with_name("report.json.gz").write_bytes(b"{}")
    assert "cannot be unpacked" in refused(published)


def test_plugin_page_lists_its_releases(published: Path) -> None:
    kept = case("read/b", ("read.succeeds", "conform"))
    put(published, "mine", "1.8", *GOOD, kept, case("sync/a", ("sync.durable", "violation")))
    site = made(published)
    assert broken_links(site) == []
    page = text(site / "plugins" / "mine" / "index.html")
    unknown = " ".join(["? not known"] * 4)
    rows = [f"{version} {unknown} {count} 2.2 to 2.3 0" for version, count in (("1.10", 0), ("1.9", 1), ("1.8", 1))]
    places = [page.index(row) for row in rows]
    assert places == sorted(places)


def test_what_a_finding_shows_is_on_the_page(published: Path) -> None:
    page = text(made(published) / "plugins" / "other" / "index.html")
    assert re.search(r"Findings MUST clauses .* read.succeeds 1 check It is so. .* Expected no Got no \(no\)", page)


def test_a_badge_says_the_worst(published: Path) -> None:
    (published / "other" / ABOUT_NAME).write_text(ABOUT)
    site = made(published, "--url=https://example.org/tffs")
    badge = (site / "plugins" / "other" / "badge.svg").read_text()
    assert "people s3 2: loses data: checkpoints" in badge
    line = "https://example.org/tffs/plugins/other"
    assert f"({line}/badge.svg)]({line}/index.html)" in text(site / "plugins" / "other" / "index.html")
    assert "mine 1.10: not known" in (site / "plugins" / "mine" / "badge.svg").read_text()


def test_what_a_plugin_costs_is_told(published: Path) -> None:
    page = text(made(published) / "plugins" / "mine" / "index.html")
    assert "61 s for 2 cases" in page
    assert "0.5 s: read/a" in page
    assert "an/image:1" in page
    assert "from peers 1,234,567" in page


def clause_of(site: Path, name: str) -> str:
    """What the site says of a clause."""
    page = site / "clauses" / f"{name.partition('.')[0]}.html"
    _, _, rest = page.read_text(encoding="utf-8").partition(f'<section id="{name.partition(".")[2]}">')
    return words(rest.partition("</section>")[0])


def test_a_clause_tells_who_keeps_it_and_which_reading(published: Path) -> None:
    site = made(published)
    kept = clause_of(site, "read.succeeds")
    assert "✗ violation other (1)" in kept
    assert "✓ conform mine" in kept
    assert "for example with other" in kept
    assert "read/a" in kept
    disputed = clause_of(site, "stat.odd")
    assert "host: that it copes Followed by other" in disputed
    assert "header: this Followed by nobody" in disputed
    assert "needs a power cut" in clause_of(site, "sync.durable")


@pytest.mark.parametrize(
    ("verdicts", "word"),
    [
        (("conform", "conform"), "✓ conform"),
        (("conform", "absent"), "(✓) kept in part"),
        (("conform", "not run"), "(✓) kept in part"),
        (("tolerated", "not run"), "(✓) kept in part"),
        (("tolerated", "conform"), "≈ tolerated"),
        (("informational", "absent"), "i informational"),
        (("absent", "not run"), "? not run"),
        (("absent", "absent"), "– absent"),
        (("not run", "warning"), "! warning"),
        (("violation", "warning"), "✗ violation"),
    ],
)
def test_what_was_not_tried_hides_nothing_and_is_not_hidden(
    verdicts: tuple[Any, ...], word: str, published: Path
) -> None:
    made_of = [case(f"read/{n}", ("read.hint", verdict)) for n, verdict in enumerate(verdicts)]
    put(published, "part", "1", *GOOD, *made_of)
    ((_, account),) = [one for one in standing(published, "read.hint").accounts if one[0].plugin == "part"]
    assert account is not None
    assert f"{CLAUSE_SIGNS[word_of(account)].character} {word_of(account)}" == word


def standing(published: Path, clause: str) -> Standing:
    return next(one for one in standings(newest(read(published))) if one.id == clause)


def test_where_a_plugin_loads_is_told(published: Path) -> None:
    assert "Loads in TensorFlow 2.2 to 2.3 " in text(made(published) / "plugins" / "mine" / "index.html")
    put(published, "own", "1", plugin="--scheme=ram")
    assert "Loads in" not in text(made(published) / "plugins" / "own" / "index.html")


def test_clauses_that_nobody_breaks_can_be_hidden(published: Path) -> None:
    rows = re.findall(
        r"<tr( class=\"kept\")?><th scope=\"row\">.*?>([a-z.]+)</a>", (made(published) / "clauses.html").read_text()
    )
    assert {name: bool(kept) for kept, name in rows} == dict.fromkeys(CLAUSES, True) | {"read.succeeds": False}


def test_what_only_an_older_report_has_is_shown(published: Path) -> None:
    dropped = CLAUSES | {"old.rule": replace(CLAUSES["read.hint"], rule="It was so.")}
    put(published, "third", "1", clauses=dropped, started="2025-01-01T00:00:00+00:00")
    assert "It was so." in clause_of(made(published), "old.rule")
