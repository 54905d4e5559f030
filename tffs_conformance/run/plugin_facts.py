"""What is found out about a plugin before its first case: what it registers, and what a report says of it."""

import hashlib
import platform
from pathlib import Path

from ..harness.launchers.local import Local
from ..harness.loader import Blocked, Loader
from ..harness.outcomes import Died
from ..harness.registration import Registration
from ..harness.tables import DEFAULT_NEEDS, OPS, available
from ..reports.header import TargetFacts
from ..suite.engine.target import Target


def registration_of(plugin: Path, environment: dict[str, str], timeout: float) -> Registration | None:
    """What the plugin registers; None where it does not survive that, which the cases will show."""
    loader = Loader(Local(environment), plugin, timeout)
    try:
        loaded = loader.load()
        loaded.host.close()
        return loaded.registration
    except (Died, Blocked):
        return None
    finally:
        loader.close()


def facts(target: Target, registration: Registration | None, profile: str | None) -> TargetFacts:
    """What the report says of a target; `profile` is the name of its profile."""
    content = target.plugin.read_bytes()
    entry = registration.registered.get(target.scheme or "") if registration else None
    present = entry.present if entry else frozenset()
    return TargetFacts(
        plugin=str(target.plugin),
        name=target.name,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        scheme=target.scheme,
        root=target.root,
        runtime=f"stand-in on {platform.system()} {platform.machine()}",
        profile=profile,
        environment=tuple(target.environment),
        tables={op: _answered_by(op, present) for op in OPS} if entry else {},
    )


def _answered_by(op: str, present: frozenset[str]) -> str:
    if op in present:
        return "plugin"
    return "default" if op in DEFAULT_NEEDS and available(op, present) else "absent"
