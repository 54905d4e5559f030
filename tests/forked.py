"""Runs of pytest as copies of a process that has imported what each run needs: a new Python takes three times as long.

What a run is told and tells is that of `python -c 'import pytest; pytest.main()'`: arguments, folder, environment,
output, exit code or signal. Python's own variables act when Python starts, and what was imported stays imported: who
tests either needs a new Python.
"""

import atexit
import contextlib
import functools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def run(arguments: Sequence[str], directory: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """pytest with these arguments, as `subprocess.run` gives it."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        asked = [list(arguments), str(directory), dict(environment), out.fileno(), err.fileno(), os.getpid()]
        server = _server()
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(asked) + "\n")
        server.stdin.flush()
        copy = int(server.stdout.readline())
        try:
            code = int(server.stdout.readline())
        except BaseException:
            # Such as the end of the test's time. The next run has to read its own code.
            with contextlib.suppress(ProcessLookupError):
                os.kill(copy, signal.SIGKILL)
            server.kill()
            server.communicate()
            _server.cache_clear()
            raise
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(["pytest", *arguments], code, out.read(), err.read())


@functools.cache
def _server() -> "subprocess.Popen[str]":
    server = subprocess.Popen(
        [sys.executable, __file__], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    atexit.register(_end, server)
    return server


def _end(server: "subprocess.Popen[str]") -> None:
    if server.poll() is None:
        server.communicate()


def main() -> None:
    """Fork for each line of the input, until there are no more. The output has the process and exit code of each."""
    # This folder, in which a run must not find our tests.
    sys.path.pop(0)
    from tffs_conformance.campaign import fork_server  # noqa: PLC0415

    fork_server.preload()
    for line in sys.stdin:
        copy = os.fork()
        if copy == 0:
            _perform(*json.loads(line))
        print(copy, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]), flush=True)


def _perform(
    arguments: list[str], directory: str, environment: dict[str, str], out: int, err: int, asking: int
) -> None:
    """What a new Python would do. The output goes where that of the process `asking` would."""
    import pytest  # noqa: PLC0415

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(directory)
    for number, path in enumerate([os.devnull, f"/proc/{asking}/fd/{out}", f"/proc/{asking}/fd/{err}"]):
        with Path(path).open("rb" if number == 0 else "ab") as opened:
            os.dup2(opened.fileno(), number)
    sys.argv = ["-c", *arguments]
    random.seed()
    sys.exit(pytest.main())


if __name__ == "__main__":
    main()
