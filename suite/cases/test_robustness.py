"""The process that loaded the plugin: it must be unchanged after everything was closed."""

import os
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from ...harness import wire
from ...harness.hosting.client import HostFaultError
from ...harness.hosting.state import State
from ...harness.launchers.launcher import how
from ...harness.ops.codes import Code
from ...harness.ops.filesystem import WritableFile
from ...harness.ops.outcomes import Outcome
from ...harness.over_tables.raw import FOREIGN_TOKEN
from ..contract.model import OPENS
from ..engine.case import Case, NoStimulusError
from ..engine.marks import clauses, full, many_calls, over_tables, smoke
from ..judge.blame import SURVIVED
from .successes import SUCCESSES, prepared

pytestmark = over_tables

#: The number of rounds. It tells a descriptor that leaks in every round from one that is kept once.
TIMES = 10
#: Pipes that are held where a plugin had its descriptors.
HELD = 16
#: Characters of what a host printed last.
WORDS = 500


def round_trip(case: Case) -> None:
    """Perform every op once, in success and in error. All that was opened is cleaned up."""
    fs = case.fs
    case.setup.write("directory/file", b"content")
    case.setup.content(case.uri("directory/file"))
    for opened in (
        fs.new_random_access_file(case.uri("missing")),
        fs.new_random_access_file(case.uri("directory")),
        fs.new_writable_file(case.uri("directory")),
    ):
        # Where one is opened after all, it is ours to give back.
        if opened.value is not None:
            opened.value.cleanup()
    for file in (fs.new_writable_file(case.uri("dropped")), fs.new_appendable_file(case.uri("directory/file"))):
        if file.value is not None:
            file.value.append(b"more")
            file.value.cleanup()
    region = fs.new_read_only_memory_region_from_file(case.uri("directory/file"))
    if region.value is not None:
        region.value.cleanup()
    fs.stat(case.uri("directory/file"))
    fs.get_children(case.uri("directory"))
    fs.get_children(case.uri("missing"))
    fs.rename_file(case.uri("missing"), case.uri("directory/target"))
    fs.copy_file(case.uri("directory/file"), case.uri("directory/copy"))
    fs.copy_file(case.uri("directory/file"), case.uri("missing/copy"))


#: What of the process stays as it is, and the clause that says so.
KEPT = {
    "directory": "robustness.keeps-the-working-directory",
    "handlers": "robustness.keeps-signal-handlers",
    "blocked": "robustness.keeps-the-signal-mask",
    "umask": "robustness.keeps-the-umask",
    "locale": "robustness.keeps-the-locale",
    "floating_point": "robustness.keeps-the-floating-point-mode",
    "environment": "robustness.keeps-the-environment",
    "printed": "robustness.leaves-standard-output-alone",
    "children": "robustness.leaves-no-process",
}


def changes(before: State, after: State) -> dict[str, str]:
    """What is other than it was: the values, or where they are nobody's business the names."""
    found = {}
    actions = enumerate(zip(before.actions.split(" "), after.actions.split(" "), strict=True), 1)
    numbers = [number for number, (one, other) in actions if one != other]
    if numbers:
        found["handlers"] = ", ".join(_signal(number) for number in numbers)
    masks = enumerate(zip(before.blocked, after.blocked, strict=True), 1)
    if numbers := [number for number, (one, other) in masks if one != other]:
        found["blocked"] = ", ".join(_signal(number) for number in numbers)
    variables = before.variables.items() ^ after.variables.items()
    if variables:
        found["environment"] = ", ".join(sorted({name for name, _ in variables}))
    for what in ("umask", "floating_point"):
        if getattr(before, what) != getattr(after, what):
            found[what] = f"{getattr(before, what):#o} became {getattr(after, what):#o}"
    if before.directory != after.directory:
        found["directory"] = "another directory"
    if before.locale != after.locale:
        found["locale"] = f"{before.locale} became {after.locale}"
    if after.printed > before.printed:
        found["printed"] = f"{after.printed - before.printed} bytes printed"
    elif before.streams != after.streams:
        found["printed"] = "descriptors 0 to 2 are others"
    if after.children > before.children:
        found["children"] = f"{after.children - before.children} more processes"
    return found


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def unchanged(case: Case, since: str, before: State, after: State) -> None:
    """Check that of the process all is as it was."""
    found = changes(before, after)
    for what, name in KEPT.items():
        case.check.that(
            name, what not in found, "as it was", f"{since}: {found[what]}" if what in found else "as it was"
        )


@smoke
@clauses(*KEPT.values())
def test_loading(case: Case) -> None:
    """The process is looked at before the plugin is loaded, and when it is registered."""
    with case.setup:
        before, after = State.before_load(case.surroundings.host), State.of(case.surroundings.host)
    unchanged(case, "loading", before, after)


@smoke
@many_calls(200)
@clauses("robustness.leaves-no-descriptor", "robustness.leaves-no-thread", *KEPT.values())  # fmt: skip
def test_process_state(case: Case) -> None:
    """The process is looked at before and after many rounds of everything."""
    with case.setup:
        fresh = State.of(case.surroundings.host)
        case.setup.mkdir_where_known("directory")
        # The first round may fill caches, so it is not counted.
        round_trip(case)
    before = State.of(case.surroundings.host)
    for _ in range(TIMES):
        round_trip(case)
    after = State.of(case.surroundings.host)
    for what in ("descriptors", "threads"):
        grown = getattr(after, what) - getattr(before, what)
        leaks, none = grown >= TIMES, f"no more {what} each time"
        case.check.that(f"robustness.leaves-no-{what[:-1]}", not leaks, none,
                   f"{grown} more after {TIMES} rounds" if leaks else none)  # fmt: skip
    unchanged(case, "ops", fresh, after)


@full
@pytest.mark.parametrize("op", list(SUCCESSES))
@clauses(*KEPT.values())
def test_state_after(case: Case, op: str) -> None:
    """The process is looked at before and after one op."""
    with case.setup:
        prepared(case)
        before = State.of(case.surroundings.host)
    case.check.implemented(SUCCESSES[op](case))
    unchanged(case, op, before, State.of(case.surroundings.host))


def _place(case: Case) -> str:
    return case.fs.translate(case.uri("file"))


def _below_nothing(op: str, case: Case) -> Outcome[Any]:
    outcome: Outcome[Any] = getattr(case.fs, op)(case.uri("missing/leaf"))
    return outcome


#: Calls that must fail, by op.
REFUSED: dict[str, Callable[[Case], Outcome[Any]]] = {
    **{
        op: partial(_below_nothing, op)
        for op in ("new_random_access_file", "new_writable_file", "new_appendable_file",
                   "new_read_only_memory_region_from_file", "create_dir", "delete_file", "delete_dir",
                   "delete_recursively", "path_exists", "stat", "is_directory", "get_file_size", "get_children")
    },
    "recursively_create_dir": lambda case: case.fs.recursively_create_dir(case.uri("file/leaf")),
    "rename_file": lambda case: case.fs.rename_file(case.uri("missing"), case.uri("new")),
    "copy_file": lambda case: case.fs.copy_file(case.uri("missing"), case.uri("new")),
    "end_transaction": lambda case: case.tables.end_transaction(FOREIGN_TOKEN),
    "add_to_transaction": lambda case: case.tables.add_to_transaction(_place(case), FOREIGN_TOKEN),
    "get_transaction_for_path": lambda case: case.tables.token_op("get_transaction_for_path", _place(case)),
}  # fmt: skip


@full
@many_calls(60)
@clauses(*KEPT.values())
def test_state_after_errors(case: Case) -> None:
    """The process is looked at before and after each op that fails."""
    with case.setup:
        case.setup.write("file", b"content")
    before, failed = State.of(case.surroundings.host), False
    for op in filter(case.fs.available, REFUSED):
        got = REFUSED[op](case)
        failed |= not got.ok
        if op in OPENS and got.value is not None:
            # What opens after all is ours to give back.
            got.value.cleanup()
        after = State.of(case.surroundings.host)
        unchanged(case, f"{op}: code={got.code}", before, after)
        before = after
    if not failed:
        raise NoStimulusError("nothing of what is tried here fails")


@clauses("robustness.clean-exit")
def test_exit(case: Case) -> None:
    """The process exits after everything was used and closed: all destructors run."""
    with case.setup:
        case.setup.mkdir_where_known("directory")
    round_trip(case)
    ending, expected = case.surroundings.host.quit(), "exit status 0"
    case.check.that(
        "robustness.clean-exit", ending == expected, expected, ending, case.surroundings.host.output[-WORDS:]
    )


@full
@clauses("robustness.survives-a-fork")
def test_fork(case: Case) -> None:
    """The plugin is used, the process forks, and the child asks whether a file is there; so does the parent."""
    uri = case.setup.write("file", b"content")
    name = case.fs.translate(uri)
    with case.setup:
        case.setup.require(case.fs.path_exists(uri))
    arguments = (case.tables.filesystem, os.fsencode(name))
    # It has to be told before the host itself is taken for one that hangs.
    seconds = max(1, int(case.surroundings.host.timeout / 2))
    reply = case.surroundings.host.call("forked", seconds, wire.values_of("path_exists", arguments))
    if reply is None:
        raise HostFaultError("the host does not fork")
    ended = how(reply.take_number(), reply.take_number())
    got = "in the child it came back" if ended == "exit status 0" else f"in the child: {ended}"
    case.check.that("robustness.survives-a-fork", ended == "exit status 0", "in the child it came back", got)
    case.check.status("robustness.survives-a-fork", case.fs.path_exists(uri), Code.OK)


@pytest.mark.parametrize("op", ["new_writable_file", "new_appendable_file"])
@clauses("robustness.closes-only-its-own", *SURVIVED)
def test_closed_twice(case: Case, op: str) -> None:
    """A file is closed, somebody else opens descriptors, and the file is cleaned up."""
    with case.setup:
        file: WritableFile = case.setup.opened(getattr(case.fs, op)(case.uri("file")))
        case.setup.require(file.append(b"content"))
        case.setup.require(file.close())
    case.surroundings.host.call("hold", HELD)
    file.cleanup()
    reply = case.surroundings.host.call("held")
    lost = reply.take_number() if reply else 0
    case.check.equal("robustness.closes-only-its-own", "descriptors of others that were closed", 0, lost)


@pytest.mark.parametrize("op", list(SUCCESSES))
@clauses("common.present-op-is-unimplemented")
def test_present_op(case: Case, op: str) -> None:
    """An op whose entry is set does what it is for, or says that it does not."""
    known = case.bench.facts.unimplemented.get(op, Code.UNIMPLEMENTED)
    if op not in case.surroundings.present or known is not Code.UNIMPLEMENTED:
        case.missing(op)
    prepared(case)
    got = SUCCESSES[op](case)
    unsupported = got.code is Code.UNIMPLEMENTED
    readings = {"implemented": not unsupported, "unsupported": unsupported}
    case.check.reading("common.present-op-is-unimplemented", readings, f"{op}: code={got.code}", got.message)


@clauses("common.error-names-the-path", "robustness.messages-are-short")
def test_messages(case: Case) -> None:
    """What is missing is asked for: the message of the error may name it."""
    for got in (case.fs.stat(case.uri("missing")), case.fs.new_random_access_file(case.uri("missing"))):
        named = "missing" in got.message
        case.check.note("common.error-names-the-path", "named" if named else "not named", got.message)
