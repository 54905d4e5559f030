"""`packaging/release.py`: what is no release is refused in one sentence; what belongs to one has its digest."""

import importlib.util
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from tests.pages import PROJECT

#: The files that say which version it is.
FILES = ("packaging/release.py", "tffs_conformance/__init__.py", "CHANGELOG.md", "pyproject.toml", ".gitignore")
COMMIT = "a" * 40


def git(clone: Path, *arguments: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=clone, capture_output=True, check=True)


def commit(clone: Path, *tags: str) -> None:
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "a release", "--allow-empty")
    for tag in tags:
        git(clone, "tag", tag)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone that is one version everywhere, before its commit."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(PROJECT / name, tmp_path / name)
    (tmp_path / "tffs_conformance" / "__init__.py").write_text('__version__ = "7.1.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 7.1.0 (2030-01-01)\n\n- More.\n\n## 7.0.0\n")
    git(tmp_path, "init", "-q")
    return tmp_path


def check(clone: Path, code: int = 1) -> str:
    command = [sys.executable, "packaging/release.py", "--check"]
    done = subprocess.run(command, cwd=clone, text=True, capture_output=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr


def test_one_version_everywhere_is_a_release(clone: Path) -> None:
    commit(clone, "other", "v7.1.0")
    assert check(clone, 0) == ""


@pytest.mark.parametrize(("tags", "has"), [((), "has no tag"), (("v7.0.0",), "has the tag v7.0.0")])
def test_a_commit_without_the_tag_of_its_version_is_refused(clone: Path, tags: tuple[str, ...], has: str) -> None:
    commit(clone, *tags)
    assert check(clone) == f"the version is 7.1.0, and its commit {has}: v7.1.0 is missing\n"


def test_a_tag_of_an_earlier_commit_is_none(clone: Path) -> None:
    commit(clone, "v7.1.0")
    commit(clone)
    assert check(clone) == "the version is 7.1.0, and its commit has no tag: v7.1.0 is missing\n"


@pytest.mark.parametrize("name", ["CHANGELOG.md", "new.py"])
def test_a_tree_that_is_not_the_commits_is_refused(clone: Path, name: str) -> None:
    commit(clone, "v7.1.0")
    with (clone / name).open("a") as file:
        file.write("more\n")
    assert check(clone) == f"the tree is not that of a commit: {name} differs\n"


def test_a_changelog_that_is_not_cut_is_refused(clone: Path) -> None:
    text = (clone / "CHANGELOG.md").read_text()
    (clone / "CHANGELOG.md").write_text(text.replace("## 7.1.0", "## Unreleased\n\n- Later.\n\n## 7.1.0"))
    commit(clone, "v7.1.0")
    assert check(clone) == "the version is 7.1.0, and CHANGELOG.md begins with Unreleased\n"


def test_a_release_that_is_there_is_not_overwritten(clone: Path) -> None:
    commit(clone, "v7.1.0")
    (clone / "dist" / "7.1.0").mkdir(parents=True)
    assert check(clone) == f"{clone / 'dist' / '7.1.0'} is there already: remove it, or name another folder\n"


@pytest.fixture
def release(clone: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location("release", clone / "packaging" / "release.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_checksums_cover_all_files(release: ModuleType, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in ("b.whl", "a.tar.gz"):
        (out / name).write_text(name)
    release.write_checksums(out)
    assert [line.split()[1] for line in (out / "SHA256SUMS").read_text().splitlines()] == ["a.tar.gz", "b.whl"]
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=out, capture_output=True, check=True)
    (out / "b.whl").write_text("altered")
    done = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=out, text=True, capture_output=True, check=False)
    assert (done.returncode, "b.whl: FAILED" in done.stdout) == (1, True)


def wheel(folder: Path, files: dict[str, str]) -> Path:
    path = folder / "any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for name, text in files.items():
            file.writestr(name, text)
    return path


def test_the_host_is_that_of_the_wheel(release: ModuleType, tmp_path: Path) -> None:
    files = {release.COMMIT: f"{COMMIT}\n", release.HOST: "a host"}
    host = release.host(wheel(tmp_path, files), tmp_path, COMMIT)
    assert (host.name, host.read_text()) == ("tffs-host-7.1.0-linux-x86_64", "a host")
    assert host.stat().st_mode & 0o111 == 0o111


def test_pip_is_held_to_the_digest_of_the_requirement(release: ModuleType, tmp_path: Path) -> None:
    name = "tffs_conformance-7.1.0-py3-none-any.whl"
    info = "tffs_conformance-7.1.0.dist-info"
    files = {f"{info}/METADATA": "Metadata-Version: 2.1\nName: tffs-conformance\nVersion: 7.1.0\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
             f"{info}/RECORD": ""}  # fmt: skip
    released = wheel(tmp_path, files).rename(tmp_path / name)
    written = release.requirement(released, f"{tmp_path.as_uri()}/", tmp_path)
    assert written.name == "tffs-conformance-7.1.0-requirement.txt"

    def installed() -> subprocess.CompletedProcess[str]:
        pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--dry-run", "--target=any"]
        return subprocess.run([*pip, "-r", str(written)], cwd=tmp_path, text=True, capture_output=True, check=False)

    assert "Would install tffs-conformance-7.1.0" in installed().stdout
    wheel(tmp_path, files | {"more.py": ""}).rename(released)
    done = installed()
    assert (done.returncode, "THESE PACKAGES DO NOT MATCH THE HASHES" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("built_from", "host", "why"),
    [("unknown", True, "was built from unknown, and not from a{40}"), (COMMIT, False, "lacks the host")],
)
def test_a_wheel_of_another_commit_or_without_the_host_is_refused(
    release: ModuleType, tmp_path: Path, built_from: str, host: bool, why: str
) -> None:
    files = {release.COMMIT: f"{built_from}\n"} | ({release.HOST: "a host"} if host else {})
    with pytest.raises(release.RefusedError, match=why):
        release.host(wheel(tmp_path, files), tmp_path, COMMIT)
