"""The pages of the site: links, clauses, releases, and what a plugin costs."""

import gzip
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands import output_of
from tests.records import CLAUSES, GOOD, case
from tests.test_suite import newest_published
from tffs_conformance import __version__, reports
from tffs_conformance.reports.document import load
from tffs_conformance.reports.site.guides import found
from tffs_conformance.reports.site.releases import newest, read
from tffs_conformance.reports.site.standing import CLAUSES as CLAUSE_SIGNS
from tffs_conformance.reports.site.standing import standings
from tffs_conformance.reports.site.standing import word as word_of
from tffs_conformance.suite.contract.catalogue import CONTRACT_VERSION
from tffs_conformance.suite.judge.findings import conclude

from .pages import CLONE, Page, all_pages, broken_links, files, made, put, refused, text, words


def test_every_link_leads_somewhere_and_each_page_stands_alone(plain_site: Path) -> None:
    """No id stands twice, the versions are shown, and nothing is loaded or run but the theme's own script."""
    assert broken_links(plain_site) == []
    assert {str(path.relative_to(plain_site)) for path in all_pages(plain_site)} == {
        "index.html", "search.html", "clauses.html", "disputed.html",
        "clauses/init.html", "clauses/read.html", "clauses/stat.html", "clauses/sync.html",
        "plugins/mine/index.html", "plugins/mine/1.9/index.html", "plugins/other/index.html",
    }  # fmt: skip
    for path, page in all_pages(plain_site).items():
        markup = path.read_text(encoding="utf-8")
        assert sorted(set(page.ids)) == sorted(page.ids), path
        assert f"suite {__version__} contract {CONTRACT_VERSION}" in words(markup)
        policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', markup)
        assert policy is not None
        assert policy[1].startswith("default-src 'none'; script-src 'self' file: 'sha256-")
        assert not [link for link in page.loads if "//" in link]
        assert not {name for name in page.attributes if name.startswith("on")}
        assert len(re.findall(r"<script>", markup)) == 1


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
    # A clause has its place when a report with it is published.
    for name in load(newest_published("posix")).clauses:
        op, _, rest = name.partition(".")
        assert rest.replace(".", "-") in Page(site / "clauses" / f"{op}.html").ids, name
    for told in ("posix Yes", "memory Yes, in one process", "tensorflow-io s3 No"):
        assert told in text(site / "index.html")
    assert "Yes, in one process." in text(site / "plugins" / "memory" / "index.html")


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
        _, _, article = (clone / "site" / "docs" / "guide.html").read_text().partition("<article")
        article, _, _ = article.partition("</article>")
        assert "and no footnote[^1]" in article
        return [to for to in re.findall(r'<a class="reference [^"]*" href="([^"]*)"', article) if "gone" not in to]

    to_pages = ["README.html", "#a-guide", "../index.html", "../plugins/mine/1.9/index.html"]
    assert links_of_the_guide() == to_pages
    there = "https://example.org/main"
    assert links_of_the_guide(f"--source={there}/reports/published") == [*to_pages, f"{there}/src/a.cc#L3"]
    captions = re.findall('<span class="caption-text">([^<]*)', (clone / "site" / "index.html").read_text())
    assert captions == ["For platform teams", "For authors"]


@pytest.mark.parametrize("missing", ["markdown_it", "sphinx.application"])
def test_without_its_packages_no_site_is_made(published: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    for name in [name for name in sys.modules if name.startswith("tffs_conformance.reports.site")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(reports, "site", None, raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    assert f"a site needs {missing}" in (said := refused(published))
    assert "pip install 'tffs-conformance[site]'" in said
    assert not (published.parent / "site").exists()


def test_the_newest_release_speaks_for_a_plugin(plain_site: Path) -> None:
    index = text(plain_site / "index.html")
    assert "mine 1.10" in index
    assert "mine 1.9" not in index
    for release in ("mine/1.9", "mine/1.10", "other/2"):
        packed = (plain_site / "plugins" / release / "report.json.gz").read_bytes()
        assert gzip.decompress(packed) == (plain_site.parent / "published" / release / "report.json").read_bytes()
    plugins = plain_site / "plugins"
    assert "The newest release that was judged is 1.10" in text(plugins / "mine" / "1.9" / "index.html")
    # What it costs, where it loads, and what a finding shows.
    page = text(plugins / "mine" / "index.html")
    for words_of_it in (
        "61 s for 2 cases", "0.5 s: read/a", "an/image:1", "from peers 1,234,567", "Loads in TensorFlow 2.2 to 2.3 ",
    ):  # fmt: skip
        assert words_of_it in page
    shown = r"Findings MUST clauses .* read.succeeds 1 check It is so. .* Expected no Got no \(no\)"
    assert re.search(shown, text(plugins / "other" / "index.html"))


def test_a_report_may_be_packed(published: Path, plain_site: Path) -> None:
    path = published / "other" / "2" / "report.json"
    path.with_name("report.json.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    path.unlink()
    assert files(made(published)) == files(plain_site)


def test_plugin_page_lists_its_releases(large_site: Path) -> None:
    assert broken_links(large_site) == []
    page = text(large_site / "plugins" / "mine" / "index.html")
    unknown = " ".join(["? not known"] * 4)
    rows = [f"{version} {unknown} {count} 2.2 to 2.3 0" for version, count in (("1.10", 0), ("1.9", 1), ("1.8", 1))]
    places = [page.index(row) for row in rows]
    assert places == sorted(places)
    # Of one that a runtime brings nothing is said of where it loads, and a long text makes no long page.
    assert "Loads in" not in text(large_site / "plugins" / "own" / "index.html")
    assert (large_site / "plugins" / "long" / "index.html").stat().st_size < 200_000


def test_a_badge_says_the_worst(large_site: Path) -> None:
    badges = {name: (large_site / "plugins" / name / "badge.svg").read_text() for name in ("other", "mine")}
    assert "people s3 2: loses data: checkpoints" in badges["other"]
    assert "mine 1.10: not known" in badges["mine"]
    line = "https://example.org/tffs/plugins/other"
    assert f"({line}/badge.svg)]({line}/index.html)" in text(large_site / "plugins" / "other" / "index.html")


def clause_of(site: Path, name: str) -> str:
    """What the site says of a clause."""
    page = site / "clauses" / f"{name.partition('.')[0]}.html"
    _, _, rest = page.read_text(encoding="utf-8").partition(f'<section id="{name.partition(".")[2]}">')
    return words(rest.partition("</section>")[0])


def test_a_clause_tells_who_keeps_it_and_which_reading(plain_site: Path, large_site: Path) -> None:
    said = clause_of(plain_site, "read.succeeds")
    for part in ("✗ violation other (1)", "✓ conform mine", "for example with other", "read/a"):
        assert part in said
    disputed = clause_of(plain_site, "stat.odd")
    assert "host: that it copes Followed by other" in disputed
    assert "header: this Followed by nobody" in disputed
    assert "needs a power cut" in clause_of(plain_site, "sync.durable")
    # What only an older report has is shown, too.
    assert "It was so." in clause_of(large_site, "old.rule")
    # Those that nobody breaks can be hidden.
    listed = (plain_site / "clauses.html").read_text()
    rows = re.findall(r"<tr( class=\"kept\")?><th scope=\"row\">.*?>([a-z.]+)</a>", listed)
    assert {name: bool(kept) for kept, name in rows} == dict.fromkeys(CLAUSES, True) | {"read.succeeds": False}


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
    (standing,) = [one for one in standings(newest(read(published, conclude))) if one.id == "read.hint"]
    ((_, account),) = [one for one in standing.accounts if one[0].plugin == "part"]
    assert account is not None
    assert f"{CLAUSE_SIGNS[word_of(account)].character} {word_of(account)}" == word
