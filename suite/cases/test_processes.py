"""Processes: signals that arrive in ops, processes that are forked, and several at the same time."""

from collections.abc import Callable, Sequence

import pytest

from ...harness import wire
from ...harness.hosting.client import HostFaultError
from ...harness.hosting.loader import BlockedError
from ...harness.launchers.launcher import how
from ...harness.ops import paths
from ...harness.ops.filesystem import OpenObject
from ...harness.ops.outcomes import DiedError, Outcome
from ...harness.over_tables.files import handle_of
from ...harness.wire import Reply, Value
from ..engine.case import Case, NoStimulusError
from ..engine.disturbing import AGAIN, FIRST, prepare
from ..engine.marks import clauses, condition, over_tables
from ..engine.stimulus import Performance
from .test_system_calls import STIMULI

pytestmark = over_tables

INTERRUPTED = "processes.interruption-changes-nothing"
WRITERS, READERS, READS = (f"processes.fork-{what}" for what in ("keeps-writers", "keeps-readers", "reads"))
BESIDE = "processes.work-side-by-side"
#: So many signals arrive in one call at most: a call that begins anew for each of them ends on the slowest machine.
SIGNALS = 100
#: What a file has, and a piece of it.
CONTENT, PIECE = b"abcdefghijklmnop", 4
#: Processes that work at the same time.
PROCESSES = 3
#: What is said of a child that hung, crashed, or could not clean up.
BADLY = "ended by"

under = condition("processes")
each_end = pytest.mark.parametrize("end", ["cleans-up", "exits"])


@under
@clauses(INTERRUPTED)
@pytest.mark.parametrize("name", STIMULI)
def test_interrupted(case: Case, name: str) -> None:
    """An op is performed without signals, and then while a signal arrives every half millisecond."""
    for place in (FIRST, AGAIN):
        prepare(case, place, STIMULI[name].before)
    alone = _performed(case, name, FIRST)
    if not alone.ok:
        if alone.failed is not None:
            case.check.implemented(alone.failed)
        raise BlockedError(alone.failed.op if alone.failed else "the host", alone.told)
    _asked(case, "interrupt", SIGNALS)
    went = _performed(case, name, AGAIN)
    if went.died is None and not _asked(case, "interrupt", 0).take_number():
        raise NoStimulusError("no signal arrived in its ops")
    right = "as without signals"
    if not went.ok:
        case.check.that(INTERRUPTED, False, right, f"{name}: {went.told}")
        return
    tree = case.setup.tree()
    left = [
        {path.removeprefix(place): got for path, got in tree.items() if path.startswith(f"{place}/")}
        for place in (FIRST, AGAIN)
    ]
    got = "another answer" if went.values != alone.values else "another content" if left[0] != left[1] else right
    case.check.that(INTERRUPTED, got == right, right, got if got == right else f"{name}: {got}")


def _performed(case: Case, name: str, directory: str) -> Performance:
    went = Performance(case, directory)
    went.perform(STIMULI[name])
    went.clean_up()
    return went


@under
@clauses(WRITERS)
@each_end
def test_forked_beside_a_writer(case: Case, end: str) -> None:
    """A file is written to, the process forks, the child ends, and the parent writes on and closes."""
    with case.setup:
        file = case.setup.opened(case.fs.new_writable_file(case.uri("file")))
        case.setup.require(file.append(CONTENT))
        case.setup.require(file.flush())
    ended = _ended_child(case, end, "writable_file.cleanup", handle_of(file))
    right = "what was appended, once"
    went = [file.append(CONTENT), file.close()]
    file.cleanup()
    failed = next((one for one in went if not one.ok), None)
    found = None if failed else case.setup.content(case.uri("file"))
    got = f"{failed.op}: code={failed.code}" if failed else right if found == 2 * CONTENT else f"content={found!r}"
    got = "it did not end well" if got == right and ended.startswith(BADLY) else got
    case.check.that(WRITERS, got == right, right, got if got == right else f"the child {ended}: {got}")


@under
@clauses(READERS, READS)
@pytest.mark.parametrize("op", ["new_random_access_file", "new_read_only_memory_region_from_file"])
def test_forked_to_read(case: Case, op: str) -> None:
    """A file is read, the process forks, the child reads on, and so does the parent."""
    opened, read = _reader(case, op)
    read(0)
    command = "read" if op == "new_random_access_file" else "data"
    ended, answer = _forked(case, command, handle_of(opened), PIECE, PIECE)
    right, data = "the bytes there", b""
    if ended == "exit status 0" and answer.take_bytes() == b"done":
        # Its code, message, what the host saw, and the address or the count.
        answer.take_number(), answer.take_bytes(), answer.take_number(), answer.take_number()
        data = answer.take_bytes()
    wrong = None if data == CONTENT[PIECE : 2 * PIECE] else f"{ended} {data!r}"
    case.check.that(READS, wrong is None, right, f"{op}: the child: {wrong}" if wrong else right)
    _goes_on(case, op, "reads", read(PIECE))
    opened.cleanup()


@under
@clauses(READERS)
@each_end
@pytest.mark.parametrize("op", ["new_random_access_file", "new_read_only_memory_region_from_file"])
def test_forked_beside_a_reader(case: Case, op: str, end: str) -> None:
    """A file is read, the process forks, the child ends, and the parent reads on."""
    opened, read = _reader(case, op)
    kind = "random_access_file" if op == "new_random_access_file" else "read_only_memory_region"
    ended = _ended_child(case, end, f"{kind}.cleanup", handle_of(opened))
    _goes_on(case, op, ended, read(PIECE))
    opened.cleanup()


@under
@clauses(BESIDE)
def test_side_by_side(case: Case) -> None:
    """Three processes write, rename and list in directories of their own, op by op in turn, and list the one above."""
    if case.bench.facts.hosts_differ:
        raise NoStimulusError("its storage lives in its process")
    # Each has a process of its own, whatever --host-scope says.
    bench = case.bench.apart()
    trials = [case.trial(bench, number) for number in range(PROCESSES)]
    try:
        for trial in trials:
            trial.setup.mkdir_where_known("in")
        told = _in_turn(trials)
    except DiedError as died:
        raise BlockedError(died.death.op, str(died)) from died
    finally:
        for trial in trials:
            case.surroundings.trace.extend(trial.surroundings.trace)
            trial.surroundings.clear()
        bench.close()
    right = "what each does alone"
    case.check.that(BESIDE, not told, right, told or right)


def _in_turn(trials: Sequence[Case]) -> str:
    """Each step of all, then the next one. The first that is wrong, empty where none is."""
    contents = [b"of process %d" % number for number in range(len(trials))]
    files = [trial.setup.opened(trial.fs.new_writable_file(trial.uri("new"))) for trial in trials]
    went: list[Outcome[None]] = [
        file.append(content) if op == "append" else getattr(file, op)()
        for op in ("append", "flush", "append", "close")
        for file, content in zip(files, contents, strict=True)
    ]
    for file in files:
        file.cleanup()
    renamed = [trial.fs.rename_file(trial.uri("new"), trial.uri("file")) for trial in trials]
    went += [got for trial, got in zip(trials, renamed, strict=True) if not trial.check.unimplemented(got)]
    if wrong := next((one for one in went if not one.ok), None):
        return f"{wrong.op}: code={wrong.code}"
    for number, trial in enumerate(trials):
        listed = trial.setup.require(trial.fs.get_children(trial.uri())).bare
        name = "file" if renamed[number].ok else "new"
        if set(listed) - {"in"} != {name}:
            return f"get_children: {sorted(listed)}"
        if (found := trial.setup.content(trial.uri(name))) != 2 * contents[number]:
            return f"process {number} reads {found!r}"
        above = paths.dirname(trial.surroundings.directory)
        names = {paths.basename(other.surroundings.directory) for other in trials}
        if missing := sorted(names - set(trial.setup.require(trial.fs.get_children(above)).bare)):
            return f"get_children: {missing[0]} is not listed"
    return ""


def _reader(case: Case, op: str) -> tuple[OpenObject, Callable[[int], tuple[Outcome[object], bytes]]]:
    """A file that is open to read, and what reads a piece of it at an offset."""
    uri = case.setup.write("file", CONTENT)
    with case.setup:
        if op == "new_random_access_file":
            file = case.setup.opened(case.fs.new_random_access_file(uri))

            def piece(offset: int) -> tuple[Outcome[object], bytes]:
                got = file.read(offset, PIECE)
                return got, got.value.data

            return file, piece
        region = case.setup.opened(case.fs.new_read_only_memory_region_from_file(uri))

        def part(offset: int) -> tuple[Outcome[object], bytes]:
            got = region.data(offset, PIECE)
            return got, got.value[1]

        return region, part


def _goes_on(case: Case, op: str, what: str, read: tuple[Outcome[object], bytes]) -> None:
    outcome, data = read
    right = "the bytes there"
    wrong = None if outcome.ok and data == CONTENT[PIECE : 2 * PIECE] else f"code={outcome.code} {data!r}"
    wrong = "it did not end well" if wrong is None and what.startswith(BADLY) else wrong
    case.check.that(READERS, wrong is None, right, f"{op}: the child {what}: {wrong}" if wrong else right)


def _asked(case: Case, command: str, *values: Value) -> Reply:
    reply = case.surroundings.host.call(command, *values)
    if reply is None:
        raise HostFaultError(f"the host has no {command}")
    return reply


def _forked(case: Case, command: str, *values: Value) -> tuple[str, Reply]:
    """How a child ended that performed one command, and the body of its answer."""
    # It has to be told before the host itself is taken for one that hangs.
    seconds = max(1, int(case.surroundings.host.timeout / 2))
    reply = _asked(case, "forked", seconds, wire.values_of(command, values))
    return how(reply.take_number(), reply.take_number()), reply.take_reply()


def _ended_child(case: Case, end: str, cleanup: str, handle: int) -> str:
    """End a child as it is asked: what became of it, in words."""
    ended, _ = _forked(case, *(("quit",) if end == "exits" else (cleanup, handle)))
    return end.replace("-", " ") if ended == "exit status 0" else f"{BADLY} {ended}"
