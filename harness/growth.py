"""What a host's process holds more of each time the same is done: leaks, counted from outside of the plugin.

Only what grows every time is a leak. What grows once is a cache or a table that was made at the first use, so all is
done some times before it counts, and what seems to grow has to grow by as much again over twice as many rounds.
"""

import mmap
import time
from collections.abc import Callable, Iterable, Mapping

from tffs_conformance.harness.client import Host
from tffs_conformance.harness.state import State

#: The least growth a round that is a leak: descriptors and threads by number, memory in bytes.
LEAST: Mapping[str, int] = {"descriptors": 1, "threads": 1, "mapped": mmap.PAGESIZE, "heap": 16}
#: Less memory than this says nothing, however few the rounds were.
NOISE = 4096
#: Rounds before it counts, to count what there is little of, and to count bytes: fewer with a plugin that is slow.
WARM, COUNTED, WEIGHED = 16, 32, 512
#: Fewer rounds than this tell nothing.
FEWEST = 4
#: About the seconds that the rounds of each of the three may take.
SECONDS = 0.2
#: Seconds that are granted to what is freed by another thread, or by one that is about to end.
GRACE = 1.0

#: Does the same so many times.
Repeat = Callable[[int], object]


def leaks(host: Host, repeat: Repeat) -> dict[str, int]:
    """What grows by how much each time, a key of LEAST each; empty where nothing does.

    Bytes are not weighed where descriptors or threads are lost: there have to be enough of these left to go on.
    """
    started = time.perf_counter()
    repeat(1)
    took = time.perf_counter() - started
    repeat(_rounds(WARM, took))
    found = _growing(host, repeat, _rounds(COUNTED, took), ("descriptors", "threads", "mapped"))
    if "threads" in found:
        # Their stacks are no news.
        found.pop("mapped", None)
    return found or _growing(host, repeat, _rounds(WEIGHED, took), ("heap",))


def _rounds(wanted: int, seconds: float) -> int:
    return max(FEWEST, min(wanted, int(SECONDS / seconds)))


def _growing(host: Host, repeat: Repeat, rounds: int, names: Iterable[str]) -> dict[str, int]:
    """What of `names` grows by its least in so many rounds, and again in twice as many."""
    suspects = dict.fromkeys(names, 0)
    for times in (rounds, 2 * rounds):
        before = State.of(host)
        repeat(times)
        deadline = time.monotonic() + GRACE
        while suspects := _grown(before, State.of(host), times, suspects):
            if time.monotonic() > deadline:
                break
            time.sleep(0.001)
        if not suspects:
            break
    return suspects


def _grown(before: State, after: State, rounds: int, names: Iterable[str]) -> dict[str, int]:
    grown = {name: getattr(after, name) - getattr(before, name) for name in names}
    return {
        name: growth // rounds
        for name, growth in grown.items()
        if growth >= max(LEAST[name] * rounds, NOISE if name in ("heap", "mapped") else 0)
    }
