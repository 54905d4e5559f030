"""`tffs-conformance new`: what it writes, what it refuses, and that the plugin it writes is conformant."""

import datetime
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.commands import output_of
from tests.test_suite import environment
from tffs_conformance import __version__
from tffs_conformance.cli import main
from tffs_conformance.cli.new import FILES, TEMPLATES
from tffs_conformance.harness.targets import profile
from tffs_conformance.reports import waivers
from tffs_conformance.reports.document import load

LOCAL = '{"url": "file:///clone", "dir_info": {}}'
OF_THE_INDEX = f"tffs-conformance=={__version__}"
NO_TOOLS = [tool for tool in ("cmake", "ninja") if shutil.which(tool) is None]


def written(folder: Path, *options: str) -> Path:
    output_of("new", folder, *options)
    return folder


def refused(*arguments: str) -> str:
    """The sentence with which the command refuses."""
    done = CliRunner().invoke(main, ["new", *arguments])
    assert done.exit_code in (1, 2), done.output
    assert isinstance(done.exception, SystemExit)
    said = re.sub(r"(?s)^Usage: .*\n\n", "", done.output)
    assert re.fullmatch(r"Error: .+\n", said), said
    return said


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# What is written -----------------------------------------------------------------------------------------------------


def test_the_files_are_named_for_the_plugin(tmp_path: Path) -> None:
    folder = written(tmp_path / "acme-store", "--scheme=acme")
    assert files(folder) == sorted(path.replace("@NAME@", "acme-store") for path in FILES)


def test_every_template_is_written() -> None:
    assert sorted(path.name for path in TEMPLATES.iterdir()) == sorted(FILES.values())


def test_nothing_is_left_to_fill_in(tmp_path: Path) -> None:
    folder = written(tmp_path / "here", "--name=store_1", "--scheme=acme.v2")
    texts = {name: (folder / name).read_text() for name in files(folder)}
    assert [name for name, text in texts.items() if re.search(r"@[A-Z]+@", name + text)] == []
    assert 'kScheme[] = "acme.v2"' in texts["store_1.cc"]
    assert "--plugin-profile=store_1.toml" in texts[".github/workflows/conformance.yml"]


def test_the_profile_and_the_waivers_are_read(tmp_path: Path) -> None:
    folder = written(tmp_path / "mine")
    found = profile.read(str(folder / "mine.toml"), {})
    assert (found.plugin, found.scheme, found.root) == (str(folder / "build/libmine.so"), "mine", "mine:///tmp")
    assert waivers.read(folder / "waivers.toml", datetime.date.today()) == []


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (None, OF_THE_INDEX),
        (LOCAL, OF_THE_INDEX),
        ('{"url": "file:///clone", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}', OF_THE_INDEX),
        (
            '{"url": "https://example.com/suite.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}',
            "tffs-conformance @ git+https://example.com/suite.git@c0ffee",
        ),
        (
            '{"url": "https://example.com/any.whl", "archive_info": {"hashes": {"sha256": "0123"}}}',
            "tffs-conformance @ https://example.com/any.whl#sha256=0123",
        ),
        ('{"url": "https://example.com/any.whl", "archive_info": {}}', OF_THE_INDEX),
    ],
    ids=["index", "folder", "own clone", "repository", "wheel of a release", "wheel without a digest"],
)
def test_ci_has_the_suite_from_where_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: str | None, line: str
) -> None:
    installed(monkeypatch, record)
    assert line in (written(tmp_path / "mine") / "requirements.txt").read_text().splitlines()


def installed(monkeypatch: pytest.MonkeyPatch, record: str | None) -> None:
    distribution = SimpleNamespace(read_text={"direct_url.json": record}.__getitem__)
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: distribution)


@pytest.mark.parametrize(
    ("record", "given", "asked"), [(LOCAL, [], True), (LOCAL, ["--suite=./any.whl"], False), (None, [], False)]
)
def test_a_suite_that_ci_cannot_have_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: str | None, given: list[str], asked: bool
) -> None:
    installed(monkeypatch, record)
    done = CliRunner().invoke(main, ["new", str(tmp_path / "mine"), *given], catch_exceptions=False)
    assert (done.exit_code, "this suite came from file:///clone, which CI does not reach" in done.stderr) == (0, asked)


def test_ci_has_the_suite_that_is_asked_for(tmp_path: Path) -> None:
    folder = written(tmp_path / "mine", "--suite=./wheels/tffs_conformance-1.0-py3-none-any.whl")
    assert "./wheels/tffs_conformance-1.0-py3-none-any.whl" in (folder / "requirements.txt").read_text().splitlines()


# What is refused -----------------------------------------------------------------------------------------------------


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    assert "is not empty" in refused(str(tmp_path), "--name=mine")
    assert files(tmp_path) == ["kept"]


def test_a_fresh_clone_is_empty_enough(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    written(tmp_path, "--name=mine")
    assert (tmp_path / "mine.cc").is_file()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    assert "cannot be written: Not a directory" in refused(str(tmp_path / "mine"))
    assert "cannot be written: Not a directory" in refused(str(tmp_path / "mine/below"))


@pytest.mark.parametrize(
    "options",
    [
        ["--name="],
        ["--name=1st"],
        ["--name=a/b"],
        ["--name=../a"],
        ["--name=a b"],
        ["--name=mine\n"],
        ["--name=\x1b[31m"],
        ["--name=" + "a" * 65],
        ["--name=waivers"],
        ["--name=über"],
        ["--name=a-b"],  # a scheme cannot be called so
        ["--scheme="],
        ["--scheme=mine://"],
        ["--scheme=a_b"],
        ["--scheme=\u202e"],
        ["--scheme=file"],
        ["--scheme=gs"],
        ["--scheme=ram"],
        ["--suite="],
        ["--suite=a\nb"],
    ],
    ids=repr,
)
def test_bad_names_are_refused_before_anything_is_written(tmp_path: Path, options: list[str]) -> None:
    said = refused(str(tmp_path / "mine"), *options)
    assert not {"\x1b", "\u202e"} & set(said)
    assert files(tmp_path) == []


def test_the_name_of_the_folder_may_not_do(tmp_path: Path) -> None:
    assert "give one with --name" in refused(str(tmp_path / "1st"))
    assert "give one with --scheme" in refused(str(tmp_path / "acme-store"))


# What is built -------------------------------------------------------------------------------------------------------


def ran(folder: Path, *command: str) -> str:
    # A person's environment, with the commands of the package that is tested first.
    first = environment() | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, cwd=folder, env=first, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if NO_TOOLS:
        pytest.skip(f"not run: {' and '.join(NO_TOOLS)} missing (pip install cmake ninja)")
    folder = written(tmp_path_factory.mktemp("repositories") / "with a blank", "--name=acme-store", "--scheme=acme")
    ran(folder, "cmake", "-G", "Ninja", "-B", "build", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON")
    ran(folder, "cmake", "--build", "build")
    return folder


def test_the_plugin_shows_one_symbol(repository: Path) -> None:
    shown = ran(repository, "nm", "-D", "--defined-only", "build/libacme-store.so")
    assert [line.split()[-1] for line in shown.splitlines()] == ["TF_InitPlugin"]


@pytest.mark.long
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    "tier", ["smoke", *(pytest.param(tier, marks=pytest.mark.nightly) for tier in ("quick", "full"))]
)
def test_the_plugin_is_conformant(repository: Path, tmp_path: Path, tier: str) -> None:
    options = (
        f"--tier={tier}",
        f"--report-dir={tmp_path}",
        "--plugin-profile=acme-store.toml",
        "--waivers=waivers.toml",
    )
    # A copy of 2 GiB takes long where the disk has more to do.
    ran(repository, "pytest", "-p", "no:randomly", "-q", "-n2", "--call-timeout=60", *options)
    report = load(tmp_path / "report.json")
    assert (report.verdict.value, report.suite.tier) == ("conformant", tier)
    assert (report.counts.violation, report.counts.warning, report.counts.error) == (0, 0, 0)
    # Whether a rename is atomic takes threads to find out.
    unchecked = set() if tier == "full" else {"unchecked"}
    assert {claim.state.value for claim in report.claims} == {"kept"} | unchecked
