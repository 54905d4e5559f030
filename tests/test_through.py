"""The ops and programs through TensorFlow: what can be told without one. tests/test_tensorflow.py has the rest."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.test_suite import report, run
from tffs_conformance.harness.hosting.client import Host
from tffs_conformance.harness.hosting.loader import BlockedError
from tffs_conformance.harness.launchers.choice import launcher
from tffs_conformance.harness.launchers.launcher import HostLostError
from tffs_conformance.harness.native import RUNTIME_NAME, native_directory
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.filesystem import Filesystem
from tffs_conformance.harness.ops.guard import Guard, RefusedError
from tffs_conformance.harness.ops.outcomes import Source
from tffs_conformance.harness.over_tables.raw import RawFilesystem
from tffs_conformance.harness.through import interpreter
from tffs_conformance.harness.through.filesystem import REACHED, TensorFlowFilesystem
from tffs_conformance.harness.through.interpreter import NoInterpreterError
from tffs_conformance.harness.wire import Reply, Value, encode
from tffs_conformance.suite.contract.catalogue import clause
from tffs_conformance.suite.contract.through import hidden
from tffs_conformance.suite.engine.by_tensorflow import is_killed_in, performs
from tffs_conformance.suite.engine.case import NoStimulusError


def broken(folder: Path) -> str:
    """A Python in which a TensorFlow is installed that cannot be imported."""
    inside = folder / "tensorflow"
    inside.mkdir()
    (inside / "__init__.py").write_text("raise ImportError('no such processor')")
    (inside / RUNTIME_NAME).symlink_to(native_directory() / RUNTIME_NAME)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return str(python)


def test_an_interpreter_is_looked_at_without_an_import(tmp_path: Path) -> None:
    found = interpreter.find(broken(tmp_path))
    assert found.library == tmp_path / "tensorflow" / RUNTIME_NAME
    with pytest.raises(NoInterpreterError, match="is neither 'tensorflow' nor a Python that runs"):
        interpreter.find(str(tmp_path / "nowhere"))


def test_a_tensorflow_that_cannot_be_imported_is_no_fault_of_a_plugin(tmp_path: Path) -> None:
    starts = launcher((), {}, (), interpreter.find(broken(tmp_path)).host)
    with pytest.raises(HostLostError, match="TensorFlow cannot be imported: ImportError: no such processor"):
        Host(starts, 30).call("load", b"")
    starts.close()


def test_what_is_hidden_is_of_the_contract() -> None:
    for name, why in hidden().items():
        assert clause(name).id == name
        assert why


class Wire:
    """Notes what is asked, and answers with the next reply."""

    def __init__(self, *replies: Reply | None) -> None:
        self.asked: list[tuple[str, tuple[Value, ...]]] = []
        self.replies = list(replies)

    def __call__(self, command: str, *values: Value, ops: object = ()) -> Reply | None:
        self.asked.append((command, values))
        return self.replies.pop(0)

    @property
    def folders(self) -> list[Value]:
        """In which folders programs were performed, which is all that was asked."""
        assert {command for command, _ in self.asked} == {"perform"}
        return [values[1] for _, values in self.asked]


def over(wire: Wire, *unimplemented: str) -> TensorFlowFilesystem:
    refused = dict.fromkeys(unimplemented, Code.UNIMPLEMENTED)
    return TensorFlowFilesystem(RawFilesystem(wire, 0, []), Guard("x://a/b"), unimplemented=refused)


def test_names_go_to_tensorflow_as_they_are() -> None:
    wire = Wire(None, None)
    fs: Filesystem = over(wire)
    fs.stat("x://a//c/../d")
    fs.create_dir("x://a/b/./e")
    assert wire.asked == [("stat", (0, b"x://a//c/../d")), ("create_dir", (0, b"x://a/b/./e"))]
    with pytest.raises(RefusedError):
        fs.delete_file("x://a/other")
    assert len(wire.asked) == 2


def test_what_tensorflow_does_not_reach_is_absent() -> None:
    wire = Wire()
    fs = over(wire, "stat")
    for outcome in (fs.flush_caches(), fs.translate_name("x://a"), fs.new_read_only_memory_region_from_file("x://a")):
        assert outcome.source is Source.ABSENT
    assert wire.asked == []
    why = {"flush_caches": "TensorFlow's interface does not reach flush_caches", "stat": "stat answers UNIMPLEMENTED"}
    assert {op: fs.absence(op) for op in why if not fs.available(op)} == why
    assert fs.present == REACHED - {"stat"}


def test_several_paths_are_asked_for_one_after_the_other() -> None:
    wire = Wire(None, None)
    got = over(wire).paths_exist(["x://a/1", "x://a/2"])
    assert [values[1] for _, values in wire.asked] == [b"x://a/1", b"x://a/2"]
    assert not got.value.returned
    assert got.value.statuses is not None
    assert len(got.value.statuses) == 2


# What a program of TensorFlow's users says of a plugin, and when it says nothing --------------------------------------

GOOD, BAD = ["lines", True, "['a']", "['a']"], ["lines", False, "['a']", "[]"]
UNKNOWN, NOT_FOUND, UNIMPLEMENTED = 2, 5, 12


def reply(seen: list[list[object]], code: int = 0, message: str = "", lacking: int = 0) -> Reply:
    values: list[Value] = [code, message.encode(), 0, lacking, json.dumps(seen).encode()]
    got = Reply(encode("done", values)[4:])
    got.take_bytes()
    return got


def case(wire: Wire, *, through: bool = True, scheme: str = "mine", **known: Any) -> Any:
    """As much of a case as a program needs; its checks are in `made`."""
    made: list[tuple[bool, str, str, str]] = []
    return SimpleNamespace(
        bench=SimpleNamespace(
            target=SimpleNamespace(through=("python",) if through else (), scheme=scheme),
            facts=SimpleNamespace(fails_plainly=known.get("fails_plainly", {})),
        ),
        fs=TensorFlowFilesystem(RawFilesystem(wire, 0, []), Guard("mine://r/case")),
        uri=lambda *names: "/".join(("mine://r/case", *names)),
        surroundings=SimpleNamespace(end_host=lambda: None),
        made=made,
        check=SimpleNamespace(that=lambda _, holds, expected, got, said="": made.append((holds, expected, got, said))),
    )


def test_what_a_program_saw_is_checks() -> None:
    wire = Wire(reply([GOOD, GOOD]))
    one = case(wire)
    performs(one, "clause", "files")
    assert one.made == [(True, "lines: ['a']", "lines: ['a']", "")] * 2
    assert wire.folders == [b"mine://r/case"]


def test_what_goes_wrong_on_local_files_as_well_says_nothing() -> None:
    for control in (reply([BAD]), reply([], UNKNOWN, "AttributeError: snapshot")):
        wire = Wire(reply([GOOD, BAD]), control)
        with pytest.raises(NoStimulusError, match="TensorFlow does not do it on local files either: "):
            performs(case(wire), "clause", "files")
        assert wire.folders == [b"mine://r/case", b""]


def test_what_works_on_local_files_is_the_plugin() -> None:
    one = case(Wire(reply([GOOD, BAD], NOT_FOUND, "gone"), reply([GOOD])))
    performs(one, "clause", "files")
    assert [holds for holds, *_ in one.made] == [True, False, False]
    assert one.made[-1] == (False, "files ends with code=OK", "code=NOT_FOUND", "gone")


def test_for_local_files_there_is_no_control() -> None:
    wire = Wire(reply([BAD]))
    one = case(wire, scheme="")
    performs(one, "clause", "files")
    assert len(wire.folders) == 1
    assert not one.made[0][0]


@pytest.mark.parametrize(
    "answer", [reply([], lacking=1, message="no such thing"), reply([GOOD], UNIMPLEMENTED, "no such thing")]
)
def test_what_is_not_there_is_absent(answer: Reply) -> None:
    with pytest.raises(NoStimulusError, match="no such thing"):
        performs(case(Wire(answer)), "clause", "files")


def test_an_op_that_goes_wrong_everywhere_is_the_cause() -> None:
    with pytest.raises(BlockedError, match="stat"):
        performs(case(Wire(reply([BAD])), fails_plainly={"stat": "INTERNAL"}), "clause", "files")
    performs(case(Wire(reply([GOOD])), fails_plainly={"stat": "INTERNAL"}), "clause", "files")


def test_a_program_stays_in_its_folder() -> None:
    with pytest.raises(RefusedError):
        case(Wire()).fs.perform("files", "mine://r/other")


def test_files_that_go_with_their_process_are_not_looked_for() -> None:
    one = case(Wire())
    elsewhere = SimpleNamespace(path_exists=lambda _: SimpleNamespace(ok=False))
    one.bench.alone = lambda _, use: use(elsewhere)
    with pytest.raises(NoStimulusError, match="gone with its process"):
        is_killed_in(one, "save_on_and_on", 0)


def test_elsewhere_the_cases_are_absent(tmp_path: Path) -> None:
    run(tmp_path, "-q", "--plugin=posix", "--case=users/*")
    found = report(tmp_path)["cases"]
    assert len(found) > 15
    why = "TensorFlow's own readers and writers come with --through=tensorflow only"
    assert {(one["verdict"], one["reason"], one["executed"]) for one in found} == {("absent", why, False)}
