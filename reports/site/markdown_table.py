"""The published reports as tables in Markdown, for the page beside them."""

from collections.abc import Iterable, Mapping, Sequence

from ..model.uses import Decision, Use, Word
from .releases import Release, newest
from .standing import WORDS


def decisions(plugins: Mapping[str, list[Release]]) -> str:
    """A row for the newest release of each plugin: its name, the storage, a word for each use, and what is lost."""
    rows = [["plugin", "storage", *Use, "what is lost"]]
    for release in newest(plugins):
        name = f"[{release.known.name}]({_report(release)}) {release.version}"
        rows.append([name, release.known.storage, *map(_word, release.decisions), _lost(release.decisions)])
    return _table(rows)


def matrix(plugins: Mapping[str, list[Release]]) -> str:
    """A row for each release of the plugins with several: where it loads, what may be kept there, its violations."""
    rows = [["plugin", "release", "loads in TensorFlow", *Use, "violations"]]
    for releases in plugins.values():
        for place, release in enumerate(releases if len(releases) > 1 else ()):
            signs = [WORDS[one.word].character for one in release.decisions]
            link = f"[{release.version}]({_report(release)})"
            name = "" if place else release.known.name
            rows.append([name, link, release.loads or "", *signs, str(release.report.counts.violation)])
    return _table(rows)


def _report(release: Release) -> str:
    return f"{release.plugin}/{release.version}/{release.path.name}"


def _word(decision: Decision) -> str:
    return f"**{decision.word}**" if decision.word is Word.LOSES else decision.word


def _lost(decisions: Iterable[Decision]) -> str:
    """The sentences of what is lost, which are ours and no plugin's."""
    return " ".join(one.reasons[0].says for one in decisions if one.word is Word.LOSES)


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *others = rows
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *others))
