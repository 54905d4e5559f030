"""The published reports of a test, the site that is made of them, and what a test asks of its pages."""

import re
from pathlib import Path
from urllib.parse import unquote, urldefrag

from msgspec.structs import replace

from tests.commands import output_of
from tests.records import CLAUSES, GOOD, HEADER, record, report_of
from tests.test_forms_html import Page as Elements
from tffs_conformance.reports.document import write
from tffs_conformance.reports.model.header import ClauseFacts, digest
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.reports.plain import plain
from tffs_conformance.reports.publish import NOTES_NAME

CLONE = Path(__file__).parents[2]
HOSTILE = "</script></style><img src=x onerror=alert(1)>\"'`{{ 7919*7907 }}\x1b[31m\u202e\u2028\x00\udcff&amp;"
SIGNS_OF_IT = re.compile("<img|\x1b|\u202e|\u2028|\x00|\udcff|62615533")
ABOUT = """name = "people s3"
storage = "objects in a store"
likely = "Likely with other stores."

[[cause]]
note = 1
loses = ["checkpoints"]
clause = "read.succeeds"
case = "read/b"
says = "Renaming `ckpt-1` loses `ckpt-10`."
"""


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


def made(published: Path, *arguments: str, out: str = "site", code: int = 0) -> Path:
    folder = published.parent / out
    output_of("published", "site", folder, f"--published={published}", *arguments, code=code)
    return folder


def refused(published: Path, *arguments: str, out: str = "site", code: int = 1) -> str:
    done = output_of("published", "site", published.parent / out, f"--published={published}", *arguments, code=code)
    *_, sentence = done.splitlines()
    assert sentence.startswith("Error: ")
    return sentence


class Page(Elements):
    """What a test asks of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.read_text(encoding="utf-8"))
        leads = [(tag, it[name] or "") for tag, it in self.elements for name in ("href", "src") if name in it]
        self.ids = self.all("id")
        self.links = [to for tag, to in leads if tag == "a"]
        self.loads = [to for tag, to in leads if tag not in ("a", "use")]
        self.attributes = {name for _, attributes in self.elements for name in attributes}


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


def files(site: Path) -> dict[str, bytes]:
    return {str(path.relative_to(site)): path.read_bytes() for path in sorted(site.rglob("*")) if path.is_file()}
