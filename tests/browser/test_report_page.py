"""The page of a report in a real browser: read, filtered, linked to, by keyboard, on a phone, in the dark, attacked."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.browser.conftest import Opener, Written, complaints, press_until, wait_until
from tests.full_reports import full, hostile, large

#: The cases that the list shows, and the clauses that no filter hides.
CASES = "[...document.querySelectorAll('#listed details')].map(one => one.id)"
CLAUSES = "[...document.querySelectorAll('details.clause:not([hidden])')].map(one => one.id)"
#: What has the focus is seen to have it.
FOCUSED = "getComputedStyle(document.activeElement).outlineStyle !== 'none'"


def is_open(page: Any, place: str) -> bool:
    """Whether a place is open, seen, and has the focus."""
    wait_until(page, "place => document.activeElement?.parentElement?.id === place", arg=place)
    element = page.locator(f"[id={place!r}]")
    return bool(element.evaluate("one => one.open") and element.locator("summary").first.is_visible())


# It is read ----------------------------------------------------------------------------------------------------------


def test_without_a_script_all_but_the_cases_can_be_read(opened: Opener, written: Written) -> None:
    page = opened(written(full()), java_script_enabled=False)
    assert page.get_by_text("not conformant").first.is_visible()
    assert page.get_by_text("read(1) -> UNKNOWN").count()
    assert page.locator("form").is_hidden()
    assert page.get_by_text("The list of the cases needs a script").is_visible()
    opening = "one => one.closest('details.class').querySelector('summary').click()"
    page.locator("[id='clause-sync.durable']").evaluate(opening)
    assert page.locator("[id='clause-sync.durable'] summary").is_visible()


def test_page_without_decompression_says_so(opened: Opener, written: Written) -> None:
    page = opened(written(full()), script="delete window.DecompressionStream")
    assert page.inner_text("#cases-shown").startswith("This browser cannot unpack the list of the cases.")
    assert page.evaluate(CASES) == []
    page.locator("#filter [name=class]").select_option("paths")
    assert page.evaluate(CLAUSES) == ["clause-stat.odd"]


@pytest.mark.parametrize(
    ("colours", "width"),
    [
        *(("light", 1280), ("dark", 360)),
        *(pytest.param(*one, marks=pytest.mark.nightly) for one in (("light", 360), ("dark", 1280))),
    ],
)
def test_everybody_can_use_it(opened: Opener, written: Written, colours: str, width: int) -> None:
    """What axe-core can tell of that, with everything open; and nothing makes a reader scroll sideways."""
    page = opened(written(full()), color_scheme=colours, viewport={"width": width, "height": 800})
    # The dark is dark, and the light is light.
    ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number).reduce((a, b) => a + b) / 3"
    shade = page.evaluate(ground)
    assert shade < 40 if colours == "dark" else shade > 240
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.wait_for_selector("#listed dl")
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# It is filtered ------------------------------------------------------------------------------------------------------


#: What is asked of the filter, and the cases and clauses that it shows then.
FILTERS: list[tuple[dict[str, str], list[str], list[str]]] = [
    ({"verdict": "violation"}, ["read/b", "read/c"], ["read.succeeds"]),
    ({"verdict": "not run"}, ["write/b", "x/not-run"], ["sync.durable"]),
    ({"verdict": "does not apply"}, ["read/c"], []),
    ({"verdict": "error"}, ["x/error"], ["read.hint"]),
    ({"level": "SHOULD"}, ["read/b", "read/c", "x/error"], ["read.hint"]),
    ({"class": "paths"}, ["stat/a", "x/absent"], ["stat.odd"]),
    ({"op": "sync"}, ["sync/a", "write/a", "write/b", "x/not-run"], ["sync.durable", "sync.late"]),
    ({"text": "SORRY"}, ["read/b", "read/c"], []),
    ({"text": "read.hint"}, ["read/b", "read/c", "x/error"], ["read.hint"]),
    ({"level": "SHOULD", "verdict": "violation"}, [], []),
    ({"verdict": "warning", "class": "read"}, ["read/b"], []),
    ({"verdict": "violation", "text": "shrunk"}, ["read/c"], []),
]


def test_all_is_there_until_somebody_filters(opened: Opener, written: Written) -> None:
    report = full()
    path = written(report)
    page = opened(path)
    listed = "document.querySelectorAll('#listed details').length"
    assert page.evaluate(CASES) == [f"case-{case.id}" for case in report.cases]
    assert page.inner_text("#cases-shown") == f"{len(report.cases)} cases"
    assert sorted(page.evaluate(CLAUSES)) == sorted(f"clause-{name}" for name in report.clauses)
    for wanted, cases, clauses in FILTERS:
        for name, value in wanted.items():
            field = page.locator(f"#filter [name={name}]")
            field.fill(value) if name == "text" else field.select_option(value)
        assert page.evaluate(CASES) == [f"case-{name}" for name in cases], wanted
        assert page.inner_text("#cases-shown") == f"{len(cases)} of {len(report.cases)} cases"
        if clauses or "text" not in wanted:
            assert sorted(page.evaluate(CLAUSES)) == [f"clause-{name}" for name in clauses], wanted
        again = opened(path, "#" + page.url.partition("#")[2])
        wait_until(again, f"{listed} === {len(cases)}")
        again.close()
        page.get_by_role("button", name="Show all").click()
        wait_until(page, f"{listed} === {len(report.cases)}")
    # A count leads to what it counts.
    page.get_by_role("link", name="2 waived").click()
    wait_until(page, f"{listed} === 2")
    assert page.evaluate(CASES) == ["case-init/b", "case-write/b"]


# It is linked to -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place", ["case-read/b", "clause-sync.late", "finding-read.succeeds", "class-write", "warning-sync.late"]
)
def test_an_address_opens_what_it_points_to(opened: Opener, written: Written, place: str) -> None:
    path = written(full())
    assert is_open(opened(path, f"#{place}"), place)
    page = opened(path)
    page.evaluate("place => { location.hash = place; }", place)
    assert is_open(page, place)


@pytest.mark.parametrize(("case", "why"), [("x/not-run", "blocked by sync"), ("write/b", "an op did not come back")])
def test_a_check_that_compared_nothing_says_why(opened: Opener, written: Written, case: str, why: str) -> None:
    page = opened(written(full()), f"#case-{case}")
    row = page.locator(f"[id='case-{case}'] tr", has_text="sync.durable")
    assert [cell.strip() for cell in row.locator("td").all_inner_texts()] == ["not run", "sync.durable", "", why]


def test_a_link_to_what_the_filter_hides_is_followed(opened: Opener, written: Written) -> None:
    page = opened(written(full()))
    for link, place in (("read/b", "case-read/b"), ("read.succeeds", "clause-read.succeeds")):
        page.fill("#filter [name=text]", "nothing has this text")
        assert page.evaluate(CASES) == page.evaluate(CLAUSES) == []
        page.locator("#main").get_by_role("link", name=link).first.click()
        assert is_open(page, place)
    page.get_by_role("link", name="its cases").locator("visible=true").click()
    wait_until(page, "document.querySelector('#filter [name=text]').value === 'read.succeeds'")
    assert page.evaluate(CASES) == ["case-read/a", "case-read/b", "case-read/c"]


def test_a_case_far_down_is_on_its_page_of_the_list(opened: Opener, written: Written) -> None:
    page = opened(written(large(1000)), "#case-read/a%5B777%5D")
    assert is_open(page, "case-read/a[777]")
    assert page.locator("#listed details").count() == 100
    page.get_by_role("button", name="Next page").click()
    assert "case-read/a[777]" not in page.evaluate(CASES)


# By keyboard ---------------------------------------------------------------------------------------------------------


def test_the_keyboard_is_enough(opened: Opener, written: Written) -> None:
    page = opened(written(full()))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    press_until(page, "document.activeElement.localName === 'select'", FOCUSED)
    page.keyboard.type("viol")
    wait_until(page, "document.querySelectorAll('#listed details').length === 2")
    press_until(page, "document.activeElement.parentElement.id === 'case-read/b'", FOCUSED)
    page.keyboard.press("Enter")
    page.wait_for_selector("[id='case-read/b'] dl")
    assert page.locator("[id='case-read/b']").get_by_text("read(1) -> UNKNOWN").is_visible()


# It is attacked ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [360, 1280])
def test_no_text_of_a_plugin_acts(opened: Opener, written: Written, width: int) -> None:
    """`opened` fails the test where a dialog opens, a request is made, or the policy had to stop something."""
    page = opened(written(hostile(full())), viewport={"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.wait_for_selector("#listed dl")
    for text in ("<script>", "\u202e", "'\"><"):
        page.fill("#filter [name=text]", text)
    page.fill("#filter [name=text]", "")
    links = page.eval_on_selector_all("#main a", "all => all.map(one => one.getAttribute('href'))")
    for link in links:
        page.evaluate("link => { location.hash = link; }", link)
    assert page.evaluate("document.querySelectorAll('img, svg:not(.bar, .line), iframe, script').length") == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("/[\\u202a-\\u202e\\u2066-\\u2069\\x1b\\x00]/.test(document.body.textContent)") is False


def test_names_without_end(opened: Opener, written: Written) -> None:
    report = full()
    long = "n" * 1_000_000
    target = replace(report.target, name=long, root=long)
    cases = tuple(replace(case, id=case.id + long, output=long, ops=(long,) * 5) for case in report.cases)
    page = opened(written(replace(report, target=target, cases=cases)), viewport={"width": 360, "height": 800})
    page.locator("#listed summary").first.click()
    page.wait_for_selector("#listed dl")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
