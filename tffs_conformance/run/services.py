"""`--services`: the services that plugins need, started once for a run, and what they give to targets."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..harness.targets.profile import Profile
from ..harness.targets.shipped import compose_files
from .run_options import BadUsageError, RunOptions

if TYPE_CHECKING:
    from ..harness.services import Services

# docker's SDK is slow to import, every run of pytest imports this module, and few ask for services.
# ruff: noqa: PLC0415

#: Where in the folder of the report the services' logs go.
LOGS = "services"

_STARTED = pytest.StashKey[list["Services"]]()


@dataclass(frozen=True, slots=True)
class TargetServices:
    """What a target gets from its services; `missing` says why there are none, where they were asked for.

    `profile` is for who names none. `running` are those that something is to be measured of.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    root: str | None = None
    backing: str | None = None
    backing_options: Mapping[str, Any] = field(default_factory=dict)
    profile: Path | None = None
    missing: str | None = None
    running: "Services | None" = None

    def serves(self, root: str | None) -> bool:
        """Whether this root is in the storage of the services."""
        return self.root is not None and root is not None and f"{root}/".startswith(f"{self.root.rstrip('/')}/")


def given(
    config: pytest.Config, options: RunOptions, plugins: Sequence[str], profiles: Sequence[Profile]
) -> list[TargetServices]:
    """What each plugin gets; the services are up then, and are removed when pytest ends. Raises BadUsageError."""
    if not options.services:
        return [TargetServices()] * len(plugins)
    composed = [
        (profiles[k].services if profiles else None) or compose_files().get(plugin) for k, plugin in enumerate(plugins)
    ]
    if not any(composed):
        raise BadUsageError(f"--services: {', '.join(plugins)} needs none, or a profile has to name them")
    started = {path: _start(config, options, path) for path in dict.fromkeys(composed) if path is not None}
    return [started[path] if path else TargetServices() for path in composed]


def _start(config: pytest.Config, options: RunOptions, path: Path) -> TargetServices:
    from ..harness import services
    from ..harness.services import ComposeError, ServiceMissingError, ServicesError

    name = next((plugin for plugin, compose in compose_files().items() if compose == path), path.parent.name)
    try:
        compose = services.read(path)
        # What a person's own compose file does not hand over under x-tffs, the profile knows by its fixed port.
        fixed = not compose.supply.environment and "{" not in (compose.supply.root or "")
        running = services.up(compose, name, keep=False, fixed_ports=fixed, say=_say, logs=options.reports / LOGS)
    except ServiceMissingError as missing:
        return TargetServices(missing=str(missing))
    except (ComposeError, ServicesError) as error:
        raise BadUsageError(f"--services: {error}") from error
    config.add_cleanup(running.stop)
    config.stash.setdefault(_STARTED, []).append(running)
    return TargetServices(
        running.environment,
        running.root,
        running.backing,
        running.backing_options,
        running.profile,
        running=running if running.measure else None,
    )


def _say(text: str) -> None:
    print(f"services: {text}", file=sys.stderr, flush=True)


def keep_logs(config: pytest.Config, options: RunOptions) -> None:
    """Write down what the services said, for who looks into a failure."""
    for running in config.stash.get(_STARTED, []):
        running.keep_logs(options.reports / LOGS)
