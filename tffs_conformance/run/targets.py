"""The targets of a run, from what a user typed and from profiles; what can be seen to be wrong is a usage error."""

import hashlib
import os
import platform
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..harness import paths, profile
from ..harness.loader import Blocked, Loader
from ..harness.native import NativePartsMissing, native_directory
from ..harness.outcomes import Died
from ..harness.profile import Profile, ProfileError
from ..harness.registration import Registration
from ..harness.shipped import built, plugin_path, shipped
from ..harness.tables import DEFAULT_NEEDS, OPS, available
from ..reports.header import TargetFacts
from ..reports.waivers import Waiver, WaiverError, hold_to
from ..reports.waivers import read as read_waivers
from ..suite.contract.catalogue import catalogue
from ..suite.contract.claims import UnknownClaim, stated
from ..suite.engine.target import EXAMPLES, Target
from ..suite.properties.traces import NotATrace, Trace
from . import services as services_option
from .options import TRACES, report_directory
from .services import Given
from .waivers import fitting

if TYPE_CHECKING:
    from ..harness.services import Running

#: What --scheme takes for all schemes of a plugin.
EVERY = "*"


@dataclass(frozen=True, slots=True)
class PreparedTarget:
    """A target, and what was found out about it before the first case.

    `facts` is what its report says of it. After the last case something is measured of `services`.
    """

    target: Target
    facts: TargetFacts
    services: "Running | None" = None

    @property
    def secrets(self) -> dict[str, str]:
        """What stands in no report, by name."""
        return {name: self.target.environment[name] for name in self.target.secrets}


def targets(config: pytest.Config) -> list[PreparedTarget]:
    """The targets of a run. Raises UsageError for what can be seen to be wrong before any op."""
    option = config.option
    profiles = [_profile(given) for given in option.tffs_profile]
    plugins: list[str] = option.tffs_plugin or [_plugin_of(one) for one in profiles]
    paired = (
        ("--plugin-profile", profiles),
        ("--scheme", option.tffs_scheme),
        ("--root", option.tffs_root),
        ("--backing", option.tffs_backing),
    )
    for name, values in paired:
        if values and len(values) != len(plugins):
            raise pytest.UsageError(
                f"{name} was given {len(values)} times, --plugin {len(plugins)} times: they pair up"
            )
    if option.tffs_call_timeout <= 0:
        raise pytest.UsageError("--call-timeout must be more than 0 seconds")
    if option.tffs_examples <= 0:
        raise pytest.UsageError("--examples must be more than 0")
    if option.tffs_replay is not None:
        try:
            # Only the case that found the history can try it.
            option.tffs_case = Trace.read(Path(option.tffs_replay)).case
        except NotATrace as error:
            raise pytest.UsageError(f"--replay: {error}") from error
    environment: dict[str, str] = {}
    for entry in option.tffs_env:
        name, equals, value = entry.partition("=")
        if not name or not equals:
            raise pytest.UsageError(f"--env={entry}: NAME=VALUE is expected")
        environment[name] = value
    try:
        native_directory()
    except NativePartsMissing as error:
        raise pytest.UsageError(str(error)) from error
    given = services_option.given(config, plugins, profiles)
    found = [
        one
        for k, plugin in enumerate(plugins)
        for one in _targets(
            option,
            plugin,
            profiles[k] if profiles else _supplied(given[k], _at(option.tffs_root, k)),
            given[k],
            environment,
            k,
        )
    ]
    names = [one.target.name for one in found]
    if len(set(names)) != len(names):
        raise pytest.UsageError(
            f"a target is named twice among {', '.join(names)}: give each plugin a file name of its own"
        )
    return [
        replace(one, target=replace(one.target, traces=str(report_directory(config, name, len(found) > 1) / TRACES)))
        for one, name in zip(found, names, strict=True)
    ]


def _profile(given: str) -> Profile:
    try:
        read = profile.read(given)
        stated(read.claims)
    except (ProfileError, UnknownClaim) as error:
        raise pytest.UsageError(f"--plugin-profile={given}: {error}") from error
    return read


def _supplied(services: Given, root: str | None) -> Profile:
    """The profile that comes with the services, for a target that keeps its files in them."""
    if services.profile is None or (root is not None and not services.serves(root)):
        return Profile(name="")
    return replace(_profile(str(services.profile)), name=services.profile.stem)


def _plugin_of(one: Profile) -> str:
    if one.plugin is None:
        raise pytest.UsageError(f"--plugin-profile={one.name} names no plugin: add --plugin, or [plugin] path")
    return one.plugin


def waivers(config: pytest.Config, found: Sequence[PreparedTarget]) -> dict[str, list[Waiver]]:
    """The waivers of each target, by its name. Raises UsageError."""
    given: list[str] = config.option.tffs_waivers
    if len(given) > 1 and len(given) != len(found):
        raise pytest.UsageError(f"--waivers was given {len(given)} times for {len(found)} targets: they pair up")
    by_file = {}
    for name in dict.fromkeys(given):
        path = Path(name)
        try:
            by_file[name] = fitting(read_waivers(path, date.today()))
            hold_to(path, by_file[name], catalogue())
        except OSError as error:
            raise pytest.UsageError(f"--waivers={name}: {error.strerror}") from error
        except WaiverError as error:
            raise pytest.UsageError(f"--waivers: {error}") from error
    return {one.target.name: by_file[given[k if len(given) > 1 else 0]] if given else [] for k, one in enumerate(found)}


def _at(values: Sequence[str], k: int) -> str | None:
    return values[k] if values else None


def _targets(
    option: Any, given: str, claimed: Profile, services: Given, added: dict[str, str], k: int
) -> list[PreparedTarget]:
    """The targets of one --plugin: one, or one for each scheme where all are asked for.

    Options win over profiles, and profiles over services.
    """
    scheme = _at(option.tffs_scheme, k) or claimed.scheme
    root, backing = _at(option.tffs_root, k), _at(option.tffs_backing, k)
    if root is None and _at(option.tffs_scheme, k) is None:
        root = claimed.root
    environment = {**services.environment, **claimed.environment, **added}
    plugin, registration, known = _registered(given, scheme, environment, option.tffs_call_timeout)
    if scheme == EVERY and root is not None:
        raise pytest.UsageError(f"--root={root} is a URI of one scheme and does not go with --scheme='*'")
    schemes: list[str | None] = [*known] or [None] if scheme in (None, EVERY) else [scheme]
    name = plugin.stem.removeprefix("lib")
    known_backing = shipped()[given].backing if given in shipped() else None
    found = []
    for one in schemes:
        below = services.root if root is None and services.root and paths.parse(services.root).scheme == one else root
        base = _root(given, one, below)
        theirs = backing or claimed.backing or known_backing
        if theirs is None and services.serves(base):
            theirs = services.backing
        target = Target(
            name=f"{name}-{one or 'local'}" if len(schemes) > 1 else name,
            plugin=plugin,
            scheme=one,
            root=base,
            environment=environment,
            timeout=option.tffs_call_timeout,
            host_scope=option.tffs_host_scope,
            keep=option.tffs_keep,
            backing=theirs,
            backing_options=dict(services.backing_options) if theirs == services.backing else {},
            missing=services.missing,
            claims=dict(claimed.claims),
            limits=dict(claimed.limits),
            secrets=tuple(key for key in environment if key in claimed.secrets or looks_secret(key)),
            examples=option.tffs_examples,
            seed=option.tffs_seed,
            replay=option.tffs_replay and os.path.abspath(option.tffs_replay),
        )
        target = replace(target, command=_command(option, target, added, k))
        measured = services.running if services.serves(base) else None
        found.append(PreparedTarget(target, _facts(target, registration, claimed.name or None), measured))
    return found


def _registered(
    given: str, scheme: str | None, environment: dict[str, str], timeout: float
) -> tuple[Path, Registration | None, list[str]]:
    """The plugin, what it registers, and its schemes. Raises UsageError where `scheme` is none of them."""
    plugin = plugin_path(given)
    if not plugin.is_file():
        if given in shipped():
            advice = shipped()[given].advice
            raise pytest.UsageError(f"--plugin={given}: it was not built, for want of libraries; {advice}")
        names = ", ".join(built())
        raise pytest.UsageError(f"--plugin={given}: there is no such file, nor a plugin of that name ({names})")
    registration = registration_of(plugin, environment, timeout)
    known = list(registration.registered) if registration else []
    if scheme is None and len(known) > 1:
        raise pytest.UsageError(f"--plugin={given} has several schemes, choose one with --scheme: {', '.join(known)}")
    if scheme not in (None, EVERY) and known and scheme not in known:
        raise pytest.UsageError(f"--scheme={scheme}: {given} has {', '.join(known)}")
    return plugin, registration, known


def only_target(
    given: str, scheme: str | None, root: str | None, environment: dict[str, str], timeout: float
) -> Target:
    """One scheme of one plugin, without a profile. Raises UsageError."""
    plugin, _, known = _registered(given, scheme, environment, timeout)
    one = scheme if scheme is not None else known[0] if known else None
    name = plugin.stem.removeprefix("lib")
    return Target(name, plugin, one, _root(given, one, root), environment, timeout=timeout)


def _command(option: Any, target: Target, added: dict[str, str], k: int) -> tuple[str, ...]:
    """What a person types to run on this target again: without what a profile says, and without secrets."""
    command = ["pytest"]
    if option.tffs_plugin:
        command.append(f"--plugin={option.tffs_plugin[k]}")
    if option.tffs_profile:
        command.append(f"--plugin-profile={option.tffs_profile[k]}")
    if target.scheme and option.tffs_scheme:
        command.append(f"--scheme={target.scheme}")
    if option.tffs_root:
        command.append(f"--root={option.tffs_root[k]}")
    if target.backing and option.tffs_backing:
        command.append(f"--backing={target.backing}")
    command += ["--services"] * option.tffs_services
    command += ["--undefined"] * option.tffs_undefined
    command += [f"--seed={target.seed}"] * bool(target.seed)
    command += [f"--examples={target.examples}"] * (target.examples != EXAMPLES)
    command += [
        f"--env={name}=$" + name if name in target.secrets else f"--env={name}={value}" for name, value in added.items()
    ]
    return tuple(command)


def looks_secret(name: str) -> bool:
    """Whether the value of this variable is nobody's business."""
    return any(word in name.upper() for word in ("SECRET", "TOKEN", "PASSWORD", "CREDENTIAL", "KEY"))


def _root(given: str, scheme: str | None, root: str | None) -> str | None:
    if root is not None and paths.parse(root).scheme != scheme:
        raise pytest.UsageError(f"--root={root} is not a URI of the scheme {scheme}, which {given} has")
    if scheme is None:
        return None
    base = root if root is not None else f"{scheme}:///tmp" if scheme else "/tmp"
    return paths.join(base, f"tffs-{secrets.token_hex(6)}")


def registration_of(plugin: Path, environment: dict[str, str], timeout: float) -> Registration | None:
    """What the plugin registers; None where it does not survive that, which the cases will show."""
    loader = Loader([str(native_directory() / "tffs-host")], plugin, environment, timeout)
    try:
        loaded = loader.load()
        loaded.host.close()
        return loaded.registration
    except (Died, Blocked):
        return None
    finally:
        loader.close()


def _facts(target: Target, registration: Registration | None, claimed: str | None) -> TargetFacts:
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
        profile=claimed,
        environment=tuple(target.environment),
        tables={op: _answered_by(op, present) for op in OPS} if entry else {},
    )


def _answered_by(op: str, present: frozenset[str]) -> str:
    if op in present:
        return "plugin"
    return "default" if op in DEFAULT_NEEDS and available(op, present) else "absent"
