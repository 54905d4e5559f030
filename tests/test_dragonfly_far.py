"""The dragonfly plugin on a machine with neither Python nor the suite, through Dragonfly: `docker exec`, and ssh.

That machine is in the network of the services and knows them by their names; pytest and the second witness are here.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.dragonfly_client import BUILT, MISSING
from tests.test_far_hosts import Far, machine
from tests.test_portable_host import image, judged
from tests.topology import COMPOSE, traffic
from tffs_conformance.harness.services import Services
from tffs_conformance.harness.targets.shipped import plugin_path

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

PLUGIN, CONFIGURATION = "/plugins/libdragonfly.so", "/plugins/dragonfly.json"
#: They read, and ask the second witness what the plugin wrote.
CASES = ("--tier=quick", "--case=read/*", "--case=storage/synced", "--case=storage/written", "--case=storage/seeded")
#: What the plugin opens by itself: `ldd` does not tell.
OPENED = ("libcurl.so.4", "libcrypto.so.3")


@pytest.fixture(scope="module")
def far(running: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Far]:
    folder = tmp_path_factory.mktemp("dragonfly-far")
    given = json.loads(Path(running.environment["DRAGONFLY_CONFIG_PATH"]).read_text())
    given["addr"] = "http://client-a:4001"
    given["object_storage"]["endpoint"] = "http://s3:7070"
    (folder / "dragonfly.json").write_text(json.dumps(given))
    files = {PLUGIN: plugin_path("dragonfly"), CONFIGURATION: folder / "dragonfly.json"}
    files |= {path: Path(path) for path in map(_library, OPENED)}
    (network,) = running.containers["s3"].attrs["NetworkSettings"]["Networks"]
    with machine(folder, files, network=network) as started:
        yield started


def _library(name: str) -> str:
    """Where this machine has a library."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return next(line.rpartition("=> ")[2] for line in known.splitlines() if line.split()[0] == name)


def selection(folder: Path, running: Services, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict[str, Any]:
    """The report of some cases that write, read, and look from the other side."""
    assert running.profile is not None
    assert running.root is not None
    assert running.backing is not None
    # What comes with --services otherwise.
    monkeypatch.setenv("FSSPEC_S3", json.dumps(running.backing_options))
    given = (f"--plugin-profile={running.profile}", f"--root={running.root}", f"--backing={running.backing}")
    return judged(folder, *CASES, *given, *arguments)


# One worker has the services.
@pytest.mark.xdist_group("dragonfly")
def test_the_report_is_that_of_this_machine(
    far: Far, running: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = [f"--env={name}={value}" for name, value in running.environment.items()]
    here = selection(tmp_path / "here", running, monkeypatch, "--plugin=dragonfly", *environment)
    given = [f"--host-command={' '.join(far.command)} /tffs-host", f"--plugin={PLUGIN}"]
    before = traffic(running, "client-a")
    there = selection(tmp_path / "there", running, monkeypatch, *given, f"--env=DRAGONFLY_CONFIG_PATH={CONFIGURATION}")
    assert there["counts"] == here["counts"]
    verdicts = [{case["id"]: case["verdict"] for case in found["cases"]} for found in (there, here)]
    assert verdicts[0] == verdicts[1]
    assert there["target"]["sha256"] == here["target"]["sha256"]
    assert there["counts"]["conform"] > 40
    assert there["counts"]["not run"] == 0
    assert traffic(running, "client-a") != before


@pytest.mark.nightly
def test_services_of_a_run_are_there_for_a_container(
    docker: Any, far_host: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The container has the network of this machine, and the folder in which a run writes the configuration."""
    files = {"/tffs-host": far_host, "/bin/sh": Path("/bin/sh"), PLUGIN: plugin_path("dragonfly")}
    content = image(files | {path: Path(path) for path in map(_library, OPENED)})
    name, tag = "tffs-conformance/serving", f"test-{os.getpid()}"
    docker.api.import_image_from_data(content, repository=name, tag=tag)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    claims = (COMPOSE.parent.parent / "dragonfly.toml").read_text()
    profile = tmp_path / "far.toml"
    profile.write_text(f'{claims}\n[plugin]\npath = "{PLUGIN}"\n[services]\ncompose = "{COMPOSE}"\n')
    # The shell waits for a line that does not come.
    container = docker.containers.run(
        f"{name}:{tag}", ["/bin/sh", "-c", "read line"], stdin_open=True, detach=True, network_mode="host",
        volumes=[f"{tmp_path}:{tmp_path}"],
    )  # fmt: skip
    try:
        command = f"--host-command=docker exec -i {container.id} /tffs-host"
        found = judged(tmp_path / "there", f"--plugin-profile={profile}", "--services", command)
    finally:
        container.remove(force=True)
        docker.images.remove(f"{name}:{tag}")
    assert found["counts"]["conform"] > 20
    assert found["counts"]["violation"] == found["counts"]["error"] == found["counts"]["not run"] == 0
    # The second node is another host in the container, which got the file from the first.
    assert found["services"]["failure"] is None
    grown = {figure["what"]: figure["bytes"] for figure in found["services"]["figures"]}
    assert grown["bytes that client-b got from its peers (REMOTE_PEER)"] == found["services"]["size"]
