"""What whole runs of pytest cost: by tier and workers, to the first failure, and for a plugin that hangs."""

import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from measured import CommandCost, Spread, cost, in_turn, ratio

from tffs_conformance.harness.targets.shipped import plugin_path

#: So often a run is repeated where it is not one of a pair.
TIMES = 3
HANG = "hang:stat"
BREACH = "read.one-less"


def bare(python: str, *arguments: str) -> list[str]:
    """A run of pytest without what changes from run to run."""
    return [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments]


def fake(name: str) -> Path:
    """A fake, for a Python that need not have any."""
    return plugin_path(f"fakes/{name}")


def against_empty_tests(python: str, folder: Path) -> tuple[str, Spread]:
    """The quick tier on posix, and as many tests that do nothing."""
    cases = cases_of(python, folder)
    empty = folder / "test_empty.py"
    empty.write_text("".join(f"def test_{k}():\n    pass\n" for k in range(cases)))
    must = bare(python, "--plugin=posix", "--tier=quick")
    pairs = in_turn(
        lambda: cost(must, folder).wall, lambda: cost(bare(python, "-p", "no:tffs", str(empty)), folder).wall
    )
    return f"quick tier on posix / {cases} empty tests in bare pytest (time)", ratio(pairs)


def cases_of(python: str, folder: Path) -> int:
    """How many cases the quick tier has."""
    cost(bare(python, "--plugin=posix", "--tier=quick"), folder)
    report = json.loads((folder / "tffs-report" / "report.json").read_text())
    return len(report["cases"])


def by_tier(python: str, folder: Path) -> Iterator[tuple[str, Spread | float]]:
    """Seconds, processor seconds, memory and size of the report, by tier and number of workers."""
    for tier in ("smoke", "quick", "full"):
        for workers in (0, 2):
            options = ["-n", str(workers)] if workers else []
            command = bare(python, "--plugin=posix", f"--tier={tier}", *options)
            costs: list[CommandCost] = [cost(command, folder) for _ in range(TIMES)]
            name = f"{tier} tier on posix, {workers or 'no'} workers"
            yield f"{name}: seconds", Spread.of([one.wall for one in costs])
            yield f"{name}: processor seconds", Spread.of([one.cpu for one in costs])
            yield f"{name}: MiB of the largest process", Spread.of([one.peak / (1 << 20) for one in costs])
        yield f"{tier} tier on posix: KiB of the report", (folder / "tffs-report" / "report.json").stat().st_size / 1024


def to_the_first_failure(python: str, folder: Path) -> tuple[str, Spread]:
    """Seconds until a user sees the first breach of a plugin."""
    arguments = ["-v", f"--plugin={fake('faulty')}", f"--env=TFFS_FAULT={BREACH}", "--tier=quick"]
    command = [part for part in bare(python, *arguments) if part != "-q"]
    times = []
    for _ in range(TIMES):
        started = time.perf_counter()
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            next(line for line in process.stdout if "FAILED" in line)
            times.append(time.perf_counter() - started)
            process.terminate()
            process.communicate()
    return "seconds to the first breach on the terminal", Spread.of(times)


def of_a_hang(python: str, folder: Path) -> tuple[str, Spread]:
    """Seconds that an op which hangs adds to a run, with a time-out of one second."""
    faulty = bare(python, f"--plugin={fake('faulty')}", "--tier=quick", "--call-timeout=1")
    pairs = in_turn(
        lambda: cost(faulty, folder, (1,), TFFS_FAULT=HANG).wall, lambda: cost(faulty, folder).wall, rounds=2
    )
    return "seconds that a hanging op adds, --call-timeout=1", Spread.of([hung - right for hung, right in pairs])


def table(python: str, other: str, folder: Path, rounds: int) -> Iterator[str]:
    """The versions of two interpreters, command by command in turn, as a table in Markdown."""
    empty, lone = folder / "test_empty.py", folder / "alone"
    lone.mkdir()
    # The same number for both, whatever their cases.
    empty.write_text("".join(f"def test_{k}():\n    pass\n" for k in range(cases_of(python, folder))))
    commands: dict[str, list[str]] = {
        "smoke tier": ["--tier=smoke"],
        "one case": ["--case=read/plain"],
        "quick tier": ["--tier=quick"],
        "as many empty tests": ["-p", "no:tffs", str(empty)],
        "full tier": ["--tier=full"],
        "full tier, `-n 2`": ["--tier=full", "-n", "2"],
    }
    yield "| seconds, prompt to prompt: median (least to most) | before | after | after / before |"
    yield "|---|---|---|---|"
    medians = {}
    for name, options in {**commands, "explain": []}.items():

        def command(one: str, options: Sequence[str] = options, name: str = name) -> list[str]:
            if name == "explain":
                return [one, "-m", "tffs_conformance", "explain", "read.succeeds"]
            ours = [] if str(empty) in options else ["--plugin=posix"]
            return bare(one, *ours, *options)

        for one in (python, other):
            _wall(command(one), lone)  # what is compiled and cached once belongs to no round
        pairs = in_turn(partial(_wall, command(python), lone), partial(_wall, command(other), lone), rounds)
        after, before = (Spread.of(figures) for figures in zip(*pairs, strict=True))
        medians[name] = before.median, after.median
        yield f"| {name} | {before} | {after} | {ratio(pairs)} |"
    was, now = (medians["quick tier"][k] / medians["as many empty tests"][k] for k in (0, 1))
    yield f"| quick tier, as a multiple of as many empty tests | {was:.2f} | {now:.2f} | {now / was:.3g} |"


def _wall(command: Sequence[str], folder: Path) -> float:
    return cost(command, folder).wall
