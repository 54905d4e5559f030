"""`tffs-conformance new`: what it writes and refuses, and what an author's build finds of an installed package."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.commands import output_of
from tests.hosted import hosted
from tests.pages import PROJECT
from tests.test_suite import environment
from tffs_conformance import __version__
from tffs_conformance.cli import main
from tffs_conformance.cli.new import FILES, TEMPLATES
from tffs_conformance.harness.targets.shipped import ENTRY_POINTS
from tffs_conformance.reports.document import load

ENTRY_POINT = "T TF_InitPlugin"
LOCAL = '{"url": "file:///clone", "dir_info": {}}'
NAME, SUITE = "tffs-conformance", "https://example.com/suite"
CLONE = '{"url": "%s", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}'
WHEEL = f'{{"url": "{SUITE}.whl", "archive_info": {{%s}}}}'
OF_THE_INDEX = f"{NAME}=={__version__}"
NO_TOOLS = [tool for tool in ("cmake", "ninja") if shutil.which(tool) is None]
NEEDS_CMAKE = f"not run: {' and '.join(NO_TOOLS)} missing (pip install cmake ninja)"


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


def test_every_template_is_written_and_named_for_the_plugin(tmp_path: Path) -> None:
    assert sorted(path.name for path in TEMPLATES.iterdir()) == sorted(FILES.values())
    folder = written(tmp_path / "acme-store", "--scheme=acme")
    named = (path.replace("@NAME@", "acme-store").replace("@MODULE@", "acme_store_plugin") for path in FILES)
    assert files(folder) == sorted(named)
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["entry-points"] == {ENTRY_POINTS: {"acme-store": "acme_store_plugin:profile"}}
    assert runpy.run_path(str(folder / "acme_store_plugin.py"))["profile"]() == folder / "acme-store.toml"


def test_nothing_is_left_to_fill_in(tmp_path: Path) -> None:
    # A fresh clone is empty enough.
    (tmp_path / "here/.git").mkdir(parents=True)
    folder = written(tmp_path / "here", "--name=store_1", "--scheme=acme.v2")
    texts = {name: (folder / name).read_text() for name in files(folder)}
    assert [name for name, text in texts.items() if re.search(r"@[A-Z]+@", name + text)] == []
    assert 'kScheme[] = "acme.v2"' in texts["store_1.cc"]
    assert "--plugin-profile=store_1.toml" in texts[".github/workflows/conformance.yml"]


@pytest.mark.parametrize(
    ("record", "given", "line", "asked"),
    [
        pytest.param(None, [], OF_THE_INDEX, [], id="index"),
        pytest.param(LOCAL, [], OF_THE_INDEX, ["file:///clone"], id="folder"),
        pytest.param(LOCAL, ["--suite=./any.whl"], "./any.whl", [], id="another"),
        pytest.param(CLONE % "file:///clone", [], OF_THE_INDEX, ["file:///clone"], id="own clone"),
        pytest.param(CLONE % f"{SUITE}.git", [], f"{NAME} @ git+{SUITE}.git@c0ffee", [], id="repository"),
        pytest.param(WHEEL % '"hashes": {"sha256": "0123"}', [], f"{NAME} @ {SUITE}.whl#sha256=0123", [], id="wheel"),
        pytest.param(WHEEL % "", [], OF_THE_INDEX, [f"{SUITE}.whl"], id="wheel without a digest"),
    ],
)
def test_ci_installs_the_suite_from_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: str | None, given: list[str], line: str, asked: list[str]
) -> None:
    distribution = SimpleNamespace(read_text={"direct_url.json": record}.__getitem__)
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: distribution)
    done = CliRunner().invoke(main, ["new", str(tmp_path / "mine"), *given], catch_exceptions=False)
    said = re.findall(r"this suite came from (\S+), which CI does not reach", done.stderr)
    assert (done.exit_code, said) == (0, asked)
    assert line in (tmp_path / "mine/requirements.txt").read_text().splitlines()


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "options", "said"),
    [
        ("", ["--name=mine"], "is not empty"),
        ("kept", [], "cannot be written: Not a directory"),
        ("kept/below", [], "cannot be written: Not a directory"),
        ("1st", [], "give one with --name"),
        ("acme-store", [], "give one with --scheme"),
    ],
)
def test_a_folder_that_will_not_do_is_refused(tmp_path: Path, folder: str, options: list[str], said: str) -> None:
    (tmp_path / "kept").write_text("kept")
    assert said in refused(str(tmp_path / folder), *options)
    assert files(tmp_path) == ["kept"]


@pytest.mark.parametrize(
    "option",
    [
        *(f"--name={name}" for name in ("", "1st", "a/b", "../a", "a b", "mine\n", "\x1b[31m", "a" * 65, "waivers")),
        *("--name=über", "--name=a-b"),  # a scheme cannot be called so
        *(f"--scheme={scheme}" for scheme in ("", "mine://", "a_b", "\u202e", "file", "gs", "ram")),
        *("--suite=", "--suite=a\nb"),
    ],
    ids=repr,
)
def test_bad_names_are_refused_before_anything_is_written(tmp_path: Path, option: str) -> None:
    said = refused(str(tmp_path / "mine"), option)
    assert not {"\x1b", "\u202e"} & set(said)
    assert files(tmp_path) == []


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
        pytest.skip(NEEDS_CMAKE)
    folder = written(tmp_path_factory.mktemp("repositories") / "with a blank", "--name=acme-store", "--scheme=acme")
    ran(folder, "cmake", "-G", "Ninja", "-B", "build", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON")
    ran(folder, "cmake", "--build", "build")
    return folder


def symbols(folder: Path, plugin: str) -> list[str]:
    """The symbols that a plugin shows, with their types."""
    return [line.split(maxsplit=1)[1] for line in ran(folder, "nm", "-D", "--defined-only", plugin).splitlines()]


def test_the_plugin_shows_one_symbol(repository: Path) -> None:
    assert symbols(repository, "build/libacme-store.so") == [ENTRY_POINT]


@pytest.mark.long
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    "tier", ["smoke", *(pytest.param(tier, marks=pytest.mark.nightly) for tier in ("quick", "full"))]
)
def test_the_plugin_is_conformant(repository: Path, tmp_path: Path, tier: str) -> None:
    options = (f"--tier={tier}", f"--report-dir={tmp_path}", "--waivers=waivers.toml", "-p", "no:randomly", "-q", "-n2")
    # A copy of 2 GiB takes long where the disk has more to do.
    ran(repository, "pytest", "--plugin-profile=acme-store.toml", "--call-timeout=60", *options)
    report = load(tmp_path / "report.json")
    assert (report.verdict.value, report.suite.tier) == ("conformant", tier)
    assert (report.counts.violation, report.counts.warning, report.counts.error) == (0, 0, 0)
    # Whether a rename is atomic takes threads to find out.
    unchecked = set() if tier == "full" else {"unchecked"}
    assert {claim.state.value for claim in report.claims} == {"kept"} | unchecked


# What an author's build finds -----------------------------------------------------------------------------------------

#: A plugin in one file, which compiles against the header and nothing else.
PLUGIN = """
#include "tf_filesystem_plugin.h"
#include "tf_filesystem_plugin.h"

void TF_InitPlugin(TF_FilesystemPluginInfo* info) { info->num_schemes = 0; }
"""
#: One in the style of those that are written for TensorFlow's headers, without the lines that include them.
FOR_TENSORFLOW = """
#include <stdlib.h>

static void* (*plugin_memory_allocate)(size_t);
static void Init(TF_Filesystem* filesystem, TF_Status* status) {
  filesystem->plugin_filesystem = NULL;
  TF_SetStatus(status, TF_OK, "");
}
TF_CAPI_EXPORT extern void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  info->plugin_memory_allocate = plugin_memory_allocate = malloc;
  info->plugin_memory_free = free;
  info->num_schemes = 1;
  info->ops = (TF_FilesystemPluginOps*)plugin_memory_allocate(sizeof(TF_FilesystemPluginOps));
  TF_SetFilesystemVersionMetadata(&info->ops[0]);
  info->ops->filesystem_ops = (TF_FilesystemOps*)plugin_memory_allocate(TF_FILESYSTEM_OPS_SIZE);
  info->ops->filesystem_ops->init = Init;
  TF_VLog(1, "%d at %d", TF_WARNING, (int)TF_NowSeconds());
}
"""
TABLES = "tensorflow/c/experimental/filesystem/filesystem_interface.h"
#: What such plugins include, in their order.
INCLUDED = [
    (TABLES, "tensorflow/c/tf_status.h"),
    ("tensorflow/c/logging.h", "tensorflow/c/env.h", TABLES),
    ("tf_filesystem_plugin.h", "tensorflow/c/tf_file_statistics.h"),
]
CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.20)
project(mine LANGUAGES C CXX)
find_package(tffs_conformance {version} REQUIRED)
find_package(tffs_conformance REQUIRED)
add_library(mine MODULE plugin.c)
add_library(mine_too MODULE plugin.cc)
target_link_libraries(mine PRIVATE tffs_conformance::headers)
target_link_libraries(mine_too PRIVATE tffs_conformance::headers)
"""


def printed(*options: str) -> str:
    return output_of("config", *options).strip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plugin.c").write_text(PLUGIN)
    (tmp_path / "plugin.cc").write_text(PLUGIN)
    return tmp_path


def test_config_asks_what_is_wanted() -> None:
    assert "--cmakedir" in output_of("config", code=2)


@pytest.mark.parametrize("language", ["c -std=c11", "c++ -std=c++17"])
@pytest.mark.parametrize("included", [(), *INCLUDED], ids=["ours", "c", "c++", "both"])
def test_includes(tmp_path: Path, language: str, included: tuple[str, ...]) -> None:
    lines = "".join(f'#include "{header}"\n' for header in included)
    (tmp_path / "plugin").write_text(lines + FOR_TENSORFLOW if lines else PLUGIN)
    flags = "-shared -fPIC -fvisibility=hidden -Wall -Wextra -Wpedantic -Werror"
    # As a shell reads it, which splits a folder with a blank.
    folders = printed("--includes", *["--tensorflow-paths"] * bool(lines))
    ran(tmp_path, "sh", "-c", f"cc -x{language} {flags} {folders} plugin -o libmine.so")
    assert ENTRY_POINT in symbols(tmp_path, "libmine.so")


def cmake(folder: Path, version: str) -> subprocess.CompletedProcess[str]:
    (folder / "CMakeLists.txt").write_text(CMAKE_LISTS.format(version=version))
    command = ["cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-Dtffs_conformance_DIR={printed('--cmakedir')}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.skipif(bool(NO_TOOLS), reason=NEEDS_CMAKE)
def test_cmake(folder: Path) -> None:
    done = cmake(folder, __version__)
    assert done.returncode == 0, done.stderr
    ran(folder, "cmake", "--build", "build")
    assert ENTRY_POINT in symbols(folder, "build/libmine.so")
    assert ENTRY_POINT in symbols(folder, "build/libmine_too.so")


@pytest.mark.skipif(bool(NO_TOOLS), reason=NEEDS_CMAKE)
@pytest.mark.parametrize("version", ["0.1.0", "99.0"])
def test_cmake_refuses_another_series(folder: Path, version: str) -> None:
    done = cmake(folder, version)
    assert done.returncode != 0
    assert f"version: {__version__}" in " ".join(done.stderr.split())


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is not there: apt-get install pkg-config")
def test_pkg_config(folder: Path) -> None:
    asked = f"PKG_CONFIG_PATH={printed('--pkgconfigdir')} pkg-config --print-errors"
    command = f'cc -std=c11 -shared -fPIC $({asked} --cflags "tffs-conformance = {__version__}") plugin.c -o libmine.so'
    ran(folder, "sh", "-ec", command)
    assert ENTRY_POINT in symbols(folder, "libmine.so")


@pytest.mark.parametrize("name", ["posix", pytest.param("memory", marks=pytest.mark.nightly)])
def test_the_printed_command_builds_a_plugin_that_loads(name: str, tmp_path: Path) -> None:
    readme = PROJECT / "reference_plugins" / name / "README.md"
    printed = re.search(r"^    (g\+\+ (?:.*\\\n)*.*)$", readme.read_text(), re.MULTILINE)
    assert printed is not None
    plugin = tmp_path / f"lib{name}.so"
    command = printed[1].replace(f"-o lib{name}.so", f"-o {plugin}")
    assert str(plugin) in command
    ran(readme.parent, "bash", "-c", command)
    with hosted(plugin):
        pass
