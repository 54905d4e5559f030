"""The site as a browser shows it: for everybody, without a mouse, on a phone and in the dark, and its search."""

import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.browser.conftest import PATIENCE, Opener, complaints, press_until, wait_until
from tests.commands import output_of

CLONE = Path(__file__).parents[2]
#: One worker builds it.
pytestmark = pytest.mark.xdist_group("site")
#: One page of each kind.
PAGES = (
    "index.html", "search.html", "clauses.html", "disputed.html", "clauses/read.html", "plugins/dragonfly/index.html",
    "plugins/s3-versitygw/index.html", "plugins/s3-versitygw/0.35.0/index.html", "README.html",
    "docs/start.html", "docs/report-keys.html",
)  # fmt: skip
SCREEN = {"viewport": {"width": 1400, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}}

#: Its address.
SITE = "http://site.invalid/"


@pytest.fixture
def opened(new_page: Opener, site: Path) -> Opener:
    """Open a page of the site, by its place in there.

    No server is asked: where a network of docker comes or goes, Chromium breaks its connections.
    """

    def answer(route: Any) -> None:
        place = site / unquote(urlsplit(route.request.url).path).lstrip("/")
        route.fulfill(path=place) if place.is_file() else route.fulfill(status=404)

    def open_(address: str, **options: Any) -> Any:
        page = new_page(lambda asked: asked.startswith((SITE, "data:")), **(SCREEN | options))
        page.route(f"{SITE}**", answer)
        page.goto(SITE + address)
        return page

    return open_


#: Each page is looked at in one of the first two ways for every change, and in the three others at night.
WAYS = {
    "light-screen": ("light", SCREEN),
    "dark-phone": ("dark", PHONE),
    "light-phone": ("light", PHONE),
    "dark-screen": ("dark", SCREEN),
}
LOOKS = [
    pytest.param(page, *way, id=f"{page}-{name}", marks=() if at == number % 2 else pytest.mark.nightly)
    for number, page in enumerate(PAGES)
    for at, (name, way) in enumerate(WAYS.items())
]


@pytest.mark.parametrize(("page", "scheme", "size"), LOOKS)
def test_nothing_stands_in_anybodys_way(page: str, scheme: str, size: dict[str, Any], opened: Opener) -> None:
    shown = opened(page, color_scheme=scheme, **size)
    assert shown.evaluate("document.documentElement.scrollWidth") <= size["viewport"]["width"]
    assert complaints(shown) == []


@pytest.mark.parametrize("size", [SCREEN, PHONE], ids=["screen", "phone"])
def test_the_first_screen_says_whether_a_training_run_may_use_s3(size: dict[str, Any], opened: Opener) -> None:
    page = opened("index.html", **size)
    row = page.locator(".answers li", has=page.get_by_text("tensorflow-io s3", exact=True))
    for words in ("No", "Renaming ckpt-1 loses ckpt-10.", "After one answer 503", "checkpoints"):
        place = row.get_by_text(words).first.bounding_box()
        assert place["y"] + place["height"] <= size["viewport"]["height"], words


@pytest.mark.parametrize(
    ("asked", "found", "leads_to"),
    [
        ("read.short-read-is-out-of-range", "read.short-read-is-out-of-range", "read.html#short-read-is-out-of-range"),
        ("green gate", "green gate", "docs/start"),
        ("tensorflow-io s3", "tensorflow-io s3", "plugins/s3-versitygw/index.html"),
        ("renaming loses", "May a training run use it?", "index.html"),
    ],
)
def test_the_search_finds(asked: str, found: str, leads_to: str, opened: Opener) -> None:
    page = opened("docs/wire.html")
    page.get_by_role("textbox", name="Search").fill(asked)
    page.keyboard.press("Enter")
    first = page.locator("#search-results li a").first
    assert found in first.inner_text()
    assert leads_to in str(first.get_attribute("href"))
    # It has looked at all pages, and shown what they say. Older releases are none of them.
    wait_until(page, "document.querySelector('.search-summary').textContent.includes('finished')")
    assert page.locator("#search-results a[href*='/0.']").count() == 0
    wait_until(page, "document.querySelector('#search-results li p.context') !== null")


def test_the_index_leaves_out_what_does_not_load(opened: Opener) -> None:
    page = opened("index.html")
    entries = page.locator(".answers li:visible")
    every = entries.count()
    page.get_by_label("Only what loads in TensorFlow").select_option("2.18.0")
    shown = " ".join(entries.all_inner_texts())
    assert ("tensorflow-io s3" in shown, "dragonfly" in shown) == (False, True)
    page.get_by_label("Only what loads in TensorFlow").select_option("any")
    assert entries.count() == every


def test_the_search_needs_no_server(chromium: Any, site: Path) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto((site / "search.html").as_uri() + "?q=stat.agrees")
    page.locator("#search-results li a").first.wait_for(timeout=PATIENCE)
    context.close()


def test_what_a_plugin_is_called_makes_no_markup_in_the_search(tmp_path: Path, opened: Opener, site: Path) -> None:
    source = CLONE / "reports" / "published" / "posix"
    shutil.copytree(source, tmp_path / "published" / "posix")
    (tmp_path / "published" / "posix" / "about.toml").write_text('name = "odd <img src=x onerror=alert(1)> name"')
    output_of("published", "site", site / "hostile", f"--published={tmp_path / 'published'}")
    page = opened("hostile/search.html?q=onerror")
    wait_until(page, "document.querySelector('.search-summary')?.textContent.includes('finished')")
    assert "odd <img src=x onerror=alert(1)> name" in page.locator("#search-results").inner_text()
    assert page.locator("#search-results img").count() == 0


def test_clauses_are_reached_and_hidden_by_keyboard(opened: Opener) -> None:
    page = opened("clauses.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").strip() == "Skip to content"
    rows = page.locator("tbody tr:not(.class)")
    shown = page.locator("tbody tr:not(.class):visible")
    assert shown.count() == rows.count() > 300
    press_until(page, "document.activeElement.matches('#only-broken')")
    page.keyboard.press("Space")
    assert 0 < shown.count() < rows.count()
    assert page.locator("tr.kept:visible").count() == 0
    press_until(page, "document.activeElement.matches('.matrix')")
    page.keyboard.press("PageDown")
    wait_until(page, "document.querySelector('.matrix').scrollTop > 0")


@pytest.mark.parametrize("size", [SCREEN, PHONE], ids=["screen", "phone"])
def test_heads_stay_in_sight(size: dict[str, Any], opened: Opener) -> None:
    page = opened("clauses.html#class-write", **size)
    page.locator(".matrix").evaluate("(box) => box.scrollBy(100, 0)")
    # What an address leads to stands below the heads, and not behind them. The page gets there little by little.
    wait_until(
        page,
        """(() => {
        const place = (name) => document.querySelector(name).getBoundingClientRect();
        const [box, row] = [place(".matrix"), place("#class-write")];
        const [corner, head, name] = ["th", "th:last-child", "#class-write + tr th"].map((it, at) =>
            place(at < 2 ? `.matrix thead ${it}` : it));
        const close = (one, other) => Math.abs(one - other) <= 2;
        return close(head.y, box.y) && close(corner.x, box.x) && close(name.x, box.x)
            && head.bottom - 2 <= row.y && row.y < box.bottom;
    })()""",
    )
