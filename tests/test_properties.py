"""Properties, from the outside: what is found is shrunk, written down, and found again."""

import importlib.util
import json
import random
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.records import record
from tests.test_suite import command, environment, report, run
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

FAULTY = "--plugin=fakes/faulty"
TREE = "--case=properties/tree"
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

    def histories(*loaded: str) -> str:
        command = [sys.executable, "-c", HISTORIES, *loaded]
        return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True).stdout

    alone = histories()
    assert int(alone.split()[0]) >= 100
    assert histories("of_the_user") == alone


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


def test_what_shows_after_a_refused_op_is_found_by_default(tmp_path: Path) -> None:
    done = run(tmp_path, FAULTY, "--env=TFFS_FAULT=history.refused-create-counts", TREE)
    assert done.returncode == 1
    assert "is_directory.of-a-file" in done.stdout
    assert [step["op"] for step in found(tmp_path)["steps"]][-2:] == ["create_dir", "is_directory"]


def test_more_directories_than_a_page_are_deleted(tmp_path: Path) -> None:
    fault = "--env=TFFS_FAULT=counts.directories-behind-a-page"
    done = run(tmp_path, FAULTY, fault, "--backing=file://{path}", "--case=properties/crowded")
    assert done.returncode == 1
    assert "VIOLATION common.histories-add-up" in done.stdout


def test_of_what_right_histories_looked_at_each_clause_is_told(tmp_path: Path) -> None:
    run(tmp_path, "--plugin=posix", "--case=properties/reads", "--case=properties/patterns", "--examples=5")
    told = {check["clause"]: check["verdict"] for case in report(tmp_path)["cases"] for check in case["checks"]}
    assert {"read.returns-the-bytes", "get_matching_paths.succeeds"} < told.keys()
    assert set(told.values()) == {"conform"}


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
    done = run(tmp_path, "--plugin=posix_choices", f"--env=TFFS_CHOICES={choices}", "--replay=trace.json")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("asked", "code", "passed_on", "right"),
    [
        (Code.FAILED_PRECONDITION, Code.NOT_FOUND, "path_exists", True),
        (Code.FAILED_PRECONDITION, Code.NOT_FOUND, "", False),
        (Code.FAILED_PRECONDITION, Code.OK, "path_exists", False),
        (Code.OK, Code.NOT_FOUND, "path_exists", False),
    ],
)
def test_core_may_pass_on_another_error_and_no_error_for_a_success(
    asked: Code, code: Code, passed_on: str, right: bool
) -> None:
    outcome = Outcome("delete_recursively", code, "", None, source=Source.DEFAULT, passed_on=passed_on)
    assert is_right_code(outcome, Expectation("a.clause", frozenset({asked}))) is right


def test_a_report_says_how_much_was_tried(tmp_path: Path) -> None:
    assert run(tmp_path, "--plugin=posix", "--case=properties/reads").returncode == 0
    reason = report(tmp_path)["cases"][0]["reason"]
    assert re.fullmatch(r"\d+ histories were tried: seed 0, Hypothesis [\d.]+", reason)


def test_hypothesis_without_its_private_module_draws_with_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis.internal.conjecture.providers", None)
    spec = importlib.util.spec_from_file_location("without_providers", draws.__file__)
    assert spec is not None
    assert spec.loader is not None
    without = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(without)
    assert without.BACKEND == "hypothesis"
    assert "draws constants" in without.CAVEAT
    assert draws.BACKEND != "hypothesis"


def found(directory: Path) -> dict[str, Any]:
    """The trace that a run left."""
    loaded: dict[str, Any] = json.loads((directory / TRACE).read_text())
    return loaded


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which a crash was found that takes three ops."""
    directory = tmp_path_factory.mktemp("crashed")
    done = run(directory, FAULTY, "--env=TFFS_FAULT=history.crash", TREE)
    assert done.returncode == 1, done.stdout
    assert "robustness.no-crash" in done.stdout
    return directory


def test_a_crash_is_shrunk_to_the_ops_it_needs(crashed: Path) -> None:
    assert [step["op"] for step in found(crashed)["steps"]] == ["create_dir", "delete_dir", "create_dir"]
    assert "shrunk to 3 ops" in report(crashed)["cases"][0]["reason"]


def test_where_no_trace_can_be_written_what_was_found_is_told_all_the_same(tmp_path: Path) -> None:
    (tmp_path / TRACE).mkdir(parents=True)
    done = run(tmp_path, FAULTY, "--env=TFFS_FAULT=history.crash", TREE)
    (case,) = report(tmp_path)["cases"]
    assert (done.returncode, case["verdict"]) == (1, "violation")
    assert case["reason"].endswith("; no trace could be written: Is a directory")
    assert not (tmp_path / TRACE).with_suffix(".cc").exists()


def test_the_trace_reproduces_it(crashed: Path, tmp_path: Path) -> None:
    done = run(tmp_path, FAULTY, "--env=TFFS_FAULT=history.crash", f"--replay={crashed / TRACE}")
    assert done.returncode == 1
    assert "robustness.no-crash" in done.stdout
    # The same history is no trouble where the fault is not.
    assert run(tmp_path, "--plugin=posix", f"--replay={crashed / TRACE}").returncode == 0


def test_the_pytest_line_reproduces_it(crashed: Path, tmp_path: Path) -> None:
    line = shlex.split(report(crashed)["cases"][0]["reason"].split("; ")[-1])
    assert line[0] == "pytest"
    done = subprocess.run(
        command(*line[1:]), cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "robustness.no-crash" in done.stdout


def built(source: Path, directory: Path) -> Path:
    """The program as its own first lines say it is built."""
    line = next(line for line in source.read_text().splitlines() if line.startswith("//   g++"))
    words = shlex.split(line.removeprefix("//"))
    words[words.index("this-file.cc")] = str(source)
    subprocess.run([*words, "-Wall"], cwd=directory, check=True)
    return directory / "reproduce"


def test_the_program_reproduces_a_crash(crashed: Path, tmp_path: Path) -> None:
    program = built(crashed / TRACE.with_suffix(".cc"), tmp_path)
    assert subprocess.run([program], check=False, capture_output=True).returncode < 0
    # Without the fault the same calls come back.
    source = (crashed / TRACE.with_suffix(".cc")).read_text()
    harmless = tmp_path / "harmless.cc"
    harmless.write_text(source.replace('"history.crash"', '""'))
    done = subprocess.run([built(harmless, tmp_path)], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "not reproduced"), done.stdout


def test_the_program_reproduces_a_wrong_answer(tmp_path: Path) -> None:
    done = run(tmp_path, FAULTY, "--env=TFFS_FAULT=history.copy-shares", TREE)
    assert done.returncode == 1
    assert "common.histories-add-up" in done.stdout
    program = built(tmp_path / TRACE.with_suffix(".cc"), tmp_path)
    again = subprocess.run([program], check=False, capture_output=True, text=True)
    assert (again.returncode, again.stdout.splitlines()[-1][:10]) == (1, "reproduced"), again.stdout


def test_a_hang_is_shrunk_and_reproduced(tmp_path: Path) -> None:
    done = run(tmp_path, FAULTY, "--env=TFFS_FAULT=history.hang", "--call-timeout=1", TREE)
    assert done.returncode == 1
    assert found(tmp_path)["clause"] == "robustness.no-hang"
    assert [step["op"] for step in found(tmp_path)["steps"]] == ["create_dir", "delete_dir", "create_dir"]
    program = built(tmp_path / TRACE.with_suffix(".cc"), tmp_path)
    again = subprocess.run([program], check=False, capture_output=True, text=True)
    assert (again.returncode, "create_dir: did not come back" in again.stdout) == (1, True)


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
    arguments = (FAULTY, "--env=TFFS_FAULT=history.crash", TREE, "--examples=1")
    assert run(tmp_path, *arguments).returncode == 0
    (tmp_path / TRACE).parent.mkdir(parents=True)
    (tmp_path / TRACE).write_bytes((crashed / TRACE).read_bytes())
    assert run(tmp_path, *arguments).returncode == 1
    # Where it fails no more it is known no more.
    assert run(tmp_path, "--plugin=posix", TREE, "--examples=1").returncode == 0
    assert not (tmp_path / TRACE).exists()


def test_the_same_seed_finds_the_same(crashed: Path, tmp_path: Path) -> None:
    run(tmp_path, FAULTY, "--env=TFFS_FAULT=history.crash", TREE, "-p", "xdist", "-n", "1")
    assert found(tmp_path)["steps"] == found(crashed)["steps"]
    assert report(tmp_path)["suite"]["seed"] == 0


def test_another_seed_is_in_the_report_and_in_the_line(tmp_path: Path) -> None:
    done = run(tmp_path, FAULTY, "--env=TFFS_FAULT=history.crash", TREE, "--seed=7")
    assert done.returncode == 1
    assert report(tmp_path)["suite"]["seed"] == 7
    assert "--seed=7" in done.stdout


@pytest.mark.parametrize("content", ["", "{}", '{"schema": "another/1"}', "[]"])
def test_a_file_that_is_no_trace(tmp_path: Path, content: str) -> None:
    (tmp_path / "trace.json").write_text(content)
    done = run(tmp_path, "--plugin=posix", "--replay=trace.json")
    assert done.returncode == 4
    assert "--replay: trace.json" in done.stderr
    assert "Traceback" not in done.stderr


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
