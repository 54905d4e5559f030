"""The tables of statuses: where two things are wrong OK is no answer, and what the tree is after OK."""

from itertools import product

import pytest

from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.suite.contract import statuses
from tffs_conformance.suite.contract.statuses import TWO_PATHS, Tree, after_ok

DIRECTORIES = (statuses.EMPTY_DIRECTORY, statuses.FULL_DIRECTORY)
NOWHERE = (statuses.MISSING_PARENT, statuses.BELOW_A_FILE)
#: Where one of the two is right by itself in some reading: the other path is wrong in any.
WRONG_TWICE = [
    *product(["rename_file"], DIRECTORIES, NOWHERE + DIRECTORIES),
    *product(["copy_file"], (statuses.MISSING, *NOWHERE, *DIRECTORIES), DIRECTORIES),
]


@pytest.mark.parametrize(("op", "source", "target"), WRONG_TWICE)
def test_where_two_things_are_wrong_the_answer_is_an_error(op: str, source: str, target: str) -> None:
    cell = TWO_PATHS[op][source, target]
    assert cell.accepts
    assert not cell.may_be_ok
    assert Code.OK not in cell.accepts.union(cell.by_default, *cell.readings.values())


TREE: Tree = {"file": b"x", "filed": b"y", "inner": None, "inner/file": b"z", "other": None}


@pytest.mark.parametrize(
    ("op", "names", "after"),
    [
        ("delete_file", ["file"], {"filed": b"y", "inner": None, "inner/file": b"z", "other": None}),
        ("delete_recursively", ["inner"], {"file": b"x", "filed": b"y", "other": None}),
        ("delete_dir", ["missing"], TREE),
        ("create_dir", ["new"], TREE | {"new": None}),
        ("create_dir", ["file"], TREE),
        ("recursively_create_dir", ["a/b/c"], TREE | {"a": None, "a/b": None, "a/b/c": None}),
        ("rename_file", ["file", "filed"], {"filed": b"x", "inner": None, "inner/file": b"z", "other": None}),
        ("rename_file", ["file", "new/leaf"],
         {"filed": b"y", "inner": None, "inner/file": b"z", "other": None, "new": None, "new/leaf": b"x"}),
        ("rename_file", ["inner", "new"],
         {"file": b"x", "filed": b"y", "other": None, "new": None, "new/file": b"z"}),
        ("rename_file", ["file", "other"],
         {"filed": b"y", "inner": None, "inner/file": b"z", "other": None, "other/file": b"x"}),
        ("rename_file", ["missing", "file"], TREE),
        ("copy_file", ["file", "filed"], TREE | {"filed": b"x"}),
        ("copy_file", ["file", "inner"], TREE | {"inner/file": b"x"}),
        ("copy_file", ["missing", "other"], TREE),
    ],
)  # fmt: skip
def test_the_tree_after_ok(op: str, names: list[str], after: Tree) -> None:
    before = dict(TREE)
    assert after_ok(op, before, *names) == after
    assert before == TREE
