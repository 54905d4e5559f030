"""Filesystems that are C++ classes, as TensorFlow had them before plugins: loaded by TensorFlow, judged through it."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.tensorflow.targets import PYTHON, tensorflow
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


def test_it_takes_the_tensorflow_that_loads_it(tmp_path: Path) -> None:
    done = run(tmp_path, "--plugin=posix", "--load=libmine.so")
    assert (done.returncode, "--load is for what TensorFlow loads: add --through" in done.stderr) == (4, True)


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
    checks = [check for case in report(tmp_path, "selection")["cases"] for check in case["checks"]]
    assert {check["clause"] for check in checks if check["verdict"] == "violation"} == {
        "path_exists.missing-is-not-found"
    }

    plugin = run(tmp_path, f"--load={plugin_path('posix')}", f"--through={PYTHON}", "--tier=smoke")
    assert plugin.returncode == 1
    assert "no class registered itself: what has TF_InitPlugin is for --plugin" in " ".join(plugin.stdout.split())

    nowhere = run(tmp_path, "--load=posix", f"--through={PYTHON}")
    assert (nowhere.returncode, "--load=posix: there is no such file" in nowhere.stderr) == (4, True)

    again = run(tmp_path, *given, "--plugin=posix")
    assert (again.returncode, "--load and --plugin exclude each other" in again.stderr) == (4, True)
