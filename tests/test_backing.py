"""Backings: another way to the same storage."""

from pathlib import Path
from typing import Any

import pytest

from tests.test_suite import judged_report, report, run
from tffs_conformance.harness.targets.backing import Backing, BackingUnableError
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.suite.contract.catalogue import clause


def test_a_file_is_there_and_gone(tmp_path: Path) -> None:
    backing = Backing(f"file://{tmp_path}")
    backing.write("name", b"content")
    assert (tmp_path / "name").read_bytes() == b"content"
    assert backing.read("name") == b"content"
    backing.delete("name")
    assert backing.read("name") is None


@pytest.mark.parametrize("url", ["file://{}", "memory://tffs-tree"])
def test_all_below_a_directory_is_listed(tmp_path: Path, url: str) -> None:
    backing = Backing(url.format(tmp_path))
    for name in ("case/a", "case/d/b", "other/c"):
        backing.write(name, name.encode())
    assert backing.tree("case") == {"a": b"case/a", "d": None, "d/b": b"case/d/b"}


def test_a_large_file_takes_no_room(tmp_path: Path) -> None:
    Backing(f"file://{tmp_path}").write_sparse("large", {0: b"start", 5 << 30: b"end"})
    facts = (tmp_path / "large").stat()
    assert facts.st_size == (5 << 30) + 3
    assert facts.st_blocks < 1000


def test_other_stores_have_no_sparse_files() -> None:
    backing = Backing("memory://tffs")
    backing.write("name", b"content")
    assert backing.read("name") == b"content"
    with pytest.raises(BackingUnableError, match="sparse"):
        backing.write_sparse("large", {5 << 30: b"end"})


def test_what_is_above_a_file_comes_with_it(tmp_path: Path) -> None:
    backing = Backing(f"file://{tmp_path}")
    backing.write("above/name", b"content")
    backing.write_sparse("far/above/large", {1 << 20: b"end"})
    assert (tmp_path / "above" / "name").read_bytes() == b"content"
    assert (tmp_path / "far" / "above" / "large").stat().st_size == (1 << 20) + 3


def test_a_client_may_say_what_it_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    backing = Backing("memory://tffs-odd")

    def refuse(*_: object) -> None:
        raise KeyError("a%20b")

    monkeypatch.setattr(backing._filesystem, "pipe_file", refuse)
    with pytest.raises(BackingUnableError, match="a%20b"):
        backing.write("a%20b", b"content")


def test_a_file_that_its_client_calls_otherwise_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Backing("memory://tffs-as-urls")
    store.write("above/a?b", b"content")
    read = store._filesystem.cat_file
    # As the client of Azure's blobs does.
    monkeypatch.setattr(store._filesystem, "cat_file", lambda at: read(at.partition("?")[0]))
    assert store.read("above/a?b") is None
    assert store.lists("above/a?b")
    assert not store.lists("above/a")
    assert not store.lists("missing/a")


def test_what_is_not_there_need_not_be_deleted(tmp_path: Path) -> None:
    Backing(f"file://{tmp_path}").delete_tree("missing")


def test_an_object_marks_a_directory_where_directories_are_no_objects(tmp_path: Path) -> None:
    store = Backing("memory://tffs-marked")
    store.mark_directory("directory")
    assert store.read("directory/") == b""
    with pytest.raises(BackingUnableError, match="directories of its own"):
        Backing(f"file://{tmp_path}").mark_directory("directory")


def test_a_directory_is_there_in_a_store_that_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Backing("memory://tffs-flat")
    monkeypatch.setattr(store._filesystem, "makedirs", lambda *_, **__: None)
    store.make_directory("directory")
    assert store.read("directory/") == b""


def test_a_url_that_nobody_understands() -> None:
    with pytest.raises(BackingUnableError, match="no-such-protocol"):
        Backing("no-such-protocol://x")


#: What reads, and what is asked of every op.
READING = ("read", "listing", "glob", "memory-region", "paths", "robustness")


@pytest.mark.parametrize(
    ("tier", "writing"),
    [
        # There a case that deletes looks for what is missing.
        ("smoke", {"new_random_access_file.missing-is-not-found"}),
        # Of names that are there nothing says whether they may be made.
        pytest.param("quick", {"robustness.closes-only-its-own", "paths.illegal-names"}, marks=pytest.mark.nightly),
    ],
)
def test_a_plugin_that_only_reads_is_judged_on_all_that_reads_do(tmp_path: Path, tier: str, writing: set[str]) -> None:
    arguments = ("--plugin=posix_choices", "--env=TFFS_CHOICES=read-only", f"--tier={tier}")
    assert run(tmp_path, *arguments).returncode == 0
    reads = executed(report(tmp_path))
    assert not {f"{name}.succeeds" for name in ("new_writable_file", "create_dir", "rename_file")} & reads
    # What the backing wrote was closed by no plugin.
    assert not any(name.startswith("close.") for name in reads)
    assert run(tmp_path, "--plugin=posix", f"--tier={tier}").returncode == 0
    everything = {name for name in executed(report(tmp_path)) if clause(name).conformance_class in READING}
    assert everything - reads == writing


@pytest.mark.parametrize(
    ("tier", "verdict", "said"),
    [
        ("smoke", "not conformant", "nothing executed"),
        pytest.param("quick", "incomplete", "MUST clauses not run in a case", marks=pytest.mark.nightly),
    ],
)
def test_reading_plugin_without_backing_is_incomplete(tmp_path: Path, tier: str, verdict: str, said: str) -> None:
    plugin = plugin_path("posix_choices")
    found = judged_report(tmp_path, f"--plugin={plugin}", "--env=TFFS_CHOICES=read-only", f"--tier={tier}", code=1)
    assert (found["verdict"], said in found["reason"]) == (verdict, True)
    assert found["classes"]["glob"]["verdict"] == "incomplete"
    assert found["classes"]["directories"]["verdict"] == "not claimed"


def executed(document: dict[str, Any]) -> set[str]:
    """The clauses of which a check was made on an answer of the plugin."""
    checks = (check for case in document["cases"] for check in case["checks"])
    return {
        check["clause"] for check in checks if check["verdict"] not in ("absent", "not run", "error", "does not apply")
    }
