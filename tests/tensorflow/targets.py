"""What the tests with TensorFlow go through: a plugin, a folder below its scheme, and the environment it needs."""

import importlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tffs_conformance.harness.targets.shipped import compose_files, plugin_path

#: The Python that has TensorFlow; ours, unless told otherwise.
PYTHON = os.environ.get("TFFS_TENSORFLOW_PYTHON", sys.executable)
LOADER = Path("loader", "libtffs_loader.so")
_ASK = """
import importlib.metadata, importlib.util, json
spec = importlib.util.find_spec("tensorflow")
names = importlib.metadata.packages_distributions().get("tensorflow", []) if spec else []
print(json.dumps([spec.submodule_search_locations[0], importlib.metadata.version(names[0])] if names else None))
"""


class TargetAbsentError(Exception):
    """A target is not there; the text says what is missing."""


@dataclass(frozen=True)
class Target:
    """`folder` is a URI, and not there yet. `agents` gives what the HTTP clients of its services called themselves."""

    name: str
    plugin: Path
    folder: str
    environment: Mapping[str, str] = field(default_factory=dict)
    agents: Callable[[], list[str]] = list


@cache
def tensorflow() -> tuple[Path, str] | None:
    """The folder and the version of TensorFlow, which is not imported for that; None where there is none."""
    done = subprocess.run([PYTHON, "-c", _ASK], capture_output=True, text=True, check=True, env=environment())
    found = json.loads(done.stdout)
    return (Path(found[0]), found[1]) if found else None


def environment(**more: str) -> dict[str, str]:
    """For processes with TensorFlow: neither this clone nor anything of the tests is on their path."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_PRELOAD")}
    return kept | {"TF_CPP_MIN_LOG_LEVEL": "1"} | more


@contextmanager
def _posix() -> Iterator[Target]:
    with tempfile.TemporaryDirectory(prefix="tffs-tensorflow-") as folder:
        yield Target("posix", shipped("posix"), f"posix://{folder}/in")


@contextmanager
def _memory() -> Iterator[Target]:
    yield Target("memory", shipped("memory"), "memory:///in")


@contextmanager
def _dragonfly_local() -> Iterator[Target]:
    """The plugin's way to local files, for which it talks to nobody."""
    plugin = shipped("dragonfly")
    with tempfile.TemporaryDirectory(prefix="tffs-tensorflow-") as folder:
        config = Path(folder, "dragonfly.json")
        keys = {"access_key": "not used", "secret_key": "not used"}
        config.write_text(json.dumps({"addr": "http://127.0.0.1:9", "object_storage": keys}), encoding="utf-8")
        yield Target("dragonfly", plugin, f"dragonfly://{folder}/in", {"DRAGONFLY_CONFIG_PATH": str(config)})


@contextmanager
def _dragonfly_stub() -> Iterator[Target]:
    """Objects, with a store and a stub of the proxy that live in this process: no Dragonfly."""
    plugin = shipped("dragonfly")
    client, stub, store = (_module(f"tests.{name}") for name in ("dragonfly_client", "proxy_stub", "s3_server"))
    with (
        tempfile.TemporaryDirectory(prefix="tffs-tensorflow-") as folder,
        store.S3Server() as s3,
        stub.ProxyStub() as proxy,
    ):
        config = Path(folder, "dragonfly.json")
        config.write_text(json.dumps(client.configuration(s3.url, proxy.url)), encoding="utf-8")

        def agents() -> list[str]:
            # The stub comes to the store without a name.
            named = [asked.headers.get("user-agent") for asked in proxy.asked + s3.asked]
            return [agent for agent in named if agent is not None]

        given = {"DRAGONFLY_CONFIG_PATH": str(config)}
        yield Target("dragonfly", plugin, f"{client.ROOT}/in", given, agents=agents)


@contextmanager
def _dragonfly() -> Iterator[Target]:
    """Objects, through Dragonfly in docker."""
    plugin = shipped("dragonfly")
    services = _module("tffs_conformance.harness.services")
    try:
        compose = services.read(compose_files()["dragonfly"])
        running = services.up(compose, "dragonfly", keep=False, fixed_ports=False, say=print)
    except services.ServiceMissingError as missing:
        raise TargetAbsentError(str(missing)) from None
    try:
        folder = f"{running.root}/tensorflow-{secrets.token_hex(4)}"
        yield Target("dragonfly", plugin, folder, running.environment)
    finally:
        running.stop()


#: By name, as pytest shows them.
TARGETS: dict[str, Callable[[], AbstractContextManager[Target]]] = {
    "posix": _posix,
    "memory": _memory,
    "dragonfly-local": _dragonfly_local,
    "dragonfly-stub": _dragonfly_stub,
    "dragonfly": _dragonfly,
}
#: Those whose files are still there when the process that wrote them is not.
LASTING = [name for name in TARGETS if name != "memory"]


def shipped(name: str) -> Path:
    """The shared object of a plugin that ships with the package. Raises OpAbsentError."""
    path = plugin_path(name)
    if not path.is_file():
        raise TargetAbsentError(f"the plugin {name} is not built")
    return path


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise TargetAbsentError(f"there is no {error.name}") from None
