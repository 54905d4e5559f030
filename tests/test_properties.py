"""Properties, from the outside: what is found is shrunk, written down, and found again."""

import json
import random
import re
import runpy
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.records import record
from tests.test_suite import environment, judged_report, refused, report, run
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Hung, Outcome, Source
from tffs_conformance.harness.ops.tables import OPS
from tffs_conformance.reports.model.records import CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract.model import Expectation, Step
from tffs_conformance.suite.properties import draws
from tffs_conformance.suite.properties.answers import is_right_code
from tffs_conformance.suite.properties.making import Making
from tffs_conformance.suite.properties.rarity import Past, Rarity
from tffs_conformance.suite.properties.search import Search
from tffs_conformance.suite.properties.traces import Trace
from tffs_conformance.suite.properties.tried import Tried

TREE = "--case=properties/tree"
#: Three ops make it crash.
CRASH = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=history.crash", TREE)
CRASHING = ["create_dir", "delete_dir", "create_dir"]
TRACE = Path("tffs-report") / "traces" / "properties-tree.json"


#: Prints digests of the histories that each search makes of seed 0. The argument names a module to be loaded first.
HISTORIES = """
import hashlib, importlib, sys
if len(sys.argv) > 1:
    importlib.import_module(sys.argv[1])
import hypothesis
from hypothesis.stateful import run_state_machine_as_test
from tffs_conformance.harness.ops.tables import OPS
from tffs_conformance.suite.properties import machines, rarity, search, strategies

made = []
for histories in (strategies.reads(), strategies.spellings(), strategies.patterns()):
    @hypothesis.seed(0)
    @search.settings(20)
    @hypothesis.given(histories)
    def keep(steps):
        made.append(repr(steps))
    keep()
for kind in (machines.Tree, machines.Handles):
    met = rarity.Rarity()
    class Made(kind):
        def __init__(self):
            super().__init__(lambda steps: made.append(repr(list(steps))), OPS, (), met)
    hypothesis.seed(0)(Made)
    run_state_machine_as_test(Made, settings=search.settings(20))
print(len(made), hashlib.sha256("".join(made).encode()).hexdigest())
"""


def test_a_seed_is_the_same_histories_whatever_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "of_the_user.py").write_text("PLACES = [1, 2, 3, 5, 100, 511, 4095, 'ab', 'a', '[', '^']\n")
    environ = environment() | {"PYTHONPATH": str(tmp_path)}

    alone, beside = (
        subprocess.run([sys.executable, "-c", HISTORIES, *loaded], cwd=tmp_path, env=environ, text=True,
                       capture_output=True, check=True).stdout
        for loaded in ([], ["of_the_user"])
    )  # fmt: skip
    assert int(alone.split()[0]) >= 100
    assert beside == alone


def test_what_was_met_most_seldom_is_the_likeliest() -> None:
    met, draw = Rarity(), random.Random(0)
    for _ in range(50):
        met.choose([("often",)], draw)
    chosen = Counter(met.choose([("often",), ("seldom",)], draw)[0] for _ in range(50))
    assert chosen["seldom"] > 2 * chosen["often"] > 0


def test_a_path_after_another_past_is_another_meeting() -> None:
    making, met = Making(OPS), Rarity()
    past = Past(making.model, met)
    for _ in range(200):
        past.choose("stat", [("a",)], random.Random(0))
    # In the same situation `b` is rarer, for it was refused something.
    past.done("create_dir", ["b"], refused=True)
    chosen = Counter(past.choose("stat", [("a",), ("b",)], random.Random(n)) for n in range(20))
    assert chosen["b",] > 15


def searched(directory: Path, fault: str, *arguments: str) -> str:
    """What a search says that finds the fault, and leaves its trace."""
    return run(directory, "--plugin=fakes/faulty", f"--env=TFFS_FAULT={fault}", TREE, *arguments, code=1).stdout


def test_what_shows_after_a_refused_op_is_found_by_default(tmp_path: Path) -> None:
    assert "is_directory.of-a-file" in searched(tmp_path, "history.refused-create-counts")
    assert ops(tmp_path)[-2:] == ["create_dir", "is_directory"]


def test_of_what_right_histories_looked_at_each_clause_is_told_and_how_much_was_tried(tmp_path: Path) -> None:
    run(tmp_path, "--plugin=posix", "--case=properties/reads", "--case=properties/patterns", "--examples=5", code=0)
    cases = report(tmp_path)["cases"]
    told = {check["clause"]: check["verdict"] for case in cases for check in case["checks"]}
    assert {"read.returns-the-bytes", "get_matching_paths.succeeds"} < told.keys()
    assert set(told.values()) == {"conform"}
    for case in cases:
        assert re.fullmatch(r"\d+ histories were tried: seed 0, Hypothesis [\d.]+", case["reason"])


@pytest.mark.parametrize(
    ("choices", "op", "path"),
    [
        ("glob-needs-its-directory", "get_matching_paths", "a/?/*"),
        # Core asks path_exists instead, and passes on what it answers.
        ("below-a-file-is-not-found,no-optional-ops", "delete_recursively", "a/b"),
    ],
)
def test_what_a_right_plugin_decides_otherwise_is_no_finding(tmp_path: Path, choices: str, op: str, path: str) -> None:
    history = (Step("new_writable_file", ("a",)), Step("close", file=0), Step(op, (path,)))
    Trace("properties/tree", "", "", "", "", history).write(tmp_path / "trace.json")
    run(tmp_path, "--plugin=posix_choices", f"--env=TFFS_CHOICES={choices}", "--replay=trace.json", code=0)


@pytest.mark.parametrize(
    ("asked", "code", "passed_on", "right"),
    [
        (Code.FAILED_PRECONDITION, Code.NOT_FOUND, "path_exists", True),
        (Code.FAILED_PRECONDITION, Code.NOT_FOUND, "", False),
        (Code.FAILED_PRECONDITION, Code.OK, "path_exists", False),
        (Code.OK, Code.NOT_FOUND, "path_exists", False),
    ],
)
def test_core_changes_errors_but_no_success(asked: Code, code: Code, passed_on: str, right: bool) -> None:
    outcome = Outcome("delete_recursively", code, "", None, source=Source.DEFAULT, passed_on=passed_on)
    assert is_right_code(outcome, Expectation("a.clause", frozenset({asked}))) is right


def test_hypothesis_without_its_private_module_draws_with_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis.internal.conjecture.providers", None)
    without = runpy.run_path(draws.__file__)
    assert (without["BACKEND"], draws.BACKEND == "hypothesis") == ("hypothesis", False)
    assert "draws constants" in without["CAVEAT"]


def found(directory: Path) -> dict[str, Any]:
    """The trace that a run left."""
    loaded: dict[str, Any] = json.loads((directory / TRACE).read_text())
    return loaded


def ops(directory: Path) -> list[str]:
    """The ops of that trace."""
    return [step["op"] for step in found(directory)["steps"]]


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which a crash was found that takes three ops."""
    directory = tmp_path_factory.mktemp("crashed")
    assert "robustness.no-crash" in run(directory, *CRASH, code=1).stdout
    return directory


def test_a_crash_is_shrunk_to_the_ops_it_needs(crashed: Path) -> None:
    assert ops(crashed) == CRASHING
    assert "shrunk to 3 ops" in report(crashed)["cases"][0]["reason"]


def test_where_no_trace_can_be_written_what_was_found_is_told_all_the_same(tmp_path: Path) -> None:
    (tmp_path / TRACE).mkdir(parents=True)
    (case,) = judged_report(tmp_path, *CRASH, code=1)["cases"]
    assert case["verdict"] == "violation"
    assert case["reason"].endswith("; no trace could be written: Is a directory")
    assert not (tmp_path / TRACE).with_suffix(".cc").exists()


def test_the_trace_and_the_pytest_line_reproduce_it(crashed: Path, tmp_path: Path) -> None:
    replay = f"--replay={crashed / TRACE}"
    assert "robustness.no-crash" in run(tmp_path, *CRASH[:2], replay, code=1).stdout
    # The same history is no trouble where the fault is not.
    run(tmp_path, "--plugin=posix", replay, code=0)
    line = shlex.split(report(crashed)["cases"][0]["reason"].split("; ")[-1])
    assert line[0] == "pytest"
    assert "robustness.no-crash" in run(tmp_path, *line[1:], code=1).stdout


def reproduced(source: Path, directory: Path) -> tuple[int, str]:
    """The exit code and the output of the program, built as its own first lines say."""
    line = next(line for line in source.read_text().splitlines() if line.startswith("//   g++"))
    words = shlex.split(line.removeprefix("//"))
    words[words.index("this-file.cc")] = str(source)
    subprocess.run([*words, "-Wall"], cwd=directory, check=True)
    done = subprocess.run([directory / "reproduce"], check=False, capture_output=True, text=True)
    return done.returncode, done.stdout


def test_the_program_reproduces_a_crash(crashed: Path, tmp_path: Path) -> None:
    source = crashed / TRACE.with_suffix(".cc")
    assert reproduced(source, tmp_path)[0] < 0
    # Without the fault the same calls come back.
    harmless = tmp_path / "harmless.cc"
    harmless.write_text(source.read_text().replace('"history.crash"', '""'))
    code, output = reproduced(harmless, tmp_path)
    assert (code, output.splitlines()[-1]) == (0, "not reproduced"), output


def test_the_program_reproduces_a_wrong_answer(tmp_path: Path) -> None:
    assert "common.histories-add-up" in searched(tmp_path, "history.copy-shares")
    code, output = reproduced(tmp_path / TRACE.with_suffix(".cc"), tmp_path)
    assert (code, output.splitlines()[-1][:10]) == (1, "reproduced"), output


def test_a_hang_is_shrunk_and_reproduced(tmp_path: Path) -> None:
    searched(tmp_path, "history.hang", "--call-timeout=1")
    assert (found(tmp_path)["clause"], ops(tmp_path)) == ("robustness.no-hang", CRASHING)
    code, output = reproduced(tmp_path / TRACE.with_suffix(".cc"), tmp_path)
    assert (code, "create_dir: did not come back" in output) == (1, True), output


def test_what_only_is_slow_for_a_moment_is_not_shrunk_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that is busy at first any history is taken for one that hangs, as long as nobody is patient."""
    steps = tuple(Step(op, ("a",)) for op in ("create_dir", "stat", "delete_dir", "path_exists"))
    waits: list[float] = []

    def bench(timeout: float) -> Any:
        waits.append(timeout)
        return SimpleNamespace(close=lambda: None)

    def tried(some: tuple[Step, ...]) -> Tried:
        hangs = steps[2] in some or len(waits) == 1
        checks = [CheckRecord("robustness.no-hang", Verdict.VIOLATION)] if hangs else []
        hung = [("delete_dir", (), Hung("delete_dir", 1))] if hangs else []
        return Tried(some, record("c", Verdict.VIOLATION if hangs else Verdict.CONFORM, *checks), hung, {})

    case: Any = SimpleNamespace(bench=SimpleNamespace(target=SimpleNamespace(timeout=10), apart=bench))
    search = Search(case)
    monkeypatch.setattr(search, "_try", tried)
    monkeypatch.setattr(search, "decided", lambda _: True)
    assert search.smallest(tried(steps)).steps == (steps[2],)
    assert waits == [0.5, 10, 2, 10]


def test_what_is_known_to_fail_is_tried_first(crashed: Path, tmp_path: Path) -> None:
    run(tmp_path, *CRASH, "--examples=1", code=0)
    (tmp_path / TRACE).parent.mkdir(parents=True)
    (tmp_path / TRACE).write_bytes((crashed / TRACE).read_bytes())
    run(tmp_path, *CRASH, "--examples=1", code=1)
    # Where it fails no more it is known no more.
    run(tmp_path, "--plugin=posix", TREE, "--examples=1", code=0)
    assert not (tmp_path / TRACE).exists()


def test_the_same_seed_finds_the_same(crashed: Path, tmp_path: Path) -> None:
    run(tmp_path, *CRASH, "-p", "xdist", "-n", "1")
    assert found(tmp_path)["steps"] == found(crashed)["steps"]
    assert report(tmp_path)["suite"]["seed"] == 0


def test_another_seed_is_in_the_report_and_in_the_line(tmp_path: Path) -> None:
    assert "--seed=7" in searched(tmp_path, "history.crash", "--seed=7")
    assert report(tmp_path)["suite"]["seed"] == 7


@pytest.mark.parametrize("content", ["", "{}", '{"schema": "another/1"}', "[]"])
def test_a_file_that_is_no_trace(tmp_path: Path, content: str) -> None:
    (tmp_path / "trace.json").write_text(content)
    assert "Traceback" not in refused(tmp_path, "--replay: trace.json", "--plugin=posix", "--replay=trace.json")


def test_of_histories_that_broke_nothing_the_one_that_tells_most_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = iter([Verdict.NOT_RUN, Verdict.CONFORM, Verdict.WARNING, Verdict.CONFORM, Verdict.NOT_RUN])
    case: Any = SimpleNamespace(bench=None)
    found = Search(case)
    monkeypatch.setattr(found, "_try", lambda steps: Tried(steps, record("c", next(verdicts)), (), {}))
    stands = []
    for _ in range(5):
        found.attempt(())
        assert found.best is not None
        stands.append(found.best.record.verdict)
    assert stands == [Verdict.NOT_RUN, Verdict.CONFORM, Verdict.WARNING, Verdict.WARNING, Verdict.WARNING]
