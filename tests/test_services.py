"""The services of the dragonfly plugin: up and down, whatever happens in between."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.dragonfly_client import BUILT, MISSING
from tests.test_suite import command, environment, judged_report, report, run
from tests.topology import ACCESS, COMPOSE, PATIENCE, SECRET, Store, direct, until
from tffs_conformance.harness import services
from tffs_conformance.harness.services import ServiceMissingError, Services
from tffs_conformance.harness.services.engine import RUN
from tffs_conformance.harness.targets.backing import Backing

#: What a container of the tiny compose file is asked whether it is healthy.
HEALTH = "http://127.0.0.1:7070/health"
TINY_SECRET = "tiny-secret"
#: Two containers, one after the other, that are up within a second: for what is the same whatever the services are.
TINY = f"""
services:
  first: &store
    image: versity/versitygw:v1.8.0
    command: ["--port", ":7070", "--health", "/health", "--quiet", "posix", "/data"]
    environment: {{ROOT_ACCESS_KEY: tiny-access, ROOT_SECRET_KEY: {TINY_SECRET}}}
    working_dir: /data/tffs
    ports: ["127.0.0.1:${{TINY_FIRST_PORT:-29070}}:7070"]
    healthcheck: {{test: [CMD, wget, -q, -O, "-", "{HEALTH}"], interval: 200ms, timeout: 10s, retries: 600}}
  second:
    <<: *store
    depends_on:
      first: {{condition: service_healthy}}
    ports: ["127.0.0.1:${{TINY_SECOND_PORT:-29071}}:7070"]
    healthcheck: {{test: [CMD, wget, -q, -O, "-", "{HEALTH}"], interval: 200ms, timeout: 10s, retries: 600}}
x-tffs:
  environment: {{TINY_CONFIG_PATH: "{{file:tiny.json}}"}}
  files:
    tiny.json: {{addr: "http://{{second:7070}}", secret_key: {TINY_SECRET}}}
"""


@pytest.fixture
def own(tmp_path: Path, docker: Any) -> Iterator[Path]:
    """The compose file under a name that no other run has, and its folder; whatever a test leaves goes."""
    folder = tmp_path / f"dragonfly-{secrets.token_hex(4)}"
    shutil.copytree(COMPOSE.parent, folder)
    yield folder / "compose.yaml"
    services.down(folder.name, also_alive=True)


@pytest.fixture
def tiny(own: Path) -> Path:
    """The compose file of two containers in its place."""
    own.write_text(TINY)
    return own


def left(docker: Any, compose: Path) -> list[Any]:
    """What is there of the services of this compose file."""
    label = {"label": f"tffs-conformance.services={compose.parent.name}"}
    return [*docker.containers.list(all=True, filters=label, ignore_removed=True), *docker.networks.list(filters=label)]


def interruptible(line: list[str]) -> list[str]:
    """In the background of a shell Ctrl-C is ignored, and what is started there inherits that."""
    return ["env", "--default-signal=INT", *line]


def tool(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tffs_conformance", "services", *arguments]


def called(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`tffs-conformance services` with these arguments, at its end."""
    given = {**os.environ, **environment}
    return subprocess.run(tool(*arguments), capture_output=True, text=True, check=False, env=given)


# By hand -------------------------------------------------------------------------------------------------------------


def test_up_says_what_to_do_next_and_down_leaves_nothing(own: Path, docker: Any) -> None:
    volumes = {volume.id for volume in docker.volumes.list()}
    up = called("up", str(own), "--any-ports")
    assert up.returncode == 0, up.stderr
    assert "pytest --plugin=" in up.stdout
    written = next(line for line in up.stdout.splitlines() if "DRAGONFLY_CONFIG_PATH=" in line).partition("=")[2]
    config = json.loads(Path(written).read_text())
    assert f"4001 at {config['addr'].removeprefix('http://')}" in up.stdout
    assert config["object_storage"]["proxy_endpoint"] == "http://s3:7070"
    assert Path(written).stat().st_mode & 0o077 == 0
    assert len(left(docker, own)) == 6
    published = [ports for one in left(docker, own) for ports in getattr(one, "ports", {}).values()]
    assert {port["HostIp"] for ports in published for port in ports or ()} == {"127.0.0.1"}

    again = called("up", str(own))
    assert "up already" in again.stderr
    assert written in again.stdout
    status = called("status")
    assert own.parent.name in status.stdout
    assert status.stdout.count("healthy") >= 5

    down = called("down", str(own))
    assert "removed" in down.stdout
    assert not left(docker, own)
    assert not Path(written).parent.exists()
    assert {volume.id for volume in docker.volumes.list()} == volumes


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
@pytest.mark.parametrize("containers", [1, 2])
def test_an_interrupt_in_the_middle_leaves_nothing(
    tiny: Path, docker: Any, end: signal.Signals, containers: int
) -> None:
    # The last of them never gets healthy: whenever the signal comes, it comes in the middle.
    before, after = TINY.split(HEALTH, containers)[:containers], TINY.split(HEALTH, containers)[containers]
    tiny.write_text(f"{HEALTH.join(before)}{HEALTH}/none{after}")
    line = interruptible(tool("up", str(tiny), "--any-ports"))
    up = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # A network counts, too.
    until(lambda: len(left(docker, tiny)) > containers, "the containers do not come")
    up.send_signal(end)
    output, _ = up.communicate(timeout=PATIENCE)
    assert up.returncode != 0
    assert (output, left(docker, tiny)) == (b"", [])


def test_ports_of_the_file_are_taken_unless_told_otherwise(tiny: Path, docker: Any) -> None:
    some = 20000 + 2 * secrets.randbelow(4000)
    ports = {"TINY_FIRST_PORT": str(some), "TINY_SECOND_PORT": str(some + 1)}
    up = called("up", str(tiny), **ports)
    assert up.returncode == 0, up.stderr
    assert f"7070 at 127.0.0.1:{some}" in up.stdout
    # Another one finds them taken, says so, and leaves nothing.
    other = Path(shutil.copytree(tiny.parent, f"{tiny.parent}-2"), "compose.yaml")
    second = called("up", str(other), **ports)
    assert (second.returncode, "allocated" in second.stderr) == (1, True)
    assert not left(docker, other)


@pytest.mark.nightly
def test_docker_compose_reads_the_same_file(own: Path, docker: Any) -> None:
    names = ["docker", "compose"], ["docker-compose"]
    compose = next((one for one in names if shutil.which(one[0]) and not subprocess.call([*one, "version"])), None)
    if compose is None:
        pytest.skip("there is no docker-compose (on Debian: apt-get install docker-compose)")
    ports = {f"DRAGONFLY_{n}_PORT": "0" for n in ("S3", "SEED_METRICS", "A_PROXY", "A_METRICS", "B_PROXY", "B_METRICS")}
    call = [*compose, "-p", own.parent.name, "-f", str(own)]
    env = {**os.environ, **ports}
    mine = {"label": f"com.docker.compose.project={own.parent.name}"}

    def healthy() -> bool:
        found = docker.containers.list(filters={**mine, "health": "healthy"}, ignore_removed=True)
        return len(found) == len(services.read(own).services)

    try:
        up = subprocess.run([*call, "up", "-d"], capture_output=True, text=True, check=False, env=env)
        assert up.returncode == 0, up.stderr
        until(healthy, "not all are healthy")
    finally:
        subprocess.run([*call, "down"], capture_output=True, check=True, env=env)
    assert not docker.containers.list(all=True, filters=mine)
    assert not docker.networks.list(filters=mine)
    assert not docker.volumes.list(filters=mine)


# Under the suite -----------------------------------------------------------------------------------------------------


def _profile(directory: Path, compose: Path, plugin: str = "posix") -> str:
    """A profile of a plugin; posix does not care for its services."""
    path = directory / "mine.toml"
    path.write_text(f'[plugin]\npath = "{plugin}"\n[services]\ncompose = "{compose}"\n')
    return f"--plugin-profile={path}"


@pytest.mark.parametrize(
    "end",
    [*(pytest.param(end, marks=pytest.mark.nightly) for end in (signal.SIGINT, signal.SIGTERM)), signal.SIGKILL],
    ids=lambda end: end.name,
)
def test_whatever_ends_a_run_services_do_not_stay(tmp_path: Path, tiny: Path, docker: Any, end: signal.Signals) -> None:
    line = interruptible(command(_profile(tmp_path, tiny), "--services", "--host-scope=case"))
    going = subprocess.Popen(line, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    journal = tmp_path / "tffs-report" / "journal.jsonl"
    until(lambda: journal.is_file() and journal.read_text().count("\n") > 5, "no case is run")
    assert len(left(docker, tiny)) == 3
    directory = next(one.labels["tffs-conformance.directory"] for one in left(docker, tiny) if hasattr(one, "labels"))
    going.send_signal(end)
    going.wait(PATIENCE)
    if end is signal.SIGKILL:
        # Nobody was left to do it, but everything has its label.
        assert len(left(docker, tiny)) == 3
        assert called("down", str(tiny)).returncode == 0
    assert not left(docker, tiny)
    assert not Path(directory).exists()


@pytest.mark.nightly
def test_the_report_says_who_served_a_second_node(tmp_path: Path, docker: Any) -> None:
    if not BUILT:
        pytest.skip(MISSING)
    done = run(tmp_path, "--plugin=dragonfly", "--services", "--tier=smoke", code=0)
    assert report(tmp_path)["target"]["profile"] == "dragonfly"
    measured = report(tmp_path)["services"]
    assert measured["failure"] is None
    grown = {figure["what"]: figure["bytes"] for figure in measured["figures"]}
    by_store = [count for what, count in grown.items() if what.endswith("got from the store")]
    assert sum(by_store) == measured["size"]
    assert grown["bytes that client-b got from its peers (REMOTE_PEER)"] == measured["size"]
    assert grown["bytes that client-b got from the store"] == 0
    served = next(count for what, count in grown.items() if what.startswith("bytes that left the store"))
    assert measured["size"] <= served < 1.2 * measured["size"]
    assert f"{measured['size']:,}  bytes that client-b got from its peers" in done.stdout


@pytest.mark.nightly
def test_a_run_without_its_figures_fails_and_says_why(tmp_path: Path, own: Path, docker: Any) -> None:
    own.write_text(own.read_text().replace("{client-b:4002}/metrics", "{client-b:4002}/none"))
    done = run(tmp_path, _profile(tmp_path, own, "dragonfly"), "--services", "--tier=smoke", code=1)
    assert "nothing could be measured" in done.stdout
    assert "HTTP Error 404" in report(tmp_path)["services"]["failure"]


#: Options of a run, what is replaced in the compose file, the exit code, and what is said of it.
RUNS = {
    "one process": ("-n0", "", "", 0, ["second is healthy"]),
    "workers share them": ("-n2", "", "", 0, ["second is healthy"]),
    "usage error after they are up": ("--scheme=none-such", "", "", 4, ["second is healthy", "--scheme=none-such"]),
    "service that ends": ("-n0", '"--quiet"', '"--no-such-option"', 4, ["the service first is exited"]),
}


@pytest.mark.parametrize("case", RUNS)
def test_run_leaves_no_services(tmp_path: Path, tiny: Path, docker: Any, case: str) -> None:
    option, old, new, code, said = RUNS[case]
    tiny.write_text(TINY.replace(old, new))
    done = run(tmp_path, _profile(tmp_path, tiny), "--services", "--tier=smoke", "--clause=read.*", option, code=code)
    assert [text for text in said if text not in done.stderr] == []
    assert done.stderr.count("second is healthy") <= 1
    assert not left(docker, tiny)
    if code == 0:
        assert "TINY_CONFIG_PATH" in report(tmp_path)["target"]["environment"]
        assert "--services" in report(tmp_path)["suite"]["command"]
        assert TINY_SECRET not in (tmp_path / "tffs-report" / "report.json").read_text()
        assert not (tmp_path / "tffs-report" / "services").exists()
    log = tmp_path / "tffs-report" / "services" / "first.log"
    assert (log.is_file() and "no-such-option" in log.read_text()) == (case == "service that ends")


def test_down_leaves_those_of_a_live_run_alone(own: Path, docker: Any) -> None:
    image = services.read(own).services[0].image
    own.write_text(f"services: {{only: {{image: '{image}', entrypoint: [sleep, '600']}}}}")
    running = services.up(services.read(own), own.parent.name, keep=False, fixed_ports=False, say=print)
    try:
        assert called("down", str(own)).returncode == 0
        assert left(docker, own)
    finally:
        running.stop()
    assert not left(docker, own)


@pytest.mark.xdist_group("dragonfly")
def test_the_backing_is_the_same_storage(running: Services) -> None:
    pytest.importorskip("s3fs", reason="s3fs is not installed (pip install 'tffs-conformance[s3]')")
    store = Store(running.address("s3", 7070), ACCESS, SECRET)
    assert running.backing is not None
    backing = Backing(running.backing.replace("{path}", "/below/case"), running.backing_options)
    backing.make_directory("")
    assert backing.read("file") is None
    backing.write("file", b"by the backing")
    with direct().open(store.url("GET", "/tffs/below/case/file"), timeout=30) as answer:
        assert answer.read() == b"by the backing"
    store.put("/tffs/below/case/file", b"by the store")
    assert backing.read("file") == b"by the store"
    store.put("/tffs/below/case/late", b"")
    assert backing.read("late") == b""
    backing.delete("file")
    assert backing.read("file") is None
    backing.delete_tree("")
    assert backing.read("late") is None


@pytest.mark.nightly
@pytest.mark.xdist_group("dragonfly")
def test_two_topologies_go_side_by_side(running: Services, docker: Any) -> None:
    other = services.up(services.read(COMPOSE), "dragonfly", keep=False, fixed_ports=False, say=print)
    try:
        assert other.address("s3", 7070) != running.address("s3", 7070)
        assert len(docker.networks.list(filters={"label": [f"{RUN}={other.run}"]})) == 1
    finally:
        other.stop()
    with direct().open(f"http://{running.address('s3', 7070)}/health", timeout=30) as answer:
        assert answer.status == 200


def test_missing_docker_is_counted_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    found = judged_report(tmp_path, _profile(tmp_path, COMPOSE), "--services", "--tier=smoke", code=1)
    assert {case["verdict"] for case in found["cases"]} == {"not run"}
    assert all("docker's daemon does not answer" in case["reason"] for case in found["cases"])
    assert found["counts"]["violation"] == 0
    assert found["verdict"] == "not conformant"
    up = called("up", "dragonfly")
    assert (up.returncode, up.stderr) == (1, "Error: docker's daemon does not answer: is it running?\n")


def test_without_an_image_the_reason_says_how_to_make_it(own: Path) -> None:
    # Nothing listens there: no registry is asked.
    own.write_text(own.read_text().replace("versity/versitygw:v1.8.0", "127.0.0.1:9/none:1"))
    with pytest.raises(ServiceMissingError, match=r"127\.0\.0\.1:9/none:1 is not here.*build_images\.py"):
        services.up(services.read(own), own.parent.name, keep=False, fixed_ports=False, say=print)
