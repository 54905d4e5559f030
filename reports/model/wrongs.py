"""What is wrong in a check, whatever the names and the bytes are: checks of several clauses can have that in common."""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from .records import CaseRecord, CheckRecord

#: The kinds of what can be wrong: a code, what is there, what a file holds, a number, and what only one clause has.
CODE, THERE, BYTES, NUMBER, OWN = "code", "there", "bytes", "number", "of its clause"
#: What is there that should not be, and the other way round.
LACKING, TOO_MANY = "lacking", "too many"
DIRECTORY, FILE = "directory", "file"
#: A file of which it is known whether anything is in it.
EMPTY, FILLED = "empty file", "file with content"
#: What else is lacking where this is: who loses files that are empty may keep the others.
_LACKING_TOO = {
    f"{LACKING} {FILE}": {f"{LACKING} {EMPTY}", f"{LACKING} {FILLED}"},
    f"{LACKING} {FILLED}": {f"{LACKING} {EMPTY}", f"{LACKING} {FILE}"},
    f"{LACKING} {EMPTY}": {f"{LACKING} {FILE}"},
}

#: How the text of a check begins that compares what other ops find in the storage: a tree, or what a file holds.
STORED = re.compile(r"[\w ]+ has \{|content( below)?=")
#: How the text of a check goes on that only holds for what a profile claims.
CLAIMED = ", as the profile claims"
#: The op that a text names which is about many, what it did before, and its code: `sync, closed: code=INTERNAL`. It
#: gives back nothing that it took: else a text of one long word takes the square of its length.
_OF_AN_OP = re.compile(r"(\w[\w.]*+)[^:={\[]*+: ")
_ANSWERED = re.compile(rf"(?:{_OF_AN_OP.pattern})?code=(\w+)")
#: A name in a tree, and one in a list.
_IN_TREE = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")…?(?: \([^)]*\))?: (None|b'.?|b".?)?""")
_IN_LIST = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(…?)""")
#: What a label says that counts what is there.
_COUNTS = re.compile(r"matches|entries|files|versions|names|returned|listed")
#: How many of one thing were expected, and are there.
_COUNTED = re.compile(r"(\d+) (\w+); (\d+) \2")
#: A return code.
_CODE = re.compile(r"[A-Z_]{2,}")
#: One number, or a list of them.
_NUMBERS, _NUMBER = re.compile(r"-?\d+|\[-?\d+(?:, -?\d+)*\]"), re.compile(r"-?\d+")
#: Bytes: how many there are where not all are shown, those that are, and one that is escaped.
_SIZE = re.compile(r"… \((\d+) bytes\)")
_SHOWN, _ESCAPED = re.compile(r"""b(?:'((?:[^'\\]|\\.)*)'|"(?:[^"\\]|\\.)*")"""), re.compile(r"\\x..|\\.")
#: How a text begins that compares bytes.
_HOLDS = re.compile(r"[\w .-]+=b['\"]|(?:.* )?(?:content|data|bytes)\b")
#: A list of names in what was got where nothing was expected that can be compared.
_TREE = re.compile(r" tree=\[")
#: Of the texts of a report from elsewhere so many characters are searched for names: ours are shorter.
_READ = 1000
#: The text of a check that stands for others, which nobody can read any more.
_SHARED = "as above"


class Wrong(NamedTuple):
    """What is wrong: of which kind, and what of it, all of that. `op` is the op that the text names."""

    kind: str
    what: frozenset[str]
    op: str | None = None


def wrongs(case: CaseRecord, check: CheckRecord) -> frozenset[Wrong]:
    """What may be wrong in a check of a case: any of these."""
    said = frozenset(Wrong(kind, frozenset(what), op) for kind, what, op in _wrongs(case, check))
    return said or frozenset({Wrong(OWN, frozenset({check.clause}))})


def explained(what: frozenset[str]) -> set[str]:
    """What of a wrong can be seen of an op that does this one."""
    return set(what).union(*(_LACKING_TOO.get(one, ()) for one in what))


def is_shared(check: CheckRecord) -> bool:
    """Whether a check stands for others that are not told apart."""
    return check.expected == _SHARED


_Said = tuple[str, set[str], str | None]
#: Names, and whether each is a directory; None where nobody knows.
_Names = set[tuple[str, bool | None]]


def _wrongs(case: CaseRecord, check: CheckRecord) -> Iterator[_Said]:
    expected, got = check.expected[:_READ].partition(CLAIMED)[0], check.got[:_READ]
    if code := _ANSWERED.match(got):
        yield CODE, {code[2]}, code[1]
        yield from _by_code(expected, code[2])
    named = _OF_AN_OP.match(got)
    if named and not code:
        yield OWN, {check.clause}, named[1]
    if _TREE.search(got):
        yield from _either(LACKING)
        yield from _of_content()
    label, _, wanted = expected.partition("=")
    if " has {" in expected:
        yield from _of_names(_in_tree(expected), _in_tree(got), _kinds(expected))
    elif _HOLDS.match(expected) or _HOLDS.match(got):
        yield from _of_bytes(_size(expected), _size(got))
    elif got.startswith(f"{label}="):
        what = label.removeprefix(named[0]) if named else label
        op, answered = named and named[1], got.removeprefix(f"{label}=")
        if what == "returned" and (op or check.clause.partition(".")[0]) == "is_directory":
            # It tells of directories alone.
            yield THERE, {f"{LACKING if answered == '0' else TOO_MANY} {DIRECTORY}"}, op
            return
        for kind, those, _ in _of_values(case, what, wanted, answered):
            yield kind, those, op
    elif (counted := _COUNTED.fullmatch(f"{expected}; {got}")) and counted[1] != counted[3]:
        yield from _either(LACKING if int(counted[3]) < int(counted[1]) else TOO_MANY)


def _by_code(expected: str, code: str) -> Iterator[_Said]:
    """What a code tells of what is there."""
    if code == "ALREADY_EXISTS" or (code == "OK" and "NOT_FOUND" in expected):
        yield from _either(TOO_MANY)
    elif code == "NOT_FOUND" and "OK" in expected:
        yield from _either(LACKING)


def _either(how: str) -> Iterator[_Said]:
    """Something is lacking, or too many, and nobody says what."""
    yield from ((THERE, {f"{how} {what}"}, None) for what in (DIRECTORY, FILE))


def _of_values(case: CaseRecord, label: str, wanted: str, got: str) -> Iterator[_Said]:
    numbers = [_NUMBERS.fullmatch(text) and [*map(int, _NUMBER.findall(text))] for text in (wanted, got)]
    if numbers[0] and numbers[1] and _COUNTS.match(label):
        yield from _either(LACKING if numbers[1] < numbers[0] else TOO_MANY)
    elif numbers[0] and numbers[1]:
        pairs = zip(numbers[0], numbers[1], strict=False)
        yield NUMBER, {"less" if other < one else "more" for one, other in pairs if one != other}, None
    elif _CODE.fullmatch(wanted) and _CODE.fullmatch(got):
        yield CODE, {got}, None
        yield from _by_code(wanted, got)
    elif wanted.startswith("[") and "OK" in wanted + got:
        codes = [_CODE.findall(text) for text in (wanted, got)]
        for one, other in zip(*codes, strict=False):
            if one != other:
                yield CODE, {other}, None
                yield from _by_code(one, other)
    elif wanted.startswith("["):
        yield from _of_names(_in_list(case, wanted), _in_list(case, got))
    elif {wanted, got} == {"True", "False"}:
        yield from _either(LACKING if wanted == "True" else TOO_MANY)


def _of_content() -> Iterator[_Said]:
    """What files hold is wrong, and nobody says how."""
    yield from ((BYTES, {how}, None) for how in ("other", "fewer", "too many"))


def _of_bytes(wanted: int | None, got: int | None) -> Iterator[_Said]:
    """Whether there are fewer bytes, more, or others; what else counts them says that there are less, or more."""
    if wanted is None or got is None:
        yield from _of_content()
        # What is not there holds nothing.
        yield from _either(LACKING)
    elif wanted == got:
        yield BYTES, {"other"}, None
    else:
        yield BYTES, {"fewer" if got < wanted else "too many"}, None
        yield NUMBER, {"less" if got < wanted else "more"}, None


def _size(text: str) -> int | None:
    """How many bytes a text shows, or says that there are."""
    if said := _SIZE.search(text):
        return int(said[1])
    shown = _SHOWN.search(text)
    return len(_ESCAPED.sub(".", shown[0])) if shown else None


def _of_names(wanted: _Names, got: _Names, kinds: Mapping[str, str] | None = None) -> Iterator[_Said]:
    """Which names are lacking, and which too many: directories, which take along what is below them, or files.

    `kinds` are those of the files that were wanted, where it is known what is in them.
    """
    known = {name for name, _ in wanted}
    # What is something else than it was is not there any more.
    more = {one for one in got - wanted if one[0] not in known}
    said: dict[str, set[tuple[bool | None, str]]] = {
        how: {(is_directory, of.get(name, FILE)) for name, is_directory in one if not _is_below(name, one)}
        for how, one, of in ((LACKING, wanted - got, kinds or {}), (TOO_MANY, more, {}))
    }
    if not any(said.values()):
        # Names that differ in what they hold.
        yield from _of_content()
    is_unknown = any(one is None for one, _ in said[LACKING] | said[TOO_MANY])
    for unknown in (True, False) if is_unknown else (True,):
        what = {
            f"{how} {DIRECTORY if (unknown if one is None else one) else file}"
            for how, those in said.items()
            for one, file in those
        }
        if what:
            yield THERE, what, None


def _is_below(name: str, names: _Names) -> bool:
    return any(name.startswith(f"{above[:-1]}/") for above, _ in names)


def _in_tree(text: str) -> _Names:
    return {(name, value == "None") for name, value in _IN_TREE.findall(text)}


def _kinds(text: str) -> dict[str, str]:
    """Whether anything is in the files of a tree."""
    return {
        name: EMPTY if value in ("b''", 'b""') else FILLED
        for name, value in _IN_TREE.findall(text)
        if value.startswith("b")
    }


def _in_list(case: CaseRecord, text: str) -> _Names:
    return {(name, None if cut else _is_directory(case, name)) for name, cut in _IN_LIST.findall(text)}


def _is_directory(case: CaseRecord, name: str) -> bool | None:
    """Whether a call made a directory of this name; None where not all calls are known."""
    made = re.compile(rf"(?:recursively_)?create_dir\(['\"](?:.*/)?{re.escape(name[1:-1])}/?['\"]\) -> OK")
    # Calls that were left out, and names that are no text, are not to be found.
    is_known = "\\" not in name and not is_cut(case)
    return any(made.match(call) for call in case.ops) or (False if is_known else None)


def is_cut(case: CaseRecord) -> bool:
    """Whether the trace of a case lacks calls that were left out."""
    return any(call.startswith("…") for call in case.ops)


def calls(case: CaseRecord, op: str) -> list[str]:
    """The calls of an op in the trace of a case."""
    return [call for call in case.ops if call.startswith(f"{op}(")]


def answers(case: CaseRecord, op: str, code: str) -> bool:
    """Whether a call of an op in the trace of a case answers this code."""
    said = re.compile(rf"\) -> {re.escape(code)}\b")
    return any(said.search(call) for call in calls(case, op))


def bits(check: CheckRecord) -> int:
    """How large the input of a check is: the bits of the number that it expects, or of its number of bytes; else 0.

    Times of one day are all as long.
    """
    expected = check.expected.partition(CLAIMED)[0]
    number = _NUMBER.fullmatch(expected.partition("=")[2])
    return (int(number[0]) if number else _size(expected) or 0).bit_length()


def named_op(checks: Sequence[CheckRecord], ops: Container[str | None]) -> str | None:
    """The op that most of these checks name where they are about no op, if none names another one."""
    named = _named(checks, ops)
    return named[0] if 2 * len(named) > len(checks) and len(set(named)) == 1 else None


def answering_op(checks: Sequence[CheckRecord], own: str, ops: Container[str | None]) -> str:
    """The op that gave the answers of these checks of a clause about an op: another one where each names another."""
    named = _named(checks, ops)
    return named[0] if len(named) == len(checks) and own not in named else own


def _named(checks: Sequence[CheckRecord], ops: Container[str | None]) -> list[str]:
    return [found[1] for one in checks if (found := _OF_AN_OP.match(one.got)) and found[1] in ops]
