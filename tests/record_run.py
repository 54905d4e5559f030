"""Records docs/images/run.svg: the terminal of a real run on a plugin that is wrong on purpose.

`python tests/record_run.py` makes it again, where the package is installed. Only the directory of the run, in the path
of the report, is written as `~`.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "run.svg"
COMMAND = ["pytest", "-q", "--plugin=fakes/faulty", "--env=TFFS_FAULT=flush.loses", "--tier=smoke"]
COLUMNS = 100
#: What every run of pytest is given here.
ADDED = "--color=yes -p no:randomly -p no:cacheprovider"
#: rich's picture, without the fonts that it has loaded from elsewhere: a viewer's own monospaced font will do.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}|<!--.*?-->", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def run() -> str:
    """What the command prints, with its colours."""
    with tempfile.TemporaryDirectory() as directory:
        wide = os.environ | {"COLUMNS": str(COLUMNS), "PYTEST_ADDOPTS": ADDED}
        command = [sys.executable, "-m", *COMMAND]
        ran = subprocess.run(command, cwd=directory, env=wide, text=True, capture_output=True, check=False)
        assert ran.returncode == 1, ran.stdout + ran.stderr
        return ran.stdout.replace(directory, "~")


def main() -> None:
    """Write the picture."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(f"$ {' '.join(COMMAND)}\n{run()}"))
    PICTURE.parent.mkdir(exist_ok=True)
    console.save_svg(str(PICTURE), title="tffs-conformance", theme=MONOKAI, unique_id="run", code_format=FORMAT)


if __name__ == "__main__":
    main()
