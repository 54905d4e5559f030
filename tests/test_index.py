"""The index of cases: what it says is what collection finds, whatever changed since it was written."""

import os
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import tffs_conformance
from tffs_conformance.suite.engine import collect, index
from tffs_conformance.suite.engine.case_facts import CaseFacts

#: An editable installation would answer for the copy of the package that is first on the path.
PROGRAM = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
sys.path.insert(0, sys.argv.pop(1))
from tffs_conformance.cli import main
main(standalone_mode=False)
print("pytest" in sys.modules)
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the index is going to be."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tffs-conformance"


def afresh() -> tuple[CaseFacts, ...]:
    """What a new process would be told."""
    index.cases.cache_clear()
    return index.cases()


def collected() -> list[tuple[object, ...]]:
    return [tuple(getattr(case, field.name) for field in fields(CaseFacts)) for case in collect.cases()]


def rows(cases: tuple[CaseFacts, ...]) -> list[tuple[object, ...]]:
    return [tuple(getattr(case, field.name) for field in fields(CaseFacts)) for case in cases]


def nobody_collects(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden() -> None:
        raise AssertionError("all cases were imported")

    monkeypatch.setattr(index, "_collected", forbidden)


def test_the_index_is_what_collection_finds(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = afresh()
    assert [path.suffix for path in cache.iterdir()] == [".json"]
    nobody_collects(monkeypatch)
    assert rows(made) == rows(afresh()) == collected()


@pytest.mark.parametrize("wrong", [b"", b"{", b"[]", b"{}", b'{"of": 1, "cases": 2}', b"\xff\xfe"])
def test_what_is_no_index_is_made_again(cache: Path, wrong: bytes) -> None:
    made = afresh()
    (path,) = cache.iterdir()
    written = path.read_bytes()
    path.write_bytes(wrong)
    assert afresh() == made
    assert path.read_bytes() == written


def test_no_place_for_caches_is_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert rows(afresh()) == collected()


def explained(package: Path, clause: str) -> str:
    command = [sys.executable, "-c", PROGRAM, str(package), "explain", "--all", clause]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=package).stdout


def test_a_change_of_a_case_is_seen_whatever_its_time_and_size(cache: Path, tmp_path: Path) -> None:
    package = tmp_path / "copy"
    shutil.copytree(
        Path(tffs_conformance.__file__).parent,
        package / "tffs_conformance",
        ignore=lambda _, names: [name for name in names if name in ("__pycache__", "published", "_native", "host")],
    )
    first, second = (explained(package, "read.succeeds") for _ in range(2))
    assert "read/plain\n" in first
    assert (first.splitlines()[-1], second.splitlines()[-1]) == ("True", "False"), "the second time it is in the index"
    assert first.splitlines()[:-1] == second.splitlines()[:-1]
    changed = package / "tffs_conformance" / "suite" / "cases" / "test_read.py"
    before = changed.stat()
    text = changed.read_text()
    assert text.count("def test_plain(") == 1
    changed.write_text(text.replace("def test_plain(", "def test_plane("))
    # As compiled modules go by times and sizes, Python itself would not see it.
    shutil.rmtree(changed.parent / "__pycache__", ignore_errors=True)
    os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))
    third = explained(package, "read.succeeds")
    assert "read/plane\n" in third
    assert "read/plain\n" not in third
