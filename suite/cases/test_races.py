"""Races: several threads change and read the same names, and the answers must fit some order of the ops."""

import random
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Entries, Outcome
from ...harness.over_tables.files import handle_of
from ...harness.over_tables.programs import Program, Timed, run, run_within
from ..contract.histories import Actor, Event, Files, ends
from ..engine.case import Case
from ..engine.marks import clauses, full, over_tables
from ..judge.blame import SURVIVED

pytestmark = over_tables

THREADS = 4
ROUNDS = 100
#: Seconds for which a slow plugin is kept busy, at most.
SECONDS = 1.0


def often(rounds: int) -> Iterator[int]:
    """The numbers of the rounds. A slow plugin gets only as many as fit into the time."""
    started = time.perf_counter()
    for number in range(rounds):
        yield number
        if time.perf_counter() - started > SECONDS:
            return


def actors(case: Case, count: int = THREADS) -> list[Actor]:
    """Programs for threads that work in the case's directory."""
    return [Actor(case.tables, case.translated) for _ in range(count)]


def histories_of(case: Case, some: list[Actor], rounds: int = 1) -> list[list[Event]]:
    """Perform the programs. Return the events of all threads, round by round."""
    went = run_within(case.tables, [actor.program for actor in some], rounds, SECONDS)
    told = [actor.rounds(thread) for actor, thread in zip(some, went, strict=True)]
    return [[event for events in round_ for event in events] for round_ in zip(*told, strict=True)]


def fitting(rounds: list[list[Event]], start: Files) -> str:
    """The events of the first round that no order explains. Empty where all rounds are right."""
    states = {start}
    for events in rounds:
        states = ends(events, states)
        if not states:
            first = min(event.start for event in events)
            told = [f"{(event.start - first) // 1000}–{(event.end - first) // 1000} µs {event}" for event in events]
            return "; ".join(told)
    return ""


#: The op, what there is before, and the names that each thread gives to it.
RACES: dict[str, tuple[Files, tuple[tuple[str, ...], ...]]] = {
    "create_dir": (frozenset(), (("name",),) * THREADS),
    "delete_dir": (frozenset({("name", None)}), (("name",),) * THREADS),
    "delete_file": (frozenset({("name", b"content")}), (("name",),) * THREADS),
    "rename_file": (frozenset({("name", b"content")}), tuple(("name", f"target{k}") for k in range(THREADS))),
}


@full
@pytest.mark.parametrize(
    "op", [pytest.param(op, id=op, marks=clauses("common.one-winner", f"{op}.succeeds")) for op in RACES]
)
@clauses(*SURVIVED)
def test_one_winner(case: Case, op: str) -> None:
    """Four threads do the same to one name, and then the next round to the next name."""
    case.needs(op, itself=True)
    before, each = RACES[op]
    wrong = ""
    for number in often(ROUNDS // 2):
        case.setup.build({f"round{number}": None} | {f"round{number}/{name}": content for name, content in before})
        some = actors(case)
        for actor, names in zip(some, each, strict=True):
            actor.path_op(op, *(f"round{number}/{name}" for name in names))
        start = frozenset((f"round{number}/{name}", content) for name, content in before)
        events = histories_of(case, some)
        wrong = wrong or fitting(events, start)
        # Codes that do not tell what is there fit every order, so one success has to be seen.
        answers = sorted(str(event.code) for event in events[0])
        if str(Code.OK) not in answers:
            case.check.that(f"{op}.succeeds", False, "one of them answers OK", ", ".join(answers))
            return
    # How many rounds there was time for is in no check: a report is the same on a busy machine.
    case.check.that(f"{op}.succeeds", True, "one of them answers OK", "one of them answers OK")
    case.check.that(
        "common.one-winner", not wrong, "one succeeds", "not one succeeds" if wrong else "one succeeds", wrong
    )


def fits(case: Case, some: list[Actor], start: Files, rounds: int = ROUNDS) -> None:
    """Check that the events of every round fit some order."""
    wrong = fitting(histories_of(case, some, rounds), start)
    got = "fits no order" if wrong else "fits an order"
    case.check.that("common.fits-an-order", not wrong, "fits an order", got, wrong)


@full
@clauses("common.fits-an-order", *SURVIVED)
def test_replacing(case: Case) -> None:
    """Each thread writes a file of its own, renames it to the one name, and reads what is there."""
    case.needs("rename_file", "new_writable_file", "new_random_access_file", itself=True)
    case.setup.write("target", b"first")
    some = actors(case)
    for k, actor in enumerate(some):
        actor.write(f"own{k}", b"from %d" % k)
        actor.path_op("rename_file", f"own{k}", "target")
        actor.read("target")
    fits(case, some, frozenset({("target", b"first")}))


@full
@clauses("common.fits-an-order", *SURVIVED)
def test_moving(case: Case) -> None:
    """Two threads rename a file there and back, two look for it at both places."""
    case.needs("rename_file", "path_exists", itself=True)
    case.setup.write("here", b"content")
    some = actors(case)
    for k, actor in enumerate(some):
        for names in (("here", "there"), ("there", "here")):
            if k < 2:
                actor.path_op("rename_file", *names)
            else:
                actor.path_op("path_exists", names[k % 2])
    fits(case, some, frozenset({("here", b"content")}))


#: The parts of random programs. Files and directories have different names.
MIXED = (
    ("path_op", "create_dir", "directory"),
    ("path_op", "delete_dir", "directory"),
    ("path_op", "path_exists", "directory"),
    ("path_op", "rename_file", "a", "b"),
    ("path_op", "rename_file", "b", "a"),
    ("path_op", "delete_file", "b"),
    ("path_op", "path_exists", "b"),
    ("read", "a"),
    ("read", "b"),
)


@full
@pytest.mark.parametrize("seed", [pytest.param(seed, id=str(seed)) for seed in range(8)])
@clauses("common.fits-an-order", *SURVIVED)
def test_mixed(case: Case, seed: int) -> None:
    """Three threads with small programs that chance wrote, the same for the same number."""
    case.needs("create_dir", "delete_dir", "path_exists", "rename_file", "delete_file", "new_random_access_file",
               "new_writable_file", itself=True)  # fmt: skip
    case.setup.write("a", b"first")
    chance = random.Random(seed)
    some = actors(case, 3)
    for k, actor in enumerate(some):
        if k == 0:
            # The file is there again in every round.
            actor.write("own", b"again")
            actor.path_op("rename_file", "own", "a")
        for _ in range(3):
            method, *arguments = chance.choice(MIXED)
            getattr(actor, method)(*arguments)
    fits(case, some, frozenset({("a", b"first")}))


CREATING = {"files": "new_writable_file", "directories": "create_dir", "renames": "rename_file"}


@full
@pytest.mark.parametrize(
    "what",
    [
        pytest.param(what, id=what, marks=clauses("common.no-change-is-lost", f"{op}.succeeds"))
        for what, op in CREATING.items()
    ],
)
@clauses(*SURVIVED)
def test_no_change_is_lost(case: Case, what: str) -> None:
    """Eight threads make a name each in one directory; then all are looked for."""
    case.needs(CREATING[what], "get_children", itself=True)
    lost: list[str] = []
    for number in often(ROUNDS // 4):
        names = [f"round{number}-{k}" for k in range(2 * THREADS)]
        some = actors(case, len(names))
        for k, (actor, name) in enumerate(zip(some, names, strict=True)):
            match what:
                case "files":
                    actor.write(name, b"content")
                case "directories":
                    actor.path_op("create_dir", name)
                case _:
                    case.setup.write(f"old{k}", b"content")
                    actor.path_op("rename_file", f"old{k}", name)
        # Each thread has a name of its own, so none has a reason to fail.
        failed = [event for event in histories_of(case, some)[0] if event.code is not Code.OK]
        for event in failed[:1]:
            # To write a file takes several ops, of which any may have failed.
            name = "common.no-change-is-lost" if what == "files" else f"{CREATING[what]}.succeeds"
            case.check.that(name, False, "code=OK", f"code={event.code}", str(event))
            return
        listed = case.setup.require(case.fs.get_children(case.uri())).bare
        lost += [f"{name} is not listed" for name in names if name not in listed]
        lost += [f"{name} is missing" for name in names if not case.fs.path_exists(case.uri(name)).ok]
    got = "a name is lost" if lost else "all are there"
    case.check.that("common.no-change-is-lost", not lost, "all are there", got, "; ".join(lost[:4]))


#: Ops that undo each other, and so can be repeated inside of the host, where threads meet far more often.
UNDONE = {"create_dir": ("create_dir", "delete_dir"), "rename_file": ("rename_file", "rename_file")}


@full
@pytest.mark.parametrize(
    "op", [pytest.param(op, id=op, marks=clauses("common.fits-an-order", f"{op}.succeeds")) for op in UNDONE]
)
@clauses(*SURVIVED)
def test_there_and_back(case: Case, op: str) -> None:
    """Two threads do the same to one name and undo it, twice in each of many rounds; a third one looks."""
    case.needs(*UNDONE[op], "path_exists", itself=True)
    start: Files = frozenset()
    if op == "rename_file":
        case.setup.write("name", b"content")
        start = frozenset({("name", b"content")})
    some = actors(case, 3)
    for actor in some[:2]:
        for _ in range(2):
            actor.path_op(op, *(("name", "other") if op == "rename_file" else ("name",)))
            actor.path_op(UNDONE[op][1], *(("other", "name") if op == "rename_file" else ("name",)))
    for _ in range(4):
        some[2].path_op("path_exists", "name")
    rounds = histories_of(case, some, 5 * ROUNDS)
    codes = {event.code for events in rounds for event in events if event.op == op}
    got = "code=OK" if Code.OK in codes else " ".join(sorted(map(str, codes)))
    if not case.check.that(f"{op}.succeeds", Code.OK in codes, "code=OK", got):
        return
    wrong = fitting(rounds, start)
    got = "fits no order" if wrong else "fits an order"
    case.check.that("common.fits-an-order", not wrong, "fits an order", got, wrong)


@full
@pytest.mark.parametrize(
    "op",
    [pytest.param(op, id=op, marks=clauses(f"{op}.beside-changes")) for op in ("get_children", "get_matching_paths")],
)
@clauses(*SURVIVED)
def test_listing(case: Case, op: str) -> None:
    """Two threads list, two create and delete names before, among and behind those that stay."""
    case.needs(op, "create_dir", "delete_dir", itself=True)
    stay = {f"b{k}" for k in range(6)} | {f"d{k}" for k in range(6)}
    come = {f"{letter}{k}" for letter in "ace" for k in (6, 7)}
    case.setup.build(dict.fromkeys(sorted(stay)))
    directory = case.fs.translate(case.uri())
    programs = [Program(case.tables) for _ in range(THREADS)]
    for k, program in enumerate(programs):
        for _ in range(3 if k < 2 else 0):
            program.entries_op(op, directory if op == "get_children" else case.uri("*"))
        # A listing takes longer than a change: there are many changes, so that some fall into each.
        for change in ("create_dir", "delete_dir") * 5 if k >= 2 else ():
            for letter in "ace":
                program.path_op(change, case.translated(f"{letter}{k + 4}"))
    went = run_within(case.tables, programs, 3 * ROUNDS, SECONDS)
    wrong = [said for thread in went[:2] for timed in thread if (said := mistaken(timed.outcome, stay, come))]
    right = "what stays, once, and what comes and goes"
    case.check.that(f"{op}.beside-changes", not wrong, right, wrong[0] if wrong else right)


def mistaken(got: Outcome[Entries], stay: set[str], come: set[str]) -> str:
    """What is wrong with a listing that was made while others changed the directory. Empty where nothing is."""
    if not got.ok:
        return f"code={got.code}"
    counts = Counter(name.rpartition("/")[2] for name in got.value.names)
    if missing := sorted(stay - set(counts)):
        return f"missing: {missing[0]}"
    if foreign := sorted(set(counts) - stay - come):
        return f"foreign: {foreign[0]}"
    return next((f"{name} twice" for name, count in sorted(counts.items()) if count > 1), "")


PIECE = b"".join(b"%03d." % k for k in range(64))
PIECES = 6


@full
@clauses("read.beside-a-writer", "append.succeeds", "close.succeeds", *SURVIVED)
def test_reading_beside_a_writer(case: Case) -> None:
    """One thread appends and flushes, three open the file and read it whole; at the end all of it is there."""
    case.needs("new_random_access_file", itself=True)
    whole = PIECE * PIECES
    wrong: list[str] = []
    for number in often(ROUNDS // 5):
        with case.setup:
            file = case.setup.opened(case.fs.new_writable_file(case.uri(f"file{number}")))
        path = case.fs.translate(case.uri(f"file{number}"))
        writer = Program(case.tables)
        for _ in range(PIECES):
            writer.append(handle_of(file), PIECE)
            writer.handle_op("flush", handle_of(file))
        readers = [Program(case.tables) for _ in range(THREADS - 1)]
        for reader in readers:
            for _ in range(PIECES):
                handle = reader.open("new_random_access_file", path).value
                reader.read(handle, 0, len(whole) + 1)
                reader.handle_op("random_access_file.cleanup", handle)
        went = run(case.tables, [writer, *readers])
        for timed in went[0]:
            if timed.outcome.op == "append":
                case.setup.require(timed.outcome)
        case.setup.require(file.close())
        file.cleanup()
        wrong += [said for thread in went[1:] if (said := out_of_step(thread, whole))]
        # Before its close a file may be invisible. What the last of all readers finds is not open.
        if case.setup.content(case.uri(f"file{number}")) != whole:
            wrong.append("something else than what was appended, at the end")
    right = "a beginning, growing"
    case.check.that("read.beside-a-writer", not wrong, right, wrong[0] if wrong else right)


def out_of_step(thread: list[Timed], whole: bytes) -> str:
    """What is wrong with the bytes that one thread read of a file that grows to `whole`. Empty where nothing is."""
    seen = 0
    for timed in thread:
        got = timed.outcome
        # Before its close a file may be invisible, or not readable.
        if got.op != "read" or got.code not in (Code.OK, Code.OUT_OF_RANGE):
            continue
        data = got.value.data
        if not whole.startswith(data):
            return "bytes that were not appended"
        if len(data) < seen:
            return "less than before"
        seen = len(data)
    return ""


@full
@clauses("append.two-writers", *SURVIVED)
def test_two_writers(case: Case) -> None:
    """Two threads append lines to one file, each through a handle of its own."""
    case.needs("new_appendable_file", itself=True)
    uri = case.setup.write("file", b"")
    lines = 50
    with case.setup:
        first = case.setup.opened(case.fs.new_appendable_file(uri))
    second = case.fs.new_appendable_file(uri).value
    files = [file for file in (first, second) if file is not None]
    programs = [Program(case.tables) for _ in files]
    for k, (program, file) in enumerate(zip(programs, files, strict=True)):
        for number in range(lines):
            program.append(handle_of(file), b"thread %d, line %02d\n" % (k, number))
    run(case.tables, programs)
    for file in files:
        file.close()
        file.cleanup()
    expected = sorted(b"thread %d, line %02d" % (k, number) for k in range(2) for number in range(lines))
    whole = sorted(case.setup.content(uri).splitlines()) == expected
    readings = {"refused": second is None, "all": whole, "some": True}
    got = "the second is refused" if second is None else "all of both" if whole else "not all of both"
    case.check.reading("append.two-writers", readings, got)
