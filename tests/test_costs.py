"""What a plugin costs: exponents are found, fakes are named, nothing of it is a verdict."""

import math
import os
import random
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.records import COSTS, GOOD, report_of
from tests.test_suite import command, environment, report, run
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.over_tables.programs import Spent
from tffs_conformance.reports.forms import cost_words
from tffs_conformance.reports.forms.cost_lines import cost_lines
from tffs_conformance.reports.forms.markdown import LIMIT, bounded
from tffs_conformance.reports.model.costs import Cost, Costs, Growth, HeldMemory, Point
from tffs_conformance.reports.model.redaction import Redaction
from tffs_conformance.run.targets import only_target
from tffs_conformance.suite.costs import measure as measure_module
from tffs_conformance.suite.costs import timing
from tffs_conformance.suite.costs.calls import WORK, CallCounter
from tffs_conformance.suite.costs.findings import findings
from tffs_conformance.suite.costs.fitting import growth
from tffs_conformance.suite.costs.ground import Ground
from tffs_conformance.suite.costs.measure import measure
from tffs_conformance.suite.costs.timing import _busy, percentile
from tffs_conformance.suite.costs.workloads import DIRECTORY, FILE, THREADS, WORKLOADS, Workload
from tffs_conformance.suite.engine.first_look import first_look
from tffs_conformance.suite.judge import compare

ROUNDS = 12
SIZES = (16, 64, 256, 1024, 4096)
#: Who has a fraction of a processor may see no growth: so often it is looked for. What does not grow is never named.
TRIES = 3


# How a time grows ----------------------------------------------------------------------------------------------------


def noisy(exponent: float, noise: float, seed: int, constant: float = 0) -> dict[int, list[float]]:
    """Times that grow with this exponent beside a constant part; `noise` is the spread of their logarithms."""
    draw = random.Random(seed)
    return {n: [(constant + n**exponent) * math.exp(draw.gauss(0, noise)) for _ in range(ROUNDS)] for n in SIZES}


@settings(deadline=None, max_examples=40)
@given(st.floats(0, 2.5), st.floats(0, 0.3), st.integers(0, 1000))
def test_an_exponent_is_found_in_noise(exponent: float, noise: float, seed: int) -> None:
    found = growth(noisy(exponent, noise, seed))
    assert found is not None
    assert abs(found.exponent - exponent) < 0.01 + noise
    assert found.low <= found.exponent <= found.high


def test_the_confidence_holds_in_nearly_all_draws() -> None:
    found = [growth(noisy(1.5, 0.2, seed)) for seed in range(60)]
    assert sum(one is not None and one.low <= 1.5 <= one.high for one in found) >= 50


def test_a_constant_part_does_not_hide_the_growth_of_large_sizes() -> None:
    found = growth(noisy(2, 0.05, 1, constant=10_000))
    assert found is not None
    assert found.low > 1.6


@pytest.mark.parametrize(("sizes", "rounds"), [((1, 2), 9), ((1, 2, 4), 2), ((), 0)])
def test_too_little_gives_no_exponent(sizes: tuple[int, ...], rounds: int) -> None:
    assert growth({size: [1.0] * rounds for size in sizes}) is None


def test_a_clock_that_tells_no_time_is_no_error() -> None:
    assert growth({size: [0.0] * 5 for size in SIZES}) == Growth(exponent=0, low=0, high=0)


def test_percentiles() -> None:
    assert [percentile([*range(1, 101)], share) for share in (0.25, 0.5, 0.95, 1)] == [25, 50, 95, 100]
    assert percentile([7.0]) == 7


# What it says --------------------------------------------------------------------------------------------------------


def work(op: str, grows: str) -> Workload:
    return next(one for one in WORKLOADS if (one.op, one.grows) == (op, grows))


def figure(one: Workload, exponent: float, beside: float = 0, spread: float = 0.05, **more: Any) -> Cost:
    """A figure whose times grow so, and those of the reference; `spread` is half of the confidence."""
    points = tuple(Point(at=n, calls=9, median=n**exponent, p95=n**exponent, reference=n**beside) for n in SIZES)
    grown = Growth(exponent=exponent, low=exponent - spread, high=exponent + spread, reference=beside)
    return Cost(op=one.op, what=one.what, grows=one.grows, growth=grown, **({"points": points} | more))


def said(one: Workload | None, cost: Cost, alike: bool = True) -> str:
    return " | ".join(findings([(one, cost)], "posix", alike))


@pytest.mark.parametrize(
    ("op", "grows", "exponent", "beside", "words"),
    [
        ("get_children", DIRECTORY, 2, 1, "listing is quadratic: 'list a directory' grows as n^2.00 (1.95 to 2.05)"),
        ("get_children", DIRECTORY, 3, 1, "listing is worse than quadratic"),
        ("get_children", DIRECTORY, 1.5, 1, "listing is more than linear (n^1.5)"),
        ("get_children", DIRECTORY, 1.1, 1, ""),
        ("read", FILE, 1, 0, "a read of one byte fetches the object"),
        ("rename_file", FILE, 0.9, 0, "rename copies every byte"),
        ("rename_file", FILE, 0.2, 0, ""),
        # The storage itself copies: the reference plugin does no better.
        ("rename_file", FILE, 0.9, 0.9, ""),
    ],
)
def test_growth_in_words(op: str, grows: str, exponent: float, beside: float, words: str) -> None:
    one = work(op, grows)
    got = said(one, figure(one, exponent, beside))
    assert got.startswith(words)
    assert bool(got) == bool(words)
    assert ("To do: " in got) == bool(words)


def test_a_reference_of_another_storage_excuses_nothing() -> None:
    one = work("rename_file", FILE)
    assert said(one, figure(one, 0.9, 0.9), alike=False).startswith("rename copies every byte")


def test_what_is_not_sure_is_not_said() -> None:
    one = work("get_children", DIRECTORY)
    assert said(one, figure(one, 2, 1, spread=0.9)) == ""


def test_threads_that_wait_are_told() -> None:
    one = next(one for one in WORKLOADS if one.moves and one.grows == THREADS)
    points = tuple(
        Point(at=n, calls=9, median=1, p95=1, reference=1, rate=100, reference_rate=100 * min(n, 2)) for n in (1, 2, 4)
    )
    assert said(one, Cost(op="read", what="w", grows=THREADS, points=points)).startswith(
        "threads wait for each other: up to 4 of them read 1.0 times what one reads, on posix 2.0 times and more."
    )
    quick = tuple(replace(point, rate=point.reference_rate) for point in points)
    assert said(one, Cost(op="read", what="w", grows=THREADS, points=quick)) == ""


def test_slow_is_said_only_where_even_quick_calls_are() -> None:
    point = Point(at=1, calls=9, median=2000, p95=3000, reference=100)
    slow = Cost(op="stat", what="each call", points=(point,), ratio=20, ratio_least=15)
    assert said(None, slow) == "stat takes 20 times what it takes on posix: 2.00 ms."
    assert said(None, replace(slow, ratio_least=2)) == ""
    assert said(None, slow, alike=False) == ""


def test_sizes_and_times_are_readable() -> None:
    assert [cost_words.time(t) for t in (0.05, 12.34, 1500, 2.5e6)] == ["0.0500 µs", "12.3 µs", "1.50 ms", "2.50 s"]
    assert cost_words.size(4096, "bytes of the file") == "4 KiB"
    assert [cost_words.size(n, DIRECTORY) for n in (1, 4096)] == ["1 entry", "4,096 entries"]
    assert [cost_words.rate(r) for r in (5e9, 5e6, 500)] == ["5.00 GB/s", "5.00 MB/s", "0.500 kB/s"]


class Noisy:
    """A size of which every visit took as long as it should, or as much longer as the noise makes it."""

    def __init__(self, size: int, noise: float) -> None:
        self.size, self.noise, self.numbers = size, noise, random.Random(size)
        self.medians: list[float] = []

    def visit(self) -> None:
        self.medians.append(self.size * math.exp(self.numbers.gauss(0, self.noise)))


@pytest.mark.parametrize(("noise", "more"), [(0.0, False), (3.0, True)], ids=["quiet", "busy"])
def test_an_exponent_that_is_not_sure_is_measured_for_longer(
    noise: float, more: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # There is time enough: it ends because it was visited as often as may be.
    monkeypatch.setattr(timing, "PATIENCE", 2)
    sides: Any = {size: [Noisy(size, noise)] for size in (16, 64, 256, 1024)}
    timing._visit(sides, 60)
    visits = len(sides[16][0].medians)
    assert (visits > timing.VISITS) == more
    assert visits <= timing.VISITS * timing.PATIENCE


# On plugins ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in memory, where there is one, and more time: a machine that is busy makes few files in a moment."""
    monkeypatch.setattr(measure_module, "SHORT_SECONDS", 2.0)
    memory = Path("/dev/shm")
    # A container of docker has 64 MiB there.
    if not os.access(memory, os.W_OK) or shutil.disk_usage(memory).free < 1 << 30:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def measured(folder: Path, plugin: str, fault: str, *workloads: Workload, counter: CallCounter | None = None) -> Costs:
    scheme = plugin.rpartition("/")[2]
    target = only_target(plugin, None, f"{scheme}://{folder}", {"TFFS_FAULT": fault} if fault else {}, 10.0)
    return measure(target, first_look(target), short=True, workloads=workloads, counter=counter)


@pytest.mark.parametrize(
    ("fault", "op", "grows", "words"),
    [
        ("get_children.from-the-front", "get_children", DIRECTORY, "listing is "),
        ("read.whole-file", "read", FILE, "a read of one byte fetches the object"),
        ("rename_file.by-copy", "rename_file", FILE, "rename copies every byte"),
    ],
)
def test_a_fake_is_named(quick: Path, fault: str, op: str, grows: str, words: str) -> None:
    for _ in range(TRIES):
        got = measured(quick, "fakes/faulty", fault, work(op, grows))
        assert (got.failure, got.reference, got.alike) == (None, "posix", True)
        if any(finding.startswith(words) for finding in got.findings):
            break
    else:
        pytest.fail(str(got.figures[-1]))
    # The reference was measured, too, and nothing is left of either.
    assert got.figures[-1].points[0].reference is not None
    assert [path.name for path in quick.glob("*/costs-*")] == []


def test_files_that_live_in_the_process_are_measured_beside_memory(tmp_path: Path) -> None:
    got = measured(Path("/tffs"), "memory", "", work("stat", FILE))
    assert (got.failure, got.storage, got.reference) == (None, "memory of the process", "memory")
    (entries,) = [held for held in got.memory if "entries" in held.what]
    # Ten thousand names and what belongs to them.
    assert 10_000 * 50 < entries.bytes < 10_000 * 5_000


class Storage:
    """A storage of whose calls a service counts three from one question to the next."""

    what = "calls of the storage"

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self) -> Counter[str]:
        self.seen += 3
        return Counter(GET=self.seen)


def test_calls_of_the_storage_are_told_for_each_op(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spent(ground: Ground, *_: object) -> list[HeldMemory]:
        """What came before took all the time for making, as on a busy machine."""
        ground.allow(0.0)
        return []

    monkeypatch.setattr(measure_module, "held", spent)
    got = measured(quick, "fakes/faulty", "fails:copy_file", counter=Storage())
    assert (got.failure, got.counted) == (None, "calls of the storage")
    # What goes wrong has no figure, and a reason.
    assert {one.what for one in got.called} == set(WORK) - {"copy a file"}
    assert got.unmeasured == ("calls of the storage to copy a file: copy_file answers INTERNAL",)
    assert all(one.calls == {"GET": 1} for one in got.called)
    assert ("stat of a file", "1 GET") in cost_words.called(got)


def test_memory_that_could_not_be_measured_has_a_reason(quick: Path) -> None:
    got = measured(quick, "fakes/faulty", "fails:new_read_only_memory_region_from_file")
    why = "memory of a region of 1 MiB: new_read_only_memory_region_from_file answers INTERNAL"
    assert (got.failure, len(got.memory), got.unmeasured) == (None, 3, (why,))
    assert f"  not measured: {why}" in [text for text, _ in cost_lines(got, 120)]


def test_a_plugin_that_dies_keeps_what_was_measured(quick: Path) -> None:
    got = measured(quick, "fakes/faulty", "crash:copy_file", work("stat", FILE))
    assert "copy_file" in str(got.failure)
    assert got.storage == "a disk of this machine"
    got = measured(quick, "fakes/faulty", "fails:copy_file", work("stat", FILE), work("copy_file", FILE))
    assert got.failure is None
    why = [cost.left_out for cost in got.figures if cost.op == "copy_file"]
    assert why == ["it answers INTERNAL", "copy_file answers INTERNAL"]


def test_a_run_says_what_it_costs_and_stays_what_it_was(tmp_path: Path, quick: Path) -> None:
    arguments = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=get_children.from-the-front", "--tier=smoke", "--measure")
    done = run(tmp_path, *arguments, f"--root=faulty://{quick}")
    assert done.returncode == 0, done.stdout
    assert "measuring what faulty costs: some seconds" in done.stdout
    found = report(tmp_path)
    # What is found differs with the machine's load: what is told here is all that was found.
    assert done.stdout.count("COST ") == len(found["costs"]["findings"])
    assert (found["verdict"], found["left_out"]) == ("conformant", None)
    assert {cost["grows"] for cost in found["costs"]["figures"] if "grows" in cost} >= {FILE, DIRECTORY, THREADS}
    assert {"stat", "append", "delete_recursively"} <= {cost["op"] for cost in found["costs"]["figures"]}
    assert len(found["costs"]["memory"]) == 4


def test_who_interrupts_the_measuring_keeps_the_report(tmp_path: Path) -> None:
    arguments = ("--plugin=posix", "--tier=smoke", "--measure")
    with subprocess.Popen(
        command(*arguments), cwd=tmp_path, env=environment(), text=True, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        # It is said before the first op is measured.
        assert any("measuring what posix costs" in line for line in running.stdout)
        running.send_signal(signal.SIGINT)
        rest = running.stdout.read()
    assert "the measuring was interrupted" in rest
    assert running.returncode == 0
    found = report(tmp_path)
    assert (found["verdict"], "costs" in found) == ("conformant", False)


def test_times_of_threads_are_counted_once() -> None:
    calls = [Spent("read", start, end, Code.OK) for start, end in ((0, 10), (5, 12), (6, 8), (20, 25))]
    assert _busy(calls) == 17
    assert _busy([]) == 0


# In the report -------------------------------------------------------------------------------------------------------


def test_costs_are_no_difference() -> None:
    with_costs = report_of(*GOOD, costs=COSTS)
    without = replace(with_costs, costs=None)
    assert compare.compare(without, with_costs) == compare.compare(without, without)
    assert (with_costs.verdict, with_costs.counts) == (without.verdict, without.counts)


def test_a_secret_is_not_told() -> None:
    figures = (Cost(op="read", what="w", left_out="a hunter2 b"),)
    got = Costs(storage="s", figures=figures, failure="hunter2").without_secrets(Redaction({"TOKEN": "hunter2"}))
    assert "hunter2" not in str(got)


@pytest.mark.parametrize(
    ("exponents", "told"),
    [
        ((0.1, 1.2), "nothing grows faster than it has to"),
        (
            (1.35, 1.4, 1),
            "nothing is sure to grow faster than it has to; the steepest, n^1.40 (0.90 to 1.90), is:"
            " write a file and close it (on posix n^1.00)",
        ),
    ],
)
def test_the_sentence_fits_the_table(exponents: tuple[float, ...], told: str) -> None:
    names = ("copy a file", "write a file and close it", "list a directory")
    figures = tuple(
        replace(COSTS.figures[1], what=name, growth=Growth(exponent=one, low=one - 0.5, high=one + 0.5, reference=1))
        for name, one in zip(names, exponents, strict=False)
    )
    costs = replace(COSTS, findings=(), figures=figures)
    assert told in ["".join(text).strip() for text, _ in cost_lines(costs, 200)]
    # In Markdown figures are code.
    assert told in bounded(report_of(*GOOD, costs=costs), LIMIT).replace("`", "")


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_summary_fits_the_terminal(columns: int) -> None:
    few, all_ = (["".join(text) for text, _ in cost_lines(COSTS, columns, verbosity)] for verbosity in (0, 1))
    assert all(len(line) <= max(columns, 88) for line in all_)
    assert "  COST listing is quadratic" in few
    assert any(line.startswith("  the measuring ended early: it crashed") for line in few)
    assert len(all_) > len(few)
