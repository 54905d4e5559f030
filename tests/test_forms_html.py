"""The report as a page, without a browser: what it holds, that texts stay texts, and that it stays in its folder."""

import base64
import gzip
import hashlib
import json
import re
import tomllib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from msgspec.structs import replace

from tests.commands import output_of
from tests.full_reports import full, hostile
from tests.hostile_report import HOSTILE, texts
from tffs_conformance.reports.document import write
from tffs_conformance.reports.escape import printable, steers
from tffs_conformance.reports.forms import html, words
from tffs_conformance.reports.forms.page import LONGEST, address
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.waivers import fingerprint
from tffs_conformance.suite.judge.findings import conclude

REPORT = full()


@dataclass
class Page(HTMLParser):
    """What is in a page: its elements with their attributes, and the texts of each kind of element."""

    source: str
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()
        self._inside: list[str] = []
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        for tag in self._inside[-1:]:
            self.texts[tag][-1] += data

    def all(self, name: str) -> list[str]:
        """The values of an attribute."""
        return [value for _, attributes in self.elements if (value := attributes.get(name)) is not None]

    @property
    def data(self) -> Any:
        """What the script is given."""
        return json.loads(gzip.decompress(base64.b64decode(self.texts["script"][0])))


def page(report: Report = REPORT) -> Page:
    return Page(html.render(conclude(report)))


# What it holds -------------------------------------------------------------------------------------------------------


def test_what_matters_is_read_without_a_script() -> None:
    shown = page()
    visible = " ".join(text for tag, read in shown.texts.items() if tag not in ("script", "style") for text in read)
    finding = REPORT.clauses["read.succeeds"]
    told = (
        "code=UNKNOWN", "read(1) -> UNKNOWN", "sorry", "read.hint", "there is no stat", "blocked by sync",
        "the suite failed", "it loses data", "It appends.", "used", "TF_New", "from a peer", "traces/read-b.calls.txt",
        "pytest --plugin=mine.so --case=read/b", "It is read.",
    )  # fmt: skip
    about = (finding.rule, *finding.source, finding.check, *REPORT.clauses, *REPORT.classes)
    for text in (REPORT.verdict, REPORT.reason, "full", *told, *about):
        assert text in visible, text
    # The addresses of clauses and cases stay.
    assert {f"clause-{name}" for name in REPORT.clauses} <= set(shown.all("id"))
    assert "#case-read/b" in shown.all("href")


def test_script_gets_all_cases() -> None:
    data = page().data
    assert [one["id"] for one in data["cases"]] == [case.id for case in REPORT.cases]
    for one, case in zip(data["cases"], REPORT.cases, strict=True):
        assert one == {
            "id": case.id, "address": case.id, "option": f"--case={case.id}", "verdict": case.verdict,
            "stimulus": case.stimulus, "why": printable(words.why(case)), "cause": case.cause or "",
            "clauses": [*case.clauses], "executed": case.executed, "tier": case.tier or "", "seconds": case.duration,
            "cut": case.cut or "", "output": printable(case.output), "ops": [*case.ops],
            "checks": [
                {
                    "clause": check.clause, "verdict": check.verdict, "expected": check.expected, "got": check.got,
                    "said": check.plugin_said or "", "reading": check.reading or "", "times": check.times,
                }
                for check in case.checks
            ],
        }  # fmt: skip


@pytest.mark.parametrize("report", [REPORT, hostile(REPORT)], ids=["plain", "hostile"])
def test_addresses_lead_somewhere(report: Report) -> None:
    found = page(report)
    places = found.all("id")
    assert len(places) == len(set(places))
    cases = {address(case.id) for case in report.cases}
    for link in found.all("href"):
        assert link.startswith("#"), "a page stands alone"
        name = unquote(link[1:])
        assert name in places or name.startswith("?") or name.removeprefix("case-") in cases, link


@pytest.mark.parametrize("said", ["", HOSTILE], ids=["plain", "hostile"])
def test_the_waivers_to_paste_fit(said: str) -> None:
    def saying(case: CaseRecord) -> CaseRecord:
        return replace(case, checks=tuple(replace(check, got=check.got + said) for check in case.checks))

    report = replace(REPORT, cases=tuple(map(saying, REPORT.cases)))
    pasted = "\n".join(text for text in page(report).texts["pre"] if text.startswith("[[waiver]]"))
    same = {"fingerprint": fingerprint("code=UNKNOWN" + said), "reason": "WHY", "owner": "WHO"}
    assert tomllib.loads(pasted)["waiver"] == [{"clause": "read.succeeds", "case": "*"} | same]


# Texts stay texts ----------------------------------------------------------------------------------------------------


def test_a_hostile_report_gives_the_elements_of_a_harmless_one() -> None:
    def skeleton(report: Report) -> list[tuple[str, list[str]]]:
        return [(tag, sorted(attributes)) for tag, attributes in page(report).elements]

    assert skeleton(hostile(REPORT)) == skeleton(REPORT)


def test_data_of_a_page_never_steers_a_reader() -> None:
    found = page(hostile(REPORT))
    assert {character for character in "".join(texts(found.data)) if steers(character)} == set()
    # Nor do they end their element.
    assert re.fullmatch(r"[A-Za-z0-9+/]+=*", found.texts["script"][0])


def test_endless_texts_are_cut_and_say_so() -> None:
    found = page(replace(REPORT, cases=tuple(replace(case, stimulus="é" * 1_000_000) for case in REPORT.cases)))
    assert found.data["cases"][0]["stimulus"].endswith("… (cut: 1,000,000 characters)")
    assert "… (cut: 1,000,000 characters)" in found.source
    assert len(found.source) < len(html.render(conclude(REPORT))) + 20 * LONGEST


def test_only_its_own_style_and_script_may_act() -> None:
    found = page()
    policy = next(a["content"] for tag, a in found.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for key, text in (("style-src", found.texts["style"][0]), ("script-src", found.texts["script"][1])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[key] == f"'sha256-{digest}'"
    attributes = {name for _, each in found.elements for name in each}
    assert not {name for name in attributes if name.startswith("on") or name in ("style", "src", "srcset", "action")}
    acting = r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval)\b"
    assert not re.search(acting, found.texts["script"][1])


@pytest.mark.parametrize(
    ("name", "stays"), [("read/a[0]", True), ("a b'c", True), ("x" * 201, False), ("\u202e", False), ("\udcff", False)]
)
def test_an_address_is_the_name_or_its_digest(name: str, stays: bool) -> None:
    assert (address(name) == name) is stays
    assert len(address(name)) <= 200
    assert address(name + "!") != address(name)


def test_a_page_is_written_beside_a_report(tmp_path: Path) -> None:
    path = write(REPORT, tmp_path)
    assert output_of("report", "render", "--html", path) == f"written: {tmp_path / 'report.html'}\n"
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == html.render(conclude(REPORT))
