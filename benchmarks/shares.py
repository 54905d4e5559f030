"""Where the milliseconds of a case go: a run of the quick tier with clocks at the borders of its parts.

As a plugin of pytest (`-p shares`) this module sets the clocks, and writes what they show to the file that SHARES
names. A part's time is without that of the parts it calls. Clocks cost some microseconds each time.
"""

import functools
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from measured import Spread, cost
from runs import TIMES, bare

START, PYTEST, SUITE, VERDICTS = "start and end of the run", "pytest", "cases in Python", "verdicts and report"
HOSTS, OPS = "hosts: fork, load, register, end", "ops: wire, kernel and plugin"
#: What belongs to which part: module, class and function.
BORDERS = (
    ("run.session", "", "run_case", SUITE),
    ("suite.engine.surroundings", "Surroundings", "begin_to_clear", SUITE),
    ("suite.engine.surroundings", "Surroundings", "clear", SUITE),
    ("run.session", "", "recorded", VERDICTS),
    ("run.session", "", "waived", VERDICTS),
    ("reports.journal", "Journal", "case", VERDICTS),
    ("harness.hosting.loader", "Loader", "begin", HOSTS),
    ("harness.hosting.loader", "Loader", "load", HOSTS),
    ("harness.hosting.client", "Host", "close", HOSTS),
    ("harness.hosting.loader", "Loaded", "call", OPS),
)


class Clocks:
    """Seconds by part; the clock of one part at a time runs."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._running = [START]
        self._since = time.perf_counter()

    def turn(self) -> None:
        """Give the time since the last turn to the part whose clock runs."""
        now = time.perf_counter()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now

    @contextmanager
    def running(self, part: str) -> Iterator[None]:
        """Inside the block the clock of this part runs, except where another is started."""
        self.turn()
        self._running.append(part)
        try:
            yield
        finally:
            self.turn()
            self._running.pop()

    def around(self, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """A function with the clock of its part."""

        @functools.wraps(work)
        def timed(*arguments: Any, **named: Any) -> Any:
            with self.running(part):
                return work(*arguments, **named)

        return timed


clocks = Clocks()


def pytest_configure(config: pytest.Config) -> None:
    """Set the clocks, before the suite makes its objects."""
    for module, owner, name, part in BORDERS:
        place: Any = __import__(f"tffs_conformance.{module}", fromlist=["x"])
        place = getattr(place, owner) if owner else place
        setattr(place, name, clocks.around(part, getattr(place, name)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """What of a test is no part of the suite is pytest's."""
    with clocks.running(PYTEST):
        return (yield)


def pytest_unconfigure() -> None:
    """Write what the clocks show."""
    clocks.turn()
    Path(os.environ["SHARES"]).write_text(json.dumps(clocks.seconds))


def figures(python: str, folder: Path) -> Iterator[tuple[str, Spread]]:
    """Milliseconds a case by part, and in percent of the run."""
    shown = []
    for _ in range(TIMES):
        command = bare(python, "-p", "shares", "--plugin=posix", "--tier=quick")
        cost(command, folder, PYTHONPATH=str(Path(__file__).parent), SHARES=str(folder / "shares.json"))
        shown.append(json.loads((folder / "shares.json").read_text()))
    cases = len(json.loads((folder / "tffs-report" / "report.json").read_text())["cases"])
    for part in (PYTEST, SUITE, VERDICTS, HOSTS, OPS, START):
        yield f"quick tier, milliseconds a case: {part}", Spread.of([one[part] * 1000 / cases for one in shown])
