"""The Python that has the TensorFlow which ops go through."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ..native import RUNTIME_NAME
from ..targets.runtimes import Runtime, installed

#: What users call the TensorFlow of this Python.
HERE = "tensorflow"
HOST = Path(__file__).with_name("tensorflow_host.py")
_ASK = """
import importlib.util
spec = importlib.util.find_spec("tensorflow")
print(*(spec.submodule_search_locations or ())) if spec else None
"""


class NoInterpreterError(Exception):
    """There is no such Python, or no TensorFlow in it; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python with TensorFlow in it; `library` is where TensorFlow's own filesystems are.

    Where it `loads`, libraries come by `tf.load_library`, and their filesystems are C++ classes; else they are plugins.
    """

    python: str
    runtime: Runtime
    loads: bool = False

    @property
    def host(self) -> tuple[str, ...]:
        """The program of hosts whose ops go through this TensorFlow."""
        return (self.python, str(HOST), *(["load"] if self.loads else []))

    @property
    def library(self) -> Path:
        """The shared object with the filesystems that TensorFlow brings."""
        return Path(self.runtime.libraries[0])


def find(given: str) -> Interpreter:
    """The Python that a user means: `tensorflow` for this one, or the path of another. Raises NoInterpreterError."""
    python = sys.executable if given == HERE else given
    try:
        done = subprocess.run([python, "-c", _ASK], capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoInterpreterError(f"{given!r} is neither {HERE!r} nor a Python that runs: {error.strerror}") from error
    folder = Path(done.stdout.strip())
    if done.returncode != 0 or not done.stdout.strip() or not (folder / RUNTIME_NAME).is_file():
        raise NoInterpreterError(f"no TensorFlow is installed for {python}")
    return Interpreter(python, installed(folder))
