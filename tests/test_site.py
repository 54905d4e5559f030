"""The site of the published reports: pages, links, what is escaped, what is refused, and that nothing else changes."""

import gzip
import json
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
from msgspec.structs import replace

from tests.commands import output_of
from tests.records import CLAUSES, GOOD, HEADER, case, record, report_of
from tffs_conformance import __version__
from tffs_conformance.reports.document import write
from tffs_conformance.reports.model.header import ClauseFacts, digest
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.services import Figure, Figures
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.reports.plain import plain
from tffs_conformance.reports.publish import NOTES_NAME
from tffs_conformance.reports.site.about import ABOUT_NAME
from tffs_conformance.reports.site.folder import MARKER
from tffs_conformance.reports.site.guides import found
from tffs_conformance.reports.site.releases import newest, read
from tffs_conformance.reports.site.standing import CLAUSES as CLAUSE_SIGNS
from tffs_conformance.reports.site.standing import Standing, standings
from tffs_conformance.reports.site.standing import word as word_of
from tffs_conformance.suite.contract.catalogue import CONTRACT_VERSION, catalogue

CLONE = Path(__file__).parent.parent
HOSTILE = "</script></style><img src=x onerror=alert(1)>\"'`{{ 7919*7907 }}\x1b[31m\u202e\u2028\x00\udcff&amp;"
SIGNS_OF_IT = re.compile("<img|\x1b|\u202e|\u2028|\x00|\udcff|62615533")


def put(
    folder: Path,
    name: str,
    version: str,
    *cases: CaseRecord,
    clauses: dict[str, ClauseFacts] = CLAUSES,
    notes: str | None = "# A plugin",
    started: str = "2026-01-01T00:00:00+00:00",
    says: str = "mine",
    plugin: str = "--plugin=mine.so",
    **more: object,
) -> Path:
    """A published report; `says` stands for each text that somebody else gives."""
    suite = replace(HEADER.suite, started=started, catalogue=digest(plain(clauses)), command=("pytest", plugin, says))
    target = replace(HEADER.target, name=says, plugin=says, scheme=says, runtime=says)
    place = folder / name / version
    place.mkdir(parents=True)
    report = report_of(*cases or GOOD, suite=suite, target=target, clauses=clauses, duration=61)
    if notes is not None:
        (place / NOTES_NAME).write_text(notes, encoding="utf-8", errors="surrogateescape")
    return write(replace(report, **more), place)


def broken(says: str = "no") -> CaseRecord:
    checks = [
        CheckRecord("read.succeeds", Verdict.VIOLATION, says, says, plugin_said=says),
        CheckRecord("stat.odd", Verdict.TOLERATED, says, says, reading="host"),
    ]
    return record("read/b", Verdict.VIOLATION, *checks, stimulus=says, ops=(says,), output=says, reason=says)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Two plugins, one of them with two releases, of which the older one has a clause less."""
    folder = tmp_path / "published"
    measured = Figures(images=("an/image:1",), size=4096, figures=(Figure("from peers", 1234567),), failure=None)
    old = {name: facts for name, facts in CLAUSES.items() if name != "read.hint"}
    put(folder, "mine", "1.9", *GOOD, broken(), clauses=old)
    put(folder, "mine", "1.10", *GOOD, started="2026-02-01T00:00:00+00:00", services=measured)
    put(folder, "other", "2", *GOOD, broken(), notes=None, clauses=old)
    return folder


def made(published: Path, *arguments: str, out: str = "site", code: int = 0) -> Path:
    folder = published.parent / out
    output_of("published", "site", folder, f"--published={published}", *arguments, code=code)
    return folder


def refused(published: Path, *arguments: str, out: str = "site", code: int = 1) -> str:
    done = output_of("published", "site", published.parent / out, f"--published={published}", *arguments, code=code)
    *_, sentence = done.splitlines()
    assert sentence.startswith("Error: ")
    return sentence


class Page(HTMLParser):
    """What a test asks of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.loads: list[str] = []
        self.attributes: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src") and tag != "use":
                (self.links if tag == "a" else self.loads).append(value or "")


def all_pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def text(path: Path) -> str:
    """The words of a page, without its contents and its markup."""
    (article,) = re.findall(r"<article.*?</article>", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return words(article)


def words(markup: str) -> str:
    without_marks = re.sub(r'<a class="headerlink".*?</a>', "", markup)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", without_marks))


def broken_links(site: Path) -> list[tuple[str, str]]:
    pages = all_pages(site)
    wrong = []
    for path, page in pages.items():
        for link in [*page.links, *page.loads]:
            if link.startswith(("https://", "#")) and (link[:1] != "#" or link == "#"):
                continue
            file, fragment = urldefrag(link)
            target = (path.parent / unquote(file.partition("?")[0])).resolve() if file else path
            inside = target.is_relative_to(site.resolve()) and target.is_file()
            if not inside or (fragment and unquote(fragment) not in pages[target].ids):
                wrong.append((str(path.relative_to(site)), link))
    return wrong


# pages ---------------------------------------------------------------------------------------------------------------


def test_every_link_leads_somewhere_and_no_id_stands_twice(published: Path) -> None:
    site = made(published)
    assert broken_links(site) == []
    assert {str(path.relative_to(site)) for path in all_pages(site)} == {
        "index.html", "releases.html", "search.html", "clauses.html", "disputed.html",
        "clauses/init.html", "clauses/read.html", "clauses/stat.html", "clauses/sync.html",
        "plugins/mine/index.html", "plugins/mine/1.9/index.html", "plugins/other/index.html",
    }  # fmt: skip
    for path, page in all_pages(site).items():
        assert sorted(set(page.ids)) == sorted(page.ids), path


def test_a_broken_link_would_be_found(published: Path) -> None:
    site = made(published)
    (site / "clauses" / "stat.html").unlink()
    assert ("disputed.html", "clauses/stat.html#odd") in broken_links(site)
    page = site / "index.html"
    page.write_text(page.read_text() + "<a href='clauses.html#nowhere'>x</a>")
    assert ("index.html", "clauses.html#nowhere") in broken_links(site)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The site of this repository, and what the command said of it."""
    site = tmp_path_factory.mktemp("whole") / "site"
    return site, output_of("published", "site", site, f"--published={CLONE / 'reports' / 'published'}")


def test_all_that_is_published_and_all_guides_are_one_site(whole: tuple[Path, str]) -> None:
    site, said = whole
    # Nothing is wrong in a guide, and no page is left out of the contents.
    assert re.fullmatch(r"written: \S+/index.html and \d+ more files\n", said)
    assert broken_links(site) == []
    assert sum(len(content) for content in files(site).values()) < 15_000_000
    sidebar = Page(site / "README.html").links
    for guide in (CLONE / "docs").glob("*.md"):
        assert f"docs/{guide.stem}.html" in sidebar
    for name in ("CONTRIBUTING", "CHANGELOG", "reference_plugins/dragonfly/README", "reference_plugins/fakes/README"):
        assert f"{name}.html" in sidebar


def test_each_clause_has_its_place(whole: tuple[Path, str]) -> None:
    site, _ = whole
    for name in catalogue():
        op, _, rest = name.partition(".")
        assert rest.replace(".", "-") in Page(site / "clauses" / f"{op}.html").ids, name


def test_what_ends_with_its_process_is_no_place_for_a_checkpoint(whole: tuple[Path, str]) -> None:
    site, _ = whole
    assert "memory Only in one process" in text(site / "index.html")
    assert "Only in one process." in text(site / "plugins" / "memory" / "index.html")
    assert "posix Yes" in text(site / "index.html")


def test_no_page_of_the_guides_is_endless() -> None:
    guides = found(CLONE / "reports" / "published")
    assert guides is not None
    lengths = {name: len((CLONE / name).read_text(encoding="utf-8").splitlines()) for name in guides.pages}
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


def test_without_its_packages_no_site_is_made(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tffs_conformance.reports.site.book", raising=False)
    monkeypatch.setitem(sys.modules, "sphinx.application", None)
    assert "pip install 'tffs-conformance[site]'" in refused(published)
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


def test_releases_are_a_matrix_and_what_changed_is_told(published: Path) -> None:
    put(published, "mine", "1.8", *GOOD, case("sync/a", ("sync.durable", "violation")))
    site = made(published)
    assert broken_links(site) == []
    page = text(site / "plugins" / "mine" / "index.html")
    unknown = " ".join(["? not known"] * 4)
    rows = [f"{version} {unknown} {count} 2.2 to 2.3 0" for version, count in (("1.10", 0), ("1.9", 1), ("1.8", 1))]
    for shown in (page, text(site / "releases.html")):
        places = [shown.index(row) for row in rows]
        assert places == sorted(places)
    assert "1.9 to 1.10 mended (1): read.succeeds" in page
    # Of what the older one did not look at, or the newer one not, nobody knows when it changed.
    assert re.search(
        r"1\.8 to 1\.9 broke \(1\): read.succeeds broken before, and not looked at in 1\.9 \(1\): sync.durable", page
    )


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


# what a person decides by --------------------------------------------------------------------------------------------

ABOUT = """name = "people s3"
storage = "objects in a store"
likely = "Likely with other stores."

[[loss]]
use = "checkpoints"
clause = "read.succeeds"
case = "read/b"
says = "Renaming `ckpt-1` loses `ckpt-10`."
seen = "Seen in a log."
"""


def test_a_page_begins_with_what_a_person_decides_by(published: Path) -> None:
    (published / "other" / ABOUT_NAME).write_text(ABOUT)
    (published / "mine" / ABOUT_NAME).write_text(ABOUT.replace("people s3", "other people s3"))
    site = made(published)
    assert broken_links(site) == []
    page = text(site / "plugins" / "other" / "index.html")
    told = ("people s3", "Seen with release 2 on objects in a store. Likely with other stores.",
            "May a training run use it?",
            "No: loses data.", "datasets ? not known", "checkpoints ✗ loses data",
            "Renaming ckpt-1 loses ckpt-10 . Seen in a log. read.succeeds in read/b", "logs ? not known",
            "models ? not known", "not conformant")  # fmt: skip
    places = [page.index(one) for one in told]
    assert places == sorted(places)
    # The newest release of the other has the same mark, and nothing broken: what was mended is not held against it.
    assert "Nobody knows." in text(site / "plugins" / "mine" / "index.html")
    index = text(site / "index.html")
    lost = "people s3 No: loses data Renaming ckpt-1 loses ckpt-10 ."
    unknown = "other people s3 Nobody knows"
    assert f"{lost} datasets ? not known checkpoints ✗ loses data logs ? not known models ? not known" in index
    assert index.index(lost) < index.index(unknown) < index.index("not conformant")


def test_a_plugin_of_which_nobody_wrote_has_the_name_of_its_folder(published: Path) -> None:
    page = text(made(published) / "plugins" / "other" / "index.html")
    assert re.search(r"other Seen with release 2\. ", page)


@pytest.mark.parametrize(
    "wrong", ["name = 1", "storage = 'x'", "name = 'x'\nnames = 'y'", "name = ", "name = '\udcff'"]
)
def test_what_is_wrong_about_a_plugin_is_refused(wrong: str, published: Path) -> None:
    (published / "other" / ABOUT_NAME).write_text(wrong, errors="surrogateescape")
    assert f"other/{ABOUT_NAME}: " in refused(published)


# notes ---------------------------------------------------------------------------------------------------------------

NOTES = """# The *best* `plugin`

## First

See [the report](report.json), [others](../../other/2/reproduce.md), [these](./reproduce.md#x),
[code](../../../../third_party/a.cc), [gone](../3/report.json), [web](https://example.org/a?b=c&d),
<https://example.org>, [bad](javascript:alert(1)), [odd](ftp://x), [away](//example.org/x), [top](#top), ![a picture](https://example.org/x.png).

| a | b |
|---|---|
| `x` | <b>bold</b> |

```sh
pytest --plugin=mine.so <img src=x onerror=alert(1)>
```
"""


def notes_of(site: Path, release: str) -> str:
    return (site / "plugins" / release / "index.html").read_text(encoding="utf-8")


def test_notes_are_shown_with_links_that_lead_somewhere(published: Path) -> None:
    (published / "mine" / "1.10" / NOTES_NAME).write_text(NOTES)
    site = made(published)
    assert broken_links(site) == []
    assert "The best plugin" in text(site / "plugins" / "mine" / "index.html")
    put(published, "mine", "2", *GOOD)
    for page, up in (("mine", "../../"), ("mine/1.10", "../../../")):
        site = made(published) if page != "mine" else site
        shown = notes_of(site, page)
        assert re.search(r"<h3>First<", shown)
        found = re.findall(r'<a href="([^"]*)">(the report|others|these|code|gone|web|bad|odd|away|top)</a>', shown)
        assert found == [
            (f"{up}plugins/mine/1.10/report.json.gz", "the report"),
            (f"{up}plugins/other/index.html", "others"),
            (f"{up}plugins/{page}/index.html", "these"),
            ("https://example.org/a?b=c&amp;d", "web"),
        ]
        assert "&lt;b&gt;bold&lt;/b&gt;" in shown
        assert '<pre tabindex="0">' in shown


def test_with_the_address_of_the_repository_notes_lead_there(published: Path) -> None:
    (published / "mine" / "1.10" / NOTES_NAME).write_text(NOTES)
    site = made(published, "--source=https://example.org/blob/main/reports/published/")
    assert '<a href="https://example.org/blob/main/third_party/a.cc">code</a>' in notes_of(site, "mine")
    assert broken_links(site) == []


def test_without_notes_the_page_says_so(published: Path) -> None:
    assert "Nobody has written notes" in text(made(published) / "plugins" / "other" / "index.html")


# escaping ------------------------------------------------------------------------------------------------------------


def test_what_a_plugin_says_is_text_everywhere(published: Path) -> None:
    facts = {
        name: replace(clause, rule=HOSTILE, source=(HOSTILE,), check=HOSTILE, tensorflow=HOSTILE)
        for name, clause in CLAUSES.items()
    }
    services = Figures(images=(HOSTILE,), size=1, figures=(Figure(HOSTILE, 1),), failure=None)
    with_markup = [*GOOD, broken(HOSTILE)]
    notes = f"# {HOSTILE}\n\n```\n{HOSTILE}\n```"
    put(
        published,
        "hostile",
        "1",
        *with_markup,
        clauses=facts,
        says=HOSTILE,
        notes=HOSTILE,
        services=services,
        reason=HOSTILE,
    )
    words = {"name": HOSTILE, "storage": HOSTILE, "likely": HOSTILE}
    loss = {"use": "logs", "clause": "read.succeeds", "case": "read/b", "says": f"`{HOSTILE}`", "seen": HOSTILE}
    about = "".join(f"{key} = {json.dumps(value)}\n" for key, value in words.items()) + "[[loss]]\n"
    about += "".join(f"{key} = {json.dumps(value)}\n" for key, value in loss.items())
    (published / "hostile" / ABOUT_NAME).write_text(about.replace("\\udcff", ""))
    failed = Figures(images=(), size=1, figures=(), failure=HOSTILE)
    put(published, "hostile", "2", *with_markup, clauses=facts, says=HOSTILE, notes=notes, services=failed)
    put(published, "latest", "1", clauses=facts, services=services, started="2027-01-01T00:00:00+00:00")
    site = made(published)
    assert broken_links(site) == []
    for path in sorted(site.rglob("*.html")):
        shown = path.read_text(encoding="utf-8").replace('<img src="../../plugins/', "")
        assert not SIGNS_OF_IT.search(shown), path
    for name, content in files(site).items():
        # The index of the search has names as they are; tests/browser looks at what it shows of them.
        if name.endswith((".svg", ".js")) and name != "searchindex.js":
            assert not SIGNS_OF_IT.search(content.decode()), name
    assert "&lt;img src=x onerror=alert(1)&gt;" in (site / "clauses" / "read.html").read_text()


def test_a_long_text_makes_no_long_page(published: Path) -> None:
    put(published, "long", "1", says="M" * 2_000_000)
    assert (made(published) / "plugins" / "long" / "index.html").stat().st_size < 200_000


# the folder ----------------------------------------------------------------------------------------------------------


def files(site: Path) -> dict[str, bytes]:
    return {str(path.relative_to(site)): path.read_bytes() for path in sorted(site.rglob("*")) if path.is_file()}


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


# what is refused -----------------------------------------------------------------------------------------------------


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
