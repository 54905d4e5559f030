"""The guard: nobody's files are harmed; and names as core treats them."""

from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tffs_conformance.harness.ops import glob, paths
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


OUTSIDE = "mine://host/tmp/precious"


@pytest.mark.parametrize(
    ("op", "uris"), [("rename_file", [OWN, OUTSIDE]), ("rename_file", [OUTSIDE, OWN]), ("copy_file", [OWN, OUTSIDE])]
)
def test_a_path_that_changes_lies_inside(op: str, uris: list[str]) -> None:
    with pytest.raises(RefusedError):
        Guard(OWN).admit(op, uris, [paths.translate(uri) for uri in uris])


@pytest.mark.parametrize(("op", "uris"), [("copy_file", [OUTSIDE, OWN]), ("stat", ["/"])])
def test_what_is_only_read_lies_anywhere(op: str, uris: list[str]) -> None:
    Guard(OWN).admit(op, uris, [paths.translate(uri) for uri in uris])


@pytest.mark.parametrize("plain", ["/", "", "/tmp", "/tmp/tffs-x", "/tmp/tffs-x/case/../.."])
def test_a_translation_that_leaves_is_refused(plain: str) -> None:
    with pytest.raises(RefusedError):
        Guard(OWN).admit("delete_recursively", [OWN + "/a"], [plain])


#: What no name in a directory depends on.
COUNT = count()


def in_hex(uri: str) -> str:
    return paths.translate(uri).encode().hex()


@pytest.mark.parametrize("uri", [OWN, OWN + "/a", OWN + "/a/b"])
@pytest.mark.parametrize("translate", [in_hex, lambda uri: paths.translate(uri) + ";0"], ids=["hex", "versioned"])
def test_admits_what_is_no_path(uri: str, translate: Callable[[str], str]) -> None:
    Guard(OWN).admit("delete_recursively", [uri], [translate(uri)], translate)
    with pytest.raises(RefusedError):
        Guard(OWN).admit("delete_recursively", [OUTSIDE], [translate(OUTSIDE)], translate)


@pytest.mark.parametrize(
    "translate",
    [lambda _: "", lambda _: ".", lambda _: "2f746d70", lambda uri: in_hex(uri)[:12], paths.basename,
     lambda uri: in_hex(paths.dirname(paths.dirname(uri))), lambda uri: paths.translate(uri) + ";0/../../..",
     lambda uri: f"file{len(uri)}", lambda _: f"tmp{next(COUNT)}"],
    ids=["nothing", "here", "one-name", "cut", "last-name", "two-above", "climbs", "length", "count"],
)  # fmt: skip
def test_refuses_what_does_not_depend_on_the_directory(translate: Callable[[str], str]) -> None:
    with pytest.raises(RefusedError):
        Guard(OWN).admit("delete_recursively", [OWN + "/a"], [translate(OWN + "/a")], translate)


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


@pytest.mark.parametrize(("code", "asked"), [(Code.UNIMPLEMENTED, ["copy_file"]), (Code.PERMISSION_DENIED, [])])
def test_op_that_was_unimplemented_is_asked_again(code: Code, asked: list[str]) -> None:
    called = []

    def call(op: str, *_: object) -> Reply:
        called.append(op)
        reply = Reply(values_of(op, [Code.OK, b"", 0]))
        reply.take_bytes()
        return reply

    raw, plain = RawFilesystem(call, 0, []), {"copy_file": code}
    fs = HostFilesystem(raw, frozenset(plain), Guard(OWN), unimplemented=plain)
    assert fs.copy_file(OWN + "/a", OWN + "/b").ok == bool(asked)
    assert (called, fs.present) == (asked, frozenset())


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


# Names as core treats them --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "translated"),
    [
        ("", ""), ("/", "/"), ("//", "/"), ("a_file", "a_file"), ("a_dir/..", "."), ("../a", "../a"), ("/../a", "/a"),
        ("s://", "/"), ("s:///", "/"), ("s:////", "/"), ("xp://host", "/"), ("xp://host/some/../x//y/", "/x/y"),
        ("xp://host/a/../b//c/", "/b/c"), ("/a/convoluted/../path/./to/.//.///a/file", "/a/path/to/a/file"),
        ("weird+scheme://host/a", "weird+scheme:/host/a"),
    ],
)  # fmt: skip
def test_translate(name: str, translated: str) -> None:
    assert paths.translate(name) == translated


@given(st.text(alphabet="./ab", min_size=1, max_size=30))
def test_translating_twice_changes_nothing(name: str) -> None:
    once = paths.translate(name)
    assert paths.translate(once) == once


@pytest.mark.parametrize(("path", "above"), [("x://h/a", "x://h/"), ("x://h/", "x://h/"), ("x://h/a/b", "x://h/a")])
def test_dirname_stops_at_the_root(path: str, above: str) -> None:
    assert paths.dirname(path) == above


TREE = {"x:///d": ["a", "ab", "sub"], "x:///d/sub": ["ax", "bx"]}


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("", []), ("x:///d/*", ["x:///d/a", "x:///d/ab", "x:///d/sub"]), ("x:///d/a?", ["x:///d/ab"]),
        ("x:///d/*/a*", ["x:///d/sub/ax"]), ("x:///d/[^a]*", ["x:///d/sub"]), ("x:///d/ab", ["x:///d/ab"]),
        ("x:///d/missing", []), ("x:///none/*", []),
    ],
)  # fmt: skip
def test_glob(pattern: str, found: list[str]) -> None:
    there = {paths.join(directory, name) for directory, names in TREE.items() for name in names} | set(TREE)
    assert list(glob.walk(pattern, there.__contains__, TREE.__contains__, lambda d: TREE.get(d, []))) == found
