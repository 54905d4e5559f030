"""memory in a process that forks while its threads are in ops."""

import subprocess
from pathlib import Path

from tests.pages import PROJECT
from tffs_conformance.harness.native import RUNTIME_NAME, native_directory
from tffs_conformance.harness.targets.shipped import plugin_path


def test_a_child_of_fork_finds_no_lock_taken(tmp_path: Path) -> None:
    program, runtime = tmp_path / "forking", str(native_directory() / RUNTIME_NAME)
    subprocess.run(
        ["c++", "-std=c++17", "-O1", "-pthread", f"-I{PROJECT / 'harness/include'}", "-o", program,
         Path(__file__).with_name("forking.cc"), runtime, "-ldl"], check=True,
    )  # fmt: skip
    environment = {"LD_LIBRARY_PATH": str(Path(runtime).parent)}
    done = subprocess.run([program, runtime, plugin_path("memory")], env=environment, timeout=600, check=False)
    assert done.returncode == 0
