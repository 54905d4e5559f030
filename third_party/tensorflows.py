"""A Python with a release of TensorFlow in it."""

import subprocess
import venv
from pathlib import Path

from packaging.version import Version


def install(release: str, folder: Path) -> Path:
    """Install a release into an environment in this folder, which is made; its Python. Raises CalledProcessError."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    # Not every release says itself that it was built for NumPy 1, and the latest do not bring TensorBoard, whose loader
    # is tried. Of its modules few are imported.
    needs = [f"tensorflow-cpu=={release}", "tensorboard"] + (["numpy<2"] if Version(release) < Version("2.18") else [])
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-compile", *needs], check=True)
    return python
