"""The site of published reports as a browser shows it: for everybody, without a mouse, on a phone and in the dark."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.browser.conftest import Opener, complaints, wait_until
from tffs_conformance.cli import main

PUBLISHED = Path(__file__).parents[2] / "reports" / "published"
#: Some of them: what looks at each element of a page takes its time.
PLUGINS = ("az", "dragonfly", "s3-versitygw", "tensorflow-ram")
#: One page of each kind.
PAGES = (
    "index.html",
    "clauses.html",
    "disputed.html",
    "clauses/append.two-writers.html",
    "clauses/read.succeeds.html",
    "plugins/dragonfly/index.html",
    "plugins/s3-versitygw/0.37.1/index.html",
)
PHONE = {"viewport": {"width": 360, "height": 740}}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("pages")
    for plugin in PLUGINS:
        shutil.copytree(PUBLISHED / plugin, base / "published" / plugin)
    folder = base / "site"
    done = CliRunner().invoke(main, ["published", "site", str(folder), f"--published={base / 'published'}"])
    assert done.exit_code == 0, done.output
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_nothing_stands_in_anybodys_way(site: Path, page: str, scheme: str, opened: Opener) -> None:
    assert complaints(opened(site / page, color_scheme=scheme, **(PHONE if scheme == "dark" else {}))) == []


@pytest.mark.parametrize("page", PAGES)
def test_on_a_phone_no_page_scrolls_sideways(site: Path, page: str, opened: Opener) -> None:
    shown = opened(site / page, **PHONE)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_page_is_as_long_as_what_it_shows(site: Path, opened: Opener) -> None:
    # The table scrolls in a box of its own, and all that is in it with it.
    assert opened(site / "clauses.html").evaluate("document.documentElement.scrollHeight") < 3000


def _pressed_until(page: Any, wanted: str) -> None:
    """Press Tab until the focus is on the element that a selector finds."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", wanted):
            return
    pytest.fail(f"the keyboard does not get to {wanted}")


def test_clauses_are_reached_and_hidden_by_keyboard(site: Path, opened: Opener) -> None:
    page = opened(site / "clauses.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    rows = page.locator("tbody tr:not(.class)")
    shown = page.locator("tbody tr:not(.class):visible")
    assert shown.count() == rows.count() > 300
    _pressed_until(page, "#only-broken")
    page.keyboard.press("Space")
    assert 0 < shown.count() < rows.count()
    assert page.locator("tr.kept:visible").count() == 0
    _pressed_until(page, ".matrix")
    page.keyboard.press("PageDown")
    wait_until(page, "document.querySelector('.matrix').scrollTop > 0")


@pytest.mark.parametrize("size", [{}, PHONE], ids=["screen", "phone"])
def test_heads_stay_in_sight(site: Path, size: dict[str, Any], opened: Opener) -> None:
    page = opened(site / "clauses.html", "#class-write", **size)
    box = page.locator(".matrix")
    box.evaluate("(box) => box.scrollBy(100, 0)")
    corner = page.locator("thead th").first.bounding_box()
    head = page.locator("thead th").last.bounding_box()
    name = page.locator("#class-write + tr th").bounding_box()
    place = box.bounding_box()
    assert head["y"] == pytest.approx(place["y"], abs=2)
    assert corner["x"] == pytest.approx(place["x"], abs=2)
    assert name["x"] == pytest.approx(place["x"], abs=2)
    # What an address leads to stands below the heads, and not behind them.
    row = page.locator("#class-write").bounding_box()
    assert head["y"] + head["height"] - 2 <= row["y"] < place["y"] + place["height"]
