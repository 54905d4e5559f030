"""The line that runs a case again runs when it is pasted into a shell."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.test_suite import environment, report, run
from tffs_conformance.reports.escape import command_line, printable
from tffs_conformance.run.run_options import RunOptions
from tffs_conformance.run.targets import _command
from tffs_conformance.suite.engine.target import Target

FAULTY = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=read.short-is-ok")
FEW = "--clause=read.short-read-is-out-of-range"


def pasted(directory: Path, line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What a person sees who pastes a line into bash."""
    return subprocess.run(
        ["bash", "-c", f"{line} -p no:cacheprovider -p no:randomly"],
        cwd=directory, env=environment() | variables, text=True, capture_output=True, check=False,
    )  # fmt: skip


def line_of(shown: str) -> str:
    found = re.findall(r"^  again     (.*)$", shown, re.MULTILINE)
    assert found, shown
    return str(found[0])


@pytest.mark.parametrize(
    "argument",
    ["plain", "", "two words", "it's", '"', "$HOME `id` $(id) !x \\", "*?[a]{b,c};&|<>#~", "tab\tnew\nline",
     "\x1b[31m'\\", "\x9b1m\u202e", "é", "\udcff\udc80", "a\\'\x01"],
)  # fmt: skip
def test_an_argument_comes_out_of_a_shell_as_it_went_in(argument: str) -> None:
    line = command_line(["printf", "%s", argument])
    assert printable(line) == line
    utf8 = environment() | {"LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True, env=utf8)
    assert done.stdout == argument.encode("utf-8", "surrogateescape")


def test_a_case_of_one_target_runs_again_as_it_ran(tmp_path: Path) -> None:
    secret = 'it\'s $HOME "x"'
    root = f"--root=faulty://{tmp_path}/a b'c"
    done = run(tmp_path, *FAULTY, FEW, root, f"--env=MY_TOKEN={secret}", "--env=ODD=$A `b` 'c'\"",
               "--host-scope=module", "--call-timeout=7.5", "--seed=3",
               "--plugin=posix", f"--root=posix://{tmp_path}")  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    line = line_of(done.stdout)
    assert secret not in done.stdout
    assert "--env=MY_TOKEN " in line
    again = pasted(tmp_path, line, MY_TOKEN=secret)
    assert again.returncode == 1, again.stdout + again.stderr
    found = report(tmp_path)
    assert len(found["cases"]) == 1
    assert found["counts"]["violation"] >= 1
    assert found["suite"]["options"] == {"call-timeout": 7.5, "examples": 100, "host-scope": "module"}
    assert found["suite"]["seed"] == 3
    assert found["target"]["root"].startswith(f"faulty://{tmp_path}/a b'c/")
    assert set(found["target"]["environment"]) >= {"MY_TOKEN", "ODD", "TFFS_FAULT"}
    assert line_of(again.stdout) == line
    without = pasted(tmp_path, line)
    assert without.returncode == 4
    assert "--env=MY_TOKEN: it is not set here" in without.stdout + without.stderr


def test_a_host_command_runs_again(tmp_path: Path) -> None:
    done = run(tmp_path, *FAULTY, FEW, "--host-command=env 'A=b c' {host}")
    assert done.returncode == 1, done.stdout + done.stderr
    again = pasted(tmp_path, line_of(done.stdout))
    assert again.returncode == 1, again.stdout + again.stderr
    assert len(report(tmp_path)["cases"]) == 1


def command(**given: object) -> list[str]:
    """The command for a target, where a user gave a plugin and these options."""
    fields = {
        "plugins": ("mine.so",), "loads": (), "profiles": (), "schemes": (), "roots": (), "backings": (),
        "environment": {}, "services": False, "undefined": False, "host_command": (), "runtime": "stand-in",
        "through": "",
        "tier": "full", "seed": 0, "examples": 100, "host_scope": "case", "timeout": 10.0, "sandbox": "off",
        "sanitizer": "", "conditions": (),
    } | {key: value for key, value in given.items() if key in RunOptions.__slots__}  # fmt: skip
    options = object.__new__(RunOptions)
    for key, value in fields.items():
        object.__setattr__(options, key, value)
    target = {key: value for key, value in given.items() if key not in RunOptions.__slots__}
    several = bool(target.pop("several", False))
    scheme = target.pop("scheme", "mine")
    return list(_command(options, Target("mine", Path("mine.so"), scheme, None, **target), 0, several))  # type: ignore[arg-type]


def test_the_scheme_of_local_files_is_named() -> None:
    assert command(schemes=("",), scheme="") == ["pytest", "--plugin=mine.so", "--scheme="]
    assert command(schemes=("*",), scheme="") == ["pytest", "--plugin=mine.so", "--scheme="]
    assert command(scheme="") == ["pytest", "--plugin=mine.so"]


def test_what_is_as_usual_is_not_said() -> None:
    assert command() == ["pytest", "--plugin=mine.so"]


def test_conditions_are_said() -> None:
    assert command(conditions=("syscalls",)) == ["pytest", "--plugin=mine.so", "--conditions=syscalls"]


def test_a_password_in_a_url_is_not_said() -> None:
    url = "s3://me:hunter22@bucket"
    (*_, last) = command(backings=(url,), backing=url)
    assert last == "--backing=s3://me:<password>@bucket"
