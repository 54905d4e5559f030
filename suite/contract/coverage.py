"""What of the interface is held: each sentence of it that binds a plugin, and the clauses that hold a plugin to it.

`interface.tsv` has a row for each sentence. A row names clauses, or says why nobody can observe whether it is kept.
"""

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .catalogue import Clause

TABLE = Path(__file__).parent / "interface.tsv"

#: How a source cites lines of the interface: `filesystem_interface.h:229`, `filesystem_interface.h:168-175,229`.
_CITED = re.compile(r"filesystem_interface\.h:(\d+(?:-\d+)?(?:, ?\d+(?:-\d+)?)*)")
_LINES = re.compile(r"(\d+)(?:-(\d+))?")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One row. `line` is where the sentence stands, with a letter or a code where a line holds several."""

    line: str
    demand: str
    clauses: tuple[str, ...]
    unobservable: str

    @property
    def lines(self) -> range | None:
        """The lines by number; None for what is in no line alone, such as the signatures."""
        found = _LINES.match(self.line)
        return _range(found) if found else None


def sentences(path: Path = TABLE) -> list[Sentence]:
    """The rows of the table, in the order of the interface. Raises ValueError where a row has not four columns."""
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, dialect="excel-tab", quoting=csv.QUOTE_NONE)
    return [_sentence(number, row) for number, row in enumerate(rows, start=2)]


def _sentence(number: int, row: list[str]) -> Sentence:
    if len(row) != 4:
        raise ValueError(f"interface.tsv: line {number} has {len(row)} columns, not 4")
    line, demand, clauses, unobservable = row
    return Sentence(line, demand, tuple(name.strip() for name in clauses.split(",") if name.strip()), unobservable)


@dataclass(frozen=True, slots=True)
class CoveredSentence:
    """A sentence, the cases of its clauses, and what is wrong with the row, in words."""

    sentence: Sentence
    cases: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def state(self) -> str:
        """What the table says of the sentence."""
        if self.sentence.clauses:
            return "covered" if not self.wrong else "; ".join(self.wrong)
        return f"cannot be observed: {self.sentence.unobservable}" if self.sentence.unobservable else "missing"

    @property
    def settled(self) -> bool:
        """Whether the sentence is covered, or known to be beyond observation."""
        return bool(self.sentence.clauses or self.sentence.unobservable) and not self.wrong


def coverage(
    table: Iterable[Sentence], clauses: Mapping[str, Clause], cases: Mapping[str, Iterable[str]]
) -> list[CoveredSentence]:
    """What holds each sentence; `cases` has the clauses that each case declares, by its id."""
    of_clause: dict[str, list[str]] = {}
    for case, declared in cases.items():
        for name in declared:
            of_clause.setdefault(name, []).append(case)
    return [
        CoveredSentence(
            sentence,
            tuple(dict.fromkeys(case for name in sentence.clauses for case in of_clause.get(name, ()))),
            tuple(_wrong(sentence, clauses, of_clause)),
        )
        for sentence in table
    ]


def _wrong(sentence: Sentence, clauses: Mapping[str, Clause], cases: Mapping[str, list[str]]) -> Iterable[str]:
    for name in sentence.clauses:
        if name not in clauses:
            yield f"there is no clause {name}"
        elif name not in cases:
            yield f"{name} has no case"
        elif not cites(clauses[name], sentence):
            yield f"{name} does not cite line {sentence.line}"


def cites(clause: Clause, sentence: Sentence) -> bool:
    """Whether a source of the clause names the line of the sentence."""
    wanted = sentence.lines
    if wanted is None:
        return True
    cited = ",".join(many for source in clause.sources for many in _CITED.findall(source))
    return any(one.start < wanted.stop and wanted.start < one.stop for one in map(_range, _LINES.finditer(cited)))


def _range(found: re.Match[str]) -> range:
    first, last = found.groups()
    return range(int(first), int(last or first) + 1)
