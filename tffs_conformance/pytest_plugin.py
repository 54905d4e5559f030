"""The door for pytest. With `--plugin` a run begins, which is in run/controller.py. Without, nothing happens."""

from typing import Any

import pytest

from .run import options

#: The name under which the installed package registers this module.
ENTRY_POINT = "tffs"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Teach pytest our options."""
    options.add(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Keep the user's own conftest files, and with them their fixtures, away from our cases."""
    if _asked_for(early_config.known_args_namespace):
        early_config.known_args_namespace.noconftest = True


def pytest_configure(config: pytest.Config) -> None:
    """Begin a run where there is something to judge."""
    config.addinivalue_line("markers", "tffs_clauses(*ids): the clauses a case of the conformance suite checks")
    config.addinivalue_line("markers", "tffs_over_tables: a case of the conformance suite that needs a host process")
    config.addinivalue_line("markers", "tffs_tier(name): the smallest tier a case of the conformance suite belongs to")
    if _asked_for(config.option) and not config.option.help:
        # It takes as long to import as the rest of pytest, and most runs of pytest are not ours.
        from .run.controller import Controller  # noqa: PLC0415
        from .run.run_options import BadUsage  # noqa: PLC0415
        from .run.session import Worker  # noqa: PLC0415

        sent = getattr(config, "workerinput", None)
        try:
            run = Controller.begin(config) if sent is None else Worker(config, sent)
        except BadUsage as error:
            raise pytest.UsageError(str(error)) from error
        config.pluginmanager.register(run, "tffs-run")


def _asked_for(option: Any) -> bool:
    """Whether there is something to judge."""
    return bool(option.tffs_plugin or option.tffs_profile)
