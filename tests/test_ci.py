"""The runner of CI's steps: limits, failures, what waits for what, and what is told at the end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_suite import command

CLONE = Path(__file__).parents[1]
#: Runs steps of ours where the runner has its own.
WITH_OURS = """
import runpy, sys
runner = runpy.run_path({runner!r})
Step = runner["Step"]
steps = (
    Step("sound", "echo '=== 3 passed in 0.01s ==='", minutes=1, cores=1),
    Step("tests", "sleep 0.1; echo '=== 2 failed, 1 passed in 0.01s ==='; false; echo beyond", minutes=1),
    Step("late", "sleep 600 & echo $! >{pid}; sleep 600", minutes=1 / 120),
    Step("beside", "true", minutes=1, yields=True),
    Step("behind", "echo behind", minutes=1, after=("tests",)),
    Step("far-behind", "true", minutes=1, after=("behind",)),
    Step("waiting", "grep 1 {kept}/tests.log", minutes=1, behind=("tests",), cores=0),
)
runner["main"].__globals__["STEPS"] = steps
sys.exit(runner["main"]())
"""


def ended(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    script = WITH_OURS.format(runner=str(CLONE / ".ci" / "steps.py"), pid=str(folder / "pid"), kept=folder / "kept")
    environment = {"PATH": "/usr/bin:/bin", "TFFS_CI_ARTIFACTS": str(folder / "kept"), "XDG_CACHE_HOME": str(folder)}
    line = [sys.executable, "-c", script, *names]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)


def test_what_came_of_each_step_is_told_and_kept(tmp_path: Path) -> None:
    done = ended(tmp_path)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("step "))
    end = next(number for number, line in enumerate(lines) if line.startswith("all "))
    told = {line.split()[0]: line[20:34].strip() for line in lines[head + 1 : end]}
    assert told == {"sound": "passed", "tests": "exit 1", "late": "over 0.5 s", "beside": "passed",
                    "behind": "not run", "far-behind": "not run", "waiting": "passed"}  # fmt: skip
    # Of a step that failed the log is shown, its end once more at the end, and pytest's closing line comes last.
    again = lines.index("tests: exit 1", end)
    assert lines[again + 1] == "  === 2 failed, 1 passed in 0.01s ==="
    assert "beyond" not in done.stdout
    assert lines[-1] == "=== 2 failed, 1 passed in 0.01s ==="
    assert (tmp_path / "kept" / "sound.log").read_text() == "=== 3 passed in 0.01s ===\n"
    assert '"over 0.5 s"' in (tmp_path / "kept" / "durations.json").read_text()
    # With a step all ends that it started.
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_steps_by_name_bring_what_they_need(tmp_path: Path) -> None:
    done = ended(tmp_path, "behind")
    assert [line.split()[0] for line in done.stdout.splitlines() if line[20:34].strip() in ("exit 1", "not run")] == [
        "tests",
        "behind",
    ]
    done = ended(tmp_path, "sound", "beside")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "=== 3 passed in 0.01s ===")
    # It waits for nobody who was not asked for.
    (tmp_path / "kept" / "tests.log").write_text("1")
    done = ended(tmp_path, "waiting")
    assert (done.returncode, "tests" in done.stdout) == (0, False), done.stdout
    done = ended(tmp_path, "no-such-step")
    assert (done.returncode, done.stderr[:26]) == (1, "no such step: no-such-step")


@pytest.mark.parametrize(("required", "told"), [("", "1 skipped"), ("1", "1 error")])
def test_where_all_is_required_a_skipped_test_has_failed(required: str, told: str) -> None:
    # In this Python there is no TensorFlow.
    environment = {**os.environ, "TFFS_ALL_REQUIRED": required, "TFFS_TENSORFLOW_PYTHON": sys.executable}
    chosen = "tests/test_tensorflow.py::test_tensorflow_registers_what_our_host_registers"
    done = subprocess.run(command(chosen), cwd=CLONE, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, told in done.stdout) == (int(bool(required)), True), done.stdout
    assert ("nothing may be missing" in done.stdout) == bool(required)
