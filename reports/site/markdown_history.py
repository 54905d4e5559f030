"""The releases of plugins as tables in Markdown: what may be kept on each, what was mended, and what broke."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..model.uses import Use
from .history import Step, steps
from .releases import Release
from .standing import WORDS

#: So many clauses of a step are named.
_NAMED = 12
#: What stands where two reports cannot be compared.
_OTHER = "not compared: different versions of the suite judged them"


def matrix(plugins: Mapping[str, Sequence[Release]]) -> str:
    """A row for each release of the plugins of which there are several: what may be kept, and what changed."""
    heads = ["plugin", "release", "loads in TensorFlow", *Use, "violations", "mended", "broken"]
    rows = [heads, ["---"] * len(heads)]
    for releases in _with_history(plugins):
        changed = {step.now.version: step for step in steps(releases)}
        for place, release in enumerate(releases):
            step = changed.get(release.version)
            rows.append(
                [
                    "" if place else release.known.name,
                    f"[{release.version}]({release.plugin}/{release.version}/{release.path.name})",
                    release.loads or "",
                    *(WORDS[one.word].character for one in release.decisions),
                    str(release.report.counts.violation),
                    *_changes(step),
                ]
            )
    return _table(rows)


def differences(plugins: Mapping[str, Sequence[Release]]) -> str:
    """A table for each plugin of which there are several releases: which clauses a step mended, and which it broke."""
    parts = []
    for releases in _with_history(plugins):
        rows = [["from", "to", "mended", "broken", "no longer tried"], ["---"] * 5]
        for step in steps(releases):
            named = [_names(one) for one in (step.mended, step.broke, step.unseen)]
            rows.append([step.then.version, step.now.version, *(named if step.is_compared else [_OTHER, "", ""])])
        parts.append(f"### {releases[0].known.name}\n\n{_table(rows)}")
    return "\n".join(parts)


def _with_history(plugins: Mapping[str, Sequence[Release]]) -> Iterator[Sequence[Release]]:
    return (releases for releases in plugins.values() if len(releases) > 1)


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
