"""A campaign over TLS: Dask's scheduler and its worker in containers of their own, the driver on this machine."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import distributed
import pytest

import tffs_conformance
from reference_plugins.dragonfly.services import build_images
from tests.certificates import Authority
from tests.test_campaign import SMALL, campaign
from tests.test_suite import run
from tffs_conformance.harness import services
from tffs_conformance.harness.native import NativePartsMissingError, native_directory
from tffs_conformance.harness.services import ServiceMissingError
from tffs_conformance.reports.document import load
from tffs_conformance.suite.judge.compare import compare

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("campaign over tls")]

#: That of the containers, which have the modules of this one.
PYTHON = (3, 11)
#: The scheduler's, in its container.
PORT = 8786
#: In seconds; for what has to come.
PATIENCE = 60
IMAGE = "tffs-conformance/dask"
#: Where Dask's settings have the certificates, and the variables for them begin.
TLS, VARIABLE = "distributed.comm.tls", "DASK_DISTRIBUTED__COMM__TLS__"
#: Nobody waits for long in these tests.
TIMEOUT = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}


@dataclass(frozen=True)
class Cluster:
    """The containers of a scheduler and of its worker, who want TLS, and where the scheduler is for this machine."""

    scheduler: Any
    worker: Any
    address: str
    authority: Authority


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if sys.version_info[:2] != PYTHON:
        pytest.skip(f"not run: the containers have Python {PYTHON[0]}.{PYTHON[1]}, which is not this one")
    try:
        native, client = native_directory(), services.connect()
        tar = build_images.system(build_images.machine())
    except (ServiceMissingError, NativePartsMissingError, build_images.UnableError) as missing:
        pytest.skip(f"not run: {missing}")
    authority = Authority(tmp_path_factory.mktemp("authority"), "authority")
    tag = f"test-{os.getpid()}"
    name = f"tffs-dask-{tag}"
    started: list[Any] = []
    # The suite may be in a clone, and Dask beside this Python. All is under the same path as here.
    modules = list(dict.fromkeys(Path(one.__path__[0]).resolve().parent for one in (tffs_conformance, distributed)))
    mounts = [f"{folder}:{folder}:ro" for folder in (*modules, native)]
    mounts.append(f"{tmp_path_factory.getbasetemp()}:{tmp_path_factory.getbasetemp()}")
    environment = {"PYTHONPATH": os.pathsep.join(map(str, modules)), "TFFS_NATIVE_DIR": str(native)}
    client.api.import_image_from_file(str(tar), repository=IMAGE, tag=tag)
    network = client.networks.create(name)

    def start(role: str, *options: str, ports: dict[str, tuple[str, None]] | None = None) -> Any:
        certificate, key = authority.sign(role)
        tls = ["--tls-ca-file", str(authority.certificate), "--tls-cert", str(certificate), "--tls-key", str(key)]
        started.append(
            client.containers.run(
                f"{IMAGE}:{tag}", ["python3", "-m", f"distributed.cli.dask_{role}", *tls, "--no-dashboard", *options],
                name=f"{name}-{role}", network=name, ports=ports, detach=True, init=True,
                volumes=mounts, environment=environment,
            )
        )  # fmt: skip
        return started[-1]

    try:
        there = {f"{PORT}/tcp": ("127.0.0.1", None)}
        scheduler = start("scheduler", "--protocol=tls", f"--port={PORT}", "--no-jupyter", ports=there)
        worker = start("worker", f"tls://{name}-scheduler:{PORT}", "--nthreads=1", "--no-nanny")
        _until(lambda: b"Register worker" in scheduler.logs(), lambda: _logs(started))
        scheduler.reload()
        port = scheduler.ports[f"{PORT}/tcp"][0]["HostPort"]
        yield Cluster(scheduler, worker, f"tls://127.0.0.1:{port}", authority)
    finally:
        for container in reversed(started):
            container.remove(force=True)
        network.remove()
        client.images.remove(f"{IMAGE}:{tag}")


def _until(what: Callable[[], bool], why_not: Callable[[], str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline, why_not()
        time.sleep(0.2)


def _logs(containers: list[Any]) -> str:
    return "\n".join(container.logs().decode(errors="replace")[-3000:] for container in containers)


def _processes(container: Any) -> list[str]:
    """The command line of each process there, but that of docker's init."""
    found = container.top()
    return [line[-1] for line in found["Processes"] if not line[-1].startswith("/sbin/docker-init")]


def settings(authority: Authority, *, signed_by: Authority | None = None) -> dict[str, str]:
    """What docs/campaigns.md has a client set, who trusts one authority, and is signed by it or another one."""
    certificate, key = (signed_by or authority).sign("client")
    return TIMEOUT | {
        "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true",
        f"{VARIABLE}CA_FILE": str(authority.certificate),
        f"{VARIABLE}CLIENT__CERT": str(certificate),
        f"{VARIABLE}CLIENT__KEY": str(key),
    }


def test_it_is_the_report_of_one_run(tmp_path: Path, cluster: Cluster) -> None:
    (tmp_path / "plan.toml").write_text(SMALL)
    before = _processes(cluster.worker)
    printed = campaign(tmp_path, "plan.toml", f"--scheduler={cluster.address}", code=0, **settings(cluster.authority))
    assert "all tasks ended: 2 of 2 tasks, 26 cases" in printed
    run(tmp_path, "--plugin=fakes/faulty", "--env=TFFS_FAULT=history.crash", "--tier=smoke")
    one, many = load(tmp_path / "tffs-report/report.json"), load(tmp_path / "tffs-report/small/faulty/report.json")
    found = compare(one, many)
    assert (found.changes, found.cases_added, found.cases_removed) == ((), (), ())
    # The worker has a Python of its own.
    assert {one.what for one in found.differences} <= {"python"}
    assert (one.counts, one.classes, one.verdict) == (many.counts, many.classes, many.verdict)
    assert [(case.id, case.checks) for case in one.cases] == [(case.id, case.checks) for case in many.cases]
    # Neither pytest nor a host stays, and nobody spoke to the scheduler unless over TLS.
    assert len(before) == 1
    _until(lambda: _processes(cluster.worker) == before, lambda: str(_processes(cluster.worker)))
    assert b"tcp://" not in cluster.scheduler.logs()


def test_who_has_no_certificate_is_refused(tmp_path: Path, cluster: Cluster) -> None:
    refused = refusal(tmp_path, cluster.address)
    assert refused == f"Error: --scheduler={cluster.address}: Dask's settings name no certificates: set {TLS}\n"


def test_whom_others_signed_is_refused(tmp_path: Path, cluster: Cluster) -> None:
    given = settings(cluster.authority, signed_by=Authority(tmp_path, "stranger"))
    refused = refusal(tmp_path, cluster.address, **given)
    assert refused.startswith(f"Error: --scheduler={cluster.address}: it cannot be reached: ")
    assert "unknown ca" in refused


def test_who_does_not_speak_tls_is_refused(tmp_path: Path, cluster: Cluster) -> None:
    address = cluster.address.replace("tls:", "tcp:")
    refused = refusal(tmp_path, address, **TIMEOUT)
    assert refused.startswith(f"Error: --scheduler={address}: it cannot be reached: ")


def test_a_scheduler_that_does_not_answer(tmp_path: Path, cluster: Cluster) -> None:
    cluster.scheduler.pause()
    try:
        refused = refusal(tmp_path, cluster.address, **settings(cluster.authority))
    finally:
        cluster.scheduler.unpause()
    assert refused.startswith(f"Error: --scheduler={cluster.address}: it cannot be reached: ")


def refusal(folder: Path, scheduler: str, **variables: str) -> str:
    """The sentence of a campaign that does not begin, and it says nothing else."""
    (folder / "plan.toml").write_text(SMALL)
    printed = campaign(folder, "plan.toml", f"--scheduler={scheduler}", code=5, **variables)
    assert printed.count("\n") == 1, printed
    assert not list((folder / "tffs-campaign").glob("ended/*"))
    return printed
