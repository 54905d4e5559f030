"""The guard: nobody's files are harmed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tffs_conformance.harness.ops import paths
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.guard import Guard, RefusedError
from tffs_conformance.harness.ops.tables import CHANGING
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem
from tffs_conformance.harness.over_tables.raw import RawFilesystem
from tffs_conformance.harness.wire import Reply, values_of

OWN = "mine://host/tmp/tffs-x/case"
ONE_PATH = sorted(CHANGING - {"rename_file", "copy_file"})


@pytest.mark.parametrize("op", ONE_PATH)
@pytest.mark.parametrize(
    "uri",
    ["", "/", "mine://", "mine:///", "mine://host/", "mine://host/tmp", "mine://host/tmp/tffs-x",
     "mine://host/tmp/tffs-x/cases", "mine://other/tmp/tffs-x/case/a", "mine://host/tmp/tffs-x/case/../other",
     "mine://host/tmp/tffs-x/case/a/../../..", "/tmp/tffs-x/case/a", "other://host/tmp/tffs-x/case/a"],
)  # fmt: skip
def test_refuses(op: str, uri: str) -> None:
    with pytest.raises(RefusedError):
        Guard(OWN).admit(op, [uri], [paths.translate(uri)])


@pytest.mark.parametrize("op", ONE_PATH)
@pytest.mark.parametrize("uri", [OWN, OWN + "/a", OWN + "/a/b", OWN + "//a", OWN + "/a/../b", OWN + "/"])
def test_admits(op: str, uri: str) -> None:
    Guard(OWN).admit(op, [uri], [paths.translate(uri)])


def test_both_paths_of_a_rename_count() -> None:
    outside = "mine://host/tmp/precious"
    for pair in ([OWN + "/a", outside], [outside, OWN + "/a"]):
        with pytest.raises(RefusedError):
            Guard(OWN).admit("rename_file", pair, [paths.translate(uri) for uri in pair])


def test_the_source_of_a_copy_is_only_read() -> None:
    pair = ["mine://host/tmp/other", OWN + "/a"]
    Guard(OWN).admit("copy_file", pair, [paths.translate(uri) for uri in pair])
    with pytest.raises(RefusedError):
        Guard(OWN).admit("copy_file", pair[::-1], [paths.translate(uri) for uri in pair[::-1]])


def test_asking_is_free() -> None:
    Guard(OWN).admit("stat", ["/"], ["/"])


@pytest.mark.parametrize("plain", ["/", "", "/tmp", "/tmp/tffs-x", "/tmp/tffs-x/case/../.."])
def test_a_translation_that_leaves_is_refused(plain: str) -> None:
    with pytest.raises(RefusedError):
        Guard(OWN).admit("delete_recursively", [OWN + "/a"], [plain])


def test_the_root_is_made_with_its_parents_and_nothing_else() -> None:
    guard = Guard(OWN, making=True)
    for uri in ("mine://host/tmp", "mine://host/tmp/tffs-x", OWN):
        guard.admit("create_dir", [uri], [paths.translate(uri)])
        if uri != OWN:
            with pytest.raises(RefusedError):
                guard.admit("delete_recursively", [uri], [paths.translate(uri)])
    with pytest.raises(RefusedError):
        guard.admit("create_dir", ["mine://host/"], ["/"])


def test_default_creates_nothing_above_the_directory_of_the_case() -> None:
    asked = []

    def call(op: str, _: int, path: bytes) -> Reply:
        asked.append((op, path.decode()))
        reply = Reply(values_of(op, [Code.NOT_FOUND if op == "path_exists" else Code.OK, b"", 0]))
        reply.take_bytes()
        return reply

    present = frozenset({"path_exists", "is_directory", "create_dir"})
    assert HostFilesystem(RawFilesystem(call, 0, []), present, Guard(OWN)).recursively_create_dir(OWN + "/a/b").ok
    own, *below = (paths.translate(OWN + tail) for tail in ("", "/a", "/a/b"))
    assert asked[:3] == [("path_exists", path) for path in (*reversed(below), own)]
    assert asked[3:] == [("create_dir", path) for path in (own, *below)]


def test_a_root_is_nobodys_case() -> None:
    with pytest.raises(ValueError, match="root"):
        Guard("mine://host/")


@given(st.text(alphabet="./ab", max_size=20))
def test_whatever_is_admitted_lies_inside(tail: str) -> None:
    uri = f"{OWN}/{tail}"
    try:
        Guard(OWN).admit("delete_recursively", [uri], [paths.translate(uri)])
    except RefusedError:
        return
    assert (paths.translate(uri) + "/").startswith("/tmp/tffs-x/case/")
