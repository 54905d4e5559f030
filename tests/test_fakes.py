"""A run with a fake says how to build it, if it is not built."""

from pathlib import Path

from tests.test_suite import run
from tffs_conformance.harness.native import NATIVE_DIRECTORY_VARIABLE, RUNTIME_NAME, native_directory


def test_run_without_built_fakes_names_the_command(tmp_path: Path) -> None:
    for name in ("tffs-host", RUNTIME_NAME):
        (tmp_path / name).symlink_to(native_directory() / name)
    done = run(tmp_path, "--plugin=fakes/null", **{NATIVE_DIRECTORY_VARIABLE: str(tmp_path)})
    assert (done.returncode, "not built" in done.stderr, "python -m tests.fakes" in done.stderr) == (4, True, True)
