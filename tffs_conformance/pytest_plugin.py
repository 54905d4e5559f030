"""The pytest plugin: with `--plugin` it collects the suite, runs its cases and reports. Without, it does nothing."""

import fnmatch
import importlib
import json
import platform
import time
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import tffs_conformance

from .reports import terminal
from .reports.escape import printable
from .reports.header import ClauseFacts, Header, ReadingFacts, SuiteFacts
from .reports.journal import Journal
from .reports.records import CaseRecord
from .reports.services import Figures
from .reports.verdicts import TargetVerdict, Verdict
from .reports.waivers import Waiver, stale, waived
from .run import options, targets
from .run import services as services_option
from .suite.contract import catalogue
from .suite.contract.claims import for_report
from .suite.engine import collect
from .suite.engine.case import Case
from .suite.engine.marks import TIERS, UNDEFINED
from .suite.engine.target import Workbench

#: The name under which the installed package registers this module.
ENTRY_POINT = "tffs"

_CASE = pytest.StashKey[Case]()
_RUN = pytest.StashKey["Run"]()


class ConformanceWarning(UserWarning):
    """A SHOULD clause is not kept."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Teach pytest our options."""
    options.add(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Keep the user's own conftest files, and with them their fixtures, away from our cases."""
    if _asked_for(early_config.known_args_namespace):
        early_config.known_args_namespace.noconftest = True


def _asked_for(option: Any) -> bool:
    """Whether there is something to judge."""
    return bool(option.tffs_plugin or option.tffs_profile)


def pytest_configure(config: pytest.Config) -> None:
    """Prepare a run where there is something to judge."""
    config.addinivalue_line("markers", "tffs_clauses(*ids): the clauses a case of the conformance suite checks")
    config.addinivalue_line("markers", "tffs_tier(name): the smallest tier a case of the conformance suite belongs to")
    if not _asked_for(config.option) or config.option.help:
        return
    run = Run(config)
    config.stash[_RUN] = run
    config.pluginmanager.register(run, "tffs-run")


class Run:
    """One run of pytest with `--plugin`: its targets, their benches, and their journals."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.fail_on = options.fail_on(config)
        worker = getattr(config, "workerinput", None)
        self.is_worker = worker is not None
        self.found = [] if worker else targets.targets(config)
        judged = [targets.from_wire(plain) for plain in worker["tffs"]] if worker else [f.target for f in self.found]
        if worker:
            self.waivers = {name: [*map(Waiver.from_json, plain)] for name, plain in worker["tffs_waivers"].items()}
        else:
            self.waivers = targets.waivers(config, self.found)
        self.benches = {target.name: Workbench(target) for target in judged}
        self.planned: set[str] | None = None
        self.ended = 0
        self.deselected = 0
        self.interrupted = False
        self.started = time.monotonic()
        self.documents: dict[str, Any] = {}
        self.journals: dict[str, Journal] = {}
        config.addinivalue_line("filterwarnings", "always::tffs_conformance.pytest_plugin.ConformanceWarning")
        if config.args_source != pytest.Config.ArgsSource.ARGS:
            config.args = [str(path) for path in collect.modules()]
        # The summary says what pytest's own sections would say, by clause instead of by test.
        if config.option.tbstyle == "auto":
            config.option.tbstyle = "no"
        if not self.is_worker:
            self._open_journals()

    @property
    def selection(self) -> tuple[str, ...]:
        """The options that leave something out."""
        option = self.config.option
        given = (
            ("-k", option.keyword),
            ("-m", option.markexpr),
            ("--clause", option.tffs_clause),
            ("--case", option.tffs_case),
            ("--lf", getattr(option, "lf", False) or None),
        )
        return tuple(name if value is True else f"{name}={value}" for name, value in given if value)

    def _open_journals(self) -> None:
        several = len(self.found) > 1
        clauses = tuple(_facts(clause) for clause in catalogue.catalogue().values())
        for one in self.found:
            target = one.target
            suite = SuiteFacts(
                version=tffs_conformance.__version__,
                tier=self.config.option.tffs_tier,
                seed=target.seed,
                python=platform.python_version(),
                platform=platform.platform(),
                started=datetime.now(UTC).isoformat(timespec="seconds"),
                command=target.command,
                selection=self.selection,
                options={
                    "host-scope": target.host_scope,
                    "call-timeout": target.timeout,
                    "examples": target.examples,
                },
            )
            header = Header(
                catalogue.CONTRACT_VERSION,
                suite,
                one.facts,
                clauses,
                claims=tuple(for_report(target.claims)),
                waivers=tuple(self.waivers[target.name]),
            )
            directory = options.report_directory(self.config, target.name, several)
            try:
                self.journals[target.name] = Journal.open(directory, header, one.secrets)
            except OSError as error:
                raise pytest.UsageError(f"--report-dir: the report cannot be written: {error}") from error

    # Collection ------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send a worker of pytest-xdist what must be the same for all."""
        node.workerinput["tffs"] = [found.to_wire() for found in self.found]
        node.workerinput["tffs_waivers"] = {
            name: [entry.to_json() for entry in entries] for name, entries in self.waivers.items()
        }

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
        """Our modules have ids and names that no setting of the user reaches."""
        if module_path not in collect.modules():
            return None
        module: pytest.Module = SuiteModule.from_parent(
            parent, path=module_path, nodeid=f"tffs/{collect.module_name(module_path)}"
        )
        return module

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Every case runs on every target."""
        if "case" in metafunc.fixturenames and len(self.benches) > 1:
            metafunc.parametrize("case", list(self.benches), indirect=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Apply --tier, --clause and --case."""
        option = config.option
        kept: list[pytest.Item] = []
        dropped: list[pytest.Item] = []
        tiers = TIERS[: TIERS.index(option.tffs_tier) + 1] + ((UNDEFINED,) if option.tffs_undefined else ())
        for item in items:
            if not isinstance(item.getparent(SuiteModule), SuiteModule):
                kept.append(item)
                continue
            fits = collect.tier(item) in tiers
            if option.tffs_clause:
                names = collect.clauses(item)
                fits = fits and any(fnmatch.fnmatchcase(name, option.tffs_clause) for name in names)
            if option.tffs_case:
                fits = fits and collect.case_id(item) == option.tffs_case
            (kept if fits else dropped).append(item)
        items[:] = kept
        if not kept and (option.tffs_clause or option.tffs_case):
            what = f"--case={option.tffs_case}" if option.tffs_case else f"--clause={option.tffs_clause}"
            raise pytest.UsageError(
                f"{what}: no case of the tier {option.tffs_tier} fits; 'tffs-conformance list' names them"
            )

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Know what is to come, so that a run that was cut short is not taken for a whole one."""
        if not self.is_worker and session.items:
            self.planned = {item.nodeid for item in session.items}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """The same with pytest-xdist, where only workers collect."""
        self.planned = set(ids)

    # Cases -----------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Turn what a case gave into pytest's outcomes."""
        report = yield
        case = item.stash.get(_CASE, None)
        if case is None or call.when != "call":
            return report
        record = case.finish(call.excinfo.value if call.excinfo else None)
        record = waived(record, self.waivers[case.target_name])
        report.tffs_verdict = record.verdict.value  # type: ignore[attr-defined]
        if self.is_worker:
            # The controller gets it with the report.
            report.tffs_target = case.target_name  # type: ignore[attr-defined]
            # As JSON: what a plugin said need not be text that goes over the wire of pytest-xdist.
            report.tffs_case = json.dumps(record.to_json())  # type: ignore[attr-defined]
        else:
            self._ended(case.target_name, record)
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

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write down what workers report."""
        if not self.is_worker and hasattr(report, "tffs_case"):
            self._ended(report.tffs_target, CaseRecord.from_json(json.loads(report.tffs_case)))

    def _ended(self, target: str, record: CaseRecord) -> None:
        """Write a case down as it ends."""
        self.ended += 1
        self.journals[target].case(record)

    # The end ---------------------------------------------------------------------------------------------------------

    def pytest_keyboard_interrupt(self) -> None:
        """Remember that the user stopped the run."""
        self.interrupted = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Close the reports and let their verdicts decide the exit code."""
        left_out = self._left_out(exitstatus)
        measured = self._measured() if left_out is None else {}
        for bench in self.benches.values():
            if not self.is_worker:
                bench.remove_root()
            bench.close()
        if self.is_worker or self.config.option.collectonly:
            return
        for name, journal in self.journals.items():
            self.documents[name] = journal.close(
                duration=time.monotonic() - self.started, left_out=left_out, services=measured.get(name)
            )
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = self._exit_code(exitstatus)
        if session.exitstatus != pytest.ExitCode.OK:
            services_option.keep_logs(self.config)

    def _measured(self) -> dict[str, Figures]:
        """What is measured of services when nobody else uses them, by target."""
        if not self.config.option.tffs_services:
            return {}
        from .run import measuring  # noqa: PLC0415 - slow to import, as services are

        return {
            one.target.name: measuring.measure(one.target, one.services, one.services.measure)
            for one in self.found
            if one.services is not None and one.services.measure is not None and not self.config.option.collectonly
        }

    def _left_out(self, exitstatus: int) -> str | None:
        if self.interrupted or exitstatus == pytest.ExitCode.INTERRUPTED:
            return "the run was interrupted"
        if self.selection:
            return f"only a selection was run: {' '.join(self.selection)}"
        if self.planned is not None and self.ended < len(self.planned):
            return f"{len(self.planned) - self.ended} cases were not reached"
        return None

    def _exit_code(self, exitstatus: int) -> int:
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            # The user's own -k or -m left nothing.
            self.config.get_terminal_writer().line(f"ERROR: no case fits {' '.join(self.selection)}")
            return pytest.ExitCode.USAGE_ERROR
        bad = any(
            document["verdict"] == TargetVerdict.NOT_CONFORMANT
            # A whole run after which nothing is known of a class that the plugin has ops of.
            or (document["verdict"] == TargetVerdict.INCOMPLETE and document["left_out"] is None)
            or any(document["counts"][kind] for kind in ("error", *self.fail_on))
            or (document["services"] is not None and document["services"]["failure"] is not None)
            for document in self.documents.values()
        )
        bad = bad or bool(stale(document["waivers"] for document in self.documents.values()))
        return pytest.ExitCode.TESTS_FAILED if bad or exitstatus == pytest.ExitCode.TESTS_FAILED else pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what a person can act on."""
        # The violations stand in the summary, one clause after the other.
        if self.config.option.reportchars == "fE":
            terminalreporter.reportchars = ""
        several = len(self.found) > 1
        for one in self.found:
            document = self.documents.get(one.target.name)
            if document is None:
                continue
            directory = options.report_directory(self.config, one.target.name, several)
            left = self.benches[one.target.name].left_behind
            writer = terminalreporter._tw
            for text, markup in terminal.summary(document, width=writer.fullwidth, directory=directory):
                writer.line(text, **markup)
            if left:
                writer.line(f"Left behind, because the plugin could not delete it: {', '.join(sorted(set(left))[:3])}")


class SuiteModule(pytest.Module):
    """A module of cases, imported by its name in the package."""

    def _getobj(self) -> Any:
        return importlib.import_module(f"tffs_conformance.suite.cases.{self.path.stem}")

    def funcnamefilter(self, name: str) -> bool:
        """Our functions, whatever `python_functions` says."""
        return name.startswith("test_")

    def classnamefilter(self, name: str) -> bool:
        """No classes."""
        return False


def present(report: pytest.TestReport, record: CaseRecord, item: pytest.Item) -> None:
    """Set outcome and text of a report from a record."""
    path, line, _ = item.location
    reason = record.reason or ""
    match record.verdict:
        case Verdict.VIOLATION | Verdict.ERROR:
            report.outcome = "failed"
            broken = [
                f"{c.clause}: expected {c.expected}, got {c.got}" for c in record.checks if c.verdict == "violation"
            ]
            report.longrepr = "\n".join(map(printable, broken + ([reason] if reason else [])))
        case Verdict.ABSENT | Verdict.NOT_RUN:
            report.outcome = "skipped"
            report.longrepr = (path, line or 0, printable(f"Skipped: {record.verdict}: {reason}"))
        case Verdict.WAIVED:
            report.outcome = "skipped"
            accepted = [f"{c.clause}: {c.got}" for c in record.checks if c.verdict is Verdict.WAIVED]
            report.wasxfail = printable("; ".join(accepted))
            report.longrepr = None
        case _:
            report.outcome = "passed"
            report.longrepr = None


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    """One case at work; where there are several targets the parameter names the one it is about."""
    run = request.config.stash[_RUN]
    target = getattr(request, "param", None)
    bench = run.benches[target] if target else next(iter(run.benches.values()))
    node = request.node
    doc = (node.function.__doc__ or "").strip().splitlines()
    this = Case(bench, collect.case_id(node), collect.clauses(node), doc[0] if doc else "")
    node.stash[_CASE] = this
    yield this
    this.clear()


def _facts(clause: catalogue.Clause) -> ClauseFacts:
    return ClauseFacts(
        id=clause.id,
        level=clause.level.value,
        conformance_class=clause.conformance_class,
        rule=clause.rule,
        source=clause.source,
        check=clause.check,
        op=clause.op or None,
        untested=clause.untested,
        disputed=clause.disputed,
        readings=tuple(ReadingFacts(r.name, r.text, r.tensorflow) for r in clause.readings),
    )
