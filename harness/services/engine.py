"""Finds and removes our containers and networks in docker. They carry labels, so any process can find them."""

import contextlib
import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, DockerException, NotFound

NAME = "tffs-conformance.services"
RUN = "tffs-conformance.run"
SERVICE = "tffs-conformance.service"
#: The label with the process that removes the run when it ends. Empty where the run stays until `services down`.
KEEPER = "tffs-conformance.keeper"
#: The label with the folder of the files that were written for the target.
DIRECTORY = "tffs-conformance.directory"


#: HTTP 409: the container is already being removed.
CONFLICT = 409


#: How often a container is started whose port somebody else took.
TRIES = 5


class ServicesError(Exception):
    """The services cannot be started, asked or removed. The text is one sentence."""


class ServiceMissingError(ServicesError):
    """This machine has no docker, no running docker daemon, or not the image."""


def connect() -> Any:
    """Connect to docker's daemon. Raise ServiceMissingError where there is none, or where this user may not use it."""
    try:
        client = docker.from_env(timeout=120)
        client.ping()
    except DockerException as error:
        if "Permission denied" in str(error):
            raise ServiceMissingError("this user may not talk to docker's daemon") from error
        if shutil.which("docker") is None and "DOCKER_HOST" not in os.environ:
            raise ServiceMissingError("docker is not installed (on Debian: apt-get install docker.io)") from error
        raise ServiceMissingError("docker's daemon does not answer: is it running?") from error
    return client


def start(container: Any, fixed_ports: bool) -> None:
    """Start a container. Docker looks for a free port before it listens there, and another process may come between."""
    for left in reversed(range(TRIES)):
        try:
            container.start()
        except APIError as error:
            if fixed_ports or not left or "address already in use" not in str(error.explanation):
                raise
        else:
            return


def keeper() -> str:
    """Identify this process: host name, pid and start time, such as `build7 4211 918273`.

    Another process can tell from it whether this one still lives.
    """
    return f"{platform.node()} {os.getpid()} {_started(os.getpid())}"


def _started(pid: int) -> str:
    """The start time of a process in clock ticks since boot (field 22 of /proc/PID/stat).

    Empty where it does not exist.
    """
    try:
        # The program's name is in parentheses and may contain blanks and parentheses: split behind the last one.
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class ServicesRun:
    """One start of services, found in docker by the labels of its containers and networks."""

    name: str
    run: str
    keeper: str
    directory: str

    @property
    def alive(self) -> bool:
        """Whether the process that removes this run still lives. A process on another machine counts as alive."""
        if not self.keeper:
            return False
        node, pid, started = self.keeper.rsplit(" ", 2)
        return node != platform.node() or _started(int(pid)) == started

    @property
    def kept(self) -> bool:
        """Whether the run stays until `services down`."""
        return not self.keeper


def labels(name: str, run: str, keeper: str, directory: Path) -> dict[str, str]:
    """The labels of every container and network of one run."""
    return {NAME: name, RUN: run, KEEPER: keeper, DIRECTORY: str(directory)}


def runs(client: Any, name: str | None = None) -> list[ServicesRun]:
    """All runs of which docker has a container or a network; only those with this name, where one is given."""
    seen = {}
    label = {"label": NAME if name is None else f"{NAME}={name}"}
    there = client.containers.list(all=True, filters=label, ignore_removed=True)
    for thing in [*there, *client.networks.list(filters=label)]:
        marks = thing.labels if hasattr(thing, "labels") else thing.attrs.get("Labels") or {}
        found = ServicesRun(marks[NAME], marks[RUN], marks[KEEPER], marks[DIRECTORY])
        seen[found.run] = found
    return list(seen.values())


def containers(client: Any, run: str) -> dict[str, Any]:
    """The containers of one run by the names of their services. They are objects of docker's SDK."""
    found = client.containers.list(all=True, filters={"label": f"{RUN}={run}"}, ignore_removed=True)
    return {one.labels[SERVICE]: one for one in found}


def keep_logs(client: Any, run: str, directory: Path) -> None:
    """Write the log of each service of a run to `directory/SERVICE.log`."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, container in containers(client, run).items():
        # Where docker fails for one container, the other logs are still written.
        with contextlib.suppress(DockerException):
            (directory / f"{name}.log").write_bytes(container.logs(timestamps=True))


def _remove(container: Any) -> None:
    """Remove a container and its anonymous volumes. Where another process is already removing it, wait for that."""
    try:
        container.remove(force=True, v=True)
    except APIError as error:
        if error.status_code != CONFLICT:
            raise
        container.wait(condition="removed", timeout=60)


def remove(client: Any, found: ServicesRun) -> None:
    """Remove the containers, the networks and the files of a run. Raise ServicesError where docker refuses."""
    try:
        for container in containers(client, found.run).values():
            with contextlib.suppress(NotFound):
                _remove(container)
        for network in client.networks.list(filters={"label": f"{RUN}={found.run}"}):
            with contextlib.suppress(NotFound):
                network.remove()
    except APIError as error:
        raise ServicesError(f"the services of run {found.run} cannot be removed: {error.explanation}") from error
    shutil.rmtree(found.directory, ignore_errors=True)
