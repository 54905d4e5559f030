"""The controller of a run: it prepares the targets, writes their journals, and turns verdicts into the exit code."""

import os
import pickle
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import pytest

from ..harness.interrupts import Interrupts, deferred
from ..reports import forms, plain
from ..reports.escape import printable
from ..reports.forms import terminal
from ..reports.journal import Journal
from ..reports.model.costs import Costs
from ..reports.model.findings import Findings
from ..reports.model.header import FORMER_TIERS
from ..reports.model.records import CaseRecord
from ..reports.model.report import Report
from ..reports.model.services import Figures
from ..reports.model.verdicts import Verdict
from ..reports.model.waivers import Waiver
from ..suite.engine import collect
from ..suite.engine.ending import not_started
from ..suite.engine.first_look import first_look
from ..suite.engine.plugin_facts import PluginFacts
from ..suite.engine.workbench import Workbench
from ..suite.judge.course import Course
from ..suite.judge.exit_code import UNWRITABLE, exit_code
from ..suite.judge.findings import conclude
from ..suite.judge.gate import Baseline, GateResult
from ..suite.judge.reports import UnwrittenError, finish
from . import baselines, collection, services, targets
from .journals import open_journals
from .outcome import WarningsAside
from .remarks import remarks
from .report_folders import SELECTION, ReportFolders, holds_whole_run
from .run_options import BadUsageError, RunOptions, UnwritableError
from .selection import stops
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
        baselines: Mapping[str, Baseline],
        interrupts: Interrupts,
        findings: dict[str, Findings],
        held: dict[str, GateResult],
    ) -> None:
        super().__init__(config, options, [one.target for one in prepared], waivers, interrupts, {})
        self._prepared = prepared
        self._baselines = baselines
        self._journals: dict[str, Journal] = {}
        #: Where reports go; traces stay where the next run looks for them.
        self._written = options
        self._collected = 0
        self._ended: dict[str, set[str]] = {name: set() for name in self.targets}
        self._interrupted = False
        self._started = time.monotonic()
        self._reports: dict[str, Report] = {}
        self._findings = findings
        self._held = held
        self._told_as_failed = 0
        self._left_behind: dict[str, set[str]] = {name: set() for name in self.targets}
        self._troubles: list[str] = []
        self._unwritable: UnwritableError | None = None
        #: The targets whose report could not be written.
        self._unwritten: set[str] = set()
        self._is_cut_short = False
        self._has_left = False

    @classmethod
    def begin(cls, config: pytest.Config) -> Self:
        """Read what the user gave, start services, and look at the plugins. Raises BadUsageError."""
        findings: dict[str, Findings] = {}
        held: dict[str, GateResult] = {}
        if "GITHUB_ACTIONS" in os.environ:
            from . import github  # noqa: PLC0415 - slow to import

            github.attend(config, findings, held)
        interrupts = Interrupts()
        config.add_cleanup(interrupts.restore)
        options = RunOptions.of(config.option)
        collection.Wanted.of(options).hold()
        earlier = baselines.read(options)
        prepared = targets.prepare(options, partial(services.given, config, options))
        paired = baselines.paired(earlier, prepared, options)
        waivers = read_waivers(options.waivers, [one.target.name for one in prepared], options.under)
        if not config.option.collectonly:
            several = len(prepared) > 1
            folders = [options.report_directory(one.target.name, several) for one in prepared]
            config.add_cleanup(ReportFolders([options.reports, *folders]).release)
        # The summary says what pytest's own sections would say, by clause instead of by test.
        if config.option.tbstyle == "auto":
            config.option.tbstyle = "no"
        run = cls(config, options, prepared, waivers, paired, interrupts, findings, held)
        config.add_cleanup(run.leave)
        config.pluginmanager.register(WarningsAside())
        if not config.option.collectonly:
            run.aim()
        return run

    def facts(self, target: str) -> PluginFacts:
        """What one look at the target found out, once for all cases and workers."""
        if target not in self._facts:
            # Who interrupts the look leaves a root to be removed.
            self._facts[target] = next(one.seen for one in self._prepared if one.target.name == target)
            self._facts[target] = first_look(self.targets[target], self._facts[target])
        return self._facts[target]

    def aim(self) -> None:
        """Look at the targets, and collect no more than what can be run of them. Raises BadUsageError."""
        super().aim()
        for name in self.targets:
            if wrong := self.facts(name).wrong_backing:
                raise BadUsageError(wrong)
        if not self.usable:
            # What is left is done before workers have started.
            self.config.option.dist = "no"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send a worker of pytest-xdist what must be the same for all."""
        known = {name: self.facts(name) for name in self.targets}
        node.workerinput["tffs_known"] = pickle.dumps(([*self.targets.values()], known))
        node.workerinput["tffs_apart"] = self.config.option.dist == "each"
        node.workerinput["tffs_waivers"] = {name: plain.text(entries) for name, entries in self.waivers.items()}

    # What is to be run -----------------------------------------------------------------------------------------------

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Begin the journals when it is known that there is something to write down."""
        super().pytest_collection_finish(session)
        # Other plugins may repeat a case: that is one case.
        ours = [item for item in session.items if isinstance(item, pytest.Function) and collection.is_ours(item)]
        self._begin_journals(len({(self.target_of(item), collect.listed(item).id) for item in ours}))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """The same with pytest-xdist, where only workers collect."""
        self._begin_journals(sum(name.startswith(collection.NODES) for name in ids))

    def _begin_journals(self, collected: int) -> None:
        known = [] if self._journals else self._known_before()
        self._collected = max(self._collected, collected + len(known))
        if self._journals or not self._collected or self.config.option.collectonly:
            return
        selected = self.selected if self._course.is_selection else ()
        has_whole = holds_whole_run(self.options.reports) and not self.options.reports_named
        if has_whole and (selected or stops(self.config)):
            self._written = replace(self.options, reports=self.options.reports / SELECTION)
        try:
            self._journals = open_journals(self._written, self._prepared, self._facts, self.waivers, selected)
        except OSError as error:
            self._unwritable = UnwritableError(error)
            pytest.exit(printable(str(self._unwritable)))
        for target, record in known:
            self._write_down(target, record)

    def _known_before(self) -> list[tuple[str, CaseRecord]]:
        """The records of the cases that are not run, because their plugin does not load."""
        usable = set(self.usable) if not self.config.option.collectonly else set(self.targets)
        return [
            (name, not_started(case, str(self.facts(name).unusable)))
            for name in self.targets
            if name not in usable
            for case in self.wanted.in_tier()
            if self.wanted.has(case) and not case.id.startswith(f"{collection.REGISTRATION}/")
        ]

    @cached_property
    def _tier(self) -> frozenset[str]:
        """The ids of the cases of the tier."""
        return frozenset(case.id for case in self.wanted.in_tier())

    @property
    def _course(self) -> Course:
        """How far the run came."""
        return Course(
            tier=self.options.tier,
            cases=self._tier,
            targets=len(self.targets),
            collected=self._collected,
            ended=sum(map(len, self._ended.values())),
            selected=self.selected,
            stops=("the report, which cannot be written",) if self._unwritable else stops(self.config),
            interrupted=self._interrupted,
        )

    # Cases as they end -----------------------------------------------------------------------------------------------

    def hand_over(self, target: str, record: CaseRecord, report: pytest.TestReport) -> None:
        """Write a case down as it ends."""
        self._write_down(target, record)

    def _write_down(self, target: str, record: CaseRecord) -> None:
        try:
            # Other plugins may repeat a case, and `--dist each` does.
            self._journals[target].case_again(record)
        except OSError as error:
            self._unwritable = self._seen_until_then(target, error)
            pytest.exit(printable(str(self._unwritable)))
        self._ended[target].add(record.id)

    def _seen_until_then(self, target: str, error: OSError) -> UnwritableError:
        path = self._journals[target].path
        return UnwritableError(error, f"; {path} has what was seen until then, for tffs-conformance report show")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write down what workers report, and what went wrong beside the cases."""
        self._told_as_failed += report.failed and getattr(report, "tffs_verdict", None) == Verdict.VIOLATION
        if hasattr(report, "tffs_case"):
            with deferred():
                self.hand_over(report.tffs_target, plain.read(report.tffs_case, CaseRecord), report)
        if hasattr(report, "tffs_trouble"):
            self._troubles.append(report.tffs_trouble)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker could not delete."""
        for name, left in getattr(node, "workeroutput", {}).get("tffs_left_behind", {}).items():
            self._left_behind[name].update(left)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Remember that somebody stopped the run; pytest itself does so, too, for options such as --sw."""
        # For want of room, the run ended itself, and pytest tells why as its last words.
        self._is_cut_short = self._unwritable is not None
        self._interrupted = not (self._is_cut_short or isinstance(excinfo.value, pytest.Session.Interrupted))
        self.interrupts.ending = True

    # The end ---------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Close the reports and let their verdicts decide the exit code. Workers and fixtures are gone by now."""
        # Whatever comes now, what was found out is written down.
        self.interrupts.ending = True
        course = self._course
        missing = {name: course.left_out(self._ended[name]) for name in self.targets} if self._journals else {}
        measured = self._measured() if not any(missing.values()) else {}
        costs = self._costs()
        self.leave()
        for name, journal in self._journals.items():
            try:
                self._reports[name] = finish(
                    journal,
                    duration=time.monotonic() - self._started,
                    left_out=missing[name],
                    services=measured.get(name),
                    costs=costs.get(name),
                )
            except UnwrittenError as unwritten:
                self._reports[name] = unwritten.report
                self._unwritten.add(name)
                if not self._unwritable:
                    self._unwritable = self._seen_until_then(name, unwritten.error)
        self._findings |= {name: conclude(report) for name, report in self._reports.items()}
        if self._unwritable:
            session.exitstatus = UNWRITABLE
            return
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
            if not self._collected:
                options = " ".join((f"--tier={self.options.tier}", *self.selected))
                said = f"\nERROR: no case of the suite was selected: {options}"
                self.config.get_terminal_writer().line(said, red=True)
            self._held |= baselines.held(self._reports, self._baselines, self.options)
            # What the gate lets pass fails for pytest all the same.
            others = not self._held or session.testsfailed > self._told_as_failed
            failed = exitstatus == pytest.ExitCode.TESTS_FAILED and others
            session.exitstatus = exit_code(self._reports, course, self.options.fail_on, self._held, failed)
        self._render()
        if session.exitstatus != pytest.ExitCode.OK:
            services.keep_logs(self.config, self.options)
        # To say nothing, Hypothesis' plugin of pytest imports all of Hypothesis: half of the time of a short run. Where
        # workers ran a user's own tests, too, they may have something to tell; no case of ours is a test of Hypothesis.
        if "hypothesis" not in sys.modules and (self.whole or not self.config.getoption("numprocesses", None)):
            self.config.pluginmanager.unregister(name="hypothesispytest")

    def _render(self) -> None:
        """Write the reports in the other forms that were asked for."""
        for name, findings in self._findings.items():
            directory = self._directory(name)
            for form in self.options.forms:
                try:
                    forms.write(form, findings, directory)
                except OSError as error:
                    self._troubles.append(f"{form.file} cannot be written: {printable(str(error))}")

    def _directory(self, target: str) -> Path:
        """Where the report of a target goes."""
        return self._written.report_directory(target, len(self.targets) > 1)

    def leave(self) -> None:
        """Remove the roots, and end the hosts. Nothing happens the second time."""
        # Hosts first: one that is in the middle of an op would go on in what is removed.
        for name, bench in self.benches.items():
            try:
                bench.close()
            except Exception as error:
                # Whoever interrupts can do so in the middle of a start: the reports are written all the same.
                self._troubles.append(f"{name}: its hosts cannot be ended: {printable(str(error))}")
            self._left_behind[name].update(bench.left_behind)
        self.benches = {}
        # The root of a target whose first look was taken was made, here or in a worker.
        for name, known in [] if self._has_left else self._facts.items():
            if not known.unusable:
                bench = Workbench(self.targets[name], known)
                bench.remove_root()
                bench.close()
                self._left_behind[name].update(bench.left_behind)
        self._has_left = True

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

    def _costs(self) -> dict[str, Costs]:
        """What each target costs, where a user asked for it; by target."""
        if not self.options.measure or not self._journals or self._interrupted:
            return {}
        from ..suite.costs import measure  # noqa: PLC0415 - most runs do without

        found: dict[str, Costs] = {}
        writer = self.config.get_terminal_writer()
        # The cases are over, so a signal ends this and not the run.
        self.interrupts.ending = False
        try:
            for name in self.usable:
                writer.line(f"\nmeasuring what {printable(name)} costs: some ten seconds")
                writer.flush()
                found[name] = measure(self.targets[name], self.facts(name))
        except KeyboardInterrupt:
            writer.line("the measuring was interrupted: the report has no costs")
        finally:
            self.interrupts.ending = True
        return found

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what a person can act on."""
        # The violations stand in the summary, one clause after the other.
        if self.config.option.reportchars == "fE":
            terminalreporter.reportchars = ""
        writer = terminalreporter._tw
        for name, findings in self._findings.items():
            directory = None if name in self._unwritten else self._directory(name)
            for text, markup in terminal.summary(
                findings, width=writer.fullwidth, directory=directory, verbosity=self.config.option.verbose
            ):
                writer.line(text, **markup)
            if name in self._held:
                from . import gate_text  # noqa: PLC0415 - most runs have no gate

                for text, markup in gate_text.lines(
                    self._held[name], width=writer.fullwidth, verbosity=self.config.option.verbose
                ):
                    writer.line(text, **markup)
            # Where a report cannot be written, no other form is.
            for form in () if self._unwritable else self.options.forms:
                writer.line(f"{form.name}: {printable(str(self._directory(name) / form.file))}")
            for line in remarks(self.targets[name], self._facts.get(name), sorted(self._left_behind[name])):
                writer.line(line)
        if (former := self.config.option.tffs_tier) in FORMER_TIERS:
            writer.line(f"--tier={former} is --tier={self.options.tier} now: the old name goes with the next release")
        if self._written is not self.options and self._reports:
            writer.line(f"a selection: the report of the whole run stays in {self.options.reports.name}")
        for trouble in self._troubles:
            writer.line(f"ERROR beside a case: {trouble}", red=True)
        if self._unwritable and not self._is_cut_short:
            writer.line(f"ERROR: {printable(str(self._unwritable))}", red=True)
