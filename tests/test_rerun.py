"""The line that runs a case again runs when it is pasted into a shell."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.test_suite import environment, report, run
from tffs_conformance.reports.escape import command_line, printable
from tffs_conformance.run.run_options import RunOptions
from tffs_conformance.run.targets import _command
from tffs_conformance.suite.engine.target import Target

FAULTY = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=read.short-is-ok")
FEW = "--clause=read.short-read-is-out-of-range"


def pasted(directory: Path, line: str, code: int = 1, **variables: str) -> str:
    """What a person sees who pastes a line into bash."""
    done = subprocess.run(
        ["bash", "-c", f"{line} -p no:cacheprovider -p no:randomly"], cwd=directory, env=environment() | variables,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout
    return done.stdout


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
               "--plugin=posix", f"--root=posix://{tmp_path}", code=1)  # fmt: skip
    line = line_of(done.stdout)
    assert secret not in done.stdout
    assert "--env=MY_TOKEN " in line
    again = pasted(tmp_path, line, MY_TOKEN=secret)
    found = report(tmp_path)
    (case,) = found["cases"]
    assert f"--case={case['id']}" in line
    assert found["counts"]["violation"] >= 1
    assert found["suite"]["options"] == {"call-timeout": 7.5, "examples": 100, "host-scope": "module"}
    assert found["suite"]["seed"] == 3
    shaped = {"--host-scope=module", "--call-timeout=7.5", "--seed=3", "--env=MY_TOKEN", "--env=ODD=$A `b` 'c'\""}
    assert shaped < set(found["suite"]["command"])
    assert found["target"]["root"].startswith(f"faulty://{tmp_path}/a b'c/")
    assert set(found["target"]["environment"]) >= {"MY_TOKEN", "ODD", "TFFS_FAULT"}
    assert line_of(again) == line
    assert "--env=MY_TOKEN: it is not set here" in pasted(tmp_path, line, code=4)


def test_a_host_command_runs_again(tmp_path: Path) -> None:
    done = run(tmp_path, *FAULTY, FEW, "--host-command=env 'A=b c' {host}", code=1)
    pasted(tmp_path, line_of(done.stdout))
    assert len(report(tmp_path)["cases"]) == 1


def command(**given: object) -> list[str]:
    """The command for a target, where a user gave a plugin and these options."""
    fields = {
        "plugins": ("mine.so",), "loads": (), "profiles": (), "schemes": (), "roots": (), "backings": (),
        "environment": {}, "services": False, "undefined": False, "host_command": (), "runtime": "stand-in",
        "through": "", "tier": "full", "seed": 0, "examples": 100, "host_scope": "case", "timeout": 10.0,
        "sandbox": "off", "sanitizer": "", "conditions": (),
    }  # fmt: skip
    options = object.__new__(RunOptions)
    for key, value in fields.items():
        object.__setattr__(options, key, given.get(key, value))
    target: Any = {"scheme": "mine", "root": None} | {key: value for key, value in given.items() if key not in fields}
    return list(_command(options, Target("mine", Path("mine.so"), **target), 0, False))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"schemes": ("",), "scheme": ""}, ["--scheme="]),
        ({"schemes": ("*",), "scheme": ""}, ["--scheme="]),
        ({"scheme": ""}, []),
        # What is as usual is not said.
        ({}, []),
        ({"conditions": ("syscalls",)}, ["--conditions=syscalls"]),
    ],
)
def test_what_shapes_a_run_is_said(given: dict[str, object], said: list[str]) -> None:
    assert command(**given) == ["pytest", "--plugin=mine.so", *said]


def test_a_password_in_a_url_is_not_said() -> None:
    url = "s3://me:hunter22@bucket"
    (*_, last) = command(backings=(url,), backing=url)
    assert last == "--backing=s3://me:<password>@bucket"
