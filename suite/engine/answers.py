"""Which answer a statement compares: the op that gave it, and what of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Outcome
from ...harness.over_tables.raw import Call
from ...reports.model.records import StatementKind
from ..contract.catalogue import clause

#: What a clause is about that compares no value of an answer, by its id.
_OF_CLAUSES: Sequence[tuple[re.Pattern[str], StatementKind]] = (
    (re.compile(r"robustness\.no-(crash|exception|overrun)"), StatementKind.CRASH),
    (re.compile(r"robustness\.no-hang"), StatementKind.HANG),
    (re.compile(r"robustness\.leaves-.*|.*\.leaks-.*"), StatementKind.LEAK),
    (re.compile(r"common\.(wrapper|arguments|status|results)-.*|.*blocks-are-freeable"), StatementKind.OWNERSHIP),
    (re.compile(r".*\.(untouched-on-error|sets-the-number|keeps-the-statuses)"), StatementKind.OUT_PARAMETER),
    (re.compile(r".*(thread-safe|fits-an-order|one-winner|no-change-is-lost)"), StatementKind.ORDER),
)
#: What a value is, by the word that names it in a comparison.
_OF_WORDS: Mapping[str, StatementKind] = {
    **dict.fromkeys(("content", "data", "bytes", "text"), StatementKind.CONTENT),
    **dict.fromkeys(("tree", "entries", "matches", "names", "files", "versions"), StatementKind.NAMES),
    **dict.fromkeys(("length", "size", "position"), StatementKind.LENGTH),
    **dict.fromkeys(("kind", "kinds"), StatementKind.TYPE),
    **dict.fromkeys(("mtime", "mtimes"), StatementKind.TIME),
    "returned": StatementKind.RETURNED,
}
#: The ops that answer with such a value.
_GIVES: Mapping[StatementKind, frozenset[str]] = {
    StatementKind.CONTENT: frozenset({"read", "data"}),
    StatementKind.MISSING: frozenset({"read", "data"}),
    StatementKind.NAMES: frozenset({"get_children", "get_matching_paths"}),
    StatementKind.LENGTH: frozenset({"stat", "get_file_size", "length", "tell"}),
    StatementKind.TIME: frozenset({"stat"}),
    StatementKind.TYPE: frozenset({"stat", "is_directory"}),
}
#: The codes with which a value comes.
WITH_A_VALUE = (str(Code.OK), str(Code.OUT_OF_RANGE))
#: What is called after an answer, before it is compared.
_AFTERWARDS = re.compile(r".*cleanup|close|flush_caches")


def kind_of(name: str, what: str) -> StatementKind:
    """What of an answer a statement about a clause compares; `what` names the value."""
    for pattern, kind in _OF_CLAUSES:
        if pattern.fullmatch(name):
            return kind
    return next((_OF_WORDS[word] for word in re.findall(r"\w+", what) if word in _OF_WORDS), StatementKind.OTHER)


def op_of(name: str, kind: StatementKind, calls: Sequence[Call]) -> str | None:
    """The op that gave the answer: that of the clause, or of the last call that gives such a value.

    Where core's default performs the op of the clause, an op that the default called gave it. flush_caches gives no
    answer that a look after it could be.
    """
    own = "" if name == "flush_caches.results-reflect-the-store" else clause(name).op
    # Which of several ops at once was wrong no call tells.
    if kind is StatementKind.ORDER:
        return own
    inner = [op for op, _, outcome in calls if own and isinstance(outcome, Outcome) and outcome.called_by == own]
    if own and not inner:
        return own
    gives = _GIVES.get(kind)
    asked = inner or [op for op, _, _ in calls if not _AFTERWARDS.fullmatch(op)]
    giving = asked if gives is None else [op for op in asked if op in gives] or inner
    return giving[-1] if giving else None


def kind_of_bytes(wanted: object, got: object) -> StatementKind:
    """What is wrong with bytes: the last ones are missing, or they are others."""
    is_cut = isinstance(wanted, bytes) and isinstance(got, bytes) and len(got) < len(wanted) and wanted.startswith(got)
    return StatementKind.MISSING if is_cut else StatementKind.CONTENT


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer that a statement compares: the op that gave it, what of it, and its code, where that is compared.

    `values` are what was wanted and what came. None is what only the calls of the case tell. `loses` says that stored
    data is gone.
    """

    op: str | None = None
    kind: StatementKind | None = None
    code: str | None = None
    values: tuple[object, object] | None = None
    loses: bool = False

    @classmethod
    def of(cls, outcome: Outcome[object]) -> "Answer":
        """The code of an outcome, by the op of the plugin that gave it."""
        return cls(outcome.passed_on or outcome.op, StatementKind.CODE, str(outcome.code))

    def with_values(self, kind: StatementKind, wanted: object, got: object) -> "Answer":
        """The answer with these values in it, whose kind is known by their name."""
        if self.code not in (None, *WITH_A_VALUE):
            return replace(self, values=(wanted, got))
        code = str(got) if isinstance(got, Code) else None
        of_bytes = isinstance(wanted, bytes) and isinstance(got, bytes)
        kind = StatementKind.CODE if code else kind_of_bytes(wanted, got) if of_bytes else self.kind or kind
        return replace(self, kind=kind, code=code, values=(wanted, got))

    def completed(self, name: str, calls: Sequence[Call]) -> "Answer":
        """The whole answer that a statement about a clause compares, after these calls."""
        kind = self.kind or kind_of(name, "")
        op = self.op or op_of(name, kind, calls)
        if self.op is None:
            # What was opened can be read, whatever the op of the clause did.
            of_bytes = kind in (StatementKind.CONTENT, StatementKind.MISSING)
            asked = _GIVES[kind] if of_bytes else {op} & _GIVES.get(kind, frozenset())
            looked = next((it for name, _, it in reversed(calls) if name in asked and isinstance(it, Outcome)), None)
            is_empty = of_bytes or (self.values is not None and not self.values[1])
            if looked is not None and is_empty and str(looked.code) not in WITH_A_VALUE:
                return replace(self, op=looked.op, kind=StatementKind.CODE, code=str(looked.code))
        return replace(self, op=op, kind=kind)


#: An answer of which only the calls tell.
UNKNOWN = Answer()


def written(wanted: bytes, got: bytes) -> Answer:
    """What the ops that write a file left in it: without some of the bytes, or with what was there before."""
    kind = kind_of_bytes(wanted, got)
    return Answer("close" if kind is StatementKind.MISSING else "new_writable_file", kind)
