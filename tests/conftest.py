"""What holds of all tests: none is skipped where nothing may be missing, and the long ones come first."""

import os
import shutil
import signal
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import fakes
from tests.commands import output_of
from tests.pages import PROJECT
from tests.topology import COMPOSE
from tffs_conformance.harness import services
from tffs_conformance.harness.native import NativePartsMissingError, portable_host
from tffs_conformance.harness.services import ServiceMissingError, Services

#: Where this is set, as by CI, what a test needs has to be there: a skipped test has failed.
ALL_REQUIRED = bool(os.environ.get("TFFS_ALL_REQUIRED"))
#: The plugins of a site of some: what looks at each element of a page takes its time.
ON_THE_SITE = ("dragonfly", "s3-versitygw", "memory")


def pytest_configure(config: pytest.Config) -> None:
    """Build the fakes, name our marks, and say what holds of all tests."""
    # A shell that runs the tests in the background has SIGINT ignored, and what they start would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # The workers of pytest-xdist start later.
    if not hasattr(config, "workerinput"):
        try:
            fakes.build()
        except NativePartsMissingError:
            pass  # some tests need none, and the others say so
        except SystemExit as error:
            raise pytest.UsageError(error) from None
    # How long an example takes is up to the machine.
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")
    config.addinivalue_line("markers", "long: begins before all others, for it takes long")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what the tests lacked that were skipped, and how many of them there are."""
    why = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.getreports("skipped"))
    for reason, count in why.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no worker is left alone with it at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that is skipped has failed, where nothing may be missing."""
    report = yield
    _require(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """So has a module that is skipped."""
    report = yield
    _require(report)
    return report


def _require(report: pytest.TestReport | pytest.CollectReport) -> None:
    if ALL_REQUIRED and report.skipped and not hasattr(report, "wasxfail"):
        *_, reason = report.longrepr if isinstance(report.longrepr, tuple) else (report.longrepr,)
        report.outcome = "failed"
        report.longrepr = f"{reason}\nTFFS_ALL_REQUIRED is set: nothing may be missing"


@pytest.fixture(scope="session")
def far_host() -> Path:
    """The host for other machines, which is built where ziglang is."""
    try:
        return portable_host()
    except NativePartsMissingError as missing:
        pytest.skip(f"not run: {missing}")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with guides, of a clone with some of the published reports."""
    clone = tmp_path_factory.mktemp("clone")
    published = clone / "reports" / "published"
    for plugin in ON_THE_SITE:
        shutil.copytree(PROJECT / "reports" / "published" / plugin, published / plugin)
    (clone / "tffs_conformance").mkdir()
    for part in ("docs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        (clone / part).symlink_to(PROJECT / part)
    folder = clone / "site"
    output_of("published", "site", folder, f"--published={published}")
    return folder


@pytest.fixture(scope="session")
def running(docker: Any) -> Iterator[Services]:
    """Dragonfly's services, once for all tests that leave them as they were."""
    up = services.up(services.read(COMPOSE), "dragonfly", keep=False, fixed_ports=False, say=print)
    yield up
    up.stop()


@pytest.fixture(scope="session")
def docker() -> Any:
    """A client of docker's engine, which has the images of the services."""
    try:
        client = services.connect()
        for service in services.read(COMPOSE).services:
            if not client.images.list(service.image):
                raise ServiceMissingError(
                    f"docker has no image {service.image}: {COMPOSE.parent / 'build_images.py'} builds it"
                )
    except ServiceMissingError as missing:
        pytest.skip(str(missing))
    return client
