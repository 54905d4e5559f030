"""Which suite this is, beyond its version: the commit that it was built from."""

import functools
import os
import re
import subprocess
from pathlib import Path

from ..reports.model.header import UNKNOWN

_PACKAGE = Path(__file__).parent.parent

#: Where the build writes the commit.
COMMIT_FILE = _PACKAGE / "commit.txt"

_COMMIT = re.compile(r"[0-9a-f]{40}(-dirty)?")


@functools.cache
def commit() -> str:
    """The git commit of the suite: 40 hexadecimal digits, with `-dirty` where files of the clone differ from it.

    A clone is asked for its own, an installed package has that of its build. `unknown` where neither tells.
    """
    clone = _PACKAGE.parent
    if (clone / ".git").exists():
        found = _described(clone)
    else:
        found = COMMIT_FILE.read_text(encoding="ascii").strip() if COMMIT_FILE.is_file() else ""
    return found if _COMMIT.fullmatch(found) else UNKNOWN


def _described(clone: Path) -> str:
    # A hook of git sets variables that point to another repository; and nothing here is to write into the clone.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    command = ["git", "-C", str(clone), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
