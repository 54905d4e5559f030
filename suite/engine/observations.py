"""Probing: what a plugin does where profiles may claim one thing or another, found out by trying.

Each question has a host and a directory of its own, so that a plugin that dies over one of them can be asked the next.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeVar

from ...harness.hosting.loader import BlockedError
from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.guard import Guard, RefusedError
from ...harness.ops.outcomes import DiedError, Outcome
from ...harness.over_tables import programs
from ...harness.over_tables.programs import Program
from ...harness.targets.backing import BackingUnableError
from ..contract.claims import Value, meanings
from .first_look import CHANGES, refusals
from .setup import LOCKED
from .workbench import HostedFilesystem, Workbench

T = TypeVar("T")

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
#: A name that is none of those of a value of `names`.
ODD_NAMES = {"windows": "a*:b", "ascii": "\u00e9", "utf-8": "\udcff"}


class UnknownAnswerError(Exception):
    """A question could not be answered; the text says why."""


@dataclass(frozen=True, slots=True)
class Observation:
    """An answer: the value of a claim or limit, None where there is none, and how that was found out."""

    section: str
    key: str
    value: Value | int | None
    how: str


class QuestionPlace:
    """Where one question is asked."""

    def __init__(self, filesystem: HostedFilesystem, directory: str) -> None:
        self.fs = filesystem
        self.directory = directory

    def uri(self, name: str) -> str:
        """A path in the directory."""
        return paths.join(self.directory, name)

    def done(self, outcome: Outcome[T]) -> T:
        """The value of a step that has to succeed."""
        if not outcome.ok:
            raise UnknownAnswerError(f"{outcome.op} answers {outcome.code}: {outcome.message}")
        return outcome.value

    def opened(self, outcome: Outcome[T | None]) -> T:
        """What was opened."""
        value = self.done(outcome)
        if value is None:
            raise UnknownAnswerError(f"{outcome.op} answers OK and opens nothing")
        return value

    def write(self, name: str, content: bytes = b"content") -> str:
        """Write a file; its URI."""
        with self.opened(self.fs.new_writable_file(self.uri(name))) as file:
            self.done(file.append(content))
            self.done(file.close())
        return self.uri(name)

    def mkdir(self, name: str) -> str:
        """Make a directory; its URI."""
        self.done(self.fs.create_dir(self.uri(name)))
        return self.uri(name)

    def content(self, name: str) -> bytes | None:
        """What a reader sees; None where there is nothing."""
        got = self.fs.new_random_access_file(self.uri(name))
        if got.value is None:
            return None
        with got.value as file:
            return file.read(0, 1 << 16).value.data


Question = Callable[[QuestionPlace], tuple[Value | int | None, str]]


def _directories(place: QuestionPlace) -> tuple[Value, str]:
    if not place.fs.path_exists(place.mkdir("made")).ok:
        return "none", "create_dir answered OK and made nothing"
    place.write("file")
    asked = {
        "create_dir without a parent": (place.fs.create_dir(place.uri("no/new")), Code.NOT_FOUND),
        "new_writable_file without a parent": (place.fs.new_writable_file(place.uri("none/new")), Code.NOT_FOUND),
        "path_exists below a file": (place.fs.path_exists(place.uri("file/below")), Code.FAILED_PRECONDITION),
        "new_writable_file below a file": (place.fs.new_writable_file(place.uri("file/new")), Code.FAILED_PRECONDITION),
    }
    for asked_for, (outcome, code) in asked.items():
        if outcome.code is not code:
            return "emulated", f"{asked_for} answered {outcome.code}"
    return "real", "what has no parent was refused, and so was what is below a file"


def _append(place: QuestionPlace) -> tuple[Value, str]:
    place.write("file", b"one")
    got = place.fs.new_appendable_file(place.uri("file"))
    if got.value is None:
        return False, f"new_appendable_file: {got.message}"
    with got.value as file:
        if not file.append(b"two").ok or not file.close().ok:
            return False, "append or close of a file opened for appending fails"
    seen = place.content("file")
    return seen == b"onetwo", f"after 'one' and 'two' the file holds {seen!r}"


def _visibility(place: QuestionPlace) -> tuple[Value, str]:
    with place.opened(place.fs.new_writable_file(place.uri("file"))) as file:
        place.done(file.append(b"seen"))
        if place.content("file") == b"seen":
            return "append", "a reader saw the bytes when append had come back"
        place.done(file.flush())
        if place.content("file") == b"seen":
            return "flush", "a reader saw the bytes when flush had come back, and not before"
        place.done(file.close())
    if place.content("file") != b"seen":
        raise UnknownAnswerError("the bytes are not even seen after close")
    return "close", "a reader saw the bytes when close had come back, and not after flush"


def _atomic_rename(place: QuestionPlace) -> tuple[Value, str]:
    if "rename_file" not in place.fs.present:
        return False, "rename_file is NULL: core copies and deletes"
    target, other = place.fs.translate(place.write("target", b"old")), place.fs.translate(place.uri("other"))
    writer = Program(place.fs.raw)
    handle = writer.open("new_writable_file", other).value
    writer.append(handle, b"new")
    writer.handle_op("close", handle)
    writer.handle_op("writable_file.cleanup", handle)
    writer.path_op("rename_file", other, target)
    reader = Program(place.fs.raw)
    for _ in range(8):
        reader.path_op("path_exists", target)
    went = programs.run_within(place.fs.raw, [writer, reader, reader], RENAMES, SECONDS)
    if any(not timed.outcome.ok for timed in went[0]):
        raise UnknownAnswerError("a file could not be renamed over another one")
    if all(timed.outcome.ok for thread in went[1:] for timed in thread):
        return True, "something was at the target whenever two threads looked; that proves nothing"
    return False, "for a moment, nothing was at the target"


def _open_files(place: QuestionPlace) -> tuple[Value, str]:
    with place.opened(place.fs.new_random_access_file(place.write("file"))):
        for got in (
            place.fs.rename_file(place.write("other"), place.uri("file")),
            place.fs.delete_file(place.uri("file")),
        ):
            if got.code in LOCKED:
                return "locked", f"{got.op} of an open file answered {got.code}"
            place.done(got)
    return "free", "an open file was replaced and deleted"


def _names(place: QuestionPlace) -> tuple[Value, str]:
    made = {value: place.fs.new_writable_file(place.uri(name)).value for value, name in ODD_NAMES.items()}
    refused = [value for value, file in made.items() if file is None or not file.close().ok]
    if refused[:2] == ["windows", "ascii"]:
        raise UnknownAnswerError("odd characters are refused, and so are those beyond ASCII: no value is for both")
    return (refused or ["bytes"])[0], f"refused are names that are not {', '.join(refused) or 'bytes'}"


def _max_open_files(place: QuestionPlace) -> tuple[int | None, str]:
    uri = place.write("file")
    with ExitStack() as stack:
        for count in range(MOST_OPEN):
            got = place.fs.new_random_access_file(uri)
            if got.code is Code.RESOURCE_EXHAUSTED:
                return count, f"the next one answered {got.code}"
            stack.enter_context(place.opened(got))
    return None, f"{MOST_OPEN} files were open at once; more were not tried"


def _read_only(place: QuestionPlace) -> tuple[Value, str]:
    place.done(place.fs.delete_file(place.write("file")))
    return False, "a file was written and deleted"


def _memory_regions(place: QuestionPlace) -> tuple[Value, str]:
    got = place.fs.new_read_only_memory_region_from_file(place.write("file"))
    if got.value is None:
        return False, f"new_read_only_memory_region_from_file: {got.message}"
    got.value.cleanup()
    return True, "a file was mapped"


def _has_ops(claim: str) -> Question:
    ops = sorted(next(iter(meanings()[claim].values())).ops)

    def ask(place: QuestionPlace) -> tuple[Value, str]:
        missing = [op for op in ops if op not in place.fs.present]
        return not missing, f"NULL: {', '.join(missing)}" if missing else "the ops are there"

    return ask


def _by_code(
    ask: Callable[[QuestionPlace], Outcome[object]], ok: Value, refused: Value, right: Code = Code.OK
) -> Question:
    """A question that one op answers: what its right code says, and what FAILED_PRECONDITION says."""

    def answer(place: QuestionPlace) -> tuple[Value, str]:
        got = ask(place)
        values = {right: ok, Code.FAILED_PRECONDITION: refused}
        if got.code not in values:
            raise UnknownAnswerError(f"{got.op} answers {got.code}: {got.message}")
        return values[got.code], f"{got.op} answered {got.code}"

    return answer


def _tell_on_appendable_file(place: QuestionPlace) -> tuple[Value, str]:
    with place.opened(place.fs.new_appendable_file(place.write("file", b"0123456789"))) as file:
        position = place.done(file.tell())
    if position not in (0, 10):
        raise UnknownAnswerError(f"tell answers {position} for a file of 10 bytes")
    return "file" if position else "handle", f"tell answered {position} for a file of 10 bytes"


def _max_name(place: QuestionPlace) -> tuple[int | None, str]:
    def fits(length: int) -> bool:
        name = "n" * length
        got = place.fs.new_writable_file(place.uri(name))
        if got.value is None:
            return False
        with got.value as file:
            kept = file.close().ok
        return kept and place.fs.path_exists(place.uri(name)).ok and place.fs.delete_file(place.uri(name)).ok

    return _longest(fits, LONGEST_NAME, "names")


def _max_path(place: QuestionPlace) -> tuple[int | None, str]:
    place.mkdir("d")
    short = len(paths.translate(place.uri("d/")).encode()) + 1

    def fits(length: int) -> bool:
        rest = length - short
        levels = [("n" * 99 if rest - k >= 100 else "n" * (rest - k)) for k in range(0, rest, 100)]
        uri = place.uri("/".join(["d", *levels]))
        made = place.fs.recursively_create_dir(uri).ok and place.fs.path_exists(uri).ok
        place.fs.delete_recursively(place.uri("d/" + levels[0]))
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


def _mtime_granularity(place: QuestionPlace) -> tuple[int, str]:
    times: set[int] = set()
    # Files that are written within one tick of a clock tell only one time.
    for _ in range(WRITES):
        times.add(place.done(place.fs.stat(place.write("file"))).mtime_nsec)
        if len(times) == TIMES:
            break
    if times == {0}:
        return 0, "stat always says 0"
    granularity = next(10**k for k in range(9, -1, -1) if all(mtime % 10**k == 0 for mtime in times))
    return granularity, f"{len(times)} times that stat told are all multiples of it"


def _listing_delay(place: QuestionPlace) -> tuple[int | None, str]:
    longest, late = 0.0, False
    for number in range(FILES):
        name, made = paths.basename(place.write(f"file{number}")), time.monotonic()
        while name not in place.done(place.fs.get_children(place.directory)).bare:
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
    "is_directory_on_file": _by_code(lambda at: at.fs.is_directory(at.write("file")), "header", "host"),
    "rename_directories": _by_code(lambda at: at.fs.rename_file(at.mkdir("source"), at.uri("target")), True, False),
    "copy_onto_directory": _by_code(
        lambda at: at.fs.copy_file(at.write("file"), at.mkdir("directory")), "inside", "refuses"
    ),
    "delete_recursively_on_file": _by_code(lambda at: at.fs.delete_recursively(at.write("file")), "deletes", "refuses"),
    "tell_on_appendable_file": _tell_on_appendable_file,
    "far_below_a_file": _by_code(
        lambda at: at.fs.path_exists(f"{at.write('file')}/missing/leaf"),
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


def observations(bench: Workbench) -> Iterator[Observation]:
    """The answers, in the order in which a profile has them. Nothing that the plugin does ends the probing."""
    questions = [
        (section, *one) for section, all_of in (("claims", CLAIMS), ("limits", LIMITS)) for one in all_of.items()
    ]
    for section, key, question in questions:
        try:
            value, how = _ask(bench, key, question)
        except (UnknownAnswerError, BlockedError, RefusedError, DiedError) as why:
            value, how = None, f"could not be found out: {why}"
        except BackingUnableError:
            value, how = None, "could not be found out: create_dir is not there, so nothing can be tried"
        yield Observation(section, key, value, how)


def _ask(bench: Workbench, key: str, question: Question) -> tuple[Value | int | None, str]:
    if question is _read_only and not bench.root_made and refusals(bench).keys() == CHANGES.keys():
        return True, "each op that changes something is NULL or refuses to"
    directory = bench.directory(f"probe/{key}")
    bench.make_root()
    loaded, made = bench.load("probe"), False
    try:
        filesystem = bench.filesystem(loaded, Guard(directory), [])
        place = QuestionPlace(filesystem, directory)
        place.done(bench.make(filesystem, directory))
        made = True
        return question(place)
    finally:
        bench.release(loaded)
        if made:
            bench.remove(directory)
