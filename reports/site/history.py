"""What broke and what was mended from one release of a plugin to the next, and all releases as a table in Markdown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..model.uses import Use
from ..model.verdicts import Verdict
from .releases import Release
from .standing import WORDS

#: What a clause says where it was tried: the worst of these that a check had.
_TRIED = (Verdict.VIOLATION, Verdict.WAIVED, Verdict.WARNING, Verdict.TOLERATED, Verdict.CONFORM)
_BROKEN = frozenset({Verdict.VIOLATION, Verdict.WAIVED})
#: So many clauses of a step are named.
_NAMED = 12


@dataclass(frozen=True, slots=True)
class Step:
    """From one release to the one after it. The clauses are those that both reports have.

    `broken` are violated and were kept before, `mended` the other way round; nothing is either that was not tried in
    both. `unseen` were violated before, and were not tried after.
    """

    before: Release
    after: Release
    broken: tuple[str, ...]
    mended: tuple[str, ...]
    unseen: tuple[str, ...]


def steps(releases: Sequence[Release]) -> list[Step]:
    """The steps of one plugin, the oldest first; `releases` come newest first."""
    return [_step(before, after) for before, after in pairwise(reversed(releases))]


def _step(before: Release, after: Release) -> Step:
    then, now = ({name: _word(one, name) for name in one.report.clauses} for one in (before, after))
    both = [name for name in now if name in then]
    return Step(
        before,
        after,
        broken=tuple(name for name in both if then[name] and then[name] not in _BROKEN and now[name] in _BROKEN),
        mended=tuple(name for name in both if then[name] in _BROKEN and now[name] and now[name] not in _BROKEN),
        unseen=tuple(name for name in both if then[name] in _BROKEN and not now[name]),
    )


def _word(release: Release, clause: str) -> Verdict | None:
    """The worst that was seen of a clause; None where it was not tried."""
    counts = release.report.clauses[clause].counts
    return next((verdict for verdict in _TRIED if counts[verdict]), None)


def matrix(plugins: Mapping[str, Sequence[Release]]) -> str:
    """A row for each release of the plugins of which there are several: what may be kept, and what changed."""
    heads = ["plugin", "release", "loads in TensorFlow", *Use, "violations", "mended", "broken"]
    rows = [heads, ["---"] * len(heads)]
    for releases in _with_history(plugins):
        changed = {step.after.version: step for step in steps(releases)}
        for place, release in enumerate(releases):
            step = changed.get(release.version)
            rows.append(
                [
                    "" if place else release.known.name,
                    f"[{release.version}]({release.plugin}/{release.version}/{release.path.name})",
                    release.loads or "",
                    *(WORDS[one.word].character for one in release.decisions),
                    str(release.report.counts.violation),
                    *((_count(step.mended), _count(step.broken)) if step else ("", "")),
                ]
            )
    return _table(rows)


def differences(plugins: Mapping[str, Sequence[Release]]) -> str:
    """A table for each plugin of which there are several releases: which clauses a step mended, and which it broke."""
    parts = []
    for releases in _with_history(plugins):
        rows = [["from", "to", "mended", "broken", "no longer tried"], ["---"] * 5]
        for step in reversed(steps(releases)):
            named = map(_names, (step.mended, step.broken, step.unseen))
            rows.append([step.before.version, step.after.version, *named])
        parts.append(f"### {releases[0].known.name}\n\n{_table(rows)}")
    return "\n".join(parts)


def _with_history(plugins: Mapping[str, Sequence[Release]]) -> Iterator[Sequence[Release]]:
    return (releases for releases in plugins.values() if len(releases) > 1)


def _count(clauses: Sequence[str]) -> str:
    return str(len(clauses)) if clauses else "–"


def _names(clauses: Sequence[str]) -> str:
    """Ids of clauses, which have no character that Markdown knows."""
    more = [f"{len(clauses) - _NAMED} more"] if len(clauses) > _NAMED else []
    return ", ".join([*(f"`{name}`" for name in clauses[:_NAMED]), *more]) or "–"


def _table(rows: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
