"""What the ops of a plugin take: exponents are found, fakes are seen, nothing of it is a verdict."""

import math
import random
import signal
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from tests.records import COSTS, GOOD, report_of
from tests.test_suite import report, run, started
from tffs_conformance.harness.over_tables.raw import RawFilesystem
from tffs_conformance.reports.forms.cost_table import cost_lines
from tffs_conformance.reports.model.costs import Cost, Costs, Growth
from tffs_conformance.reports.model.redaction import Redaction
from tffs_conformance.run.targets import only_target
from tffs_conformance.suite import costs
from tffs_conformance.suite.costs import DIRECTORY, FILE, growth, measure
from tffs_conformance.suite.engine.first_look import first_look
from tffs_conformance.suite.judge import compare

SIZES = (16, 64, 256, 1024)
#: A machine that is busy may hide how a time grows: it is looked for so often.
TRIES = 3


@pytest.mark.parametrize("exponent", [0, 0.5, 1, 2])
def test_growth_in_noise_finds_the_exponent(exponent: float) -> None:
    draw = random.Random(1)
    found = growth({n: [n**exponent * math.exp(draw.gauss(0, 0.1)) for _ in range(20)] for n in SIZES}, {})
    assert found is not None
    assert abs(found.exponent - exponent) < 0.1
    assert found.low <= found.exponent <= found.high < found.low + 0.2


def test_growth_of_little_is_none_or_zero() -> None:
    assert growth({1: [1.0] * 9, 2: [2.0] * 9}, {}) is None
    assert growth({size: [0.0] * 3 for size in SIZES}, {}) == Growth(exponent=0, low=0, high=0)


def measured(
    plugin: str, root: str, fault: str = "", backing: str | None = None, seconds: float = 0
) -> tuple[Costs, dict[tuple[str, str | None], Cost]]:
    """What is measured; more than the fewest visits take `seconds` for each program."""
    target = replace(only_target(plugin, None, root, {"TFFS_FAULT": fault} if fault else {}, 10.0), backing=backing)
    with mock.patch.object(costs, "SECONDS", seconds):
        got = measure(target, first_look(target))
    return got, {(figure.what, figure.grows): figure for figure in got.figures}


def test_measure_of_a_fake_shows_its_growth(tmp_path: Path) -> None:
    faults = "get_children.from-the-front,read.whole-file,rename_file.by-copy"
    left = {("get_children", DIRECTORY): 1.4, ("read of one byte", FILE): 0.15, ("rename_file", FILE): 0.15}
    for _ in range(TRIES):
        got, figures = measured("fakes/faulty", f"faulty://{tmp_path}", faults, seconds=costs.SECONDS)
        assert (got.storage, got.reference, got.unmeasured) == ("a disk of this machine", "posix", ())
        for what, least in [*left.items()]:
            grown = figures[what].growth
            if grown and grown.reference is not None and grown.low > max(least, grown.reference + 0.15):
                del left[what]
        if not left:
            break
    assert not left, [str(figures[what]) for what in left]
    # Nothing is left of either plugin.
    assert [path for path in tmp_path.parent.rglob("*costs-*") if "costs-" in path.name] == []


def test_measure_in_memory_has_memory_beside_it() -> None:
    got, figures = measured("memory", "memory:///tffs")
    assert (got.storage, got.reference, got.unmeasured) == ("memory of the process", "memory", ())
    assert all(point.rate and point.reference_rate for point in figures["read", FILE].points)
    assert {point.rate for point in figures["stat", FILE].points} == {None}


@pytest.mark.parametrize(
    ("fault", "why"),
    [("fails:copy_file", "copy_file answers INTERNAL"), ("crash:copy_file", "copy_file, and ops with")],
)
def test_measure_of_a_broken_op_names_it(tmp_path: Path, fault: str, why: str) -> None:
    got, figures = measured("fakes/faulty", f"faulty://{tmp_path}", fault)
    assert [text.startswith(why) for text in got.unmeasured] == [True]
    # What comes after it is measured all the same.
    assert ("copy_file", FILE) not in figures
    assert ("delete_recursively", DIRECTORY) in figures


def test_measure_without_writable_files_reads_those_of_the_backing(tmp_path: Path) -> None:
    _, figures = measured("fakes/faulty", f"faulty://{tmp_path}", "fails:new_writable_file", "file://{path}")
    assert [point.at for point in figures["read", FILE].points] == [*costs.SIZES[FILE]]
    assert ("new_writable_file", FILE) not in figures


def test_measure_with_failing_reference_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill = costs._fill

    def fill_some(raw: RawFilesystem, path: str, count: int, size: int) -> str | None:
        return "full" if "-reference" in path and size == 64 << 10 else fill(raw, path, count, size)

    monkeypatch.setattr(costs, "_fill", fill_some)
    work = (
        (FILE, lambda program, path, size: program.path_op("path_exists", path)),
        (FILE, lambda program, path, size: program.stat(path.replace("-reference", "-gone"))),
        # An op that is not OK gets no figure from a later program.
        (FILE, lambda program, path, size: costs._write(program, f"{path}/below", size)),
        (FILE, lambda program, path, size: costs._write(program, path, 1, "new_appendable_file")),
    )
    monkeypatch.setattr(costs, "WORK", work)
    got, figures = measured("posix", f"posix://{tmp_path}")
    assert [point.reference is None for point in figures["path_exists", FILE].points] == [False, True, False, False]
    assert {point.reference for point in figures["stat", FILE].points} == {None}
    said = {"the reference: stat answers NOT_FOUND", "the reference: all ops at 65,536 bytes of the file: full"}
    assert said < {*got.unmeasured}
    assert {what for what, _ in figures} == {"path_exists", "stat", "new_appendable_file"}


def test_run_with_measure_keeps_its_verdict(tmp_path: Path) -> None:
    done = run(tmp_path, "--plugin=posix", "--tier=smoke", "--measure", code=0)
    found = report(tmp_path)
    assert (found["verdict"], found["left_out"]) == ("conformant", None)
    assert done.stdout.count(" 1,024 entries ") == sum(one["grows"] == DIRECTORY for one in found["costs"]["figures"])


def test_interrupted_measuring_keeps_the_report(tmp_path: Path) -> None:
    with started(tmp_path, "--plugin=posix", "--tier=smoke", "--measure") as running:
        assert running.stdout is not None
        # It is said before the first op is measured.
        assert any("measuring what posix costs" in line for line in running.stdout)
        running.send_signal(signal.SIGINT)
        rest = running.stdout.read()
    assert "the measuring was interrupted" in rest
    assert running.returncode == 0
    assert (report(tmp_path)["verdict"], "costs" in report(tmp_path)) == ("conformant", False)


def test_compare_ignores_costs() -> None:
    without = report_of(*GOOD)
    assert compare.compare(without, report_of(*GOOD, costs=COSTS)) == compare.compare(without, without)


def test_costs_have_no_secret() -> None:
    got = Costs(storage="s", unmeasured=("read: hunter2",)).without_secrets(Redaction({"TOKEN": "hunter2"}))
    assert got.unmeasured == ("read: <TOKEN>",)


def test_table_has_the_largest_size_or_all() -> None:
    few, every = ([text for text, _ in cost_lines(COSTS, 80, verbosity)] for verbosity in (0, 1))
    assert all(len(line) <= 90 for line in every)
    assert len(every) == len(few) + 2
    assert "  get_children               256 entries   65.5 ms    256 µs             entries^2.0 (1.0)" in few
    assert few[-1] == "  not measured: copy_file: the plugin has no copy_file"
