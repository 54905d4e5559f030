"""Which runtime a user means, and how its libraries reach the hosts."""

import platform
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.test_abi import library
from tests.test_suite import report, run
from tffs_conformance.harness.hosting.client import Host
from tffs_conformance.harness.hosting.registration import Registration, register
from tffs_conformance.harness.launchers.choice import launcher
from tffs_conformance.harness.launchers.launcher import HostLostError
from tffs_conformance.harness.native import CXX_NAME, RUNTIME_NAME, STAND_IN, include_directory, native_directory
from tffs_conformance.harness.shared_object import releases
from tffs_conformance.harness.targets import runtimes
from tffs_conformance.harness.targets.runtimes import NoRuntimeError, Runtime, find
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.run.target_record import see
from tffs_conformance.suite.engine.target import Target


def release(folder: Path, version: str = "2.99.1", *, cxx: bool = False) -> Path:
    """A folder that looks like an installed TensorFlow, with the stand-in in it."""
    inside = folder / "tensorflow"
    inside.mkdir(parents=True)
    shutil.copy(native_directory() / RUNTIME_NAME, inside / RUNTIME_NAME)
    if cxx:
        shutil.copy(native_directory() / RUNTIME_NAME, inside / CXX_NAME)
    (folder / f"tensorflow_cpu-{version}.dist-info").mkdir()
    (folder / "tensorflow_io-0.1.dist-info").mkdir()
    return inside


def compiled(folder: Path, code: str = "void of_cxx(void) {}") -> Path:
    """The same with a library of C++ functions that has some."""
    inside = release(folder / "site", cxx=True)
    library(inside, CXX_NAME, code)
    return inside


def test_folder_of_libraries_or_environment_is_found(tmp_path: Path) -> None:
    inside = release(tmp_path / "lib/python3.11/site-packages", cxx=True)
    for given in (tmp_path, inside.parent, inside):
        found = find(str(given))
        assert str(found) == "TensorFlow 2.99.1"
        assert found.libraries == (str(inside / RUNTIME_NAME),)
        assert found.whole.libraries == (str(inside / RUNTIME_NAME), str(inside / CXX_NAME))
    # On another machine it is taken as it is given, and the stand-in has no libraries to name.
    assert find("/opt/tf", here=False).libraries == (f"/opt/tf/{RUNTIME_NAME}",)
    assert find(STAND_IN) == find(STAND_IN, here=False) == Runtime()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nothing", "'nothing' is no runtime, which is stand-in, tensorflow, a folder, or a release"),
        ("numpy==1.26", "is no runtime"),
        ("tensorflow @ file:///x.whl", "is no runtime"),
        ("./nowhere", f"no {RUNTIME_NAME} is in nowhere"),
        ("tensorflow==2.0.*", r"pip does not fetch tensorflow==2\.0\.\*: .*No matching distribution"),
    ],
)
def test_runtime_that_is_not_found_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, said: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(NoRuntimeError, match=said):
        find(given)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_release_that_was_fetched_is_not_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept = tmp_path / "tffs-conformance/runtimes"
    for version in ("2.9.1", "2.10.0", "2.11.1"):
        release(kept / f"tensorflow-cpu-{version}", version)
    monkeypatch.setattr(subprocess, "run", None)
    asked = {"tensorflow-cpu<2.11": "2.10.0", "tensorflow-cpu==2.9.*": "2.9.1", "tensorflow-cpu": "2.11.1"}
    assert {given: find(given).version for given in asked} == asked


def wheel(path: Path, *files: str) -> None:
    """A wheel of these files, which are empty."""
    project, version, *_ = path.name.split("-")
    about = {
        "METADATA": f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name in files:
            archive.writestr(name, "")
        for name, text in about.items():
            archive.writestr(f"{project}-{version}.dist-info/{name}", text)


@pytest.mark.parametrize("tags", ["py3-none-any", f"cp39-cp39-manylinux2014_{platform.machine()}"])
def test_a_wheel_gives_its_libraries_to_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tags: str) -> None:
    names = (RUNTIME_NAME, CXX_NAME, "more.so")
    wheel(tmp_path / f"tensorflow-2.99.1-{tags}.whl", *(f"tensorflow/{name}" for name in names))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    found = find("tensorflow==2.99.*")
    assert (found.version, len(found.whole.libraries)) == ("2.99.1", 2)
    assert [path.name for path in runtimes.cache().iterdir()] == ["tensorflow-2.99.1"]
    assert sorted(path.name for path in Path(found.libraries[0]).parent.iterdir()) == sorted((RUNTIME_NAME, CXX_NAME))
    monkeypatch.setattr(subprocess, "run", None)
    assert find("tensorflow==2.99.*") == found


# In hosts -------------------------------------------------------------------------------------------------------------


@contextmanager
def registered(plugin: Path, libraries: Iterable[str], **environment: str) -> Iterator[tuple[Host, Registration]]:
    """A host with these libraries, and what became of a plugin in it."""
    starts = launcher((), environment, tuple(libraries))
    host = Host(starts, 60)
    yield host, register(host, plugin)
    host.close()
    starts.close()


def opened(host: Host) -> set[str]:
    """The files of this name that a host has mapped."""
    facts = host.process.facts
    assert facts is not None
    lines = Path(f"/proc/{facts.pid}/maps").read_text().splitlines()
    return {line.split(maxsplit=5)[5] for line in lines if line.endswith((RUNTIME_NAME, CXX_NAME))}


def test_host_has_the_libraries_it_was_told_and_process_that_forks_hosts_is_used_again(tmp_path: Path) -> None:
    libraries = find(str(release(tmp_path, cxx=True))).whole.libraries
    plugin = library(tmp_path, "plugin.so", LOOKS, f"-I{include_directory()}")

    def serving() -> set[int]:
        alive = (one for one in psutil.Process().children() if one.status() != psutil.STATUS_ZOMBIE)
        return {one.pid for one in alive if one.cmdline()[1:2] == ["serve"]}

    # Hosts of other tests are among them.
    others = serving()

    def forked(value: str) -> set[int]:
        """The processes below this one that fork hosts, after a host with this environment."""
        with registered(plugin, libraries, A=value) as (host, registration):
            # The plugin hears nothing of them.
            assert (registration.error, registration.announced) == (None, 0)
            assert opened(host) == {*libraries}
        return serving() - others

    before = forked("0")
    (first,) = forked("1") - before
    assert first in forked("1")
    # Two are kept, and those of a third question take the place of the oldest.
    assert len(forked("2")) == 2
    assert first not in forked("3")


#: Announces one scheme where the environment tells it the runtime.
LOOKS = """
#include <stdlib.h>
#include <tf_filesystem_plugin.h>
void TF_InitPlugin(TF_FilesystemPluginInfo* info) { info->num_schemes = getenv("TFFS_RUNTIME") != NULL; }
"""
#: Needs a function of each library of TensorFlow, and one that nobody has.
NEEDS = """
void TF_NewStatus(void); void of_cxx(void); %s
void TF_InitPlugin(void* info) { TF_NewStatus(); of_cxx(); %s }
"""
#: A function of TensorFlow's C++, one that the plugin shares with a library of its own, and one of the interface.
FOREIGN = """
void TF_NewStatus(void); void _ZN10tensorflow3runEv(void); void shared(void);
void TF_InitPlugin(void* info) { TF_NewStatus(); _ZN10tensorflow3runEv(); shared(); }
"""


@pytest.mark.long
def test_what_a_plugin_takes_of_tensorflows_inside_is_told_where_nothing_is_missing(tmp_path: Path) -> None:
    inside = compiled(tmp_path, "void _ZN10tensorflow3runEv(void) {} void shared(void) {}")
    library(tmp_path, "libown.so", "void shared(void) {}")
    plugin = library(tmp_path, "plugin.so", FOREIGN, f"-L{tmp_path}", "-l:libown.so", "-Wl,-rpath,$ORIGIN")
    run(tmp_path, "-q", f"--plugin={plugin}", f"--runtime={inside}", "--case=registration/load")
    (case,) = report(tmp_path)["cases"]
    checks = {check["clause"]: (check["verdict"], check["got"]) for check in case["checks"]}
    assert checks["registration.loads"] == ("conform", "loaded")
    said = "symbols beyond TensorFlow's interface for C=['_ZN10tensorflow3runEv']"
    assert checks["registration.imports-c-symbols-only"] == ("violation", said)


@pytest.mark.long
def test_a_plugin_that_the_stand_in_cannot_load_is_told_which_runtime_can(tmp_path: Path) -> None:
    code = "void TFE_NewContext(void); void TF_InitPlugin(void* info) { TFE_NewContext(); }"
    links = (f"-L{native_directory()}", f"-l:{RUNTIME_NAME}", "-Wl,--allow-shlib-undefined")
    plugin = library(tmp_path, "plugin.so", code, *links)
    run(tmp_path, "-q", f"--plugin={plugin}", "--case=registration/load")
    found, newest = report(tmp_path), releases.of_c().releases[-1]
    (case,) = found["cases"]
    lacks = "the stand-in for TensorFlow lacks TFE_NewContext: it loads in TensorFlow "
    assert case["verdict"] == "not run"
    assert re.fullmatch(f"{lacks}.* to {newest}: --runtime='tensorflow-cpu=={newest}'", case["reason"])
    assert found["target"]["abi"]["loads"][-1] == newest


def test_symbols_are_missing_that_no_library_of_the_runtime_has(tmp_path: Path) -> None:
    runtime = find(str(compiled(tmp_path)))
    plugin = library(tmp_path, "plugin.so", NEEDS % ("void nobody(void);", "nobody();"))
    for libraries, missing in (((), {"of_cxx", "nobody"}), (runtime.whole.libraries, {"nobody"})):
        with registered(plugin, libraries) as (_, registration):
            assert {symbol.name for symbol in registration.missing} == missing


def test_a_plugin_that_needs_the_functions_of_cxx_gets_their_library(tmp_path: Path) -> None:
    runtime = find(str(compiled(tmp_path)))
    seen = see(Target("plugin", library(tmp_path, "plugin.so", NEEDS % ("", "")), None, None), runtime)
    assert seen.runtime == runtime.whole
    assert seen.registration is not None
    assert seen.registration.error is None
    assert see(Target("posix", plugin_path("posix"), None, None), runtime).runtime == runtime


@pytest.mark.parametrize("behind", [False, True], ids=["here", "behind-a-command"])
def test_unopenable_library_is_a_sentence(request: pytest.FixtureRequest, tmp_path: Path, behind: bool) -> None:
    command = (str(request.getfixturevalue("far_host")),) if behind else ()
    broken = tmp_path / RUNTIME_NAME
    broken.write_text("no library")
    starts = launcher(command, {}, (str(broken),))
    with pytest.raises(HostLostError, match=r"invalid ELF header|file too short"):
        Host(starts, 10).call("describe")
    starts.close()


@pytest.mark.long
def test_a_run_names_its_runtime(tmp_path: Path) -> None:
    inside = release(tmp_path / "site")
    given = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=fails:stat", f"--runtime={inside}")
    done = run(tmp_path, "-q", *given, "--clause=stat.*", "--tier=smoke")
    assert done.returncode == 1, done.stdout
    assert report(tmp_path)["target"]["runtime"].startswith("TensorFlow 2.99.1 on Linux")
    assert f"--runtime={inside}" in done.stdout
