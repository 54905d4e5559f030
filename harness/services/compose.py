"""Reads a compose file. Only a part of the format is supported; every other key is an error.

`docker compose` takes the same file. It ignores the key `x-tffs`, which says what the target is given.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .figures import ByteCounter

HEALTHY = "service_healthy"
_KEYS = (
    *("image", "command", "entrypoint", "environment", "ports", "volumes"),
    *("depends_on", "healthcheck", "hostname", "working_dir"),
)
_SUPPLY_KEYS = ("root", "environment", "files", "backing", "profile", "measure")
_VARIABLE = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\})")
_DURATION = re.compile(r"(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?")


class ComposeError(Exception):
    """A compose file cannot be read or has a key or value that is not supported. The text is one sentence."""


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a container, published on this machine at `address`.

    `published` is the port number on this machine. None means any free port.
    """

    container: int
    published: int | None
    address: str


@dataclass(frozen=True, slots=True)
class Service:
    """One service. `needs` maps the services it waits for to whether each must be healthy, or only started.

    `mounts` are triples of source, target and read-only. `healthcheck` has the form of docker's API: durations in
    nanoseconds.
    """

    name: str
    image: str
    command: str | list[str] | None = None
    entrypoint: str | list[str] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[Port, ...] = ()
    mounts: tuple[tuple[Path, str, bool], ...] = ()
    needs: Mapping[str, bool] = field(default_factory=dict)
    healthcheck: Mapping[str, Any] | None = None
    hostname: str | None = None
    working_dir: str | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured after a run: the target reads a file of `size` bytes, then reads it again as another node.

    `environment` holds the variables that make the plugin's process that other node.
    """

    size: int
    environment: Mapping[str, str]
    figures: tuple[ByteCounter, ...]


@dataclass(frozen=True, slots=True)
class Supply:
    """What the target is given by its services: the section `x-tffs` of the compose file (docs/ci.md).

    In each text `{SERVICE:PORT}` stands for an address on this machine, such as `127.0.0.1:32768`, `{file:NAME}` for
    the path of one of `files`, and `{path:./FOLDER}` for that of one beside the compose file.
    """

    root: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Any] = field(default_factory=dict)
    backing: str | None = None
    backing_options: Mapping[str, Any] = field(default_factory=dict)
    profile: Path | None = None
    measure: Measure | None = None


@dataclass(frozen=True, slots=True)
class Compose:
    """A compose file. Each of `services` comes after those that it needs."""

    path: Path
    services: tuple[Service, ...]
    supply: Supply


def read(path: Path, environment: Mapping[str, str] = os.environ) -> Compose:
    """Read the compose file at this path. `${NAME}` in it takes its value from `environment`. Raise ComposeError."""
    try:
        # An extra.
        import yaml  # noqa: PLC0415
    except ImportError:
        raise ComposeError(
            "a compose file is read with PyYAML, which is not installed: pip install 'tffs-conformance[services]'"
        ) from None
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ComposeError(f"{path} cannot be read: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("services"), dict):
        raise ComposeError(f"{path} has no services")
    for key in document:
        if key not in ("services", "version", "name") and not str(key).startswith("x-"):
            raise ComposeError(f"{path}: {key} is not supported here")
    services = {
        name: _service(path, name, _interpolated(path, entry, environment))
        for name, entry in document["services"].items()
    }
    supply = _supply(path, _interpolated(path, document.get("x-tffs", {}), environment))
    for figure in supply.measure.figures if supply.measure else ():
        if figure.sender and figure.sender not in services:
            raise ComposeError(f"{path}: x-tffs: measure: {figure.sender} is no service")
    return Compose(path, tuple(_ordered(path, services)), supply)


def _interpolated(path: Path, value: Any, environment: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _interpolated(path, entry, environment) for key, entry in value.items()}
    if isinstance(value, list):
        return [_interpolated(path, entry, environment) for entry in value]
    if not isinstance(value, str):
        return value

    def text(found: re.Match[str]) -> str:
        if found["dollar"]:
            return "$"
        given = environment.get(found["name"], "")
        # `${NAME:-default}` gives the default for a variable that is set but empty, too.
        if given or found["default"] is None:
            return given
        return found["default"]

    return _VARIABLE.sub(text, value)


def _service(path: Path, name: str, entry: dict[str, Any]) -> Service:
    where = f"{path}: {name}"
    if unknown := sorted(set(entry).difference(_KEYS)):
        raise ComposeError(f"{where}: {unknown[0]} is not supported here")
    if "image" not in entry:
        raise ComposeError(f"{where} names no image")
    needs = entry.get("depends_on", {})
    return Service(
        name=name,
        image=entry["image"],
        command=entry.get("command"),
        entrypoint=entry.get("entrypoint"),
        environment=_environment(entry.get("environment", {})),
        ports=tuple(_port(where, str(port)) for port in entry.get("ports", [])),
        mounts=tuple(_mount(path, where, mount) for mount in entry.get("volumes", [])),
        needs=dict.fromkeys(needs, False)
        if isinstance(needs, list)
        else {need: how.get("condition") == HEALTHY for need, how in needs.items()},
        healthcheck=_healthcheck(where, entry.get("healthcheck")),
        hostname=entry.get("hostname"),
        working_dir=entry.get("working_dir"),
    )


def _environment(given: dict[str, Any] | list[str]) -> dict[str, str]:
    if isinstance(given, list):
        return dict(entry.split("=", 1) for entry in given)
    return {name: str(value) for name, value in given.items()}


def _port(where: str, given: str) -> Port:
    match given.rsplit(":", 2):
        case [container]:
            address, published = "127.0.0.1", ""
        case [published, container]:
            address = "0.0.0.0"
        case [address, published, container]:
            pass
    if not container.isdigit() or not (published.isdigit() or not published):
        raise ComposeError(f"{where}: the port {given!r} is not ADDRESS:PUBLISHED:CONTAINER")
    return Port(int(container), int(published) if published else None, address)


def _mount(path: Path, where: str, given: str) -> tuple[Path, str, bool]:
    source, _, rest = given.partition(":")
    target, _, mode = rest.partition(":")
    if not source.startswith(("./", "../", "/")) or not target:
        raise ComposeError(f"{where}: the volume {given!r} is not ./FILE:PATH[:ro]")
    return (path.parent / source).resolve(), target, mode == "ro"


def _healthcheck(where: str, given: dict[str, Any] | None) -> dict[str, Any] | None:
    if given is None:
        return None
    check: dict[str, Any] = {"test": given["test"]}
    for key in ("interval", "timeout", "start_period"):
        if key in given:
            check[key] = _nanoseconds(where, str(given[key]))
    if "retries" in given:
        check["retries"] = int(given["retries"])
    return check


def _nanoseconds(where: str, given: str) -> int:
    found = _DURATION.fullmatch(given)
    if not given or found is None:
        raise ComposeError(f"{where}: {given!r} is no duration such as 1m30s")
    minutes, seconds, milliseconds = (int(part or 0) for part in found.groups())
    return ((minutes * 60 + seconds) * 1000 + milliseconds) * 1_000_000


def _supply(path: Path, given: dict[str, Any]) -> Supply:
    if unknown := sorted(set(given).difference(_SUPPLY_KEYS)):
        raise ComposeError(f"{path}: x-tffs: {unknown[0]} is unknown; known are {', '.join(_SUPPLY_KEYS)}")
    backing = given.get("backing", {})
    return Supply(
        root=given.get("root"),
        environment=_environment(given.get("environment", {})),
        files=given.get("files", {}),
        backing=backing.get("url"),
        backing_options=backing.get("options", {}),
        profile=(path.parent / given["profile"]).resolve() if "profile" in given else None,
        measure=_measure(f"{path}: x-tffs: measure", given["measure"]) if "measure" in given else None,
    )


def _measure(where: str, given: dict[str, Any]) -> Measure:
    try:
        figures = tuple(ByteCounter(**entry) for entry in given["figures"])
        return Measure(int(given["size"]), _environment(given["environment"]), figures)
    except (KeyError, TypeError, ValueError) as error:
        raise ComposeError(
            f"{where} is not a size, an environment, and figures with what, and url and sample, or sender: {error}"
        ) from error


def _ordered(path: Path, services: dict[str, Service]) -> list[Service]:
    ordered: list[Service] = []
    left = dict(services)
    while left:
        ready = [one for one in left.values() if not any(need in left for need in one.needs)]
        if not ready:
            raise ComposeError(f"{path}: {', '.join(left)} wait for each other")
        for one in ready:
            if unknown := [need for need in one.needs if need not in services]:
                raise ComposeError(f"{path}: {one.name} needs {unknown[0]}, which is no service")
            ordered.append(left.pop(one.name))
    return ordered
