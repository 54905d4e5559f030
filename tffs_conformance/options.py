"""What a user types, and the targets that follow from it."""

import hashlib
import os
import platform
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tffs_conformance.harness import launch, paths
from tffs_conformance.harness.loader import Blocked, Loader
from tffs_conformance.harness.outcomes import Died
from tffs_conformance.harness.registration import Registration
from tffs_conformance.harness.tables import DEFAULT_NEEDS, OPS, available
from tffs_conformance.reports.header import TargetFacts
from tffs_conformance.reports.waivers import Waiver, WaiverError, hold_to
from tffs_conformance.reports.waivers import read as read_waivers
from tffs_conformance.suite.catalogue import catalogue
from tffs_conformance.suite.marks import TIERS
from tffs_conformance.suite.target import Target
from tffs_conformance.waiving import fitting

#: The plugins that ship with the suite serve storage that is at hand in another way, too.
BACKINGS = {"posix": "file://{path}", "posix_choices": "file://{path}"}

#: What --scheme takes for all schemes of a plugin.
EVERY = "*"

FAILABLE = ("warning", "not-run", "absent")
DEFAULT_REPORTS = "tffs-report"


def add(parser: pytest.Parser) -> None:
    """Register the options of the suite."""
    group = parser.getgroup("tffs", "conformance of TensorFlow filesystem plugins")
    option = group.addoption
    option(
        "--plugin",
        action="append",
        dest="tffs_plugin",
        metavar="NAME|PATH",
        help="judge this plugin: the name of one that ships with the suite (posix) or the path of a shared object;"
        " repeatable. Without paths on the command line the suite itself is run.",
    )
    option(
        "--scheme",
        action="append",
        dest="tffs_scheme",
        default=[],
        help="the scheme to judge, '*' for each that the plugin has; one for each --plugin",
    )
    option(
        "--root",
        action="append",
        dest="tffs_root",
        default=[],
        metavar="URI",
        help="where cases may work: a fresh directory is made below it and removed at the end;"
        " one for each --plugin (default: SCHEME:///tmp)",
    )
    option(
        "--backing",
        action="append",
        dest="tffs_backing",
        default=[],
        metavar="URL",
        help="another way to the same storage, for a second witness: any URL of fsspec for the directory at the root,"
        " where {path} stands for the root's path, e.g. 'file://{path}'; one for each --plugin",
    )
    option(
        "--env", action="append", dest="tffs_env", default=[], metavar="NAME=VALUE", help="set for the plugin's process"
    )
    option("--tier", dest="tffs_tier", choices=TIERS, default="full", help="how much to run (default: full)")
    option(
        "--undefined",
        dest="tffs_undefined",
        action="store_true",
        help="run what the interface leaves undefined, too, such as append after close: a plugin may crash there",
    )
    option("--clause", dest="tffs_clause", metavar="PATTERN", help="only cases that check such a clause, e.g. 'read.*'")
    option("--case", dest="tffs_case", metavar="ID", help="only this case, e.g. 'read/across-the-end'")
    option("--keep", dest="tffs_keep", action="store_true", help="keep the files that cases make")
    option(
        "--host-scope",
        dest="tffs_host_scope",
        choices=("case", "module", "session"),
        default="case",
        help="how long one process of the plugin lives (default: case; wider for plugins that are slow to start)",
    )
    option(
        "--call-timeout",
        dest="tffs_call_timeout",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="after so long an op counts as hung (default: 10)",
    )
    option(
        "--report-dir",
        dest="tffs_report_dir",
        default=DEFAULT_REPORTS,
        metavar="DIR",
        help=f"where report.json and its journal go (default: {DEFAULT_REPORTS})",
    )
    option(
        "--waivers",
        action="append",
        dest="tffs_waivers",
        default=[],
        metavar="FILE",
        help="known violations that are accepted (TOML); one file for all plugins, or one for each",
    )
    option(
        "--fail-on",
        dest="tffs_fail_on",
        default="",
        metavar="KINDS",
        help="fail the run on these, too, separated by commas: " + ", ".join(FAILABLE),
    )


@dataclass(frozen=True, slots=True)
class Found:
    """A target, what was found out about it before the first case, and what its report says of it."""

    target: Target
    facts: TargetFacts

    def to_wire(self) -> dict[str, Any]:
        """For a worker of pytest-xdist."""
        plain = asdict(self.target)
        plain["plugin"] = str(self.target.plugin)
        return plain


def from_wire(plain: dict[str, Any]) -> Target:
    """The target that a controller sent."""
    return Target(**(plain | {"plugin": Path(plain["plugin"])}))


def fail_on(config: pytest.Config) -> list[str]:
    """The verdicts that fail the run besides violations, as verdicts are spelt."""
    kinds = [kind for kind in config.option.tffs_fail_on.split(",") if kind]
    for kind in kinds:
        if kind not in FAILABLE:
            raise pytest.UsageError(f"--fail-on={kind}: choose from {', '.join(FAILABLE)}")
    return [kind.replace("-", " ") for kind in kinds]


def targets(config: pytest.Config) -> list[Found]:
    """The targets of a run. Raises UsageError for what can be seen to be wrong before any op."""
    option = config.option
    plugins: list[str] = option.tffs_plugin
    paired = (("--scheme", option.tffs_scheme), ("--root", option.tffs_root), ("--backing", option.tffs_backing))
    for name, values in paired:
        if values and len(values) != len(plugins):
            raise pytest.UsageError(
                f"{name} was given {len(values)} times, --plugin {len(plugins)} times: they pair up"
            )
    if option.tffs_call_timeout <= 0:
        raise pytest.UsageError("--call-timeout must be more than 0 seconds")
    environment: dict[str, str] = {}
    for entry in option.tffs_env:
        name, equals, value = entry.partition("=")
        if not name or not equals:
            raise pytest.UsageError(f"--env={entry}: NAME=VALUE is expected")
        environment[name] = value
    try:
        launch.native_directory()
    except launch.NativePartsMissing as error:
        raise pytest.UsageError(str(error)) from error
    found = [one for k, plugin in enumerate(plugins) for one in _targets(option, plugin, environment, k)]
    names = [one.target.name for one in found]
    if len(set(names)) != len(names):
        raise pytest.UsageError(
            f"a target is named twice among {', '.join(names)}: give each plugin a file name of its own"
        )
    return found


def waivers(config: pytest.Config, found: Sequence[Found]) -> dict[str, list[Waiver]]:
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


def _targets(option: Any, given: str, environment: dict[str, str], k: int) -> list[Found]:
    """The targets of one --plugin: one, or one for each scheme where all are asked for."""
    scheme, root, backing = _at(option.tffs_scheme, k), _at(option.tffs_root, k), _at(option.tffs_backing, k)
    plugin = launch.plugin_path(given)
    if not plugin.is_file():
        shipped = ", ".join(launch.shipped_plugins())
        raise pytest.UsageError(f"--plugin={given}: there is no such file, nor a plugin of that name ({shipped})")
    registration = probe(plugin, environment, option.tffs_call_timeout)
    known = list(registration.registered) if registration else []
    if scheme is None and len(known) > 1:
        raise pytest.UsageError(f"--plugin={given} has several schemes, choose one with --scheme: {', '.join(known)}")
    if scheme not in (None, EVERY) and known and scheme not in known:
        raise pytest.UsageError(f"--scheme={scheme}: {given} has {', '.join(known)}")
    if scheme == EVERY and root is not None:
        raise pytest.UsageError(f"--root={root} is a URI of one scheme and does not go with --scheme='*'")
    schemes: list[str | None] = [*known] or [None] if scheme in (None, EVERY) else [scheme]
    name = plugin.stem.removeprefix("lib")
    found = []
    for one in schemes:
        target = Target(
            name=f"{name}-{one or 'local'}" if len(schemes) > 1 else name,
            plugin=plugin,
            scheme=one,
            root=_root(given, one, root),
            environment=environment,
            timeout=option.tffs_call_timeout,
            host_scope=option.tffs_host_scope,
            keep=option.tffs_keep,
            backing=backing or BACKINGS.get(given),
        )
        found.append(Found(target, _facts(target, registration)))
    return found


def _root(given: str, scheme: str | None, root: str | None) -> str | None:
    if root is not None and paths.parse(root).scheme != scheme:
        raise pytest.UsageError(f"--root={root} is not a URI of the scheme {scheme}, which {given} has")
    if scheme is None:
        return None
    base = root if root is not None else f"{scheme}:///tmp" if scheme else "/tmp"
    return paths.join(base, f"tffs-{secrets.token_hex(6)}")


def probe(plugin: Path, environment: dict[str, str], timeout: float) -> Registration | None:
    """What the plugin registers; None where it does not survive that, which the cases will show."""
    loader = Loader([str(launch.native_directory() / "tffs-host")], plugin, environment, timeout)
    try:
        loaded = loader.load()
        loaded.host.close()
        return loaded.registration
    except (Died, Blocked):
        return None
    finally:
        loader.close()


def _facts(target: Target, registration: Registration | None) -> TargetFacts:
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
        environment=tuple(target.environment),
        tables={op: _answered_by(op, present) for op in OPS} if entry else {},
    )


def _answered_by(op: str, present: frozenset[str]) -> str:
    if op in present:
        return "plugin"
    return "default" if op in DEFAULT_NEEDS and available(op, present) else "absent"


def report_directory(config: pytest.Config, target: Target, several: bool) -> Path:
    """Where a target's report goes: a folder of its own where there are several."""
    base = Path(os.path.abspath(config.option.tffs_report_dir))
    return base / target.name if several else base
