"""Files of CI as tests see them: their steps, and what a runner does with those that are shell.

A step that `uses` an action is not run: the action cannot be had here. It is named, so that a test can count it.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

#: What GitHub starts for a step without a shell, and for one that says `bash`.
SHELLS = {None: ("bash", "-e"), "bash": ("bash", "--noprofile", "--norc", "-eo", "pipefail")}


@dataclass(frozen=True, slots=True)
class Step:
    """A step: the script that it runs, or the action that it uses."""

    name: str
    script: str = ""
    uses: str = ""
    shell: tuple[str, ...] = SHELLS[None]
    condition: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


def github_job(path: Path, job: str) -> list[Step]:
    """The steps of a job of a workflow."""
    return list(_steps(yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"][job]["steps"]))


def github_action(path: Path, given: Mapping[str, str]) -> list[Step]:
    """The steps of a composite action with these inputs, and the defaults of the others."""
    action = yaml.safe_load(path.read_text(encoding="utf-8"))
    if unknown := {*given} - {*action["inputs"]}:
        raise ValueError(f"the action has no inputs {unknown}")
    inputs = {name: str(facts.get("default", "")) for name, facts in action["inputs"].items()} | {**given}
    return list(_steps(action["runs"]["steps"], inputs))


def gitlab_job(path: Path, job: str) -> list[Step]:
    """A job of GitLab as one step: its runner hands all lines to one shell, which ends at the first that fails."""
    facts = yaml.safe_load(path.read_text(encoding="utf-8"))[job]
    return [Step(job, "\n".join(facts["script"]), shell=("sh", "-e"))]


def _steps(steps: list[dict[str, Any]], inputs: Mapping[str, str] | None = None) -> Iterator[Step]:
    for step in steps:
        # Expressions for inputs are the only ones that a script's environment may have.
        environment = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: (inputs or {})[found[1]], str(value))
            for name, value in step.get("env", {}).items()
        }
        name = step.get("name") or step.get("uses") or step["run"]
        condition = str(step.get("if", ""))
        if "uses" in step:
            yield Step(name, uses=step["uses"], condition=condition)
            continue
        if "${{" in step["run"]:
            raise ValueError(f"{name}: an expression in a script is put there unquoted")
        if condition and (found := re.fullmatch(r"inputs\.([\w-]+) != ''", condition)) and not (inputs or {})[found[1]]:
            continue
        yield Step(name, step["run"], "", SHELLS[step.get("shell")], condition, environment)


def run(
    step: Step, folder: Path, environment: Mapping[str, str], root: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the script of a step in a folder, as its runner does, from a file; where there is a `root`, below that."""
    script = (root or Path("/")) / "tmp" / f"step-{os.getpid()}.sh"
    script.write_text(step.script, encoding="utf-8")
    inside = [str(shutil.which("chroot")), str(root)] if root else []
    into = ["sh", "-c", 'cd "$0" && exec "$@"', str(folder)]
    done = subprocess.run(
        [*inside, *into, *step.shell, f"/tmp/{script.name}"], env={**environment, **step.environment}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    script.unlink()
    return done
