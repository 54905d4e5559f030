"""The controller of a run: it prepares the targets, writes their journals, and turns verdicts into the exit code."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self

import pytest

from ..reports import plain, terminal
from ..reports.journal import Journal
from ..reports.records import CaseRecord
from ..reports.report import Report
from ..reports.services import Figures
from ..reports.verdicts import TargetVerdict, Verdict
from ..reports.waivers import Waiver, stale
from ..suite.engine.first_look import first_look
from ..suite.engine.knowledge import Knowledge
from . import services, targets
from .journals import open_journals
from .run_options import RunOptions
from .selection import left_out, selection
from .session import Session
from .targets import PreparedTarget
from .waivers import waivers as read_waivers


class Controller(Session):
    """A run where a user started it; without pytest-xdist it performs the cases itself."""

    def __init__(
        self,
        config: pytest.Config,
        options: RunOptions,
        prepared: Sequence[PreparedTarget],
        waivers: Mapping[str, Sequence[Waiver]],
        journals: Mapping[str, Journal],
    ) -> None:
        super().__init__(config, options, [one.target for one in prepared], waivers)
        self._prepared = prepared
        self._journals = journals
        self._planned: set[str] | None = None
        self._ended = 0
        self._interrupted = False
        self._started = time.monotonic()
        self._knowledge: dict[str, Knowledge] = {}
        self._reports: dict[str, Report] = {}

    @classmethod
    def begin(cls, config: pytest.Config) -> Self:
        """Read what the user gave, start services, look at the plugins, and open the journals. Raises BadUsage."""
        options = RunOptions.of(config.option)
        prepared = targets.prepare(options, partial(services.given, config, options))
        waivers = read_waivers(options.waivers, [one.target.name for one in prepared])
        journals = open_journals(options, prepared, waivers, selection(config.option, options))
        # The summary says what pytest's own sections would say, by clause instead of by test.
        if config.option.tbstyle == "auto":
            config.option.tbstyle = "no"
        return cls(config, options, prepared, waivers, journals)

    def knowledge(self, target: str) -> Knowledge:
        """What one look at the target found out, once for all cases and workers."""
        if target not in self._knowledge:
            self._knowledge[target] = first_look(self.targets[target])
        return self._knowledge[target]

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send a worker of pytest-xdist what must be the same for all."""
        node.workerinput["tffs_targets"] = [target.to_wire() for target in self.targets.values()]
        node.workerinput["tffs_knowledge"] = {name: self.knowledge(name).to_wire() for name in self.targets}
        node.workerinput["tffs_waivers"] = {name: plain.text(entries) for name, entries in self.waivers.items()}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Know what is to come, so that a run that was cut short is not taken for a whole one."""
        if session.items:
            self._planned = {item.nodeid for item in session.items}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """The same with pytest-xdist, where only workers collect."""
        self._planned = set(ids)

    # Cases as they end -----------------------------------------------------------------------------------------------

    def hand_over(self, target: str, record: CaseRecord, report: pytest.TestReport) -> None:
        """Write a case down as it ends."""
        self._ended += 1
        self._journals[target].case(record)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write down what workers report."""
        if hasattr(report, "tffs_case"):
            self.hand_over(report.tffs_target, plain.read(report.tffs_case, CaseRecord), report)

    def pytest_keyboard_interrupt(self) -> None:
        """Remember that the user stopped the run."""
        self._interrupted = True

    # The end ---------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Close the reports and let their verdicts decide the exit code."""
        interrupted = self._interrupted or exitstatus == pytest.ExitCode.INTERRUPTED
        missing = left_out(selection(self.config.option, self.options), interrupted, self._planned, self._ended)
        measured = self._measured() if missing is None else {}
        # The root of a target whose first look was taken was made, here or in a worker.
        for name in self._knowledge:
            self.bench(name).remove_root()
        for bench in self.benches.values():
            bench.close()
        if self.config.option.collectonly:
            return
        for name, journal in self._journals.items():
            self._reports[name] = journal.close(
                duration=time.monotonic() - self._started, left_out=missing, services=measured.get(name)
            )
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = self._exit_code(exitstatus)
        if session.exitstatus != pytest.ExitCode.OK:
            services.keep_logs(self.config, self.options)

    def _measured(self) -> dict[str, Figures]:
        """What is measured of services when nobody else uses them, by target."""
        if not self.options.services or self.config.option.collectonly:
            return {}
        from . import measuring  # noqa: PLC0415 - slow to import, as services are

        return {
            one.target.name: measuring.measure(one.target, one.services, one.services.measure)
            for one in self._prepared
            if one.services is not None and one.services.measure is not None
        }

    def _exit_code(self, exitstatus: int) -> int:
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            # The user's own -k or -m left nothing.
            self.config.get_terminal_writer().line(
                f"ERROR: no case fits {' '.join(selection(self.config.option, self.options))}"
            )
            return pytest.ExitCode.USAGE_ERROR
        bad = any(
            report.verdict is TargetVerdict.NOT_CONFORMANT
            # A whole run after which nothing is known of a class that the plugin has ops of.
            or (report.verdict is TargetVerdict.INCOMPLETE and report.left_out is None)
            or any(report.counts[Verdict(kind)] for kind in (Verdict.ERROR, *self.options.fail_on))
            or (report.services is not None and report.services.failure is not None)
            for report in self._reports.values()
        )
        bad = bad or bool(stale(report.waivers for report in self._reports.values()))
        return pytest.ExitCode.TESTS_FAILED if bad or exitstatus == pytest.ExitCode.TESTS_FAILED else pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what a person can act on."""
        # The violations stand in the summary, one clause after the other.
        if self.config.option.reportchars == "fE":
            terminalreporter.reportchars = ""
        writer = terminalreporter._tw
        for name, report in self._reports.items():
            directory = self.options.report_directory(name, len(self._reports) > 1)
            for text, markup in terminal.summary(
                report, width=writer.fullwidth, directory=directory, verbosity=self.config.option.verbose
            ):
                writer.line(text, **markup)
            if name in self.benches and (left := self.benches[name].left_behind):
                writer.line(f"Left behind, because the plugin could not delete it: {', '.join(sorted(set(left))[:3])}")
