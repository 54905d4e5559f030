"""A run of pytest with `--plugin`, as its controller and its workers have it in common: the cases and how they end.

pytest itself is the controller, and with pytest-xdist it has workers. The controller finds out what there is to know,
sends it to the workers, and writes down what they report.
"""

import gc
import inspect
import pickle
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ..harness.interrupts import Interrupts, deferred
from ..reports import plain
from ..reports.model.records import CaseRecord
from ..reports.model.verdicts import Verdict
from ..reports.model.waivers import Waiver
from ..suite.engine import collect
from ..suite.engine.attempts import evidence_of, run_case
from ..suite.engine.case import Case
from ..suite.engine.ending import recorded
from ..suite.engine.plugin_facts import PluginFacts
from ..suite.engine.target import Target
from ..suite.engine.workbench import Workbench
from ..suite.judge.evidence import Evidence
from ..suite.judge.waivers import waived
from . import collection
from .outcome import present, tell, warn
from .run_options import RunOptions
from .selection import selection

_CASE = pytest.StashKey[Case]()
#: What the case of an item saw, None before it was run.
_EVIDENCE = pytest.StashKey[Evidence | None]()
#: Whether the case of an item came to an end.
_ENDED = pytest.StashKey[bool]()


class Session(ABC):
    """The targets of a run by name, each with a workbench from its first case on, and with its waivers."""

    def __init__(
        self,
        config: pytest.Config,
        options: RunOptions,
        judged: Sequence[Target],
        waivers: Mapping[str, Sequence[Waiver]],
        interrupts: Interrupts,
        facts: dict[str, PluginFacts],
    ) -> None:
        self.config = config
        self.options = options
        self.targets = {target.name: target for target in judged}
        self.waivers = waivers
        self._facts = facts
        self.benches: dict[str, Workbench] = {}
        self.wanted = collection.Wanted.of(options)
        self.interrupts = interrupts
        paths: tuple[str, ...] = ()
        # A worker is given what its controller collects, and the same options.
        is_told = getattr(config.option, "tffs_whole", False)
        self.whole = is_told or config.args_source is not pytest.Config.ArgsSource.ARGS
        config.option.tffs_whole = self.whole
        if not self.whole:
            paths = tuple(config.args)
            config.args = collection.paths(config.args)
        else:
            config.args = collection.files()
            if "full" not in self.wanted.tiers:
                # It has nothing to tell where there are no properties, and imports Hypothesis for that: half a second.
                config.pluginmanager.unregister(name="hypothesispytest")
        #: The options by which the user leaves something out.
        self.selected = selection(config, options, paths)
        #: The ids of the cases that are run.
        self.cases: frozenset[str] = frozenset()
        self._is_to_end = False

    def facts(self, target: str) -> PluginFacts:
        """What the first look at a target found out."""
        return self._facts[target]

    @abstractmethod
    def hand_over(self, target: str, record: CaseRecord, report: pytest.TestReport) -> None:
        """Do with the record of a case what is to be done with it as the case ends."""

    def bench(self, target: str) -> Workbench:
        """The workbench of a target."""
        if target not in self.benches:
            self.benches[target] = Workbench(self.targets[target], self.facts(target))
            self.benches[target].cases = self.cases
        return self.benches[target]

    @property
    def usable(self) -> list[str]:
        """The targets of which more can be run than the cases about their registration.

        What else an unusable one leaves out is known without pytest, unless the user leaves out something by options
        that only pytest can read.
        """
        by_pytest = [option for option in self.selected if not option.startswith(("--clause=", "--case=", "--shard="))]
        return [name for name in self.targets if by_pytest or not self.facts(name).unusable]

    def aim(self) -> None:
        """Collect no more than what can be run."""
        if not self.usable:
            self.config.args = collection.files(collection.REGISTRATION)
            self.whole = self.config.option.tffs_whole = False

    # Collection ------------------------------------------------------------------------------------------------------

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
        """Collect our modules in our own way."""
        return collection.module(module_path, parent, self._sought())

    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Directory | None:
        """Collect ours at once."""
        return collection.directory(path, parent, self._sought())

    def _sought(self) -> frozenset[str] | None:
        """The functions that are collected; None where paths or node ids name some, which pytest then looks for."""
        return self.wanted.functions if self.whole else None

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Every case runs on every target that it can run on."""
        if "case" in metafunc.fixturenames and len(self.targets) > 1:
            about_loading = metafunc.definition.nodeid.startswith(f"{collection.NODES}{collection.REGISTRATION}::")
            targets = list(self.targets) if about_loading or self.config.option.collectonly else self.usable
            metafunc.parametrize("case", targets, indirect=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Apply --tier, --clause, --case and --shard."""
        items[:] = [item for item in items if not collection.is_ours(item) or self.wanted.has(collect.listed(item))]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Know which cases are run."""
        self.cases = frozenset(collect.listed(item).id for item in session.items if collection.is_ours(item))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """From now on garbage is collected, but what is loaded is none."""
        gc.freeze()
        gc.enable()

    # Cases -----------------------------------------------------------------------------------------------------------

    def target_of(self, item: pytest.Function) -> str:
        """The name of the target that an item is about."""
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        return str(parameters.get("case") or next(iter(self.targets)))

    @pytest.fixture
    def case(self, request: pytest.FixtureRequest) -> Iterator[Case]:
        """One case at work; where there are several targets the parameter names the one it is about."""
        node = request.node
        target = self.target_of(node)
        listed = collect.listed(node)
        this = Case(
            self.bench(target), listed.id, listed.clauses, listed.doc, over_tables=listed.over_tables, tier=listed.tier
        )
        node.stash[_CASE], node.stash[_EVIDENCE], node.stash[_ENDED] = this, None, False
        this.bench.begin()
        yield this
        if not node.stash[_ENDED]:
            this.surroundings.abandon()
        # pytest keeps every item to the end: what the plugin answered must not stay with it.
        del node.stash[_CASE], node.stash[_EVIDENCE]
        this.surroundings.clear()

    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Run a case as the engine runs it."""
        case = pyfuncitem.stash.get(_CASE, None)
        if case is None:
            return None
        given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
        try:
            evidence = run_case(case, lambda one: pyfuncitem.obj(**(given | {"case": one})))
        except KeyboardInterrupt:
            if case.evidence is None:
                raise
            # pytest makes no report of an item that is interrupted, so the run ends after this one.
            evidence, self._is_to_end = case.evidence, True
        pyfuncitem.stash[_EVIDENCE] = evidence
        if evidence.error is not None:
            # A debugger of pytest's begins where it was raised.
            raise evidence.error
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        """End the run where somebody interrupted a case that had seen something, which is written down by now."""
        done = yield
        if self._is_to_end:
            raise KeyboardInterrupt
        return done

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Turn what a case gave into pytest's outcomes."""
        case = item.stash.get(_CASE, None)
        if call.when != "call" or case is None:
            report = yield
            if call.excinfo is not None and report.failed and collection.is_ours(item):
                tell(report, item, call)
            return report
        # What pytest shows of a case comes from its record; to format where it ended costs more than most cases.
        raised, call.excinfo = call.excinfo, None
        report = yield
        call.excinfo = raised
        with deferred():
            # Where a hook of others ended the item, the case was not run.
            evidence = item.stash[_EVIDENCE] or evidence_of(case, raised.value if raised else None)
            record = waived(recorded(case, evidence), self.waivers[case.target_name])
            report.tffs_verdict = record.verdict.value  # type: ignore[attr-defined]
            self.hand_over(case.target_name, record, report)
            item.stash[_ENDED] = True
            # The plugin is at it while pytest ends the test.
            case.surroundings.begin_to_clear()
        present(report, record, item)
        warn(item, record)
        return report

    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        """An error of ours is shown as one."""
        if getattr(report, "tffs_verdict", None) == Verdict.ERROR:
            return "error", "E", "ERROR"
        return None


class Worker(Session):
    """The part of a run in a worker of pytest-xdist: it judges what the controller sent, and reports to it."""

    def __init__(self, config: pytest.Config, sent: Mapping[str, Any]) -> None:
        waivers = {name: plain.read(text, list[Waiver]) for name, text in sent["tffs_waivers"].items()}
        apart = str(sent["workerid"]) if sent["tffs_apart"] else ""
        targets, facts = pickle.loads(sent["tffs_known"])
        judged = [replace(target, apart=apart) for target in targets]
        interrupts = Interrupts()
        config.add_cleanup(interrupts.restore)
        super().__init__(config, RunOptions.of(config.option), judged, waivers, interrupts, facts)
        self.aim()

    def hand_over(self, target: str, record: CaseRecord, report: pytest.TestReport) -> None:
        """Send the record to the controller with pytest's report."""
        report.tffs_target = target  # type: ignore[attr-defined]
        # As JSON: what a plugin said need not be text that goes over the wire of pytest-xdist.
        report.tffs_case = plain.text(record)  # type: ignore[attr-defined]

    def pytest_keyboard_interrupt(self) -> None:
        """End without being disturbed."""
        self.interrupts.ending = True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """End the hosts of this worker, and tell the controller what they left behind."""
        for bench in self.benches.values():
            bench.close()
        output: dict[str, Any] = self.config.workeroutput  # type: ignore[attr-defined]
        output["tffs_left_behind"] = {name: bench.left_behind for name, bench in self.benches.items()}
