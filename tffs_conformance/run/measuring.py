"""What services say of a read: a file is read by the target, and then by the same plugin on another node."""

import random
import secrets
import time
from dataclasses import replace
from typing import Any

from ..harness.hosting.loader import BlockedError
from ..harness.ops import paths
from ..harness.ops.guard import Guard
from ..harness.services import Measure, Services
from ..reports.model.services import Figure, Figures
from ..suite.engine.target import Target
from ..suite.engine.workbench import Workbench

#: Bytes of one read.
_PIECE = 1 << 20
#: Figures that stay as they are for so many seconds are settled; they are waited for no longer than for the second.
_QUIET, _PATIENCE = 1.0, 15.0


class WrongBytesError(Exception):
    """What was read is not what was written."""


def measure(target: Target, running: Services, what: Measure) -> Figures:
    """Read a file that is new to everybody, twice, and see by how much the figures grew."""
    images = tuple(sorted({facts["image"] for facts in running.facts.values()}))
    elsewhere = {**target.environment, **what.environment}
    nodes = {"the plugin": target, "the plugin on another node": replace(target, environment=elsewhere)}
    name = f"measured-{secrets.token_hex(4)}"
    content = random.Random(name).randbytes(what.size)
    bench = Workbench(target)
    try:
        bench.make_root()
        bench.backing.write(name, content)
        before = running.figures()
        for who, node in nodes.items():
            if _read(node, name, what.size) != content:
                raise WrongBytesError(f"{who} does not read what is in the file")
        after = _settled(running)
        bench.backing.delete(name)
    except Exception as error:
        # A store, an engine or a plugin that fails in a way nobody foresaw must not cost the report of the run.
        return Figures(images, what.size, (), f"{type(error).__name__}: {error}")
    finally:
        bench.close()
    grown = tuple(Figure(figure, after[figure] - count) for figure, count in before.items())
    return Figures(images, what.size, grown, None)


def _read(target: Target, name: str, size: int) -> bytes:
    """All of a file, through a host of its own."""
    assert target.root is not None
    bench = Workbench(target)
    try:
        filesystem: Any = bench.filesystem(bench.load("services"), Guard(target.root), [])
        opened = filesystem.new_random_access_file(paths.join(target.root, name))
        if opened.value is None:
            raise BlockedError(opened.op, f"{opened.code} {opened.message}")
        got = b"".join(opened.value.read(offset, _PIECE).value.data for offset in range(0, size + 1, _PIECE))
        opened.value.cleanup()
        return got
    finally:
        bench.close()


def _settled(running: Services) -> dict[str, int]:
    """The figures when they have stopped to grow: services count a little later than they serve."""
    deadline = time.monotonic() + _PATIENCE
    figures = running.figures()
    while time.monotonic() < deadline:
        time.sleep(_QUIET)
        figures, before = running.figures(), figures
        if figures == before:
            break
    return figures
