"""The plugins and the loader in processes with TensorFlow, which were compiled without it."""

import json
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import fakes
from tests.hosted import hosted
from tests.tensorflow.targets import (
    LASTING,
    LOADER,
    PYTHON,
    TARGETS,
    Target,
    TargetAbsentError,
    environment,
    shipped,
    tensorflow,
)
from tests.test_runtime import HEADER
from tests.test_runtimes import opened, registered
from tests.test_suite import judged_report, report
from tests.test_suite import run as suite
from tffs_conformance.harness.hosting.client import Host
from tffs_conformance.harness.hosting.registration import register
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.native import RUNTIME_NAME, native_directory
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.guard import Guard
from tffs_conformance.harness.ops.outcomes import DiedError
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem

pytestmark = pytest.mark.skipif(tensorflow() is None, reason=f"not run: no TensorFlow in {PYTHON}")

HOST = native_directory() / "tffs-host"
SCRIPTS = Path(__file__).parent / "tensorflow"
PREDICTED = {"y": [4.0, 7.0, 10.0], "length": 7}
#: In seconds: for a process that imports TensorFlow on a busy machine.
PATIENCE = 300


def run(command: list[str], given: str | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, input=given, env=environment(**more), capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def told_only(*plugins: Path, **more: str) -> dict[str, str]:
    """What a process is told that is told nothing else."""
    return {
        "LD_PRELOAD": str(native_directory() / LOADER),
        "DRAGONFLY_PLUGIN_PATH": ":".join(str(plugin) for plugin in plugins),
        **more,
    }


@dataclass
class Filled:
    """A target in whose folder `files.py` did what it does, and what it said."""

    target: Target
    said: dict[str, Any]


#: The targets of every change: files of this machine, and objects in Dragonfly. The others are between them.
ALWAYS = ("posix", "dragonfly")


def named(names: Iterable[str]) -> list[Any]:
    """Targets as parameters, those between the others at night."""
    return [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.nightly) for name in names]


@pytest.fixture(scope="module", params=named(TARGETS))
def filled(request: pytest.FixtureRequest) -> Iterator[Filled]:
    try:
        with TARGETS[request.param]() as target:
            done = run([PYTHON, str(SCRIPTS / "files.py"), str(target.plugin), target.folder], **target.environment)
            assert done.returncode == 0, done.stderr[-3000:]
            said: dict[str, Any] = {}
            for line in done.stdout.splitlines():
                said |= json.loads(line)
            yield Filled(target, said)
    except TargetAbsentError as absent:
        pytest.skip(f"not run: {absent}")


# TensorFlow as the runtime --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plugin", "tier"),
    [
        ("posix", "smoke"),
        pytest.param("posix", "quick", marks=pytest.mark.nightly),
        pytest.param("memory", "quick", marks=pytest.mark.nightly),
    ],
)
def test_a_plugin_is_judged_on_the_libraries_of_tensorflow(plugin: str, tier: str, tmp_path: Path) -> None:
    found = tensorflow()
    assert found is not None
    judged = judged_report(tmp_path, "-q", f"--plugin={plugin}", f"--tier={tier}", f"--runtime={found[0]}")
    assert judged["target"]["runtime"].startswith(f"TensorFlow {found[1]} on ")
    assert judged["counts"]["violation"] == judged["counts"]["warning"] == 0


def test_the_hosts_run_on_tensorflow_and_on_nothing_else() -> None:
    found = tensorflow()
    assert found is not None
    libraries = (str(found[0] / RUNTIME_NAME),)
    with registered(shipped("posix"), libraries) as (host, registration):
        assert registration.error is None
        assert opened(host) == {*libraries}


# Through TensorFlow ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plugin", "tier", "checks"),
    [
        ("posix", "smoke", 50),
        pytest.param("posix", "quick", 5000, marks=pytest.mark.nightly),
        pytest.param("memory", "smoke", 50, marks=pytest.mark.nightly),
    ],
)
def test_a_plugin_is_judged_as_users_of_tensorflow_meet_it(plugin: str, tier: str, checks: int, tmp_path: Path) -> None:
    judged = judged_report(tmp_path, "-q", f"--plugin={plugin}", f"--tier={tier}", f"--through={PYTHON}")
    assert "and its interface" in judged["target"]["runtime"]
    assert judged["counts"]["violation"] == judged["counts"]["warning"] == 0
    assert judged["counts"]["conform"] > checks
    absent = {case["id"]: case["reason"] for case in judged["cases"] if case["verdict"] == "absent"}
    assert absent["registration/load"] == "through TensorFlow tables and process of a plugin are hidden"


#: Clauses that filesystems of TensorFlow 2.21 break.
OWN = {
    "ram": {"new_writable_file.replaces-what-exists", "create_dir.exists-is-already-exists"},
    "": {"new_random_access_file.directory-is-failed-precondition", "copy_file.directory-is-failed-precondition"},
}


@pytest.mark.parametrize("scheme", list(OWN))
def test_filesystems_of_tensorflow_itself_are_judged(scheme: str, tmp_path: Path) -> None:
    clauses = [f"--clause={name}" for name in OWN[scheme]]
    done = suite(tmp_path, "-q", f"--through={PYTHON}", f"--scheme={scheme}", *clauses)
    assert done.returncode == 1, done.stdout[-3000:]
    assert OWN[scheme] <= broken(tmp_path)
    # Where it loads is no question.
    assert "abi" not in report(tmp_path)["target"]


@pytest.mark.parametrize(("fault", "clause"), [("crash:stat", "robustness.no-crash"), ("fails:stat", "stat.succeeds")])
def test_what_a_plugin_does_wrong_inside_tensorflow_is_its_fault(fault: str, clause: str, tmp_path: Path) -> None:
    given = ("--plugin=fakes/faulty", f"--env=TFFS_FAULT={fault}", f"--through={PYTHON}", "--tier=smoke")
    done = suite(tmp_path, "-q", *given)
    assert done.returncode == 1, done.stdout[-3000:]
    assert clause in broken(tmp_path)


def test_users_of_tensorflow_get_on_with_a_right_plugin(tmp_path: Path) -> None:
    done = suite(tmp_path, "-q", "--plugin=posix", "--case=users/*", f"--through={PYTHON}")
    assert done.returncode == 0, done.stdout[-3000:]
    assert {case["verdict"] for case in report(tmp_path)["cases"]} == {"conform"}


def test_a_program_without_what_it_needs_is_absent_and_says_nothing_of_the_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tensorboard").mkdir()
    (tmp_path / "tensorboard/__init__.py").write_text('raise ImportError("there is none")\n')
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = suite(tmp_path, "-v", "--plugin=posix", "--case=users/summaries", f"--through={PYTHON}")
    assert "no TensorBoard is installed beside TensorFlow: there is none" in done.stdout
    assert {check["verdict"] for case in report(tmp_path)["cases"] for check in case["checks"]} == {"absent"}


#: Faults that show in what TensorFlow's own readers and writers do, each with the clauses that it breaks.
FAULTS: dict[str, list[str]] = {}
for _name, _fault in tomllib.loads(Path(__file__).with_name("faults.toml").read_text())["through"].items():
    FAULTS.setdefault(_fault, []).append(_name)


@pytest.mark.parametrize(
    "fake", [pytest.param(fake, marks=pytest.mark.nightly if number % 3 else ()) for number, fake in enumerate(FAULTS)]
)
def test_users_of_tensorflow_meet_a_fault(fake: str, tmp_path: Path) -> None:
    plugin, _, fault = fake.partition(" ")
    given = (f"--plugin=fakes/{plugin}", f"--env=TFFS_FAULT={fault}", f"--through={PYTHON}")
    done = suite(tmp_path, "-q", *given, *(f"--clause={name}" for name in FAULTS[fake]))
    assert {*FAULTS[fake]} <= broken(tmp_path), done.stdout[-3000:]


def broken(folder: Path) -> set[str]:
    """The clauses that a report finds broken."""
    checks = [check for case in report(folder)["cases"] for check in case["checks"]]
    return {check["clause"] for check in checks if check["verdict"] in ("violation", "warning")}


# The header -----------------------------------------------------------------------------------------------------------

#: What of TensorFlow's headers may stand in a source of C, and of C++ only.
OF_C = ("tensorflow/c/env.h", "tensorflow/c/tf_status.h")
OF_CXX = ("tensorflow/c/experimental/filesystem/filesystem_interface.h", *OF_C)


@pytest.mark.parametrize("compiler", [("cc", "-std=c11", "-xc"), ("c++", "-std=c++17", "-xc++")], ids=["c11", "c++17"])
@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_our_header_and_theirs_stand_in_one_source(compiler: tuple[str, ...], first: str, tmp_path: Path) -> None:
    found = tensorflow()
    assert found is not None
    theirs = OF_C if "-xc" in compiler else OF_CXX
    headers = [HEADER.name, *theirs] if first == "ours" else [*theirs, HEADER.name]
    source = tmp_path / "both"
    source.write_text(
        "".join(f'#include "{header}"\n' for header in headers)
        + """
void Use(TF_Status* status, TF_RandomAccessFileOps* ops, TF_FileStatistics* facts);
void Use(TF_Status* status, TF_RandomAccessFileOps* ops, TF_FileStatistics* facts) {
  TF_SetStatus(status, TF_OK, "");
  facts->length = ops->read(NULL, 0, 0, NULL, status);
}
"""
    )
    strict = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only")
    at = ("-isystem", str(found[0] / "include"), f"-I{HEADER.parent}")
    subprocess.run([*compiler, *strict, *at, str(source)], check=True)


def test_our_header_has_the_names_of_theirs() -> None:
    def names(path: Path) -> set[str]:
        # Without comments, and without what it includes.
        return set(re.findall(r"\bTF_\w+", run(["cc", "-E", "-fpreprocessed", "-dD", str(path)]).stdout))

    found = tensorflow()
    assert found is not None
    for header in (*OF_CXX, "tensorflow/c/tf_file_statistics.h"):
        theirs = names(found[0] / "include" / header)
        assert (bool(theirs), theirs - names(HEADER)) == (True, set())


# Registered by hand ---------------------------------------------------------------------------------------------------


def test_registering(filled: Filled) -> None:
    # An op library is only opened: its TF_InitPlugin is not called.
    assert [filled.said[what] for what in ("load_op_library", "registered")] == [False, True]
    assert filled.said["again"] == "AlreadyExistsError"


def test_files(filled: Filled) -> None:
    said = filled.said
    assert bytes.fromhex(said["read_file"]) == b"\x00first\n\xff"
    assert said["GFile"] == [["one\n", "two\n", ""], "two\n", 8]
    assert said["exists"] == [True, False, True, False]
    assert said["isdir"] == [True, False, False]
    assert said["listdir"] == ["a", "deep", "text"]
    assert said["glob"] == ["/files/deep", "/files/text"]
    assert said["length"] == 8
    assert said["walk"] == ["a", "moved", "text"]
    assert said["missing"] == "NotFoundError"
    assert said["left"] == ["a"]
    assert said["records"] is True


def test_what_was_saved_is_restored(filled: Filled) -> None:
    assert filled.said["checkpoint"] == [True, [1.0, 2.0, 3.0]]
    assert filled.said["saved_model"] == {"y": [4.0, 7.0], "length": 7}


# Registered by the loader ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("filled", named(LASTING), indirect=True)
def test_a_script_that_was_told_nothing_serves_the_model(filled: Filled) -> None:
    lasting = filled.target
    serve = [PYTHON, str(SCRIPTS / "serve.py"), f"{lasting.folder}/model/1"]
    done = run(serve, **told_only(lasting.plugin), **lasting.environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == PREDICTED
    assert "tffs_loader" not in done.stderr
    without = run(serve, **lasting.environment)
    assert without.returncode != 0
    scheme = lasting.folder.partition("://")[0]
    assert f"File system scheme '{scheme}' not implemented" in without.stderr


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The native program, alone, and linked to the loader."""
    folder, found = tmp_path_factory.mktemp("programs"), tensorflow()
    assert found
    at = found[0]
    own = (native_directory() / LOADER).parent
    libraries = [f"-L{at}", f"-Wl,-rpath,{at}", "-l:libtensorflow_cc.so.2", "-l:libtensorflow_framework.so.2"]
    ways = {
        "preloaded": [],
        "linked": ["-Wl,--no-as-needed", f"-L{own}", f"-Wl,-rpath,{own}", f"-l:{LOADER.name}", "-Wl,--as-needed"],
    }
    for way, more in ways.items():
        command = ["g++", "-std=c++17", f"-I{at / 'include'}", str(SCRIPTS / "serve.cc"), *more, *libraries]
        done = subprocess.run([*command, "-o", folder / way], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
    return {way: folder / way for way in ways}


@pytest.mark.parametrize("filled", named(LASTING), indirect=True)
@pytest.mark.parametrize("way", ["preloaded", "linked"])
def test_a_native_program_serves_the_model(filled: Filled, programs: dict[str, Path], way: str, tmp_path: Path) -> None:
    lasting = filled.target
    given = told_only(lasting.plugin) | dict(lasting.environment)
    if way == "linked":
        del given["LD_PRELOAD"]
    model = f"{lasting.folder}/model/1"
    done = run([str(programs[way]), model, *filled.said["tensors"], "1", "2", "3"], **given)
    assert done.returncode == 0, done.stderr[-3000:]
    assert [float(line) for line in done.stdout.split()] == PREDICTED["y"]
    assert "tffs_loader" not in done.stderr


def test_what_goes_wrong_is_a_line_each_and_the_process_goes_on(tmp_path: Path) -> None:
    wrong = [tmp_path / "nowhere.so", shipped("fakes/noinit"), shipped("fakes/unresolved"), shipped("fakes/malformed")]
    given = told_only(wrong[0], shipped("posix"), *wrong[1:], shipped("memory"), TFFS_FAULT="abi:filesystem")
    script = "import tensorflow as tf; print(*sorted(tf.io.gfile.get_registered_schemes()))"
    done = run([PYTHON, "-c", script], **given)
    assert done.returncode == 0, done.stderr[-3000:]
    assert {"posix", "memory"} <= set(done.stdout.split())
    assert "malformed" not in done.stdout
    lines = [line for line in done.stderr.splitlines() if "tffs_loader" in line]
    assert [line.split(": ")[1] for line in lines] == [str(path) for path in wrong]
    assert all(line.startswith("tffs_loader: ") and ": not registered: " in line for line in lines)


@pytest.mark.parametrize("filled", ["dragonfly-stub"], indirect=True)
def test_inside_tensorflow_dragonfly_runs_on_the_curl_it_was_tested_with(filled: Filled) -> None:
    inside = filled.target.agents()
    # Our host has no curl of its own: there the plugin can run on no other than the system's.
    with hosted(filled.target.plugin, environment=filled.target.environment, timeout=60) as (loaded, raw):
        present = loaded.registration.registered["dragonfly"].present
        fs = HostFilesystem(raw, present, Guard(filled.target.folder))
        assert fs.path_exists(f"{filled.target.folder}/model/1/saved_model.pb").ok
    both = filled.target.agents()
    assert len(both) > len(inside) > 0
    assert len(set(both)) == 1
    assert " libcurl/" in both[0]


# Registration, by both ------------------------------------------------------------------------------------------------

#: What TensorFlow has, and our host has not: filesystems of its own.
BUILT_IN = {"scheme:", "scheme:file", "scheme:ram"}
#: Beyond what the fakes say of themselves; these faults take an argument.
WITH_ARGUMENT = ["size:0", "size:8", "size:64", "size:176", "scheme:weird+scheme", *sorted(BUILT_IN)]


def by_our_host(plugin: Path, fault: str) -> tuple[str, str]:
    host = Host(Local({"TFFS_FAULT": fault} if fault else {}), 30)
    try:
        registration = register(host, plugin)
    except DiedError as died:
        return "no answer", str(died.death)
    finally:
        host.close()
    return registration.code.name, registration.message


def test_tensorflow_registers_what_our_host_registers(capsys: pytest.CaptureFixture[str]) -> None:
    faults = [name for name, _, _ in fakes.faults("malformed") if "<" not in name and not name.startswith("hang")]
    fake = shipped("fakes/malformed")
    asked = [(fake, fault) for fault in ["", *faults, *WITH_ARGUMENT]]
    asked += [(shipped(name), "") for name in ("posix", "memory", "fakes/noinit", "fakes/unresolved")]
    lines = "".join(json.dumps([str(plugin), fault]) + "\n" for plugin, fault in asked)
    done = run([PYTHON, str(SCRIPTS / "verdicts.py")], lines)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(asked) > 40, done.stderr[-3000:]
    differences = set()
    with capsys.disabled():
        print(f"\n{'plugin':<16}{'fault':<48}{'TensorFlow':<21}{'our host':<21}what TensorFlow says")
        for (plugin, fault), (_, _, code, message) in zip(asked, answers, strict=True):
            theirs = "no answer" if code is None else Code(code).name
            ours, our_message = by_our_host(plugin, fault)
            print(
                f"{plugin.stem:<16}{fault:<48}{theirs:<21}{ours:<21}{message.splitlines()[0][:80] if message else ''}"
            )
            if ours != theirs:
                differences.add(fault)
            assert bool(our_message) == (ours != "OK")
    assert differences == BUILT_IN
