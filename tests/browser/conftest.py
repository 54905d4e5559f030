"""A browser of this machine, and pages in it that tell what they try to do."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tffs_conformance.reports.forms import html
from tffs_conformance.reports.model.report import Report
from tffs_conformance.suite.judge.findings import conclude

Opener = Callable[..., Any]
Written = Callable[[Report], Path]


#: In milliseconds: for a page to do what it does, on a busy machine.
PATIENCE = 120_000


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Chromium as the machine has it: none is downloaded."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no chromium is installed")
    with playwright.sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-background-networking"]
        browser = driver.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium: Any) -> Iterator[Opener]:
    """Make a page in a window of its own, which may ask for the addresses that are `allowed`.

    A dialog, another request, an error of a script and a sentence on the console fail the test when it ends.
    """
    contexts, troubles = [], []

    def dismiss(dialog: Any) -> None:
        troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def new(allowed: Callable[[str], bool], **options: Any) -> Any:
        context = chromium.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("dialog", dismiss)
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("request", lambda it: None if allowed(it.url) else troubles.append(it.url))
        return page

    yield new
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def opened(new_page: Opener) -> Opener:
    """Open a file, at an address in it, where `script` runs ahead of the page's own."""

    def open_(path: Path, address: str = "", script: str = "", **options: Any) -> Any:
        url = path.as_uri()
        page = new_page(lambda asked: asked.partition("#")[0] == url, **options)
        page.add_init_script(script)
        page.goto(url + address)
        if options.get("java_script_enabled", True):
            wait_until(page, "!document.querySelector('#filter[hidden]')")
        return page

    return open_


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Write a report as a page; its path."""

    def write(report: Report) -> Path:
        path = tmp_path / "report.html"
        path.write_text(html.render(conclude(report)), encoding="utf-8")
        return path

    return write


def wait_until(page: Any, expression: str, arg: Any = None) -> None:
    """Wait until an expression of JavaScript, or a function of `arg`, is true.

    Playwright's own wait asks again from inside of the page, where our pages allow nobody to evaluate text.
    """
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(expression, arg):
        assert time.monotonic() < end, f"it never holds: {expression}"
        page.wait_for_timeout(20)


def press_until(page: Any, there: str, always: str = "true") -> None:
    """Go on with the tabulator until an expression is true; another one is true all the way."""
    for _ in range(300):
        page.keyboard.press("Tab")
        assert page.evaluate(always), f"this does not hold: {always}"
        if page.evaluate(there):
            return
    pytest.fail(f"the keyboard does not get there: {there}")


def complaints(page: Any) -> list[str]:
    """What axe-core finds wrong with a page, a line a rule."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes']]}" for one in found]
