"""Programs of TensorFlow's users on the filesystem of a case: what each thing that they saw says of a clause."""

import os
import time

from ...harness.hosting.loader import BlockedError
from ...harness.ops.codes import Code
from ...harness.ops.guard import Guard
from ...harness.ops.outcomes import Outcome
from ...harness.through.filesystem import Performed, TensorFlowFilesystem
from .case import Case, NoStimulusError

#: Where TensorFlow keeps local files itself.
LOCAL = (None, "", "file")
#: The file that names the latest checkpoint.
STATE = "checkpoint"


def performs(case: Case, name: str, program: str, *arguments: str, alone: bool = True) -> None:
    """Perform a program of `harness/through/user_programs.py` in the case's directory, and check clause `name` by it.

    A program that does not work on local files either says nothing of the plugin: the case is absent. One that goes on
    where another one stopped is not `alone`, and not tried there.
    """
    filesystem = _filesystem(case)
    outcome = filesystem.perform(program, case.uri(), *arguments)
    if outcome.value.lacking or outcome.code is Code.UNIMPLEMENTED:
        raise NoStimulusError(outcome.message)
    if not _went_well(outcome):
        known = case.bench.facts.fails_plainly
        if known:
            # The program may need an op that goes wrong everywhere, and other cases are about that.
            raise BlockedError(*next(iter(known.items())))
        control = Outcome("", Code.OK, "", Performed(lacking=False, seen=()))
        if alone and case.bench.target.scheme not in LOCAL:
            control = filesystem.perform(program, "", *arguments)
        if not _went_well(control):
            raise NoStimulusError(f"TensorFlow does not do it on local files either: {_why(control)}")
    for seen in outcome.value.seen:
        case.check.that(name, seen.holds, f"{seen.what}: {seen.expected}", f"{seen.what}: {seen.got}")
    if not outcome.ok:
        case.check.that(name, False, f"{program} ends with code=OK", f"code={outcome.code}", outcome.message)


def is_killed_in(case: Case, program: str, seconds: float) -> None:
    """Perform a program that saves checkpoints, and kill its process after some seconds. What follows is in another."""
    _filesystem(case)
    folder, found = case.uri(), []
    case.surroundings.end_host()
    case.bench.alone(Guard(folder), lambda other: found.append(other.path_exists(case.uri(STATE)).ok))
    if not all(found):
        raise NoStimulusError("its files are gone with its process")
    case.surroundings.loaded.host.send("perform", program.encode(), os.fsencode(folder))
    time.sleep(seconds)
    case.surroundings.end_host()


def _filesystem(case: Case) -> TensorFlowFilesystem:
    """The filesystem as TensorFlow's users reach it.

    Raises NoStimulusError or AbsentOpError where nobody writes through it.
    """
    if not case.bench.target.through:
        raise NoStimulusError("TensorFlow's own readers and writers come with --through=tensorflow only")
    filesystem = case.fs
    assert isinstance(filesystem, TensorFlowFilesystem)
    if not filesystem.available("new_writable_file"):
        case.missing("new_writable_file")
    return filesystem


def _went_well(outcome: Outcome[Performed]) -> bool:
    return outcome.ok and all(seen.holds for seen in outcome.value.seen)


def _why(outcome: Outcome[Performed]) -> str:
    """What was the first to go wrong."""
    wrong = next((seen for seen in outcome.value.seen if not seen.holds), None)
    return f"{wrong.what}: {wrong.got}" if wrong else f"{outcome.code} {outcome.message}"
