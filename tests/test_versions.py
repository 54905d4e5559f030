"""The contract's version follows its clauses, and a report says which suite wrote it."""

import itertools
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.version import Version

from tests.pages import PROJECT
from tffs_conformance import __version__
from tffs_conformance.reports.model.header import digest
from tffs_conformance.reports.plain import plain
from tffs_conformance.run import commit as built_from
from tffs_conformance.suite.contract import catalogue

CLAUSES = plain(catalogue.for_report())
ENTRIES: list[dict[str, str]] = tomllib.loads(catalogue.VERSIONS.read_text(encoding="utf-8"))["version"]
#: The last entry, where no release has it.
UNRELEASED = next((entry["name"] for entry in ENTRIES[-1:] if "suite" not in entry), None)
#: The name and the digest of the last version that was released.
RELEASED = next((entry["name"], entry["digest"]) for entry in reversed(ENTRIES) if "suite" in entry)
NAME = re.compile(r"tensorflow-\d+\.\d+/(\d+)\.(\d+)")


def test_the_contract_has_the_version_of_its_clauses() -> None:
    where = "in the last entry" if UNRELEASED else "in a new last entry, named as docs/contract.md says,"
    current = catalogue.current_digest()
    assert ENTRIES[-1]["digest"] == current, f'write {where} of suite/contract/versions.toml digest = "{current}"'


def test_no_step_of_the_contract_is_left_out() -> None:
    matches = [NAME.fullmatch(entry["name"]) for entry in ENTRIES]
    numbers = [(int(match[1]), int(match[2])) for match in matches if match]
    assert len(numbers) == len({entry["digest"] for entry in ENTRIES}) == len(ENTRIES)
    for (major, minor), after in itertools.pairwise(numbers):
        assert after in {(major, minor + 1), (major + 1, 0)}, (
            f"{after} does not follow {major}.{minor}: docs/contract.md"
        )


def test_release_names_the_contract_it_has_first() -> None:
    headings = re.findall(r"^## (\S+)", (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert next(heading for heading in headings if heading != "Unreleased") == __version__
    assert headings[0] == "Unreleased" or UNRELEASED is None, (
        f'write suite = "{__version__}" into the last entry of suite/contract/versions.toml'
    )
    released = [Version(entry["suite"]) for entry in ENTRIES if "suite" in entry]
    assert released == sorted({*released}), "versions.toml names a `suite` twice, or out of order"
    assert [version for version in released if version.micro or version.is_prerelease] == []
    assert released[-1].release[:2] <= Version(__version__).release[:2], (
        f"the last `suite` of versions.toml is newer than {__version__}: delete it, its contract is not released yet"
    )


#: What a digest does not depend on.
ADVICE = ("check", "untested")


@pytest.mark.parametrize("key", ["level", "class", "op", "rule", "source", "disputed", "readings", *ADVICE])
def test_what_a_clause_demands_moves_the_digest_and_advice_does_not(key: str) -> None:
    name = next(name for name, facts in CLAUSES.items() if key in ADVICE or facts.get(key) is not None)
    assert (digest(CLAUSES | {name: CLAUSES[name] | {key: "other"}}) == digest(CLAUSES)) is (key in ADVICE)


def test_a_clause_more_or_less_or_renamed_moves_the_digest_and_their_order_does_not() -> None:
    name, *others = CLAUSES
    facts = CLAUSES[name]
    without = {other: CLAUSES[other] for other in others}
    found = {digest(clauses) for clauses in (CLAUSES, without, without | {"other": facts}, CLAUSES | {"other": facts})}
    assert len(found) == 4
    assert digest(dict(reversed(CLAUSES.items()))) == digest(CLAUSES)


def git(*arguments: str, cwd: Path) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *who, *arguments], cwd=cwd, text=True, capture_output=True, check=True).stdout.strip()


def begun(folder: Path) -> str:
    """Begin a repository in a folder with a commit of all its files; the commit."""
    git("init", "-q", cwd=folder)
    git("add", ".", cwd=folder)
    git("commit", "-qm", f"of {folder.name}", "--allow-empty", cwd=folder)
    return git("rev-parse", "HEAD", cwd=folder)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for the package, in a folder that may become a clone."""
    folder = tmp_path / "clone" / "package"
    folder.mkdir(parents=True)
    monkeypatch.setattr(built_from, "_PACKAGE", folder)
    monkeypatch.setattr(built_from, "COMMIT_FILE", folder / "commit.txt")
    return folder


def commit() -> str:
    return built_from.commit.__wrapped__()


def test_a_clone_names_its_commit_and_whether_files_differ(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = package.parent
    (clone / "file").write_text("a")
    head = begun(clone)
    git("tag", "v1", cwd=clone)
    (package / "commit.txt").write_text("f" * 40)  # of an earlier build
    assert commit() == head
    (clone / "file").write_text("b")
    assert commit() == f"{head}-dirty"
    # A hook of another repository changes nothing.
    other = clone.parent / "other"
    other.mkdir()
    assert begun(other) != head
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert commit() == f"{head}-dirty"


def test_an_installed_package_names_the_commit_of_its_build(package: Path) -> None:
    assert commit() == "unknown"
    (package / "commit.txt").write_text(f"{'a' * 40}\n")
    assert commit() == "a" * 40
    (package / "commit.txt").write_text("no commit\n")
    assert commit() == "unknown"


def test_without_a_commit_or_without_git_the_commit_is_unknown(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git("init", "-q", cwd=package.parent)
    assert commit() == "unknown"
    begun(package.parent)
    monkeypatch.setenv("PATH", str(package))
    assert commit() == "unknown"


def built(clone: Path, **environment: str) -> str:
    """What a build in this folder writes for the package."""
    script = Path(__file__).parent.parent / "cmake" / "commit.cmake"
    (clone / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.20)\nproject(x NONE)\ninclude({script})\n", encoding="utf-8"
    )
    target = clone.parent / "out"
    build = clone.parent / "build"
    shutil.rmtree(target, ignore_errors=True)  # CMake does not install again what is less than a second newer
    for step in (["-G", "Ninja", "-S", clone, "-B", build], ["--install", build, "--prefix", target]):
        subprocess.run(["cmake", *map(str, step)], env=os.environ | environment, capture_output=True, check=True)
    return (target / "tffs_conformance" / "commit.txt").read_text().strip()


def test_a_build_writes_down_its_commit(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    assert built(clone) == "unknown"
    assert built(clone, TFFS_COMMIT="b" * 40) == "b" * 40
    git("init", "-q", cwd=clone)
    assert built(clone) == "unknown"
    head = begun(clone)
    assert built(clone) == head
    (clone / "other").write_text("")
    git("add", "other", cwd=clone)
    assert built(clone) == f"{head}-dirty"
