"""What a person decides by: the uses of a plugin, its notes, and that what others wrote is text."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.records import CLAUSES, GOOD
from tffs_conformance.reports.model.services import Figure, Figures
from tffs_conformance.reports.publish import NOTES_NAME
from tffs_conformance.reports.site.about import ABOUT_NAME

from .pages import ABOUT, HOSTILE, SIGNS_OF_IT, broken, broken_links, files, made, put, refused, text


def test_a_page_begins_with_what_a_person_decides_by(published: Path) -> None:
    (published / "other" / ABOUT_NAME).write_text(ABOUT)
    (published / "mine" / ABOUT_NAME).write_text(ABOUT.replace("people s3", "other people s3"))
    site = made(published)
    assert broken_links(site) == []
    page = text(site / "plugins" / "other" / "index.html")
    told = ("people s3", "Seen with release 2 on objects in a store. Likely with other stores.",
            "May a training run use it?",
            "No.", "datasets ? not known", "checkpoints ✗ loses data",
            "Renaming ckpt-1 loses ckpt-10 . Cause 1 in the notes : read.succeeds in read/b", "logs ? not known",
            "models ? not known", "not conformant")  # fmt: skip
    places = [page.index(one) for one in told]
    assert places == sorted(places)
    # The newest release of the other has the same cause, and nothing broken: what was mended does not count.
    assert "Not known." in text(site / "plugins" / "mine" / "index.html")
    index = text(site / "index.html")
    lost = "people s3 No Renaming ckpt-1 loses ckpt-10 ."
    unknown = "other people s3 Not known"
    assert f"{lost} datasets ? not known checkpoints ✗ loses data logs ? not known models ? not known" in index
    assert index.index(lost) < index.index(unknown) < index.index("not conformant")


def test_a_plugin_without_words_or_notes_has_the_name_of_its_folder(plain_site: Path) -> None:
    page = text(plain_site / "plugins" / "other" / "index.html")
    assert re.search(r"other Seen with release 2\. ", page)
    assert "Nobody has written notes" in page


@pytest.mark.parametrize(
    "wrong", ["name = 1", "storage = 'x'", "name = 'x'\nnames = 'y'", "name = ", "name = '\udcff'"]
)
def test_what_is_wrong_about_a_plugin_is_refused(wrong: str, published: Path) -> None:
    (published / "other" / ABOUT_NAME).write_text(wrong, errors="surrogateescape")
    assert f"other/{ABOUT_NAME}: " in refused(published)


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


def test_notes_are_shown_with_links_that_lead_somewhere(published: Path) -> None:
    (published / "mine" / "1.10" / NOTES_NAME).write_text(NOTES)
    there = "https://example.org/blob/main"
    # With the address of the repository, notes lead there, also to what no site has.
    elsewhere = [(f"{there}/third_party/a.cc", "code"), (f"{there}/reports/published/mine/3/report.json", "gone")]
    cases: list[tuple[str, str, list[str]]] = [
        ("mine", "../../", []),
        ("mine/1.10", "../../../", [f"--source={there}/reports/published/"]),
    ]
    for newer, (page, up, options) in enumerate(cases, start=2):
        site = made(published, *options)
        assert broken_links(site) == []
        assert "The best plugin" in text(site / "plugins" / page / "index.html")
        shown = (site / "plugins" / page / "index.html").read_text(encoding="utf-8")
        assert re.search(r"<h3>First<", shown)
        found = re.findall(r'<a href="([^"]*)">(the report|others|these|code|gone|web|bad|odd|away|top)</a>', shown)
        assert found == [
            (f"{up}plugins/mine/1.10/report.json.gz", "the report"),
            (f"{up}plugins/other/index.html", "others"),
            (f"{up}plugins/{page}/index.html", "these"),
            *(elsewhere if options else []),
            ("https://example.org/a?b=c&amp;d", "web"),
        ]
        assert "&lt;b&gt;bold&lt;/b&gt;" in shown
        assert '<pre tabindex="0">' in shown
        put(published, "mine", str(newer), *GOOD)


def test_what_a_plugin_says_is_text_everywhere(published: Path) -> None:
    facts = {
        name: replace(clause, rule=HOSTILE, source=(HOSTILE,), check=HOSTILE, tensorflow=HOSTILE)
        for name, clause in CLAUSES.items()
    }
    services = Figures(images=(HOSTILE,), size=1, figures=(Figure(HOSTILE, 1),), failure=None)
    with_markup = [*GOOD, broken(HOSTILE)]
    notes = f"# {HOSTILE}\n\n```\n{HOSTILE}\n```"
    more: dict[str, Any] = {"clauses": facts, "says": HOSTILE}
    put(published, "hostile", "1", *with_markup, notes=HOSTILE, services=services, reason=HOSTILE, **more)
    words = {"name": HOSTILE, "storage": HOSTILE, "likely": HOSTILE}
    cause = {"note": 1, "loses": ["logs"], "clause": "read.succeeds", "case": "read/b", "says": f"`{HOSTILE}`"}
    about = "".join(f"{key} = {json.dumps(value)}\n" for key, value in words.items()) + "[[cause]]\n"
    about += "".join(f"{key} = {json.dumps(value)}\n" for key, value in cause.items())
    (published / "hostile" / ABOUT_NAME).write_text(about.replace("\\udcff", ""))
    failed = Figures(images=(), size=1, figures=(), failure=HOSTILE)
    put(published, "hostile", "2", *with_markup, notes=notes, services=failed, **more)
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
