"""The first look at a target: it finds out what every case has to know, in hosts of its own."""

from contextlib import suppress
from dataclasses import replace

from ...harness import paths
from ...harness.backing import Unable
from ...harness.guard import Guard
from ...harness.host_filesystem import HostFilesystem
from ...harness.loader import Blocked
from ...harness.raw import Call
from ...harness.tables import DEFAULT_NEEDS, asks_for_the_kind
from .knowledge import NOTHING, Knowledge
from .target import Target
from .workbench import Workbench


def first_look(target: Target) -> Knowledge:
    """Try each set-up op once where nothing is special about it. An op that hangs is not called again."""
    bench = Workbench(target, NOTHING, max_hangs=1)
    try:
        bench.make_root()
        bench.knowledge = replace(bench.knowledge, is_directory_ok_for_files=_is_directory_ok_for_files(bench))
        works_plainly = _works_plainly(bench)
        return replace(
            bench.knowledge, works_plainly=works_plainly, root_made=bench.root_made, hosts_differ=bench.hosts_differ
        )
    except (Blocked, Unable):
        return bench.knowledge
    finally:
        bench.close()


def _works_plainly(bench: Workbench) -> frozenset[str]:
    """The ops of a way through files and directories that succeeded."""
    directory = bench.directory("plain")
    trace: list[Call] = []

    def walk(filesystem: HostFilesystem) -> None:
        bench.make(filesystem, directory)
        if bench.seeds(filesystem, "new_writable_file"):
            bench.backing.write(f"{paths.basename(directory)}/file", b"plain")
        _walk(filesystem, directory)

    # What went well before something goes wrong is known all the same.
    with suppress(Blocked, Unable):
        bench.alone(Guard(directory), walk, trace)
    bench.remove(directory)
    return frozenset(op for op, _, outcome in trace if getattr(outcome, "ok", False))


def _walk(filesystem: HostFilesystem, directory: str) -> None:
    file = paths.join(directory, "file")
    filesystem.create_dir(paths.join(directory, "directory"))
    written = filesystem.new_writable_file(file).value
    if written is not None:
        written.append(b"plain")
        written.flush()
        written.close()
        written.cleanup()
    opened = filesystem.new_random_access_file(file).value
    if opened is not None:
        opened.read(0, 5)
        opened.cleanup()
    region = filesystem.new_read_only_memory_region_from_file(file).value
    if region is not None:
        region.length()
        region.data(0, 5)
        region.cleanup()
    filesystem.get_children(directory)
    filesystem.stat(directory)


def _is_directory_ok_for_files(bench: Workbench) -> bool:
    """Asked only where a default of core depends on the answer."""
    directory = bench.directory("kind")
    answers: list[bool] = []

    def ask(filesystem: HostFilesystem) -> None:
        present = filesystem.present
        if "is_directory" not in present or not any(asks_for_the_kind(op, present) for op in DEFAULT_NEEDS):
            return
        bench.make(filesystem, directory)
        file = paths.join(directory, "file")
        written = filesystem.new_writable_file(file).value
        if written is not None:
            written.close()
            written.cleanup()
            answers.append(filesystem.is_directory(file).ok)
        bench.remove_with(filesystem, directory)

    try:
        bench.alone(Guard(directory), ask)
    except Blocked:
        return False
    return any(answers)
