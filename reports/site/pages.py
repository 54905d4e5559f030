"""The pages of the published reports, of the clauses, and what stands beside them: made from the reports alone."""

import gzip
import posixpath
import re
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import unquote, urljoin

from markupsafe import Markup

from ..escape import command_line
from ..forms import words
from ..forms.page import environment
from ..model.report import PACKED_NAME, REPORT_NAME
from ..model.uses import Use
from ..publish import NOTES_NAME
from . import badges
from .notes import rendered
from .page import Chapter, Page
from .releases import Release, newest
from .standing import CLAUSES, TARGETS, WORDS, by_class, by_op, latest_first, standings, word

#: The page that the site begins with.
FIRST = "index"
#: The chapter that the pages of plugins and clauses stand in.
TEAMS = "For platform teams"
#: So many cases are named with a finding; the report has them all.
CASES_NAMED = 6

_ENVIRONMENT = environment(__package__)


@dataclass(frozen=True, slots=True)
class CaseTimes:
    """What the cases of a run took, in seconds; `longest` is the id of the slowest case."""

    median: float
    most: float
    longest: str


@dataclass(frozen=True, slots=True)
class Site:
    """What the pages are made of: the releases of each plugin, and two addresses on the web.

    `source` is that of the folder of the published reports, `url` that of the site; each ends in a slash, or is None.
    """

    plugins: Mapping[str, list[Release]]
    source: str | None = None
    url: str | None = None

    def leads(self, path: str) -> str | None:
        """Where a file leads, by its path in the folder of the published reports: to a page of the site, or the web."""
        match path.split("/"):
            case ["README.md"]:
                return f"{FIRST}.html"
            case [name, version, file] if file in (NOTES_NAME, REPORT_NAME, PACKED_NAME):
                if release := next((one for one in self.plugins.get(name, []) if one.version == version), None):
                    return f"{self.page(release)}.html" if file == NOTES_NAME else self.report(release)
        return self.source and urljoin(self.source, path)

    def page(self, release: Release) -> str:
        """The name of the page of a release: that of the newest is the page of the plugin."""
        here = f"plugins/{release.plugin}"
        return f"{here}/index" if release is self.plugins[release.plugin][0] else f"{here}/{release.version}/index"

    def report(self, release: Release) -> str:
        """The path of a report for programs."""
        return f"plugins/{release.plugin}/{release.version}/{PACKED_NAME}"


def pages(site: Site, chapters: tuple[Chapter, ...]) -> Iterator[Page]:
    """Each page of the site; `chapters` are those of the guides."""
    shown = sorted(newest(site.plugins), key=_worst_first)
    clauses = standings(shown)
    page = partial(_page, site, {clause.id for clause in clauses})
    verdicts = {one.report.verdict for one in shown} | {a.verdict for one in shown for a in one.report.classes.values()}
    of_teams = [name for one in chapters if one.caption == TEAMS for name in one.pages]
    first = Chapter((*(site.page(one) for one in shown), "clauses", "disputed", *of_teams), TEAMS)
    contents = (first, *(one for one in chapters if one.caption != TEAMS))
    tensorflows = max((one.abi.releases for one in shown if one.abi), key=len, default=())
    yield page(
        FIRST, "index.html", contents, releases=shown, used=verdicts, classes=_classes(shown), tensorflows=tensorflows
    )
    for releases in site.plugins.values():
        for release in releases:
            older = [site.page(one) for one in releases[1:]] if release is releases[0] else []
            yield page(
                site.page(release), "plugin.html", (Chapter(tuple(older)),) if older else (), release=release,
                releases=releases, cost=_cost(release),
            )  # fmt: skip
    groups = by_op(clauses)
    found = {word(account) for clause in clauses for _, account in clause.accounts if account}
    of_ops = Chapter(tuple(f"clauses/{op}" for op in groups))
    yield page("clauses", "clauses.html", (of_ops,), releases=shown, used=found, classes=by_class(clauses))
    yield page("disputed", releases=shown, clauses=[one for one in clauses if one.facts.readings])
    for op, those in groups.items():
        yield page(f"clauses/{op}", "clause.html", op=op, clauses=those)


def files(site: Site) -> Iterator[tuple[str, bytes]]:
    """What is no page: the report of each release, and a badge for each plugin."""
    for name, releases in site.plugins.items():
        yield f"plugins/{name}/badge.svg", badges.picture(releases[0]).encode()
        for release in releases:
            content = release.path.read_bytes()
            is_packed = release.path.suffix == ".gz"
            yield site.report(release), content if is_packed else gzip.compress(content, mtime=0)


def _page(
    site: Site, known: set[str], name: str, template: str | None = None, contents: tuple[Chapter, ...] = (), **more: Any
) -> Page:
    up = "../" * name.count("/")
    text = _ENVIRONMENT.get_template(template or f"{name}.html").render(
        more,
        site=site,
        up=up,
        clauses_known=known,
        targets=TARGETS,
        signs=CLAUSES,
        words=WORDS,
        uses=list(Use),
        word=word,
        said=words,
        badge_line=badges.line,
        notes=partial(_notes, site, up),
        command_line=command_line,
        place=_place,
        named=CASES_NAMED,
    )
    return Page(name, text, contents, is_wide='class="scroll matrix' in text)


def _place(name: str) -> str:
    """The id of a clause on its page: without what all there begin with, and without dots, as the search needs it."""
    op, _, rest = name.partition(".")
    return (rest or op).replace(".", "-")


def _worst_first(release: Release) -> tuple[list[int], int, str]:
    """What a training run loses comes first; of plugins of which the same is said the one with more against it."""
    of_training = sorted(badges.WORST_FIRST.index(one.word) for one in release.hinders)
    against = sum(badges.WORST_FIRST.index(one.word) for one in release.decisions)
    return of_training[:1] or [len(badges.WORST_FIRST)], against, release.known.name.casefold()


def _notes(site: Site, up: str, release: Release) -> Markup | None:
    """The notes of a release as a part of a page that is so far below the first."""
    if release.notes is None:
        return None
    return rendered(release.notes, partial(_leads, site, up, f"{release.plugin}/{release.version}"))


def _leads(site: Site, up: str, folder: str, link: str) -> str | None:
    """Where a link in the notes in a folder leads from a page."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#", link):
        return None
    to = site.leads(posixpath.normpath(posixpath.join(folder, unquote(link).partition("#")[0])))
    return to if to is None or "//" in to else f"{up}{to}"


def _classes(releases: list[Release]) -> list[str]:
    """All classes, in the order of the latest report."""
    return list(dict.fromkeys(name for one in latest_first(r.report for r in releases) for name in one.classes))


def _cost(release: Release) -> CaseTimes | None:
    cases = release.report.cases
    if not cases:
        return None
    slowest = max(cases, key=lambda case: (case.duration, case.id))
    return CaseTimes(statistics.median(case.duration for case in cases), slowest.duration, slowest.id)
