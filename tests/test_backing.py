"""Backings: another way to the same storage."""

from pathlib import Path

import pytest

from tffs_conformance.harness.backing import Backing, Unable


def test_a_file_is_there_and_gone(tmp_path: Path) -> None:
    backing = Backing(f"file://{tmp_path}")
    backing.write("name", b"content")
    assert (tmp_path / "name").read_bytes() == b"content"
    assert backing.read("name") == b"content"
    backing.delete("name")
    assert backing.read("name") is None


def test_a_large_file_takes_no_room(tmp_path: Path) -> None:
    Backing(f"file://{tmp_path}").write_sparse("large", {0: b"start", 5 << 30: b"end"})
    facts = (tmp_path / "large").stat()
    assert facts.st_size == (5 << 30) + 3
    assert facts.st_blocks < 1000


def test_other_stores_have_no_sparse_files() -> None:
    backing = Backing("memory://tffs")
    backing.write("name", b"content")
    assert backing.read("name") == b"content"
    with pytest.raises(Unable, match="sparse"):
        backing.write_sparse("large", {5 << 30: b"end"})


def test_a_url_that_nobody_understands() -> None:
    with pytest.raises(Unable, match="no-such-protocol"):
        Backing("no-such-protocol://x")
