"""`python -m tffs_conformance.campaign.child`: pytest, which ends as if interrupted when its worker is gone.

So no run goes on for nobody, and each removes what it made.
"""

import ctypes
import os
import signal
import sys

import pytest

PR_SET_PDEATHSIG = 1


def main(parent: int, arguments: list[str]) -> int:
    """Run pytest for the worker with this process id."""
    # A shell that starts a campaign in the background has its children ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() != parent:
        return pytest.ExitCode.INTERRUPTED
    return int(pytest.main(arguments))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
