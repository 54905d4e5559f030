"""The docker engine, and what of ours is in it: everything carries labels, so that it is found without its maker."""

import contextlib
import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, DockerException, NotFound

NAME = "tffs-conformance.services"
RUN = "tffs-conformance.run"
SERVICE = "tffs-conformance.service"
#: The process that ends the run with itself; empty for a run that stays until `services down`.
KEEPER = "tffs-conformance.keeper"
#: The folder with the files that the run wrote for its target.
DIRECTORY = "tffs-conformance.directory"


#: The answer to who wants to remove what is being removed.
CONFLICT = 409


class ServicesError(Exception):
    """The services cannot be had; the text is one sentence for a person."""


class Missing(ServicesError):
    """Something that is no part of the suite is not on this machine: docker, its daemon, or an image."""


def connect() -> Any:
    """A client of the engine. Raises Missing."""
    try:
        client = docker.from_env(timeout=120)
        client.ping()
    except DockerException as error:
        if "Permission denied" in str(error):
            raise Missing("this user may not talk to docker's daemon") from error
        if shutil.which("docker") is None and "DOCKER_HOST" not in os.environ:
            raise Missing("docker is not installed (on Debian: apt-get install docker.io)") from error
        raise Missing("docker's daemon does not answer: is it running?") from error
    return client


def keeper() -> str:
    """This process, so that another one can tell whether it still lives."""
    return f"{platform.node()} {os.getpid()} {_started(os.getpid())}"


def _started(pid: int) -> str:
    """When a process was started, in ticks since the machine was; empty where there is no such process."""
    try:
        # The name of the program stands in parentheses and may hold anything.
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class ServicesRun:
    """A run whose containers or network are there."""

    name: str
    run: str
    keeper: str
    directory: str

    @property
    def alive(self) -> bool:
        """Whether the process that ends this run still lives; so one of another machine is taken to do."""
        if not self.keeper:
            return False
        node, pid, started = self.keeper.rsplit(" ", 2)
        return node != platform.node() or _started(int(pid)) == started

    @property
    def kept(self) -> bool:
        """Whether somebody asked for it to stay."""
        return not self.keeper


def labels(name: str, run: str, keeper: str, directory: Path) -> dict[str, str]:
    """What everything of one run carries."""
    return {NAME: name, RUN: run, KEEPER: keeper, DIRECTORY: str(directory)}


def runs(client: Any, name: str | None = None) -> list[ServicesRun]:
    """The runs that left something, of all services or of those of one name."""
    seen = {}
    for thing in _things(client, NAME if name is None else f"{NAME}={name}"):
        marks = thing.labels if hasattr(thing, "labels") else thing.attrs.get("Labels") or {}
        found = ServicesRun(marks[NAME], marks[RUN], marks[KEEPER], marks[DIRECTORY])
        seen[found.run] = found
    return list(seen.values())


def _things(client: Any, label: str) -> Iterator[Any]:
    yield from client.containers.list(all=True, filters={"label": label}, ignore_removed=True)
    yield from client.networks.list(filters={"label": label})


def containers(client: Any, run: str) -> dict[str, Any]:
    """The containers of one run, by the names of their services."""
    found = client.containers.list(all=True, filters={"label": f"{RUN}={run}"}, ignore_removed=True)
    return {one.labels[SERVICE]: one for one in found}


def keep_logs(client: Any, run: str, directory: Path) -> None:
    """Write what each service of a run said to a file in `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, container in containers(client, run).items():
        # One that cannot be asked must not cost the others' logs.
        with contextlib.suppress(DockerException):
            (directory / f"{name}.log").write_bytes(container.logs(timestamps=True))


def _remove(container: Any) -> None:
    """Remove a container, with the volumes that its image declares; another process may be doing so."""
    try:
        container.remove(force=True, v=True)
    except APIError as error:
        if error.status_code != CONFLICT:
            raise
        container.wait(condition="removed", timeout=60)


def remove(client: Any, found: ServicesRun) -> None:
    """Remove all that is left of a run. Raises ServicesError."""
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
