"""What cases of files of gigabytes need: memory, room on the disk, and time-outs that follow from what was seen.

They belong to the tier `large`.
"""

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ...harness.targets.backing import BackingUnableError
from ..engine.case import Case

#: Pieces of which so many make more than a number of 31 bits counts; in bytes.
PIECE, COUNT = 64 << 20, 33
BEYOND = PIECE * COUNT
#: What has to be free of memory and of room for temporary files, in bytes, for the store may be in either.
NEEDED = 3 * BEYOND
#: Seconds that a call may take at least: the first one of a piece is what the time-outs of all others follow from.
LEAST = 300.0
#: So many times as long as the first piece may each of the others take: a disk takes what memory holds faster than the
#: rest, and others use the machine, too.
SLOWER = 30


def needs_room() -> None:
    """End a case that this machine has no room for: it is not run."""
    facts = Path("/proc/meminfo")
    lines = dict(line.split(":") for line in facts.read_text().splitlines()) if facts.exists() else {}
    memory = int(lines.get("MemAvailable", "0").split()[0]) << 10
    if min(memory, shutil.disk_usage(tempfile.gettempdir()).free) <= NEEDED:
        raise BackingUnableError(f"{NEEDED >> 30} GiB of memory and of room for temporary files are not there")


def pace(case: Case, move: Callable[[], object]) -> float:
    """Seconds that a call may take which moves COUNT pieces; `move` moves one of them."""
    started = time.monotonic()
    with case.surroundings.patient(LEAST):
        move()
    return max(LEAST, (time.monotonic() - started) * COUNT * SLOWER)
