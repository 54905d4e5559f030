"""Figures of commands and functions: run in turn, in both orders, with their spread."""

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tffs_conformance.harness.native import RUNTIME_NAME, include_directory, native_directory

#: How often the two of a pair are run, half of the times in each order.
ROUNDS = 6


@dataclass(frozen=True)
class Spread:
    """The least, the median and the greatest of several figures."""

    least: float
    median: float
    most: float
    rounds: int

    @classmethod
    def of(cls, figures: Sequence[float]) -> "Spread":
        """The spread of figures that were all taken in the same way."""
        return cls(min(figures), statistics.median(figures), max(figures), len(figures))

    def __str__(self) -> str:
        return f"{self.median:.3g}  ({self.least:.3g} to {self.most:.3g})"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class CommandCost:
    """What one command cost: seconds of the clock, seconds of processors, bytes of its largest process."""

    wall: float
    cpu: float
    peak: int


def cost(command: Sequence[str], folder: Path, codes: Sequence[int] = (0,), **environment: str) -> CommandCost:
    """Run a command to its end. Raises RuntimeError where its exit code is none of `codes`."""
    started = time.perf_counter()
    # Where nothing compiled is kept, all is compiled each time: no user has it so.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        command, cwd=folder, env={**inherited, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    if process.returncode not in codes:
        raise RuntimeError(f"exit code {process.returncode}: {' '.join(command)}")
    return CommandCost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def in_turn(one: Callable[[], float], other: Callable[[], float], rounds: int = ROUNDS) -> list[tuple[float, float]]:
    """Both figures of each round: whoever went second in a round goes first in the next."""
    pairs = []
    for number in range(rounds):
        if number % 2 == 0:
            first = one()
            pairs.append((first, other()))
        else:
            second = other()
            pairs.append((one(), second))
    return pairs


def ratio(pairs: Sequence[tuple[float, float]]) -> Spread:
    """How many times the second figure the first one is, pair by pair."""
    return Spread.of([one / other for one, other in pairs])


def compiled(source: str, folder: Path) -> Path:
    """Build the C++ file with this name, which lies beside this module, and return the program in `folder`."""
    native, program = native_directory(), folder / Path(source).stem
    command = ["c++", "-std=c++17", "-O2", f"-I{include_directory()}", str(Path(__file__).with_name(source))]
    command += ["-o", str(program), str(native / RUNTIME_NAME), f"-Wl,-rpath,{native}", "-Wl,--no-as-needed"]
    subprocess.run([*command, "-ldl", "-pthread"], check=True)
    return program
