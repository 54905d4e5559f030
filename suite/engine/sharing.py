"""Which statements of a case share a record: a case may make a million of them, and all are counted."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..judge.evidence import Statement

#: One case makes so many statements that a clause is kept, or so many that it is not; those beyond share one.
STATEMENTS = 16
#: What a statement says that stands for others beyond STATEMENTS.
OTHERS = "another answer than those above"


def add(made: list[Statement], said: Statement) -> None:
    """Take a statement of a case. Those that hold alike share one, and so do all beyond the first few."""
    alike = [k for k, one in enumerate(made) if one.clause == said.clause and one.holds is said.holds]
    many = len(alike) >= STATEMENTS
    same = _same(made, alike, said) if many or said.holds else None
    if same is None and many:
        said = replace(said, got=OTHERS, expected="as above", said=None)
        same = _same(made, alike, said)
    if same is None:
        made.append(said)
    else:
        made[same] = replace(made[same], times=made[same].times + 1)


def _same(made: Sequence[Statement], among: Iterable[int], said: Statement) -> int | None:
    """Where the statement is that says the same."""
    return next((k for k in among if replace(made[k], times=1) == said), None)
