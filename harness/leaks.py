"""What a host's process holds more of each time the same is done: leaks, counted from outside of the plugin.

Only what grows every time is a leak. What grows once is a cache or a table that was made at the first use, so all is
done some times before it counts, and what seems to grow has to grow by as much again over twice as many rounds.
"""

import mmap
import time
from collections.abc import Callable, Iterable, Mapping

from .client import Host
from .state import State

#: The least growth a round that is a leak: descriptors and threads by number, memory in bytes.
LEAST: Mapping[str, int] = {"descriptors": 1, "threads": 1, "mapped": mmap.PAGESIZE, "heap": 16}
#: Less memory than this says nothing, however few the rounds were.
NOISE = 4096
#: Rounds before it counts, to count what there is little of, and to count bytes: fewer with a plugin that is slow.
WARM, COUNTED, WEIGHED = 16, 32, 512
#: Fewer rounds than this tell nothing.
FEWEST = 4
#: About the seconds after which no more rounds are begun.
SECONDS = 0.5
#: Seconds that are granted to what is freed by another thread, or by one that is about to end.
GRACE = 1.0

#: Does the same so many times.
Repeat = Callable[[int], object]


def leaked_per_call(host: Host, repeat: Repeat) -> dict[str, int]:
    """What grows by how much each time, a key of LEAST each; empty where nothing does.

    Bytes are not weighed where descriptors or threads are lost: there have to be enough of these left to go on.
    """
    _perform(repeat, WARM)
    found = _growing(host, repeat, COUNTED, ("descriptors", "threads", "mapped"))
    if "threads" in found:
        # Their stacks are no news.
        found.pop("mapped", None)
    return found or _growing(host, repeat, WEIGHED, ("heap",))


def _perform(repeat: Repeat, wanted: int) -> int:
    """So many rounds, or as many as there is time for; their number."""
    done, started = 0, time.perf_counter()
    while done < FEWEST or (done < wanted and time.perf_counter() - started < SECONDS):
        more = min(max(done, 1), wanted - done)
        repeat(more)
        done += more
    return done


def _growing(host: Host, repeat: Repeat, wanted: int, names: Iterable[str]) -> dict[str, int]:
    """What of `names` grows by its least in some rounds, and again in twice as many."""
    before = State.of(host)
    rounds = _perform(repeat, wanted)
    suspects = _settled(host, before, rounds, names)
    if suspects:
        before = State.of(host)
        repeat(rounds)
        repeat(rounds)
        suspects = _settled(host, before, 2 * rounds, suspects)
    return suspects


def _settled(host: Host, before: State, rounds: int, names: Iterable[str]) -> dict[str, int]:
    """What has grown, and stays so."""
    deadline = time.monotonic() + GRACE
    while grown := _grown(before, State.of(host), rounds, names):
        if time.monotonic() > deadline:
            break
        time.sleep(0.001)
    return grown


def _grown(before: State, after: State, rounds: int, names: Iterable[str]) -> dict[str, int]:
    grown = {name: getattr(after, name) - getattr(before, name) for name in names}
    return {
        name: growth // rounds
        for name, growth in grown.items()
        if growth >= max(LEAST[name] * rounds, NOISE if name in ("heap", "mapped") else 0)
    }
