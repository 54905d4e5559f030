"""The pages of a site: each by its path, made from the published reports alone."""

import posixpath
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import unquote, urljoin

from markupsafe import Markup

from ..escape import command_line
from ..forms import html
from ..forms.page import environment
from ..model.uses import Use
from ..publish import NOTES_NAME
from .notes import rendered
from .releases import Release, loads, newest
from .standing import CLAUSES, TARGETS, WORDS, by_class, latest_first, standings, word

#: The name of a report in its form for people.
PAGE_NAME = "report.html"

_ENVIRONMENT = environment(__package__)


@dataclass(frozen=True, slots=True)
class CaseTimes:
    """What the cases of a run took, in seconds; `longest` is the id of the slowest case."""

    median: float
    most: float
    longest: str


def pages(plugins: dict[str, list[Release]], source: str | None) -> Iterator[tuple[str, bytes]]:
    """Each file of the site, by its path.

    `source` is the URL of the folder of the published reports on the web: what the notes say of other files of its
    repository leads there, and is no link without it.
    """
    shown = list(newest(plugins))
    clauses = standings(shown)
    page = partial(_page, notes=partial(_notes, plugins, source))
    verdicts = {one.report.verdict for one in shown} | {a.verdict for one in shown for a in one.report.classes.values()}
    yield page("index.html", releases=shown, signs=TARGETS, used=verdicts, classes=_classes(shown))
    found = {word(account) for clause in clauses for _, account in clause.accounts if account}
    yield page("clauses.html", releases=shown, signs=CLAUSES, used=found, classes=by_class(clauses))
    yield page("disputed.html", releases=shown, clauses=[one for one in clauses if one.facts.readings])
    for clause in clauses:
        yield page("clause.html", f"clauses/{clause.id}.html", clause=clause, signs=CLAUSES)
    for name, releases in plugins.items():
        here = f"plugins/{name}"
        first = releases[0]
        yield page(
            "plugin.html", f"{here}/index.html", release=first, releases=releases, signs=TARGETS, cost=_cost(first)
        )
        for release in releases:
            there = f"{here}/{release.version}"
            yield page("release.html", f"{there}/index.html", release=release)
            yield f"{there}/{release.path.name}", release.path.read_bytes()
            yield f"{there}/{PAGE_NAME}", html.render(release.report, release.path.parent).encode()


def _page(template: str, path: str | None = None, **values: Any) -> tuple[str, bytes]:
    path = path or template
    up = "../" * path.count("/")
    text = _ENVIRONMENT.get_template(template).render(
        values,
        more_style="site.css",
        here=path,
        up=up,
        loads=loads,
        words=WORDS,
        uses=list(Use),
        word=word,
        command_line=command_line,
    )
    return path, text.encode()


def _notes(plugins: dict[str, list[Release]], source: str | None, release: Release, up: str) -> Markup | None:
    """The notes of a release as a part of a page that is so far below the first."""
    if release.notes is None:
        return None
    return rendered(release.notes, partial(_leads, plugins, source, release, up))


def _leads(plugins: dict[str, list[Release]], source: str | None, release: Release, up: str, link: str) -> str | None:
    """Where a link in the notes of a release leads from a page: to a page of the site, or to a file on the web."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#", link):
        return None
    target = posixpath.normpath(posixpath.join(release.plugin, release.version, unquote(link).partition("#")[0]))
    match target.split("/"):
        case [name, version, file]:
            for one in plugins.get(name, []):
                known = {NOTES_NAME: "index.html", one.path.name: one.path.name}
                if one.version == version and file in known:
                    return f"{up}plugins/{name}/{version}/{known[file]}"
    return source and urljoin(f"{source.rstrip('/')}/{release.plugin}/{release.version}/", link)


def _classes(releases: list[Release]) -> list[str]:
    """All classes, in the order of the latest report."""
    return list(dict.fromkeys(name for one in latest_first(r.report for r in releases) for name in one.classes))


def _cost(release: Release) -> CaseTimes | None:
    cases = release.report.cases
    if not cases:
        return None
    slowest = max(cases, key=lambda case: (case.duration, case.id))
    return CaseTimes(statistics.median(case.duration for case in cases), slowest.duration, slowest.id)
