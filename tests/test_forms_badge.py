"""A report as a badge: one contract, one verdict, and nothing from a network."""

from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from tests.hostile_report import HARM, hostile_report
from tests.records import GOOD, HEADER, case, report_of
from tffs_conformance.reports.forms import badge
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import TargetVerdict
from tffs_conformance.suite.judge.findings import conclude

SVG = "{http://www.w3.org/2000/svg}"
GOOD_RUN = report_of(*GOOD)


def shown(report: Report) -> list[str | None]:
    """The texts in the picture."""
    return [text.text for text in ElementTree.fromstring(badge.render(conclude(report))).iter(f"{SVG}text")]


def test_it_says_the_contract_and_the_verdict() -> None:
    assert shown(GOOD_RUN) == ["tffs contract test/1", "conformant"]
    # A screen reader says the same.
    picture = ElementTree.fromstring(badge.render(conclude(GOOD_RUN)))
    assert picture.get("role") == "img"
    assert picture.get("aria-label") == picture.findtext(f"{SVG}title") == "tffs contract test/1: conformant"
    assert shown(report_of(case("a", ("read.hint", "violation"))))[1] == "not conformant"
    # A part of the suite is not the whole.
    assert shown(report_of(*GOOD, suite=replace(HEADER.suite, tier="smoke")))[1] == "conformant (smoke)"


@pytest.mark.parametrize("verdict", TargetVerdict)
def test_every_verdict_has_a_colour_on_which_white_can_be_read(verdict: TargetVerdict) -> None:
    parts = [int(badge.COLOURS[verdict][k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    assert 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) >= 4.5
    assert badge.COLOURS[verdict] in badge.render(conclude(replace(GOOD_RUN, verdict=verdict)))


@pytest.mark.parametrize("harm", HARM)
def test_no_text_is_more_than_text(harm: str) -> None:
    report = hostile_report(harm, long=10)
    text = badge.render(conclude(report))
    assert len(text) < 2000
    picture = ElementTree.fromstring(text)
    known = ("svg", "title", "clipPath", "rect", "g", "text")
    assert {one.tag for one in picture.iter()} == {f"{SVG}{name}" for name in known}
    assert not {name for one in picture.iter() for name in one.attrib if name.startswith("on") or "href" in name}
    assert all(one is not None and one.isprintable() for one in shown(report))
