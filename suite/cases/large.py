"""What cases need that move more than 2 GiB: a long run, memory, and room on the disk."""

import shutil
import tempfile
from pathlib import Path

from ...harness.targets.backing import Unable
from ..engine.case import Case
from ..engine.target import EXAMPLES

#: Pieces of which so many make more than a number of 31 bits counts; in bytes.
PIECE, COUNT = 64 << 20, 33
BEYOND = PIECE * COUNT
#: What has to be free of memory and of room for temporary files, in bytes, for the store may be in either.
NEEDED = 3 * BEYOND


def needs_room(case: Case) -> None:
    """End a case that this run or this machine has no room for: it is not run."""
    if case.bench.target.examples < EXAMPLES:
        raise Unable(f"2 GiB are moved only where no fewer than {EXAMPLES} --examples are asked for")
    facts = Path("/proc/meminfo")
    lines = dict(line.split(":") for line in facts.read_text().splitlines()) if facts.exists() else {}
    memory = int(lines.get("MemAvailable", "0").split()[0]) << 10
    if min(memory, shutil.disk_usage(tempfile.gettempdir()).free) <= NEEDED:
        raise Unable(f"{NEEDED >> 30} GiB of memory and of room for temporary files are not there")
