"""Makes the suite's pytest plugin known where pytest runs in a clone."""

import pytest


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the plugin, unless the installed package already did."""
    from tffs_conformance import pytest_plugin

    if not pluginmanager.has_plugin(pytest_plugin.ENTRY_POINT):
        pluginmanager.register(pytest_plugin, pytest_plugin.ENTRY_POINT)
