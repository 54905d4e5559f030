"""Finds leaks from outside of the plugin: repeats a program of ops and counts what the host process holds more of.

Only what grows every time is a leak. What grows once is a cache or a table made at first use. So the program runs a few
times before anything is counted. What fills once, as a ring of calls or a pool of connections does, is filled; and what
seems to grow must grow by as much again over as many rounds as there were until then.
"""

import mmap
import time
from collections.abc import Callable, Iterable, Mapping

from .client import Host
from .state import State

#: The smallest growth per round that is a leak: a number of descriptors and threads, bytes of memory.
LEAST: Mapping[str, int] = {"descriptors": 1, "threads": 1, "mapped": mmap.PAGESIZE, "heap": 16}
#: A growth of fewer bytes than this in all rounds together is not a leak.
NOISE = 4096
#: Rounds to warm up, to count descriptors and threads, and to count bytes. A slow plugin gets fewer.
WARM, COUNTED, WEIGHED = 16, 32, 512
#: What fills once holds no more than this, and is full after this number of calls. After the seconds it is not judged.
FULL: Mapping[str, int] = {"descriptors": 256, "threads": 64, "mapped": 4 << 20, "heap": 4 << 20}
FILLING, FILLING_SECONDS = 10_000, 60.0
#: Fewer rounds than this do not suffice for a verdict.
FEWEST = 4
#: Seconds after which no further rounds begin; and where it takes more of them to tell a growth from noise.
SECONDS, UNDECIDED_SECONDS = 0.5, 60.0
#: Seconds to wait for what another thread frees, and for threads that are about to end.
GRACE = 1.0


class UndecidedError(Exception):
    """There was no time for the rounds that tell a leak from noise. The text says so in a sentence."""


#: Performs the program this many times.
Repeat = Callable[[int], object]


def leaked_per_round(host: Host, repeat: Repeat, calls: int = 1) -> dict[str, int]:
    """The leaks by name, a key of LEAST each, with the growth per round of so many calls. Empty where nothing leaks.

    Bytes are not counted where descriptors or threads leak, because the process would run out of those. Raises
    UndecidedError.
    """
    _perform(repeat, WARM)
    filling = FILLING // max(1, calls)
    found = _growing(host, repeat, COUNTED, ("descriptors", "threads", "mapped"), filling)
    if "threads" in found:
        # A leaked thread leaks its stack, which needs no second violation.
        found.pop("mapped", None)
    return found or _growing(host, repeat, WEIGHED, ("heap",), filling)


def _perform(repeat: Repeat, wanted: int, seconds: float = SECONDS) -> int:
    """Perform this many rounds, or as many as there is time for. Return their number."""
    done, started = 0, time.perf_counter()
    while done < FEWEST or (done < wanted and time.perf_counter() - started < seconds):
        more = min(max(done, 1), wanted - done)
        repeat(more)
        done += more
    return done


def _growing(host: Host, repeat: Repeat, wanted: int, names: Iterable[str], filling: int) -> dict[str, int]:
    """Which of `names` grow by at least their LEAST per round, and go on to do so when all is full."""
    before = State.of(host)
    rounds = _perform(repeat, wanted)
    # On a busy machine, and with a slow plugin, there is time for few: less than noise may still be a leak in each.
    ends = time.monotonic() + UNDECIDED_SECONDS
    while rounds < wanted and _undecided(before, State.of(host), rounds, names):
        if time.monotonic() > ends:
            raise UndecidedError(f"{rounds} rounds in {UNDECIDED_SECONDS:.0f} s do not tell a leak from noise")
        repeat(rounds)
        rounds *= 2
    suspects = _settled(host, before, rounds, names)
    if suspects:
        filling = max(FEWEST, min(filling, *(FULL[name] // growth for name, growth in suspects.items())))
        filled = _perform(repeat, filling, FILLING_SECONDS)
        if filled < filling:
            raise UndecidedError(f"{filled} rounds in {FILLING_SECONDS:.0f} s do not fill what fills once")
        # What doubles when it is full grows once while the rounds double.
        rounds += WARM + COUNTED + filled
        before = State.of(host)
        repeat(rounds)
        suspects = _settled(host, before, rounds, suspects)
    return suspects


def _settled(host: Host, before: State, rounds: int, names: Iterable[str]) -> dict[str, int]:
    """What has grown and has not shrunk again after the wait."""
    deadline = time.monotonic() + GRACE
    while grown := _grown(before, State.of(host), rounds, names):
        if time.monotonic() > deadline:
            break
        time.sleep(0.001)
    return grown


def _undecided(before: State, after: State, rounds: int, names: Iterable[str]) -> bool:
    return _grown(before, after, rounds, names) != _grown(before, after, rounds, names, noise=0)


def _grown(before: State, after: State, rounds: int, names: Iterable[str], noise: int = NOISE) -> dict[str, int]:
    grown = {name: getattr(after, name) - getattr(before, name) for name in names}
    return {
        name: round(growth / rounds)
        for name, growth in grown.items()
        if growth >= max(LEAST[name] * rounds, noise if name in ("heap", "mapped") else 0)
    }
