"""The ops through TensorFlow: what can be told without one. tests/test_tensorflow.py has the rest."""

import sys
from pathlib import Path

import pytest

from tests.test_suite import run
from tffs_conformance.harness.hosting.client import Host
from tffs_conformance.harness.launchers.choice import launcher
from tffs_conformance.harness.launchers.launcher import HostLostError
from tffs_conformance.harness.native import RUNTIME_NAME, native_directory
from tffs_conformance.harness.ops.filesystem import Filesystem
from tffs_conformance.harness.ops.guard import Guard, RefusedError
from tffs_conformance.harness.ops.outcomes import Source
from tffs_conformance.harness.over_tables.raw import RawFilesystem
from tffs_conformance.harness.through import interpreter
from tffs_conformance.harness.through.filesystem import REACHED, TensorFlowFilesystem
from tffs_conformance.harness.through.interpreter import NoInterpreterError
from tffs_conformance.harness.wire import Reply, Value
from tffs_conformance.suite.contract.catalogue import clause
from tffs_conformance.suite.contract.through import hidden


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
    with pytest.raises(NoInterpreterError, match="no TensorFlow is installed for /bin/true"):
        interpreter.find("/bin/true")


def test_a_tensorflow_that_cannot_be_imported_is_no_fault_of_a_plugin(tmp_path: Path) -> None:
    starts = launcher((), {}, (), interpreter.find(broken(tmp_path)).host)
    with pytest.raises(HostLostError, match="TensorFlow cannot be imported: ImportError: no such processor"):
        Host(starts, 30).call("load", b"")
    starts.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--plugin=posix", "--runtime=/opt"], "--through and --runtime exclude each other"),
        (["--plugin=posix", "--host-command=x"], "--through and --host-command exclude each other"),
        ([], "--through: no TensorFlow is installed for /bin/true"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(options: list[str], said: str, tmp_path: Path) -> None:
    done = run(tmp_path, "--through=/bin/true", *options)
    assert done.returncode == 4
    assert said in done.stdout + done.stderr


def test_what_is_hidden_is_of_the_contract() -> None:
    for name, why in hidden().items():
        assert clause(name).id == name
        assert why


class Wire:
    """Notes what is asked, and answers `absent`."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[Value, ...]]] = []

    def __call__(self, command: str, *values: Value, ops: object = ()) -> Reply | None:
        self.asked.append((command, values))
        return None


def test_names_go_to_tensorflow_as_they_are() -> None:
    wire = Wire()
    fs: Filesystem = TensorFlowFilesystem(RawFilesystem(wire, 0, []), Guard("x://a/b"))
    fs.stat("x://a//c/../d")
    fs.create_dir("x://a/b/./e")
    assert wire.asked == [("stat", (0, b"x://a//c/../d")), ("create_dir", (0, b"x://a/b/./e"))]
    with pytest.raises(RefusedError):
        fs.delete_file("x://a/other")
    assert len(wire.asked) == 2


def test_what_tensorflow_does_not_reach_is_absent() -> None:
    wire = Wire()
    fs = TensorFlowFilesystem(RawFilesystem(wire, 0, []), Guard("x://a/b"), unimplemented=frozenset({"stat"}))
    for outcome in (fs.flush_caches(), fs.translate_name("x://a"), fs.new_read_only_memory_region_from_file("x://a")):
        assert outcome.source is Source.ABSENT
    assert wire.asked == []
    assert not fs.available("flush_caches")
    assert fs.absence("flush_caches") == "TensorFlow's interface does not reach flush_caches"
    assert not fs.available("stat")
    assert fs.absence("stat") == "stat answers UNIMPLEMENTED"
    assert fs.present == REACHED - {"stat"}


def test_several_paths_are_asked_for_one_after_the_other() -> None:
    wire = Wire()
    got = TensorFlowFilesystem(RawFilesystem(wire, 0, []), Guard("x://a/b")).paths_exist(["x://a/1", "x://a/2"])
    assert [values[1] for _, values in wire.asked] == [b"x://a/1", b"x://a/2"]
    assert not got.value.returned
    assert got.value.statuses is not None
    assert len(got.value.statuses) == 2
