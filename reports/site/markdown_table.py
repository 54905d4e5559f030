"""The published reports as tables in Markdown, for the page beside them."""

from collections.abc import Mapping, Sequence

from ..model.uses import Decision, Use, Word
from .releases import Release, newest
from .standing import WORDS


def decisions(plugins: Mapping[str, list[Release]]) -> str:
    """A row for the newest release of each plugin: the answer, where it loads, a word for each use, and why."""
    rows = [["plugin", "may a training run use it?", "loads in TensorFlow", *Use, "storage", "what is wrong"]]
    for release in newest(plugins):
        name = f"[{release.known.name}]({_report(release)}) {release.version}"
        words = map(_word, release.decisions)
        loads = release.loads or "part of it"
        rows.append([name, release.answer, loads, *words, release.known.storage, " ".join(release.against)])
    return _table(rows)


def matrix(plugins: Mapping[str, list[Release]]) -> str:
    """A row for each release of the plugins with several: where it loads, what may be kept there, what it breaks."""
    rows = [["plugin", "release", "loads in TensorFlow", *Use, "broken MUST clauses"]]
    for releases in plugins.values():
        for place, release in enumerate(releases if len(releases) > 1 else ()):
            signs = [WORDS[one.word].character for one in release.decisions]
            link = f"[{release.version}]({_report(release)})"
            name = "" if place else release.known.name
            rows.append([name, link, release.loads or "", *signs, str(release.broken())])
    return _table(rows)


def _report(release: Release) -> str:
    return f"{release.plugin}/{release.version}/{release.path.name}"


def _word(decision: Decision) -> str:
    return f"**{decision.word}**" if decision.word is Word.LOSES else decision.word


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *others = rows
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *others))
