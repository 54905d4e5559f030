"""Who is blamed for what witnesses say of a file: each row of the table, on filesystems made for it and on fakes."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import pytest

from tests.test_first_look import of as judged
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.filesystem import Filesystem
from tffs_conformance.harness.ops.outcomes import Entries, Outcome, Read, Source, Statistics
from tffs_conformance.harness.over_tables.raw import Call
from tffs_conformance.harness.targets.backing import Backing
from tffs_conformance.reports.model.records import StatementKind
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.engine import looks
from tffs_conformance.suite.engine.answers import Answer
from tffs_conformance.suite.engine.looks import Tree
from tffs_conformance.suite.engine.witnesses import MOST_BYTES, Prepared, Says, blamed, flaw
from tffs_conformance.suite.judge.evidence import Statement

WRITTEN, OTHER, LEFT, GONE, NOTHING = Says
CONTENT = b"0123456789"
T = TypeVar("T")

#: The op that is blamed, for what a backing says, or else stat, get_file_size and read.
BLAMED: dict[str | None, list[tuple[Says, ...]]] = {
    "new_writable_file": [(GONE,), (LEFT,), (LEFT, LEFT, LEFT)],
    "append": [(OTHER,), (OTHER, OTHER, OTHER)],
    None: [
        (WRITTEN,), (WRITTEN, WRITTEN, WRITTEN), (LEFT, NOTHING, LEFT),
        (OTHER, NOTHING, OTHER), (OTHER, OTHER, NOTHING), (NOTHING, OTHER, OTHER),
        (OTHER, OTHER, WRITTEN), (WRITTEN, OTHER, OTHER), (OTHER, WRITTEN, OTHER),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("said", "op"), [(said, op) for op, rows in BLAMED.items() for said in rows], ids=str)
def test_op_is_blamed_by_what_witnesses_say(said: tuple[Says, ...], op: str | None) -> None:
    assert blamed(*said) == op


@dataclass
class Stub:
    """A filesystem with one file, of which each op says what it is told to; None is NOT_FOUND."""

    stat_says: int | None = len(CONTENT)
    read_says: int | None = len(CONTENT)
    #: None leaves get_file_size to core, which asks stat.
    own_size: int | None = None
    exists: bool = True
    mapped: bytes | None = None
    asked: list[str] = field(default_factory=list)

    @property
    def present(self) -> frozenset[str]:
        return frozenset() if self.own_size is None else frozenset({"get_file_size"})

    def path_exists(self, _: str) -> Outcome[None]:
        return self._answer("path_exists", None, there=self.exists)

    def stat(self, _: str) -> Outcome[Statistics]:
        return self._answer("stat", Statistics(self.stat_says or 0, 0, 0), there=self.stat_says is not None)

    def get_file_size(self, uri: str) -> Outcome[int]:
        if self.own_size is not None:
            return self._answer("get_file_size", self.own_size, there=True)
        stat = self.stat(uri)
        return Outcome("get_file_size", stat.code, "", stat.value.length, source=Source.DEFAULT)

    def get_children(self, _: str) -> Outcome[Entries]:
        names = ("file",) if self.exists else ()
        return self._answer("get_children", Entries(len(names), names), there=True)

    def new_random_access_file(self, _: str) -> "Outcome[Stub | None]":
        there = self.read_says is not None
        return self._answer("new_random_access_file", self if there else None, there=there)

    def new_read_only_memory_region_from_file(self, _: str) -> "Outcome[Stub | None]":
        there = self.mapped is not None
        return self._answer("new_read_only_memory_region_from_file", self if there else None, there=there)

    def length(self) -> Outcome[int]:
        return self._answer("length", len(self.mapped or b""), there=True)

    def data(self, offset: int, n: int) -> Outcome[tuple[int, bytes]]:
        return self._answer("data", (1, (self.mapped or b"")[offset : offset + n]), there=True)

    def read(self, _: int, n: int) -> Outcome[Read]:
        data = (2 * b"0123456789abcdef")[: self.read_says][:n]
        code = Code.OK if len(data) == n else Code.OUT_OF_RANGE
        return Outcome("read", code, "", Read(len(data), data))

    def __enter__(self) -> "Stub":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def _answer(self, op: str, value: T, *, there: bool) -> Outcome[T]:
        self.asked.append(op)
        return Outcome(op, Code.OK if there else Code.NOT_FOUND, "", value)


def store(stored: bytes | None, *, listed: bool = False) -> Backing:
    """A backing that holds this, whatever it is asked for."""
    return cast("Backing", SimpleNamespace(lists=lambda _: listed, read=lambda _: stored))


NOBODY = Stub(stat_says=None, read_says=None, exists=False)


def of(fs: Stub, backing: Backing | None = None, content: bytes | None = CONTENT, before: bytes = b"") -> str | None:
    """The op that is blamed."""
    prepared = Prepared("file", content, before)
    found = flaw(cast("Filesystem", fs), "stub://host/file", prepared, backing, "case/file")
    return found.op if found else None


LONGER = b"0123456789ab"
LONG = (CONTENT + b"ab", LONGER + CONTENT)


@pytest.mark.parametrize(
    ("fs", "more", "op"),
    [
        # Without a backing, all ops have to agree: those that ask each other are one.
        (Stub(), {}, None),
        *((Stub(length, length, length), {}, "append") for length in (9, 11)),
        (Stub(9, 9), {}, None),
        *((Stub(9, length, 9), {}, None) for length in (None, 8, 10)),
        (NOBODY, {}, "new_writable_file"),
        # What stays in a file that is written anew is the fault of who opened it; otherwise the writing made too much.
        *((NOBODY, {"backing": store(stored), "before": LONGER}, "new_writable_file") for stored in LONG),
        *((Stub(length, length, length), {"before": LONGER}, "new_writable_file") for length in map(len, LONG)),
        *((NOBODY, {"backing": store(stored)}, "append") for stored in LONG),
        # Of a directory, the ops say whether it is there.
        (NOBODY, {"content": None}, "create_dir"),
        (NOBODY, {"content": None, "backing": store(None)}, "create_dir"),
        (Stub(), {"content": None, "backing": store(None)}, None),
        # Nobody reads what is too long.
        (Stub(9, 9, 9), {"content": bytes(MOST_BYTES + 1)}, None),
        # A backing that lists what it cannot read blames nobody.
        (Stub(), {"backing": store(None)}, "new_writable_file"),
        (Stub(), {"backing": store(None, listed=True)}, None),
        (Stub(9, 9, 9), {"backing": store(None, listed=True)}, "append"),
    ],
)
def test_op_that_is_blamed(fs: Stub, more: dict[str, Any], op: str | None) -> None:
    assert of(fs, **more) == op


@pytest.mark.parametrize(
    ("stored", "op"),
    [(CONTENT, None), (CONTENT[:-1], "append"), (b"", "append"), (None, "new_writable_file")],
    ids=["all", "short", "empty", "gone"],
)
@pytest.mark.parametrize("fs", [Stub(), Stub(9, 9, 9), NOBODY], ids=["as-written", "short", "gone"])
def test_a_backing_decides_alone(fs: Stub, stored: bytes | None, op: str | None) -> None:
    fs.asked.clear()
    assert of(fs, store(stored)) == op
    assert fs.asked == []


@pytest.mark.parametrize(
    ("fault", "clause"),
    [
        ("scenario.short-size-is-read", "stat.length-is-the-size"),
        ("scenario.short-size-is-mapped", "length.is-the-file-size"),
    ],
)
def test_a_size_that_others_believe_is_not_the_fault_of_the_writing(fault: str, clause: str) -> None:
    broken = judged(fault, "metadata/", "read/", "region/", "move/").broken()
    assert clause in broken
    assert not {name for name in broken if name.startswith(("append.", "new_writable_file."))}


@pytest.mark.parametrize(
    ("fault", "cases", "op"),
    [
        ("append.drops", ("metadata/", "region/", "move/"), "append"),
        ("setup.empty-file-is-not-there", ("metadata/", "move/", "read/"), "new_writable_file"),
    ],
)
def test_what_the_backing_lacks_blames_the_writing(fault: str, cases: tuple[str, ...], op: str) -> None:
    broken = [one for one in judged(fault, *cases).records if one.verdict is Verdict.VIOLATION]
    assert broken
    # What was seen stays, and the cause stands before it.
    assert {(one.cause, one.checks[0].clause) for one in broken} == {(op, f"{op}.succeeds")}


@pytest.mark.parametrize(
    ("fs", "wanted", "found", "op"),
    [
        pytest.param(Stub(), {"file": CONTENT}, {}, "get_children", id="not-listed"),
        pytest.param(Stub(exists=False), {"file": CONTENT}, {}, None, id="not-listed-and-denied-by-another"),
        pytest.param(NOBODY, {"file": CONTENT}, {}, None, id="not-there"),
        pytest.param(NOBODY, {}, {"file": CONTENT}, "get_children", id="listed-alone"),
        pytest.param(Stub(), {}, {"file": CONTENT}, None, id="there-for-all"),
        pytest.param(Stub(), {"file": CONTENT}, {"file": b""}, None, id="another-content"),
    ],
)
def test_look_that_stands_alone_is_at_fault(fs: Stub, wanted: Tree, found: Tree, op: str | None) -> None:
    misled = looks.misled_by(cast("Filesystem", fs), "stub://host/{}".format, wanted, found)
    assert (misled and misled.answer.op) == op


#: What a backing or a region has, what a reader gives, and whether the reader stands alone with what is not wanted.
LOOKS: list[tuple[bytes | None, int | None, bool | None]] = [
    (CONTENT, 5, True),
    (b"more " + CONTENT, 5, True),
    # Late bytes: the reader has them by now.
    (CONTENT, 10, None),
    (CONTENT[:5], 10, None),
    (CONTENT[:5], 5, False),
    (CONTENT[:4], 5, None),
    (CONTENT, None, None),
    (None, 5, None),
]


@pytest.mark.parametrize(("stored", "read", "is_alone"), LOOKS)
@pytest.mark.parametrize("by_backing", [True, False])
def test_reader_stands_alone_if_another_look_has_what_is_wanted_now(
    stored: bytes | None, read: int | None, is_alone: bool | None, by_backing: bool
) -> None:
    fs = Stub(read_says=read, mapped=None if by_backing else stored)
    found = looks.stands_alone(cast("Filesystem", fs), "stub://host/file", stored if by_backing else None, CONTENT)
    assert found is is_alone


FILE, OTHER_FILE = b"stub://host/file", b"stub://host/other"
WRITTEN_BY: list[tuple[tuple[tuple[str, bytes], ...], bytes, tuple[str, str] | None]] = [
    ((("new_writable_file", FILE), ("append", b"")), b"0123!56789", ("append", "content")),
    ((("new_writable_file", FILE),), b"0123!56789", ("new_writable_file", "content")),
    ((("new_writable_file", FILE), ("append", b"")), b"0123", ("close", "missing content")),
    ((("append", b""), ("copy_file", FILE)), b"0123!56789", ("copy_file", "content")),
    ((("new_writable_file", OTHER_FILE), ("append", b"")), b"0123", None),
]


@pytest.mark.parametrize(("calls", "got", "due"), WRITTEN_BY)
def test_what_all_looks_see_is_due_to_what_wrote_it(
    calls: tuple[tuple[str, bytes], ...], got: bytes, due: tuple[str, str] | None
) -> None:
    made: list[Call] = [(op, (1, path), Outcome(op, Code.OK, "", None)) for op, path in calls]
    answer = looks.wrote(made, FILE.decode(), CONTENT, got)
    assert (answer and (answer.op, answer.kind)) == due


@pytest.mark.parametrize(
    ("ops", "due"),
    [
        (("read",), {"read"}),
        (("read", "copy_file"), {"read", "copy_file"}),
        (("data", "length"), {"data", "length"}),
        (("stat", "read"), {"flush_caches"}),
    ],
)
def test_several_looks_that_are_stale_after_a_flush_are_due_to_it(ops: tuple[str, ...], due: set[str]) -> None:
    made = [Statement("flush_caches.results-reflect-the-store", False, "a", "b", op=op) for op in ops]
    assert {said.op for said in looks.by_caches(made)} == due


@pytest.mark.parametrize(
    ("fault", "cases", "op"),
    [
        ("read.garbage", "neighbours/", "read"),
        ("read.stops-at-zero", "bulk/", "read"),
        ("region.one-buffer", "region/", "data"),
    ],
)
def test_bytes_that_one_look_sees_otherwise_are_its_fault(fault: str, cases: str, op: str) -> None:
    broken = [one for record in judged(fault, cases).records for one in record.checks if one.verdict == "violation"]
    assert {one.op for one in broken if one.kind in (StatementKind.CONTENT, StatementKind.MISSING)} == {op}


def test_few_paths_are_looked_at_however_many_differ() -> None:
    fs = Stub(exists=False)
    wanted: Tree = {f"file{k}": CONTENT for k in range(500)}
    assert looks.misled_by(cast("Filesystem", fs), "stub://host/{}".format, wanted, {}) is None
    assert 0 < len(fs.asked) <= 5 * looks.MOST


@pytest.mark.parametrize(
    ("fs", "is_so"),
    [(Stub(9, 9), True), (Stub(), False), (Stub(9, 10), False), (Stub(9, None), False), (Stub(None, 9), False)],
)
def test_looks_agree_on_another_length(fs: Stub, is_so: bool) -> None:
    assert looks.agreed(cast("Filesystem", fs), "stub://host/{}".format, {"file": CONTENT, "other": None}) is is_so


@pytest.mark.parametrize(
    ("calls", "wanted", "found", "answer"),
    [
        (["new_writable_file a"], {"a": b"12"}, {"a": b"1"}, "close loses"),
        (["new_writable_file a"], {"a": b""}, {"a": b"1"}, "new_writable_file content"),
        (["new_writable_file a", "new_appendable_file a"], {"a": b""}, {"a": b"1"}, "new_appendable_file content"),
        (["new_writable_file a", "rename_file a b"], {"b": b"12"}, {"b": b""}, "rename_file loses"),
        (["new_writable_file a", "rename_file a b"], {"b": b"1"}, {}, "rename_file names"),
        (["delete_recursively up", "create_dir other"], {"up/a": b"1"}, {}, "delete_recursively names"),
        (["stat a", "read 1"], {"a": b"1"}, {}, "None names"),
    ],
)
def test_what_changed_a_place_last_is_at_fault(calls: list[str], wanted: Tree, found: Tree, answer: str) -> None:
    made = [(op, tuple(f"/{name}".encode() for name in names), None) for op, *names in map(str.split, calls)]
    got = looks.changed_last(cast("list[Call]", made), "stub://host/{}".format, wanted, found)
    assert f"{got.op} {got.kind}".replace("missing content", "loses") == answer


@pytest.mark.parametrize(
    ("wrong", "op"),
    [
        (["stat length", "read content", "copy_file content"], "rename_file content"),
        (["stat length", "read missing content", "copy_file content"], "rename_file content"),
        (["stat length", "read content"], None),
        (["stat length", "stat length", "read content"], None),
        (["stat code", "read code", "copy_file code"], None),
    ],
)
def test_what_all_looks_say_is_due_to_the_change_before(wrong: list[str], op: str | None) -> None:
    said = [one.split(" ", 1) for one in wrong]
    made = [Statement("a", False, "x", "y", op=of, kind=StatementKind(kind), at=3) for of, kind in said]
    of_other = ("create_dir", (1, b"/b"), None)
    calls = cast("list[Call]", [("rename_file", (1, b"/o", b"/a"), None), of_other, ("stat", (1, b"/a"), None)])
    due = {f"{one.op} {one.kind}" for one in looks.by_all_looks(made, calls)}
    assert due == ({op} if op else set(wrong))


def test_what_a_look_gets_wrong_is_put_right_for_the_rest() -> None:
    misled = looks.Misled("up", Answer("get_children"), "a", "x", "y")
    wanted: Tree = {"up": None, "up/a": b"1", "other": b"2"}
    assert misled.corrected(wanted, {"other": b""}) == {"up": None, "up/a": b"1", "other": b""}
    assert misled.corrected({"other": b"2"}, {"up": None, "up/a": b"1", "other": b"2"}) == {"other": b"2"}


@pytest.mark.parametrize(
    ("made", "listed", "left_out"),
    [
        ("create_dir up/a, rename_file b up/b", ("a", "b"), False),
        ("create_dir up/a, rename_file b up/b", ("a",), True),
        ("create_dir up/a, delete_dir up/a", (), False),
        ("create_dir up/a, delete_recursively up, create_dir up", (), False),
        ("create_dir elsewhere", (), False),
        ("create_dir up/a, rename_file up/a b", (), False),
    ],
)
def test_listing_of_the_default_leaves_something_out(made: str, listed: tuple[str, ...], left_out: bool) -> None:
    def call(op: str, *names: str) -> Call:
        entries = Entries(len(listed), listed) if op == "get_children" else None
        return op, (1, *(f"/{name}".encode() for name in names)), Outcome(op, Code.OK, "", entries, called_by="core")

    calls = [call(*one.split()) for one in (*made.split(", "), "get_children up")]
    assert looks.is_left_out(calls) is left_out
