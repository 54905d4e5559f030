"""What a plugin's repository has from us: its workflows, the action, and the hook for pre-commit.

The steps of each are run here one by one, as their runners would. Actions that a step uses cannot be had here: these
steps are counted as not run.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests import workflows
from tests.commands import output_of
from tests.pages import PROJECT
from tests.workflows import Step, github_action, github_job, gitlab_job
from tffs_conformance.cli.new import TEMPLATES
from tffs_conformance.reports.document import load

ACTION = PROJECT / "action.yml"
HOOKS = PROJECT / ".pre-commit-hooks.yaml"
#: Where it is not installed, Go builds it.
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7"
#: All of the suite takes too long for each test; what is chosen is another matter than what is tested here.
SMOKE = "--tier=smoke"
#: The steps of the workflow and of ours, and those of them that use actions.
STEPS = (*github_job(TEMPLATES / "github.yml", "conformance"), *github_action(ACTION, {}))
USES = [step for step in STEPS if step.uses]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    output_of("new", tmp_path / "mine")
    return tmp_path / "mine"


def environment(folder: Path, **more: str) -> dict[str, str]:
    """A runner's: the tested package's commands first; pip installs nothing, and fails where something is missing."""
    commands = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    quiet = {"PYTEST_ADDOPTS": "-p no:randomly", "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    ours = {name: value for name, value in os.environ.items() if name.startswith("TFFS_") or name == "PYTHONPATH"}
    return {"PATH": commands, "HOME": str(folder.parent), "RUNNER_TEMP": str(folder.parent), **ours, **quiet, **more}


def ran(steps: list[Step], folder: Path, **more: str) -> str:
    """Run those that are scripts. Gives what they printed."""
    printed = []
    for step in steps:
        if step.script:
            done = workflows.run(step, folder, environment(folder, **more))
            assert done.returncode == 0, f"{step.name}: exit {done.returncode}\n{done.stdout}"
            printed.append(done.stdout)
    return "".join(printed)


def recorded(step: Step, folder: Path) -> tuple[list[str], str, int]:
    """What a step gives to pytest, in whose place a program is that writes it down; what it printed; its exit code."""
    commands = folder.parent / "tffs-conformance/bin"
    commands.mkdir(parents=True, exist_ok=True)
    given = folder.parent / "given"
    given.unlink(missing_ok=True)
    program = f"#!{sys.executable}\nimport json, sys\nopen({str(given)!r}, 'w').write(json.dumps(sys.argv[1:]))\n"
    for name in ("pytest", "python"):
        (commands / name).write_text(program)
        (commands / name).chmod(0o755)
    done = workflows.run(step, folder, environment(folder, PATH=f"{commands}:/usr/bin:/bin"))
    return json.loads(given.read_text()) if given.exists() else [], done.stdout, done.returncode


# The workflow and the job of a new repository ------------------------------------------------------------------------


@pytest.mark.parametrize("step", USES, ids=lambda step: step.uses)
def test_steps_not_run(step: Step) -> None:
    # Counted, and named by `pytest -rx`. It is no skip: nothing that could be installed here would let it run.
    pytest.xfail(f"not run: {step.name} uses {step.uses}")


def test_the_report_is_kept_whatever_came_of_it() -> None:
    uploads = [step for step in USES if step.uses.startswith("actions/upload-artifact@")]
    assert [step.condition for step in uploads] == ["always()", "always()"]
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step.uses) for step in USES if not step.uses.startswith("./"))
    job = yaml.safe_load((TEMPLATES / "gitlab.yml").read_text())["conformance"]
    assert job["artifacts"] == {"when": "always", "paths": ["tffs-report"]}


@pytest.mark.long
@pytest.mark.parametrize("forge", ["GitHub", "GitLab"])
def test_a_new_repository_is_green_and_the_hook_judges_its_plugin(repository: Path, forge: str) -> None:
    github = repository / ".github/workflows/conformance.yml", "conformance"
    steps = github_job(*github) if forge == "GitHub" else gitlab_job(repository / ".gitlab-ci.yml", "conformance")
    printed = ran(steps, repository, PYTEST_ADDOPTS=f"-p no:randomly {SMOKE}")
    assert "Requirement already satisfied: tffs-conformance==" in printed
    assert load(repository / "tffs-report/report.json").verdict.value == "conformant"
    shutil.rmtree(repository / "tffs-report")
    (hook,) = yaml.safe_load(HOOKS.read_text())
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    # pre-commit puts the entry and the arguments of the user together.
    ran([Step("hook", f"{hook['entry']} --plugin-profile=mine.toml")], repository)
    assert load(repository / "tffs-report/report.json").suite.tier == "smoke"


@pytest.mark.long
def test_a_violation_fails_the_job(repository: Path) -> None:
    source = (repository / "mine.cc").read_text()
    assert source.count("TF_OUT_OF_RANGE") == 1
    (repository / "mine.cc").write_text(source.replace("TF_OUT_OF_RANGE", "TF_OK"))
    steps = github_job(repository / ".github/workflows/conformance.yml", "conformance")
    *before, judge = [step for step in steps if step.script]
    ran(before, repository)
    done = workflows.run(judge, repository, environment(repository, PYTEST_ADDOPTS=f"-p no:randomly {SMOKE}"))
    assert done.returncode == 1
    assert "VIOLATION read.return-agrees-with-the-code" in done.stdout


# The action ----------------------------------------------------------------------------------------------------------


def linted(repository: Path) -> tuple[int, str]:
    """The exit code of actionlint, and what it says."""
    if not (shutil.which("actionlint") or shutil.which("go")):
        pytest.skip("not run: neither actionlint is there, nor go, which builds it")
    command = ["actionlint"] if shutil.which("actionlint") else ["go", "run", ACTIONLINT]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    print(done.stderr)
    return done.returncode, done.stdout


@pytest.mark.long
def test_workflows_are_sound(repository: Path) -> None:
    """Those of a new repository, and one that calls the action with each input."""
    inputs = yaml.safe_load(ACTION.read_text())["inputs"]
    shutil.copy(ACTION, repository)
    steps = [{"uses": "actions/checkout@v4"}, {"uses": "./", "with": dict.fromkeys(inputs, "x")}]
    caller = {"on": "push", "jobs": {"judge": {"runs-on": "ubuntu-latest", "steps": steps}}}
    calling = repository / ".github/workflows/calling.yml"
    calling.write_text(yaml.safe_dump(caller))
    subprocess.run(["git", "init", "-q"], cwd=repository, check=True)
    assert linted(repository) == (0, "")
    calling.write_text(yaml.safe_dump(caller).replace("profile:", "profil:"))
    code, said = linted(repository)
    assert (code, 'input "profil" is not defined' in said) == (1, True), said


@pytest.mark.parametrize(
    ("inputs", "options"),
    [
        ({"profile": "mine.toml"}, ["--tier=full", "--report-dir=tffs-report", "--plugin-profile=mine.toml"]),
        (
            {"plugin": "a b.so", "tier": "quick", "report-dir": "out", "waivers": "w.toml"},
            ["--tier=quick", "--report-dir=out", "--plugin=a b.so", "--waivers=w.toml"],
        ),
        (
            {"profile": "mine.toml", "tier": "quick", "baseline": "main/report.json"},
            ["--tier=quick", "--report-dir=tffs-report", "--plugin-profile=mine.toml", "--gate=no-new",
             "--baseline=main/report.json"],
        ),
        (
            {"plugin": "$(touch gone);.so", "args": "--clause=read.*\n\n--env=A=b c\n"},
            ["--tier=full", "--report-dir=tffs-report", "--plugin=$(touch gone);.so", "--clause=read.*", "--env=A=b c"],
        ),
    ],
    ids=["profile", "plugin", "baseline", "args"],
)  # fmt: skip
def test_the_inputs_of_the_action_reach_pytest(repository: Path, inputs: dict[str, str], options: list[str]) -> None:
    judge = next(step for step in github_action(ACTION, inputs) if step.name == "Judge the plugin")
    tier, folder, *more = options
    assert recorded(judge, repository) == (["-n", "auto", tier, folder, "--sandbox=try", *more], "", 0)
    assert not (repository / "gone").exists()


def test_the_action_is_told_what_to_judge(repository: Path) -> None:
    judge = next(step for step in github_action(ACTION, {}) if step.name == "Judge the plugin")
    said = "::error::Neither plugin nor profile is given: one of them says what to judge.\n"
    assert recorded(judge, repository) == ([], said, 4)


RELEASED = "tffs-conformance @ https://example.org/any.whl#sha256=0123"
OTHER = "tffs-conformance @ https://example.org/other.whl#sha256=4567"


@pytest.mark.parametrize(
    ("suite", "named", "installed"),
    [("", "", "/a b"), (OTHER, "", OTHER), ("", RELEASED, RELEASED), (OTHER, RELEASED, OTHER)],
)
def test_the_action_installs_the_wheel_of_a_release_or_the_suite_of_its_commit(
    repository: Path, suite: str, named: str, installed: str
) -> None:
    action = repository.parent / "a b"
    (action / "packaging").mkdir(parents=True)
    if named:
        (action / "packaging/action.txt").write_text(f"{named}\n")
    install = github_action(ACTION, {"suite": suite, "packages": "s3fs\nadlfs", "python": "true"})[0]
    around = {**install.environment, "GITHUB_ACTION_PATH": str(action)}
    got = recorded(replace(install, environment=around), repository)
    packages = [installed.replace("/a b", str(action)), "cmake>=3.20,<5", "ninja>=1.11,<2", "s3fs", "adlfs"]
    assert got == (["-m", "pip", "install", "--quiet", *packages], "", 0)


def test_the_action_builds_only_where_it_is_told_how(repository: Path) -> None:
    names = [step.name for step in github_action(ACTION, {"profile": "mine.toml"})]
    assert names == ["Install the suite", "Judge the plugin", "Keep the report"]
    build = github_action(ACTION, {"build": "tffs-conformance config --includes >includes\nfalse\ntouch gone"})[1]
    commands = repository.parent / "tffs-conformance/bin"
    commands.mkdir(parents=True)
    (commands / "tffs-conformance").symlink_to(Path(sys.executable).parent / "tffs-conformance")
    assert workflows.run(build, repository, environment(repository)).returncode == 1
    assert (repository / "includes").read_text().startswith("-I")
    assert not (repository / "gone").exists()


def tool(name: str) -> str:
    """The path of a program that the group `test` of our requirements brings along."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    return found or pytest.skip(f"not run: no {name}")


def test_the_scripts_are_sound() -> None:
    command = [tool("shellcheck"), "--shell=bash", "--exclude=SC1091", "-"]
    for step in github_action(ACTION, {"build": "x"}):
        if step.script:
            done = subprocess.run(command, input=step.script, capture_output=True, text=True, check=False)
            assert done.stdout == ""


def test_the_hooks_are_in_the_form_of_pre_commit() -> None:
    subprocess.run([tool("pre-commit"), "validate-manifest", str(HOOKS)], check=True)
