"""A report in Markdown: it says what to do, has an end, and no text of a plugin makes anything of itself."""

import functools
import re
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.hostile_report import HARM, hostile_report
from tests.records import GOOD, broken, case, clause, record, report_of, waiver
from tests.records import NO_LUCK as BROKEN
from tffs_conformance.reports.forms.markdown import LIMIT, bounded, render
from tffs_conformance.reports.forms.terminal import FINDINGS_SHOWN
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.judge.findings import conclude

#: What the file has markup for. Everything else that Markdown knows would be a plugin's.
OURS = {"heading", "paragraph", "bullet_list", "list_item", "strong", "inline", "text", "softbreak", "code_inline",
        "fence", "html_block"}  # fmt: skip
#: The HTML that the file has.
FOLDS = re.compile(r"<details><summary>\d+ [a-z ]+(, the last \d+)?</summary>\n|</details>\n")
#: What a site makes something of where it stands in prose: links, mentions, references, commits, emoji, formulas.
MADE = re.compile(r"[@#/\\$`<>*_~|{}\[\]&]|:\w|www\.|[0-9a-f]{7}", re.IGNORECASE)


def shown(*cases: CaseRecord, **header: Any) -> str:
    return render(conclude(report_of(*GOOD, *cases, **header)))


def tokens(text: str) -> list[Token]:
    """All that Markdown makes of it, as a site does: with tables, HTML, and what is struck through."""
    found = []
    for token in MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text):
        found += [token, *(token.children or ())]
    return found


def test_a_finding_says_what_to_do() -> None:
    broken = record("read/b", Verdict.VIOLATION, BROKEN, stimulus="A file is read.", ops=("read() -> UNKNOWN",))
    waiting = record("read/c", Verdict.NOT_RUN, clauses=("read.hint",), reason="valgrind is not installed")
    text = shown(broken, waiting, case("read/d", ("read.hint", "waived")), waivers=(waiver(clause="read.hint"),))
    reason = "1 violation; 1 MUST clause not tried, of paths"
    assert text.startswith(f"# `mine.so` (`mine://`): not conformant\n\n{reason}\n\n5 cases; checks of all clauses: ")
    for part in (
        "\n- `read`: **not conformant**, 3 checks, 1 not run\n",
        "### 1. `read.succeeds`: read answers UNKNOWN\n\n1 check in 1 case\n\n- **Rule:** It is so.\n",
        "- **Source:** interface; host\n",
        "- **Case:** `read/b` A file is read.\n- **Expected:** `code=OK`\n- **Got:** `code=UNKNOWN (no luck)`",
        "- **Look at:** The read.\n",
        "\npytest --plugin=mine.so --case=read/b\n",
        "\ntffs-conformance waive report.json --clause=read.succeeds --owner=WHO --reason=WHY\n",
        "<summary>1 call</summary>\n\n```\nread() -> UNKNOWN\n```",
        "## Waivers\n\n- `read.hint`: 1 × `code=OK`: known (owner: team)",
        "## Not run\n\n- 1 case: valgrind is not installed",
    ):
        assert part in text


def test_findings_beyond_the_first_are_named() -> None:
    clauses = {f"read.{chr(97 + k)}": clause("MUST", "read", "read", order=k) for k in range(FINDINGS_SHOWN + 2)}
    made = [broken(f"read/{name}", f"code={name[-1]}", name) for name in reversed(clauses)]
    text = render(conclude(report_of(*made, clauses=clauses)))
    assert re.findall(r"^### \d+\. `(.*)`$", text, re.MULTILINE) == list(clauses)[:FINDINGS_SHOWN]
    more = "- `read.k`: 1 check in 1 case\n- `read.l`: 1 check in 1 case\n"
    assert f"<summary>2 more findings</summary>\n\n{more}" in text


@pytest.mark.parametrize(
    ("said", "shows"),
    [
        ("Plain words, with a dot.", "Plain words, with a dot."),
        ("2 of 10 (2.21) don’t fit: see", "2 of 10 (2.21) don’t fit: see"),
        ("it calls TF_New twice", "it calls `TF_New` twice"),
        ("ask @who or #1 now", "ask `@who` or `#1` now"),
        ("at https://x.y and www.x.y", "at `https://x.y` and `www.x.y`"),
        ("commit deadbeef and 1234567", "commit `deadbeef` and `1234567`"),
        ("see x.h:2, a.b: c.d", "see `x.h:2, a.b: c.d`"),
        ("the code is TF_OK, or TF_NO.", "the code is `TF_OK`, or `TF_NO`."),
        ("a :smile: ... :", "a `:smile: ... :`"),
        ("a `tick` ``two``", "a ``` `tick` ``two`` ```"),
        ("<b>x</b> *y* _z_ [l](m)", "`<b>x</b> *y* _z_ [l](m)`"),
        ("one\ntwo", r"`one\ntwo`"),
    ],
)
def test_of_a_text_only_plain_words_are_prose(said: str, shows: str) -> None:
    broken = record("read/b", Verdict.VIOLATION, BROKEN, stimulus=said)
    assert f"- **Case:** `read/b` {shows}\n" in shown(broken)


@pytest.mark.parametrize("harm", [*HARM, "".join(HARM)])
def test_nothing_is_made_of_a_text(harm: str) -> None:
    text = bounded(conclude(hostile_report(harm, long=10)), 1 << 20)
    assert "Left out here" not in text
    assert all(part in text for part in ("### 2.", "- **After it:** "))
    inert(text)


def inert(text: str) -> None:
    """Raise AssertionError where the file has any markup but its own."""
    assert text == "".join(one for one in text if one.isprintable() or one == "\n")
    found = tokens(text)
    assert {re.sub("_(open|close)$", "", token.type) for token in found} <= OURS
    for token in found:
        if token.type == "html_block":
            assert FOLDS.fullmatch(token.content), token.content
        if token.type == "text":
            assert not MADE.search(token.content), token.content
        if token.type == "fence":
            assert not token.info
    # Each heading is one that the file has.
    headings = [found[k + 1].content for k, token in enumerate(found) if token.type == "heading_open"]
    known = r"`.*: (not )?conformant|Classes|Findings|\d+\. `.*|Waivers|Warnings|Error|Not run|Absent|Costs|Under-dec.*"
    assert all(re.fullmatch(known, one) for one in headings), headings


@functools.cache
def many() -> Report:
    """A report with more than the file has room for."""
    clauses = {f"read.{k}": clause("MUST", "read", "read", rule="x" * 900) for k in range(100)}
    broken = [
        record(f"read/{k}", Verdict.VIOLATION, CheckRecord(name, Verdict.VIOLATION, "e" * 900, "g" * 5000),
               stimulus="y " * 900, reason="z" * 900, ops=tuple("o" * 500 for _ in range(90)))
        for k, name in enumerate(clauses)
    ]  # fmt: skip
    return report_of(*broken, clauses=clauses)


def test_it_fits_a_comment_and_says_what_it_left_out() -> None:
    text = render(conclude(many()))
    assert LIMIT - 10_000 < len(text.encode()) <= LIMIT < 65_536
    left_out = r"Left out here to save room: calls \(\d+\), findings \(\d+\)\."
    assert re.search(rf"\n{left_out} All of it is in `report\.json`\.\n$", text)
    inert(text)


@pytest.mark.parametrize("limit", [2000, 5000, 20_000, 1 << 20])
def test_whatever_the_limit_is_it_is_kept(limit: int) -> None:
    for report in (many(), hostile_report()):
        text = bounded(conclude(report), limit)
        assert 0 < len(text.encode()) <= limit
        assert ("Left out here" in text) == (limit < 1 << 20)
        inert(text)


def test_a_text_that_is_cut_says_how_long_it_is() -> None:
    text = shown(broken("read/b", "x" * 5000))
    assert f"- **Got:** `{'x' * 1000}… (5000 characters in report.json)`\n" in text
