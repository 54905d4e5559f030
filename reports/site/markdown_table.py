"""What a person decides by as a table in Markdown, for the page beside the published reports."""

from collections.abc import Iterable

from ..model.uses import Decision, Use, Word
from .releases import Release


def table(releases: Iterable[Release]) -> str:
    """A row for each release: its name, the storage, a word for each use, and what is lost."""
    rows = [["plugin", "storage", *Use, "what is lost"], ["---"] * (len(Use) + 3)]
    for release in releases:
        name = f"[{release.known.name}]({release.plugin}/{release.version}/{release.path.name}) {release.version}"
        rows.append([name, release.known.storage, *map(_word, release.decisions), _lost(release.decisions)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _word(decision: Decision) -> str:
    return f"**{decision.word}**" if decision.word is Word.LOSES else decision.word


def _lost(decisions: Iterable[Decision]) -> str:
    """The sentences of what is lost, which are ours and no plugin's."""
    return " ".join(one.reasons[0].says for one in decisions if one.word is Word.LOSES)
