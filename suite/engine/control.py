"""Controls: what goes wrong with a plain name in the same way is no fault of the name.

A case about a name has one, the same case with a plain name. It is run where the case goes wrong, and what both find
is left to the case of the plain name.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from ..contract.catalogue import clause
from ..judge.evidence import Statement
from .callformat import show

#: A text in a comparison, as it is shown.
_SHOWN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


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
    return said.clause, *called_plainly(said.expected, called), *called_plainly(said.got, called)


def called_plainly(text: str, called: Mapping[str, str]) -> tuple[str, list[str]]:
    """What is compared, without the names and paths in it; and these, by their plain names, in the order of those."""
    for name, other in called.items():
        # One that is too long to be shown is cut.
        text = text.replace(show(name), repr(other))
    paths = []
    for shown in _SHOWN.findall(text):
        path = f"/{ast.literal_eval(shown)}/"
        for name, other in called.items():
            while f"/{name}/" in path:
                path = path.replace(f"/{name}/", f"/{other}/")
        paths.append(path)
    return _SHOWN.sub("", text), sorted(paths)
