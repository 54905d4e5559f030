"""Hosts that ssh reaches: the same report as here, and a connection that breaks is nobody's fault."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.test_portable_host import container_of, judged, judged_there_as_here
from tffs_conformance.harness import services
from tffs_conformance.harness.native import NativePartsMissingError, portable_host
from tffs_conformance.harness.services import ServiceMissingError
from tffs_conformance.harness.targets.shipped import plugin_path

pytestmark = pytest.mark.xdist_group("far hosts")

IMAGE = "tffs-conformance/far"
SSHD = Path("/usr/sbin/sshd")
#: In seconds: for sshd to listen.
PATIENCE = 120
#: So often the connection is cut, each time in the middle of another case.
CUTS = 5
CONFIGURATION = """
Port 22
HostKey /keys/host
AuthorizedKeysFile /keys/authorized
PasswordAuthentication no
StrictModes no
UsePAM no
PidFile none
"""


#: Runs a command whose output ends after a while, as often as that; those that look at the plugin before are spared.
CUT = """
import os, pathlib, subprocess, sys
counted = pathlib.Path({counted!r})
number = int(counted.read_text()) if counted.exists() else 0
counted.write_text(str(number + 1))
if not 2 <= number < {cuts} + 2:
    os.execvp("ssh", {command!r})
run, left = subprocess.Popen({command!r}, stdout=subprocess.PIPE), 20_000
while left and (data := os.read(run.stdout.fileno(), left)):
    os.write(1, data)
    left -= len(data)
run.kill()
"""


@dataclass(frozen=True)
class Far:
    """A machine with nothing but sshd, a shell, the host and a plugin; `command` runs what follows it there."""

    container: Any
    command: tuple[str, ...]


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Far]:
    with machine(tmp_path_factory.mktemp("keys"), {"/plugins/posix.so": plugin_path("posix")}) as started:
        yield started


@contextmanager
def machine(folder: Path, files: dict[str, Path], **more: Any) -> Iterator[Far]:
    """A far machine with these files besides, for as long as a test needs it; `more` is for docker.

    The folder takes its keys. The test is skipped where something is missing.
    """
    if not SSHD.exists() or shutil.which("ssh") is None:
        pytest.skip("not run: there is no sshd; on Debian: apt-get install openssh-server")
    try:
        client, host = services.connect(), portable_host()
    except (ServiceMissingError, NativePartsMissingError) as missing:
        pytest.skip(f"not run: {missing}")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    (folder / "sshd_config").write_text(CONFIGURATION)
    (folder / "passwd").write_text("root:x:0:0::/tmp:/bin/sh\nsshd:x:1:1::/run/sshd:/bin/false\n")
    files = {
        "/usr/sbin/sshd": SSHD,
        "/bin/sh": Path("/bin/sh"),
        "/tffs-host": host,
        "/etc/passwd": folder / "passwd",
        "/etc/sshd_config": folder / "sshd_config",
        "/keys/host": folder / "host",
        "/keys/authorized": folder / "user.pub",
        **files,
    }
    name, ports = f"{IMAGE}:{folder.parent.name}-{folder.name}", {"22/tcp": ("127.0.0.1", None)}
    sshd = "/usr/sbin/sshd -D -e -f /etc/sshd_config -h /run/key"
    # sshd wants a key of its own that nobody else can read.
    script = f'umask 077; while read -r line; do echo "$line"; done </keys/host >/run/key; exec {sshd}'
    with container_of(client, name, files, script, folders=("run/sshd",), ports=ports, **more) as run:
        yield Far(run, _connected(run, folder / "user"))


def _connected(run: Any, key: Path) -> tuple[str, ...]:
    """The words that run a command there, once they do."""
    run.reload()
    port = run.ports["22/tcp"][0]["HostPort"]
    settings = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR")
    options = ["-F", "none", *(word for setting in settings for word in ("-o", setting))]
    command = ("ssh", "-T", *options, "-i", str(key), "-p", port, "root@127.0.0.1")
    deadline = time.monotonic() + PATIENCE
    while (tried := subprocess.run([*command, "exit 7"], capture_output=True, text=True, check=False)).returncode != 7:
        assert time.monotonic() < deadline, tried.stderr + run.logs().decode(errors="replace")
        time.sleep(0.2)
    return command


def test_a_plugin_is_judged_by_ssh(far: Far, tmp_path: Path) -> None:
    judged_there_as_here(tmp_path, f"{' '.join(far.command)} /tffs-host")


def test_a_connection_that_is_cut_is_an_error_of_the_environment(far: Far, tmp_path: Path) -> None:
    """A case that loses its host is an error, never a violation, and the next one has a new host."""
    cut = tmp_path / "cut.py"
    cut.write_text(CUT.format(command=[*far.command, "/tffs-host"], counted=str(tmp_path / "cuts"), cuts=CUTS))
    given = [f"--host-command={sys.executable} {cut}", "--plugin=/plugins/posix.so", "--tier=quick", "-k", "read"]
    found = judged(tmp_path / "there", *given)
    assert int((tmp_path / "cuts").read_text()) > CUTS + 2
    lost = [case for case in found["cases"] if case["verdict"] == "error"]
    assert 1 <= len(lost) <= CUTS
    assert all("the connection to the host was lost" in case["reason"] for case in lost)
    assert found["counts"]["violation"] == 0
    assert found["counts"]["conform"] > 100
