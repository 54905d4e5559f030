"""The command by which a README builds its plugin, run as printed."""

import re
import subprocess
from pathlib import Path

import pytest

from tffs_conformance.harness.hosting.loader import Loader
from tffs_conformance.harness.launchers.local import Local

PLUGINS = Path(__file__).parents[1] / "reference_plugins"


@pytest.mark.parametrize("name", ["posix", pytest.param("memory", marks=pytest.mark.nightly)])
def test_the_printed_command_builds_a_plugin_that_loads(name: str, tmp_path: Path) -> None:
    printed = re.search(r"^    (g\+\+ (?:.*\\\n)*.*)$", (PLUGINS / name / "README.md").read_text(), re.MULTILINE)
    assert printed is not None
    plugin = tmp_path / f"lib{name}.so"
    command = printed[1].replace(f"-o lib{name}.so", f"-o {plugin}")
    assert str(plugin) in command
    subprocess.run(["bash", "-c", command], cwd=PLUGINS / name, check=True)
    loader = Loader(Local(), plugin, 10)
    try:
        loader.load().host.close()
    finally:
        loader.close()
