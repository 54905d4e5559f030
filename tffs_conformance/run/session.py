"""A run of pytest with `--plugin`, as its controller and its workers have it in common: the cases and how they end.

pytest itself is the controller, and with pytest-xdist it has workers. The controller finds out what there is to know,
sends it to the workers, and writes down what they report.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ..reports import plain
from ..reports.records import CaseRecord
from ..reports.verdicts import Verdict
from ..reports.waivers import Waiver, waived
from ..suite.engine import collect
from ..suite.engine.case import Case
from ..suite.engine.ending import conclude
from ..suite.engine.knowledge import Knowledge
from ..suite.engine.target import Target
from ..suite.engine.workbench import Workbench
from . import collection
from .outcome import ConformanceWarning, present
from .run_options import RunOptions

_CASE = pytest.StashKey[Case]()


class Session(ABC):
    """The targets of a run by name, each with a workbench from its first case on, and with its waivers."""

    def __init__(
        self,
        config: pytest.Config,
        options: RunOptions,
        judged: Sequence[Target],
        waivers: Mapping[str, Sequence[Waiver]],
    ) -> None:
        self.config = config
        self.options = options
        self.targets = {target.name: target for target in judged}
        self.waivers = waivers
        self.benches: dict[str, Workbench] = {}
        name = f"{ConformanceWarning.__module__}.{ConformanceWarning.__name__}"
        config.addinivalue_line("filterwarnings", f"always::{name}")
        if config.args_source != pytest.Config.ArgsSource.ARGS:
            config.args = [str(path) for path in collect.modules()]

    @abstractmethod
    def knowledge(self, target: str) -> Knowledge:
        """What the first look at a target found out."""

    @abstractmethod
    def hand_over(self, target: str, record: CaseRecord, report: pytest.TestReport) -> None:
        """Do with the record of a case what is to be done with it as the case ends."""

    def bench(self, target: str) -> Workbench:
        """The workbench of a target."""
        if target not in self.benches:
            self.benches[target] = Workbench(self.targets[target], self.knowledge(target))
        return self.benches[target]

    # Collection ------------------------------------------------------------------------------------------------------

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
        """Collect our modules in our own way."""
        return collection.module(module_path, parent)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Every case runs on every target."""
        if "case" in metafunc.fixturenames and len(self.targets) > 1:
            metafunc.parametrize("case", list(self.targets), indirect=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Apply --tier, --clause and --case."""
        collection.select(self.options, items)

    # Cases -----------------------------------------------------------------------------------------------------------

    @pytest.fixture
    def case(self, request: pytest.FixtureRequest) -> Iterator[Case]:
        """One case at work; where there are several targets the parameter names the one it is about."""
        target = getattr(request, "param", None) or next(iter(self.targets))
        node = request.node
        doc = (node.function.__doc__ or "").strip().splitlines()
        this = Case(
            self.bench(target),
            collect.case_id(node),
            collect.clauses(node),
            doc[0] if doc else "",
            over_tables=collect.is_over_tables(node),
            tier=collect.tier(node),
        )
        node.stash[_CASE] = this
        yield this
        # pytest keeps every item to the end: what the plugin answered must not stay with it.
        del node.stash[_CASE]
        this.clear()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Turn what a case gave into pytest's outcomes."""
        case = item.stash.get(_CASE, None)
        if case is None or call.when != "call":
            return (yield)
        # What is said of a case comes from its record; to write down where it ended costs more than most cases.
        raised, call.excinfo = call.excinfo, None
        report = yield
        call.excinfo = raised
        record = conclude(case, raised.value if raised else None)
        record = waived(record, self.waivers[case.target_name])
        report.tffs_verdict = record.verdict.value  # type: ignore[attr-defined]
        self.hand_over(case.target_name, record, report)
        present(report, record, item)
        for check in record.checks:
            if check.verdict is Verdict.WARNING:
                item.warn(ConformanceWarning(f"{check.clause}: expected {check.expected}, got {check.got}"))
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
        super().__init__(
            config, RunOptions.of(config.option), [Target.from_wire(values) for values in sent["tffs_targets"]], waivers
        )
        self._knowledge = {name: Knowledge.from_wire(values) for name, values in sent["tffs_knowledge"].items()}

    def knowledge(self, target: str) -> Knowledge:
        """What the controller found out."""
        return self._knowledge[target]

    def hand_over(self, target: str, record: CaseRecord, report: pytest.TestReport) -> None:
        """Send the record to the controller with pytest's report."""
        report.tffs_target = target  # type: ignore[attr-defined]
        # As JSON: what a plugin said need not be text that goes over the wire of pytest-xdist.
        report.tffs_case = plain.text(record)  # type: ignore[attr-defined]

    def pytest_sessionfinish(self) -> None:
        """End the hosts of this worker."""
        for bench in self.benches.values():
            bench.close()
