"""What a run need not wait for: to say nothing at its end, Hypothesis' plugin of pytest imports all of Hypothesis."""

import sys

import pytest

#: The name under which Hypothesis registers its plugin.
ENTRY_POINT = "hypothesispytest"


def spare_hypothesis(config: pytest.Config) -> None:
    """Take its plugin out at the end of a run that never imported Hypothesis, so it has nothing to tell.

    Half of the time of a short run goes into that import. Where workers did the work, they may have something to tell.
    """
    if "hypothesis" not in sys.modules and not config.getoption("numprocesses", None):
        config.pluginmanager.unregister(name=ENTRY_POINT)
