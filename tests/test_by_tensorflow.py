"""What a program of TensorFlow's users says of a plugin, and when it says nothing.

tests/test_tensorflow.py performs real ones.
"""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.test_suite import report, run
from tffs_conformance.harness.hosting.loader import BlockedError
from tffs_conformance.harness.ops.guard import Guard, RefusedError
from tffs_conformance.harness.over_tables.raw import RawFilesystem
from tffs_conformance.harness.through.filesystem import TensorFlowFilesystem
from tffs_conformance.harness.wire import Reply, Value, encode
from tffs_conformance.suite.engine.by_tensorflow import is_killed_in, performs
from tffs_conformance.suite.engine.case import NoStimulusError

GOOD, BAD = ["lines", True, "['a']", "['a']"], ["lines", False, "['a']", "[]"]
UNKNOWN, NOT_FOUND, UNIMPLEMENTED = 2, 5, 12


def reply(seen: list[list[object]], code: int = 0, message: str = "", lacking: int = 0) -> Reply:
    values: list[Value] = [code, message.encode(), 0, lacking, json.dumps(seen).encode()]
    got = Reply(encode("done", values)[4:])
    got.take_bytes()
    return got


class Wire:
    """Answers each program with the next reply, and notes in which folder."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.folders: list[Value] = []

    def __call__(self, command: str, *values: Value, ops: object = ()) -> Reply:
        assert command == "perform"
        self.folders.append(values[1])
        return self.replies.pop(0)


def case(wire: Wire, *, through: bool = True, scheme: str = "mine", **known: Any) -> Any:
    """As much of a case as a program needs; its checks are in `made`."""
    made: list[tuple[bool, str, str, str]] = []
    return SimpleNamespace(
        bench=SimpleNamespace(
            target=SimpleNamespace(through=("python",) if through else (), scheme=scheme),
            knowledge=SimpleNamespace(fails_plainly=known.get("fails_plainly", {})),
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
    ("answer", "why"),
    [
        (reply([], lacking=1, message="no TensorBoard"), "no TensorBoard"),
        (reply([GOOD], UNIMPLEMENTED, "no rename"), "no rename"),
    ],
)
def test_what_is_not_there_is_absent(answer: Reply, why: str) -> None:
    with pytest.raises(NoStimulusError, match=why):
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
