"""Controls: what goes wrong with a plain name in the same way is no fault of the name.

A case about a name has one, the same case with a plain name. It is run where the case goes wrong, and what both find
is left to the case of the plain name.
"""

from collections.abc import Iterator, Mapping, Sequence

from ..contract.catalogue import clause
from ..judge.evidence import Statement


def excused(made: Sequence[Statement], control: Sequence[Statement], called: Mapping[str, str]) -> Iterator[Statement]:
    """The breaches of clauses about no op that the control shows, too; `called` gives the plain name of each name.

    A clause about an op is the op's own, whatever the name is.
    """
    seen = [_alike(one, {}) for one in control if not one.holds]
    for one in made:
        if not one.holds and not clause(one.clause).op and _alike(one, called) in seen:
            yield one


def _alike(said: Statement, called: Mapping[str, str]) -> tuple[object, ...]:
    """What two statements have in common that say the same of two names."""
    texts = (said.expected, said.got) if said.values is None else ()
    return said.clause, said.op, said.kind, said.code, *texts, called_plainly(said.values, called)


def called_plainly(value: object, called: Mapping[str, str]) -> object:
    """A value with the plain names of the names and paths in it; of several values in the order of those."""
    match value:
        case str():
            path = f"/{value}/"
            for name, other in called.items():
                while f"/{name}/" in path:
                    path = path.replace(f"/{name}/", f"/{other}/")
            return path
        case Mapping():
            return sorted((called_plainly(list(one), called) for one in value.items()), key=repr)
        case list() | set() | frozenset():
            return sorted((called_plainly(one, called) for one in value), key=repr)
        case tuple():
            return [called_plainly(one, called) for one in value]
    return value
