"""What the published reports say as tables in Markdown, for the pages beside them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..model.abi import spans
from ..model.uses import Decision, Use, Word
from .history import Step, broken, steps
from .releases import Release
from .standing import WORDS

#: So many clauses of a step are named.
_NAMED = 12
#: What stands where two reports cannot be compared.
_OTHER = "not compared: different versions of the suite judged them"


def table(releases: Iterable[Release]) -> str:
    """A row for each release: its name, the storage, a word for each use, and what is lost."""
    rows = [["plugin", "storage", *Use, "what is lost"], ["---"] * (len(Use) + 3)]
    for release in releases:
        name = f"[{release.known.name}]({release.plugin}/{release.version}/{release.path.name}) {release.version}"
        rows.append([name, release.known.storage, *map(_word, release.decisions), _lost(release.decisions)])
    return _table(rows)


def matrix(plugins: Mapping[str, Sequence[Release]]) -> str:
    """A row for each release of the plugins of which there are several: what may be kept, and what changed."""
    heads = ["plugin", "release", "loads in TensorFlow", *Use, "broken clauses", "mended", "broke"]
    rows = [heads, ["---"] * len(heads)]
    for releases in _with_history(plugins):
        changed = {step.now.version: step for step in steps(releases)}
        for place, release in enumerate(releases):
            step = changed.get(release.version)
            rows.append(
                [
                    "" if place else release.known.name,
                    f"[{release.version}]({release.plugin}/{release.version}/{release.path.name})",
                    _loads(release),
                    *(WORDS[one.word].character for one in release.decisions),
                    str(len(broken(release.report))),
                    *_changes(step),
                ]
            )
    return _table(rows)


def differences(plugins: Mapping[str, Sequence[Release]]) -> str:
    """A table for each plugin of which there are several releases: which clauses a step mended, and which it broke."""
    parts = []
    for releases in _with_history(plugins):
        rows = [["from", "to", "mended", "broke", "broken, and not tried before", "broken before, and not tried now"]]
        rows.append(["---"] * len(rows[0]))
        for step in steps(releases):
            named = [_names(one) for one in (step.mended, step.broke, step.new, step.unseen)]
            rows.append([step.then.version, step.now.version, *(named if step.is_compared else [_OTHER] + [""] * 3)])
        parts.append(f"### {releases[0].known.name}\n\n{_table(rows)}")
    return "\n".join(parts)


def _with_history(plugins: Mapping[str, Sequence[Release]]) -> Iterator[Sequence[Release]]:
    return (releases for releases in plugins.values() if len(releases) > 1)


def _loads(release: Release) -> str:
    """In which releases of TensorFlow it loads; nothing where it is TensorFlow's own."""
    abi = release.report.target.abi
    if abi is None or not any(word.startswith("--plugin=") for word in release.report.suite.command):
        return ""
    return spans(abi.loads, abi.releases) or f"none from {abi.releases[0]} on"


def _changes(step: Step | None) -> tuple[str, str]:
    """How many clauses were mended, and how many broke; nothing for the oldest release."""
    if step is None:
        return "", ""
    return (_count(step.mended), _count(step.broke)) if step.is_compared else ("?", "?")


def _count(clauses: Sequence[str]) -> str:
    return str(len(clauses)) if clauses else "–"


def _names(clauses: Sequence[str]) -> str:
    """Ids of clauses, which have no character that Markdown knows."""
    more = [f"{len(clauses) - _NAMED} more"] if len(clauses) > _NAMED else []
    return ", ".join([*(f"`{name}`" for name in clauses[:_NAMED]), *more]) or "–"


def _table(rows: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _word(decision: Decision) -> str:
    return f"**{decision.word}**" if decision.word is Word.LOSES else decision.word


def _lost(decisions: Iterable[Decision]) -> str:
    """The sentences of what is lost, which are ours and no plugin's."""
    return " ".join(one.reasons[0].says for one in decisions if one.word is Word.LOSES)
