"""Metadata: the ops that ask about a path give the same answer."""

import math
import time

import pytest

from ...harness.ops.codes import Code
from ..engine.case import Case
from ..engine.marks import clauses, smoke

#: A unit that is wrong is wrong by a factor of a thousand at least, so half of that on a scale of tens decides.
HALF_A_UNIT = math.sqrt(1000)


@smoke
@clauses("stat.succeeds", "stat.says-the-kind", "stat.length-is-the-size", "path_exists.succeeds",
         "path_exists.directory-is-ok", "paths_exist.succeeds", "get_file_size.succeeds")  # fmt: skip
def test_plain(case: Case) -> None:
    """A file and a directory are asked about in every way."""
    file, directory = case.setup.write("file", b"12345"), case.setup.mkdir("directory")
    of_file, of_directory = case.fs.stat(file), case.fs.stat(directory)
    if case.check.status("stat.succeeds", of_file, Code.OK):
        case.check.equal("stat.says-the-kind", "kind of a file", 0, of_file.value.is_directory)
        case.check.equal("stat.length-is-the-size", "length", 5, of_file.value.length)
    if case.check.status("stat.succeeds", of_directory, Code.OK):
        case.check.equal("stat.says-the-kind", "kind of a directory", 1, of_directory.value.is_directory)
    case.check.status("path_exists.succeeds", case.fs.path_exists(file), Code.OK)
    case.check.status("path_exists.directory-is-ok", case.fs.path_exists(directory), Code.OK)
    case.check.status("get_file_size.succeeds", case.fs.get_file_size(file), Code.OK)
    asked = case.fs.paths_exist([file, directory])
    case.check.implemented(asked)
    case.check.equal("paths_exist.succeeds", "returned", True, asked.value.returned)


@smoke
@clauses("is_directory.succeeds", "is_directory.true-for-a-directory")
def test_is_directory(case: Case) -> None:
    """A directory is asked whether it is one."""
    got = case.fs.is_directory(case.setup.mkdir("directory"))
    case.check.status("is_directory.succeeds", got, Code.OK)
    case.check.equal("is_directory.true-for-a-directory", "returned", 1, got.value)


@clauses("is_directory.of-a-file", "is_directory.returns-false-on-error")
def test_is_directory_of_a_file(case: Case) -> None:
    """A file is asked whether it is a directory."""
    got = case.fs.is_directory(case.setup.write("file", b"content"))
    case.check.implemented(got)
    readings = {"host": got.code is Code.FAILED_PRECONDITION and not got.value, "header": got.ok and not got.value}
    case.check.reading("is_directory.of-a-file", readings, f"code={got.code} returned={got.value}", got.message)


@clauses("stat.mtime-is-in-nanoseconds", "stat.mtime-moves-forward", "stat.mtime-granularity", "stat.succeeds")
def test_times(case: Case) -> None:
    """A file is written, and written again; its time of modification is asked for each time, and a directory's, too."""
    now = time.time_ns()
    of_directory = 0
    if case.makes_directories:
        of_directory = case.setup.require(case.fs.stat(case.setup.mkdir("directory"))).mtime_nsec
    times = []
    for content in (b"first", b"second", b"third"):
        times.append(case.setup.require(case.fs.stat(case.setup.write("file", content))).mtime_nsec)
    # No text says from when on times count, so only the unit is judged. 0 every time means: not known.
    known = any(times)
    sane = not known or all(now / HALF_A_UNIT < mtime < now * HALF_A_UNIT for mtime in times)
    seen = "nanoseconds" if sane else f"mtime has {len(str(abs(min(times))))} digits"
    case.check.that("stat.mtime-is-in-nanoseconds", sane, "nanoseconds", seen)
    # What is no object of its store has no time.
    sane = of_directory == 0 or now / HALF_A_UNIT < of_directory < now * HALF_A_UNIT
    seen = "nanoseconds, or 0" if sane else f"mtime of a directory has {len(str(abs(of_directory)))} digits"
    case.check.that("stat.mtime-is-in-nanoseconds", sane, "nanoseconds, or 0", seen)
    forward = times == sorted(times)
    case.check.that("stat.mtime-moves-forward", forward, "no earlier", "no earlier" if forward else "earlier")
    readings = {"unknown": not known, "seconds": all(mtime % 10**9 == 0 for mtime in times), "fine": True}
    case.check.reading("stat.mtime-granularity", readings, "granularity")


@clauses("stat.mtime-stays", "stat.succeeds")
def test_times_stay(case: Case) -> None:
    """A file that nobody changes is read, listed, and asked for its time again and again."""
    uri = case.setup.write("file", b"unchanged")
    first = case.setup.require(case.fs.stat(uri)).mtime_nsec
    for _ in range(5):
        case.setup.content(uri)
        case.setup.require(case.fs.get_children(case.uri()))
        again = case.setup.require(case.fs.stat(uri)).mtime_nsec
        same = "the same time" if again == first else "another time"
        case.check.that("stat.mtime-stays", again == first, "the same time", same)


@pytest.mark.parametrize(
    "there",
    [
        pytest.param([True], id="one"),
        pytest.param([False], id="one-that-is-missing"),
        pytest.param([True, True], id="two"),
        pytest.param([True, False], id="the-last-is-missing"),
        pytest.param([False, True], id="the-first-is-missing"),
        pytest.param([True, False, True], id="the-middle-is-missing"),
        pytest.param([False, False], id="none"),
        pytest.param([k % 3 != 1 for k in range(50)], id="many"),
    ],
)
@clauses("paths_exist.is-true-if-all-exist", "paths_exist.fills-every-status", "paths_exist.takes-no-statuses")
def test_several(case: Case, there: list[bool]) -> None:
    """Paths, some of which are missing, are asked for at once, with an array for their statuses and without."""
    uris = []
    for k, exists in enumerate(there):
        make = case.setup.write if k % 2 else lambda name, _: case.setup.mkdir(name)
        uris.append(make(f"path{k}", b"") if exists else case.uri(f"path{k}"))
    asked = case.fs.paths_exist(uris)
    case.check.implemented(asked)
    case.check.equal("paths_exist.is-true-if-all-exist", "returned", all(there), asked.value.returned)
    codes = [status.code for status in asked.value.statuses or ()]
    case.check.equal(
        "paths_exist.fills-every-status", "codes", [Code.OK if e else Code.NOT_FOUND for e in there], codes
    )
    without = case.fs.paths_exist(uris, with_statuses=False).value
    case.check.equal("paths_exist.takes-no-statuses", "returned", all(there), without.returned)


@clauses("paths_exist.fills-every-status", "paths_exist.is-true-if-all-exist")
def test_several_kinds(case: Case) -> None:
    """A directory, a file, a path below it (which answers what it answers alone), and nothing, one of them twice."""
    directory, file = case.setup.mkdir("directory"), case.setup.write("file", b"")
    below = case.uri("file/below")
    asked = case.fs.paths_exist([directory, file, below, case.uri("missing"), directory])
    codes = [status.code for status in asked.value.statuses or ()]
    alone = case.fs.path_exists(below)
    case.check.implemented(asked)
    case.check.implemented(alone)
    expected = [Code.OK, Code.OK, alone.code, Code.NOT_FOUND, Code.OK]
    case.check.equal("paths_exist.fills-every-status", "codes", expected, codes)
    case.check.equal("paths_exist.is-true-if-all-exist", "returned", False, asked.value.returned)


@pytest.mark.parametrize("with_statuses", [pytest.param(True, id="statuses"), pytest.param(False, id="no-statuses")])
@clauses("paths_exist.nothing-asked-is-true")
def test_none_asked(case: Case, with_statuses: bool) -> None:
    """Nothing is asked for."""
    # Without a path there is no status that could say UNIMPLEMENTED.
    case.check.implemented(case.fs.paths_exist([case.uri()]))
    asked = case.fs.paths_exist([], with_statuses=with_statuses).value
    case.check.equal("paths_exist.nothing-asked-is-true", "returned", True, asked.returned)
