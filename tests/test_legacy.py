"""Filesystems that are C++ classes, as TensorFlow had them before plugins: loaded by TensorFlow, judged through it."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.tensorflow.targets import PYTHON, tensorflow
from tests.test_conditions import wrong
from tests.test_suite import report, run
from tffs_conformance.harness.targets.shipped import plugin_path

SOURCE = Path(__file__).with_name("tensorflow") / "legacy.cc"
FLAGS = """
import json
import tensorflow as tf
print(json.dumps([tf.sysconfig.get_compile_flags(), tf.sysconfig.get_link_flags()]))
"""
pytestmark = pytest.mark.skipif(tensorflow() is None, reason=f"not run: no TensorFlow in {PYTHON}")
#: A path where nothing is.
MISSING = "--case=status/one-path[path_exists-missing]"


def test_a_class_is_judged_as_a_plugin_is(tmp_path: Path) -> None:
    told = subprocess.run([PYTHON, "-c", FLAGS], capture_output=True, text=True, check=True).stdout
    compiled, linked = json.loads(told.splitlines()[-1])
    library = tmp_path / "liblegacy.so"
    # Its headers are TensorFlow's, whose warnings are not ours.
    command = ["g++", "-shared", "-fPIC", "-w", *compiled, str(SOURCE), "-o", str(library), *linked]
    subprocess.run(command, check=True, timeout=600)
    given = (f"--load={library}", f"--through={PYTHON}")

    done = run(tmp_path, *given, "--tier=smoke")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "conformance of legacy (legacy://)" in done.stdout

    done = run(tmp_path, *given, MISSING, "--env=TFFS_FAULT=finds")
    assert done.returncode == 1, done.stdout[-3000:]
    assert f"pytest --load={library} --through={PYTHON} --env=TFFS_FAULT=finds" in done.stdout
    found = wrong(report(tmp_path, "selection"))
    assert {clause for verdict, clause, _ in found if verdict == "violation"} == {"path_exists.missing-is-not-found"}


POSIX = f"--load={plugin_path('posix')}"
THROUGH = f"--through={PYTHON}"


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (("--plugin=posix", "--load=libmine.so"), 4, "--load is for what TensorFlow loads: add --through"),
        ((POSIX, THROUGH, "--tier=smoke"), 1, "no class registered itself: what has TF_InitPlugin is for --plugin"),
        (("--load=posix", THROUGH), 4, "--load=posix: there is no such file"),
        ((POSIX, THROUGH, "--plugin=posix"), 4, "--load and --plugin exclude each other"),
    ],
)
def test_what_is_no_class_is_refused(tmp_path: Path, given: tuple[str, ...], code: int, said: str) -> None:
    done = run(tmp_path, *given)
    assert (done.returncode, said in " ".join((done.stderr + done.stdout).split())) == (code, True)
