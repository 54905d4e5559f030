"""Starts the services of a compose file through docker's SDK, under names of their own, and removes them."""

import atexit
import json
import re
import secrets
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from docker.errors import APIError, DockerException, ImageNotFound
from docker.types import Mount

from .. import interrupts
from . import engine, health
from .compose import Compose, Service
from .engine import ServiceMissingError, ServicesError, ServicesRun

#: Seconds in which all services must become healthy. It is long, because a busy machine is slow.
PATIENCE = 180.0

_PLACE = re.compile(r"\{([A-Za-z0-9_-]+):([^{}]+)\}")


class Services:
    """Services that run, and what the target is given by them.

    `environment` holds variables for the plugin's process. `backing` is the fsspec URL of another way to the same
    storage, and `backing_options` its options. `root` is a URI below which cases may work. `profile` is the file with
    the claims of that storage. `measure` says what is measured after the cases. `facts` maps each service to its image
    and addresses.
    """

    def __init__(self, client: Any, compose: Compose, found: ServicesRun) -> None:
        self._client = client
        self._compose = compose
        self._found = found
        self._signals: dict[int, Any] = {}
        self.run = found.run
        self.directory = Path(found.directory)
        self.containers: dict[str, Any] = engine.containers(client, found.run)
        supply = compose.supply
        self.environment: dict[str, str] = {name: self.placed(text) for name, text in supply.environment.items()}
        self.root = supply.root and self.placed(supply.root)
        self.backing = supply.backing and self.placed(supply.backing)
        self.backing_options: dict[str, Any] = _mapped(supply.backing_options, self.placed)
        self.profile = supply.profile
        self.measure = supply.measure and replace(
            supply.measure, environment=_mapped(supply.measure.environment, self.placed)
        )
        self.facts: dict[str, dict[str, str]] = {
            service.name: {
                "image": service.image,
                "id": str(self.containers[service.name].image.id),
                **{str(port.container): self.address(service.name, port.container) for port in service.ports},
            }
            for service in compose.services
            if service.name in self.containers
        }

    def address(self, service: str, port: int) -> str:
        """The address of a service's port on this machine, such as `127.0.0.1:32768`.

        Raise ServicesError where it has none.
        """
        if service not in self.containers:
            raise ServicesError(f"there is no service {service}")
        container = self.containers[service]
        container.reload()
        published = container.attrs["NetworkSettings"]["Ports"].get(f"{port}/tcp")
        if not published:
            raise ServicesError(f"the service {service} does not publish the port {port}")
        return f"{published[0]['HostIp']}:{published[0]['HostPort']}"

    def placed(self, text: str) -> str:
        """A text of the compose file, with `{SERVICE:PORT}`, `{file:NAME}` and `{path:…}` replaced by what they are."""

        def place(found: re.Match[str]) -> str:
            if found[1] == "file":
                return str(self.directory / found[2])
            if found[1] == "path":
                return str((self._compose.path.parent / found[2]).resolve())
            return self.address(found[1], int(found[2]))

        return _PLACE.sub(place, text)

    def figures(self) -> dict[str, int]:
        """The counters of `measure` now: their bytes by what they count.

        Raise ServicesError where one cannot be read.
        """
        figures = self.measure.figures if self.measure else ()
        return {figure.what: figure.read(self.placed, self.containers) for figure in figures}

    def write_files(self) -> None:
        """Write the files for the target. Only this user may read them, because they hold credentials."""
        for name, content in self._compose.supply.files.items():
            path = self.directory / name
            path.touch(mode=0o600)
            path.write_text(json.dumps(_mapped(content, self.placed), indent=2) + "\n", encoding="utf-8")

    def keep_logs(self, directory: Path) -> None:
        """Write the log of each service to `directory/SERVICE.log`."""
        engine.keep_logs(self._client, self.run, directory)

    def own(self) -> None:
        """From now on the services are removed when this process ends, also by SIGTERM or SIGHUP."""
        self._signals = interrupts.end_politely()
        atexit.register(self.stop)

    def stop(self) -> None:
        """Remove the services. A second call does nothing."""
        with interrupts.deferred():
            engine.remove(self._client, self._found)
        atexit.unregister(self.stop)
        interrupts.restore(self._signals)
        self._signals = {}


def _mapped(value: Any, place: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _mapped(entry, place) for key, entry in value.items()}
    if isinstance(value, list):
        return [_mapped(entry, place) for entry in value]
    return place(value) if isinstance(value, str) else value


def up(
    compose: Compose, name: str, *, keep: bool, fixed_ports: bool, say: Callable[[str], None], logs: Path | None = None
) -> Services:
    """Start the services and wait until all are healthy.

    With `keep` they stay when this process ends; otherwise they end with it. With `fixed_ports` they get the ports of
    the compose file; otherwise any free ports, so that several runs go side by side. `say` is called with a sentence
    for each step. Where a step fails everything is removed, the logs are kept in the folder `logs`, and ServicesError
    is raised.
    """
    client = engine.connect()
    for found in engine.runs(client, name):
        if not found.alive and not found.kept:
            say(f"removing what run {found.run} left, which has ended")
            engine.remove(client, found)
    for image in sorted({service.image for service in compose.services}):
        _have(client, image, compose, say)
    directory = Path(tempfile.mkdtemp(prefix="tffs-services-"))
    started = ServicesRun(name, secrets.token_hex(4), "" if keep else engine.keeper(), str(directory))
    polite = interrupts.end_politely()
    try:
        _start(client, compose, started, fixed_ports, say)
        running = Services(client, compose, started)
        running.write_files()
    except BaseException as error:
        with interrupts.deferred():
            if logs is not None and isinstance(error, ServicesError):
                engine.keep_logs(client, started.run, logs)
            engine.remove(client, started)
        if isinstance(error, APIError):
            raise ServicesError(f"the services of {name} cannot be started: {error.explanation}") from error
        raise
    finally:
        interrupts.restore(polite)
    if not keep:
        running.own()
    return running


def attach(compose: Compose, found: ServicesRun) -> Services:
    """The `Services` of services that another process started."""
    return Services(engine.connect(), compose, found)


def _have(client: Any, image: str, compose: Compose, say: Callable[[str], None]) -> None:
    try:
        client.images.get(image)
    except ImageNotFound:
        say(f"pulling {image}")
        try:
            client.images.pull(image)
        except DockerException as error:
            builder = compose.path.parent / "build_images.py"
            hint = f"; 'python3 {builder}' builds it from released sources" if builder.is_file() else ""
            reason = getattr(error, "explanation", None) or error
            raise ServiceMissingError(f"the image {image} is not here and cannot be pulled ({reason}){hint}") from error


def _start(client: Any, compose: Compose, found: ServicesRun, fixed_ports: bool, say: Callable[[str], None]) -> None:
    deadline = time.monotonic() + PATIENCE
    network = f"tffs-{found.name}-{found.run}"
    labels = engine.labels(found.name, found.run, found.keeper, Path(found.directory))
    with interrupts.deferred():
        client.networks.create(network, driver="bridge", labels=labels, check_duplicate=True)
    containers: dict[str, Any] = {}
    well: set[str] = set()
    services = {service.name: service for service in compose.services}
    for service in compose.services:
        needed = [services[name] for name, healthy in service.needs.items() if healthy and name not in well]
        health.wait(needed, containers, deadline, say)
        well.update(one.name for one in needed)
        with interrupts.deferred():
            containers[service.name] = _create(client, service, network, labels, fixed_ports)
            engine.start(containers[service.name], fixed_ports)
    health.wait([one for one in compose.services if one.name not in well], containers, deadline, say)


def _create(client: Any, service: Service, network: str, labels: Mapping[str, str], fixed_ports: bool) -> Any:
    return client.containers.create(
        service.image,
        service.command,
        entrypoint=service.entrypoint,
        name=f"{network}-{service.name}",
        hostname=service.hostname,
        labels={**labels, engine.SERVICE: service.name},
        environment=dict(service.environment),
        ports={
            f"{port.container}/tcp": (port.address, port.published if fixed_ports else None) for port in service.ports
        },
        mounts=[
            Mount(target, str(source), type="bind", read_only=read_only) for source, target, read_only in service.mounts
        ],
        healthcheck=dict(service.healthcheck) if service.healthcheck else None,
        working_dir=service.working_dir,
        network=network,
        # In its network a container is found by the name of its service.
        networking_config={network: client.api.create_endpoint_config(aliases=[service.name])},
    )
