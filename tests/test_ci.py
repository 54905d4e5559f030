"""The steps of CI: limits, failures, what waits for what, and what is told at the end."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_suite import command
from tests.topology import until

#: What the steps find, however a shell is set up.
PATH = "/usr/bin:/bin"
pytestmark = pytest.mark.skipif(
    shutil.which("make", path=PATH) is None, reason="not run: make is not there: apt-get install make"
)

CLONE = Path(__file__).parents[1]
#: Steps of ours where CI has its own.
OURS = """
SHELL := {clone}/.ci/step
.SHELLFLAGS = $@ $(minutes)
.ONESHELL:
.SILENT:
minutes = 1
STEPS := sound tests tried late behind far-behind waiting
all: $(STEPS)
$(file >{folder}/kept/steps.txt,$(or $(MAKECMDGOALS),$(STEPS)))
.PHONY: tests
sound:
	echo '=== 3 passed in 0.01s ==='
tests:
	sleep 0.1
	echo '=== 2 failed, 1 passed in 0.01s ==='
	false
	echo beyond
tried:
	-exit 3
late: minutes = 0.008
late:
	sleep infinity & echo $$! >{folder}/pid
	sleep infinity
behind: tests
	echo behind
far-behind: behind
	true
waiting: $(if $(MAKECMDGOALS),,tried)
	grep tried {folder}/kept/durations.txt
"""


def ended(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    steps = folder / "steps.mk"
    steps.write_text(OURS.format(clone=CLONE, folder=folder))
    environment = {"PATH": PATH, "TFFS_CI_ARTIFACTS": str(folder / "kept"), "TFFS_CI_STEPS": str(steps)}
    line = [str(CLONE / ".ci" / "run"), *names]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)


def results(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """What the table at the end says of each step."""
    rows = done.stdout[done.stdout.index("\nstep ") :].splitlines()[2:]
    end = next(number for number, row in enumerate(rows) if row.startswith("all "))
    return {row.split()[0]: row[48:] for row in rows[:end]}


def test_what_came_of_each_step_is_told_and_kept(tmp_path: Path) -> None:
    done = ended(tmp_path)
    assert done.returncode == 1, done.stderr
    assert results(done) == {
        "sound": "passed", "tests": "exit 1", "tried": "exit 3", "late": "late", "waiting": "passed",
        "behind": "not run", "far-behind": "not run",
    }  # fmt: skip
    # Of a step that failed the log is shown, its end once more at the end, and pytest's closing line comes last.
    lines = done.stdout.splitlines()
    shown = "=== 2 failed, 1 passed in 0.01s ==="
    assert lines.count(shown) == 2
    assert lines[lines.index("tests:") + 1] == f"  {shown}"
    assert "beyond" not in done.stdout
    assert lines[-1] == shown
    assert (tmp_path / "kept" / "sound.log").read_text() == "=== 3 passed in 0.01s ===\n"
    assert (tmp_path / "kept" / "durations.txt").read_text() in done.stdout
    # With a step all ends that it started.
    pid = (tmp_path / "pid").read_text().strip()
    until(lambda: not Path("/proc", pid).exists(), "no process is left of a step that was late")


def test_steps_by_name_bring_what_they_need(tmp_path: Path) -> None:
    assert results(ended(tmp_path, "far-behind")) == {"tests": "exit 1", "far-behind": "not run"}
    done = ended(tmp_path, "sound")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "=== 3 passed in 0.01s ===")
    # It waits for nobody who was not asked for.
    assert results(ended(tmp_path, "waiting")) == {"waiting": "exit 1"}
    # One whose failure stops nobody is told of all the same.
    done = ended(tmp_path, "tried")
    assert (done.returncode, results(done)) == (1, {"tried": "exit 3"})
    done = ended(tmp_path, "no-such-step")
    assert (done.returncode, "No rule to make target 'no-such-step'" in done.stderr) == (1, True)


def test_who_ends_a_run_ends_its_steps(tmp_path: Path) -> None:
    steps, pid = tmp_path / "steps.mk", tmp_path / "pid"
    steps.write_text(OURS.format(clone=CLONE, folder=tmp_path).replace("0.008", "1"))
    environment = {"PATH": PATH, "TFFS_CI_ARTIFACTS": str(tmp_path / "kept"), "TFFS_CI_STEPS": str(steps)}
    line = [str(CLONE / ".ci" / "run"), "late"]
    with subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, text=True) as run:
        until(lambda: pid.exists() and pid.read_text().endswith("\n"), "the step began")
        run.terminate()
        told, _ = run.communicate()
    done = subprocess.CompletedProcess(line, run.returncode, told)
    assert (done.returncode, results(done)) == (1, {"late": "exit 143"})
    until(lambda: not Path("/proc", pid.read_text().strip()).exists(), "no process is left of the step")


@pytest.mark.parametrize(("required", "told"), [("", "1 skipped"), ("1", "1 error")])
def test_where_all_is_required_a_skipped_test_has_failed(required: str, told: str) -> None:
    # In this Python there is no TensorFlow.
    environment = {**os.environ, "TFFS_ALL_REQUIRED": required, "TFFS_TENSORFLOW_PYTHON": sys.executable}
    chosen = "tests/test_tensorflow.py::test_tensorflow_registers_what_our_host_registers"
    done = subprocess.run(command(chosen), cwd=CLONE, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, told in done.stdout) == (int(bool(required)), True), done.stdout
    assert ("nothing may be missing" in done.stdout) == bool(required)
