"""The suite, from the outside: what a user types, what comes back."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from packaging.version import Version

from tests import copies
from tests.faults.driven import all_cases, judge, named
from tests.manifest.stimuli import committed, given, recorded_in
from tests.manifest.test_stimuli import GONE
from tests.test_abi import FOREIGN
from tffs_conformance.harness.native import NATIVE_DIRECTORY_VARIABLE, RUNTIME_NAME, native_directory
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports import document, journal
from tffs_conformance.reports.forms import FORMS
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.reports.packed import contents
from tffs_conformance.run.targets import only_target
from tffs_conformance.suite.contract import catalogue
from tffs_conformance.suite.engine import collect
from tffs_conformance.suite.judge.reports import recover

#: Other plugins of pytest that the project's tests have are not the user's.
ALONE = ["-p", "no:randomly", "-p", "no:cacheprovider"]
RECORDER = (Path(__file__).parent / "manifest" / "stimuli.py").read_text()
PUBLISHED = Path(__file__).parent.parent / "reports" / "published"
#: The cases of ours that do what each case of the peer does, with the call that they have in common.
PEER: dict[str, dict[str, str]] = tomllib.loads(Path(catalogue.__file__).with_name("peer.toml").read_text())["cases"]


def run(directory: Path, *arguments: str, code: Any = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Pytest in a directory of the user's, with what is installed, in a copy of a Python that has imported us.

    It has to end with the `code`, an `int`, if there is one. It is no `int` to mypy, for which `variables` may have it.
    """
    with tempfile.NamedTemporaryFile("r") as out, tempfile.NamedTemporaryFile("r") as err:
        ended = copies.run([*ALONE, *arguments], directory, environment() | variables, out.name, err.name)
        done = subprocess.CompletedProcess(["pytest", *arguments], ended, out.read(), err.read())
    assert code in (None, ended), f"exit code {ended}\n{done.stdout[-3000:]}{done.stderr}"
    return done


def run_anew(directory: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The same in a Python of its own: for what depends on who imports what first, and for Python's own variables."""
    around = environment() | variables
    return subprocess.run(command(*arguments), cwd=directory, env=around, text=True, capture_output=True, check=False)


def run_beside(
    directory: Path, other: str, *arguments: str, code: int | None = None, anew: bool = False
) -> subprocess.CompletedProcess[str]:
    """The same beside another plugin of pytest, of which this is the source."""
    (directory / "other.py").write_text(f"import pytest\n\n{other}")
    path = os.pathsep.join([str(directory), *filter(None, [os.environ.get("PYTHONPATH")])])
    runs: Callable[..., subprocess.CompletedProcess[str]] = run_anew if anew else run
    done = runs(directory, "-p", "other", *arguments, PYTHONPATH=path)
    assert code in (None, done.returncode), done.stdout + done.stderr
    return done


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "import sys; sys.path.pop(0); import pytest; sys.exit(pytest.main())",
            *ALONE, *arguments]  # fmt: skip


def started(directory: Path, *arguments: str) -> subprocess.Popen[str]:
    """The same in a session of its own, which is not waited for."""
    return subprocess.Popen(
        command(*arguments), cwd=directory, env=environment(), text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV_"))}


def report(directory: Path, of: str = "") -> dict[str, Any]:
    path = directory / "tffs-report" / of / "report.json"
    document.load(path)  # raises where it is not as its schema says
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def judged_report(directory: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    """The report of a run that ends with this exit code."""
    run(directory, *arguments, code=code)
    return report(directory)


def newest_published(name: str) -> Path:
    return max(PUBLISHED.glob(f"{name}/*/report.json.gz"), key=lambda path: Version(path.parent.name))


def unlike_published(found: dict[str, Any]) -> dict[str, tuple[str | None, str | None]]:
    """Cases whose verdict is not the published one, by id: the verdict, and the published one.

    Whoever changes what a verdict follows from publishes anew. New cases wait for a release, and so do those that went.
    """
    path = newest_published(found["target"]["name"])
    verdicts, published = (
        {case["id"]: case["verdict"] for case in document["cases"]} for document in (found, json.loads(contents(path)))
    )
    both = {case.id: (verdicts.get(case.id), published.get(case.id)) for case in all_cases("full")}
    return {case: pair for case, pair in both.items() if case in published and pair[0] != pair[1]}


#: Few histories for each property, where a run is about something else.
FEW = "--examples=5"
#: In an order of its own, on two workers: published were runs in order, on one. No verdict may depend on that.
SEED = random.randrange(1 << 32)
SHUFFLED = ("-p", "randomly", f"--randomly-seed={SEED}", "-n2")


def recorded(directory: Path, plugin: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A run of the whole suite, or of a part, that writes which stimuli it gives."""
    return run_beside(directory, RECORDER, f"--plugin={plugin}", FEW, *SHUFFLED, *arguments, code=0)


def lost_stimuli(directory: Path, plugin: str) -> set[str]:
    """Committed stimuli that `recorded` did not give. What threads meet differs from run to run."""
    wanted = {one for one in committed() - GONE.keys() if one.startswith(f"{plugin} ")}
    for _ in range(3):
        if not wanted <= given(directory, plugin):
            recorded(directory, plugin, "--case=races/*", "--case=threads/*")
    return wanted - given(directory, plugin)


#: What to do about one that went.
GIVE_AGAIN = "give it again by a row of a table, or name it in tests/manifest/gone.toml with the reason"


@pytest.mark.parametrize("elsewhere", [False, True])
def test_cases_work_in_the_folder_for_temporary_files(tmp_path: Path, elsewhere: bool) -> None:
    """On another machine nobody knows of another one than /tmp."""
    command = ["--host-command=env {host}"] * elsewhere
    done = run_anew(tmp_path, "--plugin=posix", "--case=read/plain", *command, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stdout
    root = report(tmp_path)["target"]["root"]
    assert root.startswith("posix:///tmp/tffs-" if elsewhere else f"posix://{tmp_path}/tffs-")


def test_each_target_has_a_root_of_its_own() -> None:
    first, second = (only_target("posix", None, None, {}, 60).root for _ in range(2))
    assert first != second
    assert f"{first}".startswith(f"posix://{tempfile.gettempdir()}/tffs-")


@pytest.mark.long
def test_posix_is_conformant_in_an_empty_directory(tmp_path: Path) -> None:
    recorded(tmp_path, "posix")
    found = report(tmp_path)
    assert found["verdict"] == "conformant"
    assert len(found["cases"]) >= 1000
    assert not any(found["counts"][verdict] for verdict in ("error", "warning", "not run"))
    assert not list(Path(tempfile.gettempdir()).glob(Path(found["target"]["root"]).name))
    assert unlike_published(found) == {}, f"in the order of seed {SEED}"
    assert lost_stimuli(tmp_path, "posix") == set(), GIVE_AGAIN
    # A table has no sizes after `=`, unless they count, nor kinds of names after `:`.
    calls = {(case, re.sub(r":\S*", "", call)) for case, call, _ in recorded_in(tmp_path)}
    calls |= {(case, re.sub(r"=\S*", "", call)) for case, call in calls}
    others = {(case, call) for cases in PEER.values() for case, call in cases.items()} - calls
    assert others == set(), "these cases do not make the call of the peer's: name others in suite/contract/peer.toml"


@pytest.mark.long
def test_memory_is_conformant_in_every_class(tmp_path: Path) -> None:
    done = recorded(tmp_path, "memory")
    found = report(tmp_path)
    assert {entry["verdict"] for entry in found["classes"].values()} == {"conformant"}
    assert not any(found["counts"][verdict] for verdict in ("error", "warning", "waived"))
    reasons = {case["reason"] for case in found["cases"] if case["verdict"] in ("not run", "absent")}
    # There is no other way to the bytes of a process, and few of its ops can be made to fail.
    known = ("its storage lives in its process", "no read can be made to fail", "does not fail here", "only one scheme",
             "--through=tensorflow", "its files are gone with its process", "of one process only",
             "renames no directories")  # fmt: skip
    assert [reason for reason in reasons if not any(text in reason for text in known)] == []
    assert "Left behind" not in done.stdout
    assert unlike_published(found) == {}, f"in the order of seed {SEED}"
    assert lost_stimuli(tmp_path, "memory") == set(), GIVE_AGAIN


def test_a_users_repository_does_not_reach_our_cases(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\npython_files = check_*.py\npython_functions = check_*\ntestpaths = mine\n"
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "check_mine.py").write_text("def check_mine():\n    raise AssertionError\n")
    (tmp_path / "conftest.py").write_text(
        "import pytest\n\n@pytest.fixture(autouse=True)\ndef strict():\n    raise RuntimeError('not yours')\n"
    )
    assert judged_report(tmp_path, "--plugin=posix", "--tier=smoke")["verdict"] == "conformant"


def test_what_is_no_text_comes_back_from_a_worker(tmp_path: Path) -> None:
    fails = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=fails:copy_file", "-p", "xdist", "-n", "1")
    done = run(tmp_path, *fails, "--case=names/moved[not-utf-8]")
    assert "INTERNALERROR" not in done.stdout
    assert report(tmp_path)["cases"][0]["ops"]


@pytest.mark.parametrize("tier", ["smoke", pytest.param("quick", marks=pytest.mark.nightly)])
def test_nothing_implemented_is_not_conformant(tmp_path: Path, tier: str) -> None:
    found = judged_report(tmp_path, "--plugin=fakes/null", f"--tier={tier}", code=1)
    assert (found["verdict"], found["reason"]) == ("not conformant", "nothing executed")


def test_a_shared_object_that_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "short.so").write_bytes(plugin_path("posix").read_bytes()[:2000])
    found = judged_report(tmp_path, "--plugin=./short.so", code=1)
    assert found["verdict"] == "not conformant"
    assert len(found["cases"]) == len([case for case in collect.cases() if case.tier in collect.tiers("full")])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--scheme=other",), "--scheme=other"),
        (("--scheme=",), "--scheme=: posix has posix"),
        (("--scheme=a", "--scheme=b"), "give it once for each"),
        (("--env=NAME",), "NAME=VALUE"),
        (("--root=other:///tmp",), "--root=other:///tmp"),
        (("--fail-on=warnings",), "choose from warning, not-run, absent, changed; did you mean warning?"),
        (("--fail-on=changed",), "--fail-on=changed is for --gate=no-new"),
        (("--case=read/plian",), "--case=read/plian: no case of the tier full fits; did you mean read/plain"),
        (("--case=",), "--case= has no value"),
        (("--clause=read",), "--clause=read: no case of the tier full fits; did you mean read.*?"),
        (("--report=html,pdf",), "--report=pdf: choose from html, markdown, "),
        (("--report=",), "has no value"),
        (("--report-dir=",), "--report-dir= has no value"),
        *(((f"--shard={shard}",), f"--shard={shard}: I/N is expected") for shard in ("0/2", "3/2", "1")),
        (("--waivers=gone.toml",), "--waivers: gone.toml cannot be read: No such file"),
        (("--waivers=a.toml", "--waivers=b.toml"), "--waivers was given 2 times for 1 target: give it once for each"),
        (("--runtime=nothing",), "--runtime: 'nothing' is no runtime"),
        (("--seed=-5",), "'-5' is neither a whole number from 0 on nor 'random'"),
        (("--call-timeout=0",), "--call-timeout"),
        (("--call-timeout=nan",), "--call-timeout must be a number of seconds"),
        (("--call-timeout=1e15",), "more than 0 and at most 3,000"),
        (("--plugin-profile=no-such",), "object-store, posix-like"),
        (("--plugin=objectstore_minimal", "--plugin-profile=posix-like"), "give it once for each"),
        (("--plugin=./plain.so",), "plain.so cannot be loaded as a plugin: it does not begin as an ELF file does"),
        (("--plugin=./arm.so",), "it is built for aarch64, and this machine is "),
        (("--plugin=fakes/noinit",), "--plugin=fakes/noinit cannot be loaded as a plugin: it exports no TF_InitPlugin"),
        (("--plugin=.",), "ERROR: --plugin=. is a directory"),
        (("--plugin=./no-such.so",), "ERROR: --plugin=./no-such.so"),
        (("--plugin=posx",), "; did you mean posix?"),
        (("--tier=smok",), "--tier=smok: choose from smoke, quick, full, large, deep, must; did you mean smoke?"),
        (("--tier=smoke,quick",), "--tier=smoke,quick: choose from smoke"),
        (("--conditions=kill,prower",), "--conditions=prower: choose from syscalls, kill, power, network, "),
        (("--gate=no-new",), "--gate=no-new needs --baseline=REPORT.JSON"),
        (("--gate=all", "--baseline=x"), "--gate=all: choose from no-new"),
        (("--baseline=x",), "--baseline is for --gate=no-new"),
        (("--gate=no-new", "--baseline=gone.json"), "--baseline=gone.json: No such file or directory"),
        (("--gate=no-new", "--baseline=."), "--baseline=.: Is a directory"),
        (("--services",), "--services: posix needs none"),
        (("--through=/bin/true",), "--through: no TensorFlow is installed for /bin/true"),
        (("--through=/bin/true", "--runtime=/opt"), "--through and --runtime exclude each other"),
        (("--through=/bin/true", "--host-command=x"), "--through and --host-command exclude each other"),
        (("--sandbox=on", "--through=tensorflow"), "--sandbox and --through exclude each other"),
        (("--sandbox=on", "--host-command=env {host}"), "--sandbox and --host-command exclude each other"),
        (("--teir=smoke",), "there is no option --teir; did you mean --tier"),
    ],
)
def test_a_command_line_that_makes_no_sense(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    (tmp_path / "plain.so").write_text("not a shared object")
    (tmp_path / "arm.so").write_bytes(FOREIGN)
    said = refused(tmp_path, words, "--plugin=posix", *arguments)
    # What argparse itself refuses comes with the usage.
    assert said.startswith("ERROR: usage:") or len(said.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--tier=smoke",), "there is no option --tier without --plugin=NAME|PATH, with which it is one of the conf"),
        (("--plugn=posix", "--tier=smoke"), "there is no option --plugn; did you mean --plugin"),
        (("--something",), "unrecognized arguments: --something"),
    ],
)
def test_command_line_without_a_plugin(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    refused(tmp_path, words, *arguments)


def refused(directory: Path, words: str, *arguments: str) -> str:
    """What is printed of a command line that is a usage error, and leaves no report."""
    done = run(directory, *arguments, code=pytest.ExitCode.USAGE_ERROR)
    assert words in done.stderr
    assert not (directory / "tffs-report").exists()
    return done.stderr


def test_a_second_witness_is_asked_for_by_name(tmp_path: Path) -> None:
    plugin = f"--plugin={plugin_path('posix')}"
    # Nothing was executed.
    cases = judged_report(tmp_path, plugin, "-k", "storage", code=1)["cases"]
    reasons = {case["reason"] for case in cases if case["verdict"] == "absent"}
    assert {reason.partition(":")[0] for reason in reasons} == {"no backing is known"}
    some = (plugin, "--tier=quick", "-k", "storage or across_the_end")
    assert "--backing=URL names another way to the storage and adds" in run(tmp_path, *some, code=0).stdout
    run(tmp_path, *some, "--fail-on=absent", code=1)
    found = judged_report(tmp_path, plugin, "--backing=file://{path}", "-k", "storage", "--tier=quick")
    assert not found["counts"]["not run"]


def test_what_is_undefined_is_run_on_request(tmp_path: Path) -> None:
    undefined = ("--plugin=posix", "--case=limits/after-close")
    run(tmp_path, *undefined, code=4)
    run(tmp_path, *undefined, "--undefined", code=0)


def test_the_reading_and_what_tensorflow_makes_of_it_are_told(tmp_path: Path) -> None:
    done = run(tmp_path, "-v", "--plugin=posix", "--case=metadata/is-directory-of-a-file")
    assert "is_directory.of-a-file: host: gfile.isdir is right." in done.stdout


def test_a_killed_run_leaves_no_process_and_an_incomplete_report(tmp_path: Path) -> None:
    with started(tmp_path, "--plugin=posix") as process:
        path = wait_for_journal(tmp_path, lines=50)
        process.send_signal(signal.SIGKILL)
    found = recover(path)
    assert found.verdict == "incomplete"
    assert found.cases
    wait_until(lambda: not hosts_in(tmp_path))


def wait_until(happened: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def wait_for_journal(directory: Path, lines: int) -> Path:
    """The journal of a run, once it has so many lines."""
    path = directory / "tffs-report" / journal.JOURNAL_NAME
    wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= lines)
    return path


def hosts_in(directory: Path) -> list[int]:
    """Hosts that were started from a directory."""
    there = {"name": "tffs-host", "cwd": str(directory)}
    return [process.pid for process in psutil.process_iter([*there]) if process.info == there]


def test_a_warning_is_told_by_clause_and_not_again_by_pytest(tmp_path: Path) -> None:
    done = run(tmp_path, "--plugin=fakes/faulty", "--env=TFFS_FAULT=long-message:stat", "--clause=stat.m*", code=0)
    assert report(tmp_path)["counts"]["warning"]
    assert done.stdout.count("WARNING ") == 1
    assert not [text for text in ("ConformanceWarning", "warnings summary") if text in done.stdout]
    assert re.search(r"\d+ passed.*, \d+ warnings? in", done.stdout)


def test_run_without_built_fakes_names_the_command_that_builds_them(tmp_path: Path) -> None:
    for name in ("tffs-host", RUNTIME_NAME):
        (tmp_path / name).symlink_to(native_directory() / name)
    done = run(tmp_path, "--plugin=fakes/null", code=4, **{NATIVE_DIRECTORY_VARIABLE: str(tmp_path)})
    assert ("not built" in done.stderr, "python -m tests.fakes" in done.stderr) == (True, True)


def test_the_report_names_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "hunter2hunter2")
    (tmp_path / "mine.toml").write_text('[plugin]\npath = "fakes/faulty"\n[env]\nTFFS_FAULT = {from = "MY_SECRET"}\n')
    done = run(tmp_path, "--plugin-profile=mine.toml", "--clause=registration.*")
    written = [tmp_path / "tffs-report" / name for name in ("report.json", journal.JOURNAL_NAME)]
    for text in (done.stdout, done.stderr, *(path.read_text() for path in written)):
        assert "hunter2" not in text
    # It is what the plugin said before it ended.
    assert "names none of these faults" in written[0].read_text()


@pytest.mark.parametrize(
    ("fault", "clause"),
    [("get_children.recursive", "get_children.names-only"), ("history.stays-full", "delete_dir.succeeds")],
)
def test_op_that_only_spoils_a_step_is_reported_in_smoke(tmp_path: Path, fault: str, clause: str) -> None:
    done = run(tmp_path, "--plugin=fakes/faulty", f"--env=TFFS_FAULT={fault}", "--tier=smoke", code=1)
    assert f"VIOLATION {clause}" in done.stdout


@pytest.mark.parametrize(
    ("asked", "forms"),
    [
        (("badge", "junit,badge"), {"badge.svg", "junit.xml"}),
        ((",".join(form.name for form in FORMS),), {form.file for form in FORMS}),
    ],
    ids=["some", "all"],
)
def test_report_option_with_commas_or_repeated(tmp_path: Path, asked: tuple[str, ...], forms: set[str]) -> None:
    run(tmp_path, "--plugin=posix", "--case=read/plain", *(f"--report={one}" for one in asked))
    written = {path.name for path in (tmp_path / "tffs-report").iterdir()}
    assert written & {form.file for form in FORMS} == forms


#: Modules of ours that a plain run may import, besides those of its cases. It goes down.
MAX_MODULES = 140


def test_plain_run_imports_few_modules(tmp_path: Path) -> None:
    (tmp_path / "count_modules.py").write_text(
        "import sys\nfrom pathlib import Path\n\n"
        "def pytest_unconfigure():\n"
        "    for name, module in sorted(sys.modules.items()):\n"
        "        if name.startswith('tffs_conformance.') and not hasattr(module, '__path__'):\n"
        "            print('imported', name)\n"
    )
    # The first run may make the index of cases, for which it imports all of them.
    for _ in range(2):
        done = run_anew(tmp_path, "-p", "count_modules", "--plugin=posix", "--collect-only", PYTHONPATH=str(tmp_path))
    names = re.findall(r"^imported (\S+)$", done.stdout, re.MULTILINE)
    ours = [name for name in names if ".cases.test_" not in name]
    assert 50 < len(ours) <= MAX_MODULES, "\n".join(ours)


@pytest.mark.parametrize(
    ("fault", "case", "clause"),
    [
        ("fails:stat", "metadata/plain", "stat.succeeds"),
        ("fails:delete_recursively", "tree/delete-recursively[deep]", "delete_recursively.succeeds"),
        ("fails:delete_recursively", "status/one-path[delete_recursively-missing]",
         "delete_recursively.missing-is-not-found"),
    ],
)  # fmt: skip
def test_after_a_wrong_code_nothing_else_is_compared(fault: str, case: str, clause: str) -> None:
    laws = {"delete_recursively.writes-both-counters", "delete_recursively.deletes-everything"}
    assert judge("fakes/faulty", fault, named("full", case)).broken() - laws == {clause}


def test_read_that_refuses_offsets_is_one_finding() -> None:
    cases = named("quick", "changes/after*", "read/across-the-end*", "read/inside*", "read/past-the-end*")
    judged = judge("fakes/faulty", "read.refuses-odd-offsets", cases)
    broken = [check for one in judged.records for check in one.checks if check.verdict is Verdict.VIOLATION]
    assert {(check.op, check.code) for check in broken} == {("read", "INVALID_ARGUMENT")}
