"""`python -m tffs_conformance.campaign.child`: pytest, which ends as if interrupted when its worker is gone.

So no run goes on for nobody, and each removes what it made.
"""

import ctypes
import os
import signal
import sys

import pytest

PR_SET_PDEATHSIG = 1


class Collected:
    """Counts what pytest collected: None until it has."""

    count: int | None = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count what is left of it."""
        self.count = len(session.items)


def main(parent: int, arguments: list[str]) -> int:
    """Run pytest for the worker with this process id; its exit code, and NO_TESTS_COLLECTED where it had no case.

    A person who asks for no case made a mistake, and so the suite says. Whoever asks for a shard cannot know.
    """
    # A shell that starts a campaign in the background has its children ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() != parent:
        return pytest.ExitCode.INTERRUPTED
    collected = Collected()
    code = pytest.main(arguments, plugins=[collected])
    nothing = code == pytest.ExitCode.USAGE_ERROR and collected.count == 0
    return pytest.ExitCode.NO_TESTS_COLLECTED if nothing else int(code)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
