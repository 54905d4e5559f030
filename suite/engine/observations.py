"""Probing: what a plugin does where profiles may claim one thing or another, found out by trying.

Each question has a host and a directory of its own, so that a plugin that dies over one of them can be asked the next.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from ...harness.hosting.loader import BlockedError
from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.guard import RefusedError
from ...harness.ops.outcomes import DiedError, Outcome
from ...harness.over_tables import programs
from ...harness.over_tables.programs import Program
from ...harness.targets.backing import BackingUnableError
from ..contract.claims import OTHER_NAMES, Value, meanings
from .case import Case
from .first_look import CHANGES, refusals
from .setup import LOCKED
from .witnesses import nobody_finds
from .workbench import Workbench

#: Longer names and paths, in bytes, are not tried.
LONGEST_NAME, LONGEST_PATH = 2048, 8192
#: So many different times are waited for, and so many files written for them at most.
TIMES, WRITES = 5, 500
#: How often files are renamed over each other, and how long at most, in seconds.
RENAMES, SECONDS = 100, 1.0
#: So many files are made for the listing, in each of which one is waited for so many seconds at most.
FILES, LISTED = 5, 2.0

#: The greatest number of files that are opened at once.
MOST_OPEN = 200
#: Names that not every filesystem takes.
ODD_NAMES = ("a*:b", "a\tb", "\u00e9", "\udcff")


class UnknownAnswerError(Exception):
    """A question could not be answered; the text says why."""


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """An answer: the value of a claim or limit, None where there is none, and how that was found out."""

    section: str
    key: str
    value: Value | int | None
    how: str


Question = Callable[[Case], tuple[Value | int | None, str]]


def _file(case: Case, name: str = "file", content: bytes = b"content") -> str:
    """Write a file; its URI."""
    return case.setup.write(name, content)


def _directory(case: Case, name: str) -> str:
    """Make a directory; its URI."""
    made = case.setup.mkdir(name)
    if nobody_finds(case.fs, made, is_file=False):
        raise UnknownAnswerError("create_dir answered OK and made nothing")
    return made


def _content(case: Case) -> bytes | None:
    """What a reader of the file sees; None if there is nothing."""
    got = case.fs.new_random_access_file(case.uri("file"))
    if got.value is None:
        return None
    with got.value as file:
        return file.read(0, 1 << 16).value.data


def _directories(case: Case) -> tuple[Value, str]:
    try:
        _directory(case, "made")
    except UnknownAnswerError as why:
        return "none", str(why)
    _file(case)
    asked = {
        "create_dir without a parent": (case.fs.create_dir(case.uri("no/new")), Code.NOT_FOUND),
        "new_writable_file without a parent": (case.fs.new_writable_file(case.uri("none/new")), Code.NOT_FOUND),
        "path_exists below a file": (case.fs.path_exists(case.uri("file/below")), Code.FAILED_PRECONDITION),
        "new_writable_file below a file": (case.fs.new_writable_file(case.uri("file/new")), Code.FAILED_PRECONDITION),
    }
    for asked_for, (outcome, code) in asked.items():
        if outcome.code is not code:
            return "emulated", f"{asked_for} answered {outcome.code}"
    return "real", "what has no parent was refused, and so was what is below a file"


def _append(case: Case) -> tuple[Value, str]:
    _file(case, content=b"one")
    got = case.fs.new_appendable_file(case.uri("file"))
    if got.value is None:
        return False, f"new_appendable_file: {got.message}"
    with got.value as file:
        if not file.append(b"two").ok or not file.close().ok:
            return False, "append or close of a file opened for appending fails"
    seen = _content(case)
    return seen == b"onetwo", f"after 'one' and 'two' the file holds {seen!r}"


def _visibility(case: Case) -> tuple[Value, str]:
    with case.setup.opened(case.fs.new_writable_file(case.uri("file"))) as file:
        case.setup.require(file.append(b"seen"))
        if _content(case) == b"seen":
            return "append", "a reader saw the bytes when append had come back"
        case.setup.require(file.flush())
        if _content(case) == b"seen":
            return "flush", "a reader saw the bytes when flush had come back, and not before"
        case.setup.require(file.close())
    if _content(case) != b"seen":
        raise UnknownAnswerError("the bytes are not even seen after close")
    return "close", "a reader saw the bytes when close had come back, and not after flush"


def _atomic_rename(case: Case) -> tuple[Value, str]:
    if "rename_file" not in case.fs.present:
        return False, "rename_file is NULL: core copies and deletes"
    target, other = case.fs.translate(_file(case, "target", b"old")), case.fs.translate(case.uri("other"))
    writer = Program(case.tables)
    handle = writer.open("new_writable_file", other).value
    writer.append(handle, b"new")
    writer.handle_op("close", handle)
    writer.handle_op("writable_file.cleanup", handle)
    writer.path_op("rename_file", other, target)
    reader = Program(case.tables)
    for _ in range(8):
        reader.path_op("path_exists", target)
    went = programs.run_within(case.tables, [writer, reader, reader], RENAMES, SECONDS)
    if any(not timed.outcome.ok for timed in went[0]):
        raise UnknownAnswerError("a file could not be renamed over another one")
    if all(timed.outcome.ok for thread in went[1:] for timed in thread):
        return True, "something was at the target whenever two threads looked; that proves nothing"
    return False, "for a moment, nothing was at the target"


def _open_files(case: Case) -> tuple[Value, str]:
    with case.setup.opened(case.fs.new_random_access_file(_file(case))):
        for got in (case.fs.rename_file(_file(case, "other"), case.uri("file")), case.fs.delete_file(case.uri("file"))):
            if got.code in LOCKED:
                return "locked", f"{got.op} of an open file answered {got.code}"
            case.setup.require(got)
    return "free", "an open file was replaced and deleted"


def _names(case: Case) -> tuple[Value, str]:
    made = {name: case.fs.new_writable_file(case.uri(name)).value for name in ODD_NAMES}
    refused = [name for name, file in made.items() if file is None or not file.close().ok]
    if not refused:
        return "bytes", "odd names were taken"
    for value, other in OTHER_NAMES.items():
        if all(map(other.search, refused)):
            return value or "bytes", f"refused are {', '.join(map(ascii, refused))}"
    raise UnknownAnswerError(f"refused are {', '.join(map(ascii, refused))}: no value is for all")


def _max_open_files(case: Case) -> tuple[int | None, str]:
    uri = _file(case)
    with ExitStack() as stack:
        for count in range(MOST_OPEN):
            got = case.fs.new_random_access_file(uri)
            if got.code is Code.RESOURCE_EXHAUSTED:
                return count, f"the next one answered {got.code}"
            stack.enter_context(case.setup.opened(got))
    return None, f"{MOST_OPEN} files were open at once; more were not tried"


def _read_only(case: Case) -> tuple[Value, str]:
    case.setup.require(case.fs.delete_file(_file(case)))
    return False, "a file was written and deleted"


def _memory_regions(case: Case) -> tuple[Value, str]:
    got = case.fs.new_read_only_memory_region_from_file(_file(case))
    if got.value is None:
        return False, f"new_read_only_memory_region_from_file: {got.message}"
    got.value.cleanup()
    return True, "a file was mapped"


def _has_ops(claim: str) -> Question:
    ops = sorted(next(iter(meanings()[claim].values())).ops)

    def ask(case: Case) -> tuple[Value, str]:
        missing = [op for op in ops if op not in case.fs.present]
        return not missing, f"NULL: {', '.join(missing)}" if missing else "the ops are there"

    return ask


def _by_code(ask: Callable[[Case], Outcome[object]], ok: Value, refused: Value, right: Code = Code.OK) -> Question:
    """A question that one op answers: what its right code says, and what FAILED_PRECONDITION says."""

    def answer(case: Case) -> tuple[Value, str]:
        got = ask(case)
        values = {right: ok, Code.FAILED_PRECONDITION: refused}
        if got.code not in values:
            raise UnknownAnswerError(f"{got.op} answers {got.code}: {got.message}")
        return values[got.code], f"{got.op} answered {got.code}"

    return answer


def _tell_on_appendable_file(case: Case) -> tuple[Value, str]:
    with case.setup.opened(case.fs.new_appendable_file(_file(case, content=b"0123456789"))) as file:
        position = case.setup.require(file.tell())
    if position not in (0, 10):
        raise UnknownAnswerError(f"tell answers {position} for a file of 10 bytes")
    return "file" if position else "handle", f"tell answered {position} for a file of 10 bytes"


def _max_name(case: Case) -> tuple[int | None, str]:
    def fits(length: int) -> bool:
        name = "n" * length
        got = case.fs.new_writable_file(case.uri(name))
        if got.value is None:
            return False
        with got.value as file:
            kept = file.close().ok
        return kept and case.fs.path_exists(case.uri(name)).ok and case.fs.delete_file(case.uri(name)).ok

    return _longest(fits, LONGEST_NAME, "names")


def _max_path(case: Case) -> tuple[int | None, str]:
    case.setup.mkdir("d")
    short = len(paths.translate(case.uri("d/")).encode()) + 1

    def fits(length: int) -> bool:
        rest = length - short
        levels = [("n" * 99 if rest - k >= 100 else "n" * (rest - k)) for k in range(0, rest, 100)]
        uri = case.uri("/".join(["d", *levels]))
        made = case.fs.recursively_create_dir(uri).ok and case.fs.path_exists(uri).ok
        case.fs.delete_recursively(case.uri("d/" + levels[0]))
        return made

    return _longest(fits, LONGEST_PATH, "paths", least=short + 1)


def _longest(fits: Callable[[int], bool], most: int, what: str, least: int = 1) -> tuple[int | None, str]:
    """The largest length that fits, by bisection."""
    if fits(most):
        return None, f"{what} of {most} bytes are accepted; longer ones were not tried"
    if not fits(least):
        raise UnknownAnswerError(f"{what} of {least} bytes are refused")
    low, high = least, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low, f"{what} of {low} bytes are accepted, of {high} not"


def _mtime_granularity(case: Case) -> tuple[int, str]:
    times: set[int] = set()
    # Files that are written within one tick of a clock tell only one time.
    for _ in range(WRITES):
        times.add(case.setup.require(case.fs.stat(_file(case))).mtime_nsec)
        if len(times) == TIMES:
            break
    if times == {0}:
        return 0, "stat always says 0"
    granularity = next(10**k for k in range(9, -1, -1) if all(mtime % 10**k == 0 for mtime in times))
    return granularity, f"{len(times)} times of stat are all multiples of it"


def _listing_delay(case: Case) -> tuple[int | None, str]:
    longest, late = 0.0, False
    for number in range(FILES):
        name, made = paths.basename(_file(case, f"file{number}")), time.monotonic()
        while name not in case.setup.require(case.fs.get_children(case.uri())).bare:
            late = True
            if time.monotonic() - made > LISTED:
                raise UnknownAnswerError(f"a file is not listed {LISTED} s after it was made")
        longest = max(longest, time.monotonic() - made)
    if not late:
        return None, "what was made is listed at once"
    return math.ceil(longest * 200) * 10, f"twice the {longest * 1000:.0f} ms after which a file was listed"


CLAIMS: Mapping[str, Question] = {
    "directories": _directories,
    "append": _append,
    "visibility": _visibility,
    "atomic_rename": _atomic_rename,
    "open_files": _open_files,
    "names": _names,
    "memory_regions": _memory_regions,
    "transactions": _has_ops("transactions"),
    "configuration": _has_ops("configuration"),
    "is_directory_on_file": _by_code(lambda case: case.fs.is_directory(_file(case)), "header", "host"),
    "rename_directories": _by_code(
        lambda case: case.fs.rename_file(_directory(case, "source"), case.uri("target")), True, False
    ),
    "copy_onto_directory": _by_code(
        lambda case: case.fs.copy_file(_file(case), _directory(case, "directory")), "inside", "refuses"
    ),
    "delete_recursively_on_file": _by_code(lambda case: case.fs.delete_recursively(_file(case)), "deletes", "refuses"),
    "tell_on_appendable_file": _tell_on_appendable_file,
    "far_below_a_file": _by_code(
        lambda case: case.fs.path_exists(f"{_file(case)}/missing/leaf"),
        "not-found",
        "failed-precondition",
        Code.NOT_FOUND,
    ),
    "read_only": _read_only,
}
LIMITS: Mapping[str, Question] = {
    "max_path": _max_path,
    "max_name": _max_name,
    "max_open_files": _max_open_files,
    "mtime_granularity_ns": _mtime_granularity,
    "listing_delay_ms": _listing_delay,
}


def observations(bench: Workbench) -> Iterator[ProbeAnswer]:
    """The answers, in the order in which a profile has them. Nothing that the plugin does ends the probing."""
    questions = [
        (section, *one) for section, all_of in (("claims", CLAIMS), ("limits", LIMITS)) for one in all_of.items()
    ]
    for section, key, question in questions:
        try:
            value, how = _ask(bench, key, question)
        except (UnknownAnswerError, BlockedError, BackingUnableError, RefusedError, DiedError) as why:
            value, how = None, f"could not be found out: {why}"
        yield ProbeAnswer(section, key, value, how)


def _ask(bench: Workbench, key: str, question: Question) -> tuple[Value | int | None, str]:
    if question is _read_only and not bench.facts.root_made and refusals(bench).keys() == CHANGES.keys():
        return True, "each op that changes something is NULL or refuses to, perhaps without the right to write"
    case = Case(bench, f"probe/{key}", (), "", over_tables=True)
    try:
        # What cannot be prepared for any question is the answer to each.
        case.uri()
        return question(case)
    finally:
        case.surroundings.clear()
