"""The targets of a run, from what a user typed and from profiles; what can be seen to be wrong is a usage error."""

import secrets
import shlex
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..harness.launchers import sandbox
from ..harness.launchers.launcher import HostLostError, NotCompiledSoError, NoToolError
from ..harness.launchers.sandbox import Sandbox
from ..harness.native import STAND_IN, NativePartsMissingError, native_directory
from ..harness.ops import paths
from ..harness.shared_object.abi import ENTRY_POINT
from ..harness.shared_object.elf import NotElfError
from ..harness.targets import profile
from ..harness.targets.profile import Profile, ProfileError
from ..harness.targets.runtimes import NoRuntimeError, Runtime, find
from ..harness.targets.shipped import declared, named, plugin_path, shipped
from ..harness.through import interpreter
from ..harness.through.interpreter import Interpreter, NoInterpreterError
from ..reports.model.header import TargetRecord
from ..reports.model.redaction import Redaction, looks_secret
from ..reports.patterns import nearest
from ..suite.contract.claims import UnknownClaimError, stated
from ..suite.engine.plugin_facts import PluginFacts
from ..suite.engine.target import Target
from . import sandboxing
from .options import TRACES
from .run_options import BadUsageError, RunOptions, not_one_for_each
from .services import TargetServices
from .target_record import see, target_record

if TYPE_CHECKING:
    from ..harness.services import Services

#: What --scheme takes for all schemes of a plugin.
EVERY = "*"
#: What stands for a backing where there is none.
NO_BACKING = "none"


@dataclass(frozen=True, slots=True)
class PreparedTarget:
    """A target, and what was `seen` of its plugin before the first op.

    `facts` is what its report says of it. After the last case something is measured of `services`.
    """

    target: Target
    seen: PluginFacts
    facts: TargetRecord
    services: "Services | None" = None


#: Gives each plugin what its services have for it; profiles may name the services.
Supply = Callable[[Sequence[str], Sequence[Profile]], Sequence[TargetServices]]


def prepare(options: RunOptions, given: Supply) -> list[PreparedTarget]:
    """The targets of a run. Raises BadUsageError for what can be seen to be wrong before any op."""
    profiles = [_profile(given) for given in options.profiles] or [_declared(given) for given in options.plugins]
    plugins = options.plugins or options.loads
    plugins = plugins or tuple(_plugin_of(one) for one in profiles if one.plugin or not options.through)
    try:
        native_directory()
    except NativePartsMissingError as error:
        raise BadUsageError(str(error)) from error
    box = sandboxing.asked(options, plugins)
    through = _through(options)
    if through is not None:
        plugins = plugins or (str(through.library),) * max(1, len(profiles), len(options.schemes))
    paired = (
        ("--plugin-profile", profiles),
        ("--scheme", options.schemes),
        ("--root", options.roots),
        ("--backing", options.backings),
    )
    for name, values in paired:
        if values and len(values) != len(plugins):
            raise not_one_for_each(name, len(values), len(plugins))
    try:
        runtime = through.runtime if through else find(options.runtime, here=not options.host_command)
    except NoRuntimeError as error:
        raise BadUsageError(f"--runtime: {error}") from error
    supplied = given(plugins, profiles)
    found: list[PreparedTarget] = []
    for k, plugin in enumerate(plugins):
        claimed = profiles[k] if profiles and profiles[k].name else _supplied(supplied[k], _at(options.roots, k))
        found += _prepared(options, runtime, through, box, plugin, claimed, supplied[k], k)
    names = [one.target.name for one in found]
    if len(set(names)) != len(names):
        raise BadUsageError(
            f"a target is named twice among {', '.join(names)}: give each plugin a file name of its own"
        )
    return [
        replace(one, target=replace(one.target, traces=str(options.report_directory(name, len(found) > 1) / TRACES)))
        for one, name in zip(found, names, strict=True)
    ]


def _profile(given: str) -> Profile:
    try:
        read = profile.read(given)
        stated(read.claims)
    except (ProfileError, UnknownClaimError) as error:
        raise BadUsageError(f"--plugin-profile={given}: {error}") from error
    return read


def _declared(plugin: str) -> Profile:
    """The profile that a distribution declares under the name of a plugin; an empty one where it declares none."""
    _path(plugin)
    path = declared(plugin)
    return replace(_profile(str(path)), name=plugin) if path and path.suffix == ".toml" else Profile(name="")


def _supplied(services: TargetServices, root: str | None) -> Profile:
    """The profile that comes with the services, for a target that keeps its files in them."""
    if services.profile is None or (root is not None and not services.serves(root)):
        return Profile(name="")
    return replace(_profile(str(services.profile)), name=services.profile.stem)


def _plugin_of(one: Profile) -> str:
    if one.plugin is None:
        raise BadUsageError(f"--plugin-profile={one.name} names no plugin: add --plugin, or [plugin] path")
    return one.plugin


def _at(values: Sequence[str], k: int) -> str | None:
    return values[k] if values else None


def _through(options: RunOptions) -> Interpreter | None:
    """The TensorFlow that ops go through, where they do."""
    if not options.through:
        if options.loads:
            raise BadUsageError("--load is for what TensorFlow loads: add --through")
        return None
    if options.loads and options.plugins:
        raise BadUsageError("--load and --plugin exclude each other: a library is a plugin, or TensorFlow loads it")
    for library in options.loads:
        if not Path(library).is_file():
            raise BadUsageError(f"--load={library}: there is no such file")
    for name, value in (("--host-command", options.host_command), ("--runtime", options.runtime != STAND_IN)):
        if value:
            raise BadUsageError(
                f"--through and {name} exclude each other: the ops go through the TensorFlow of that Python"
            )
    try:
        return replace(interpreter.find(options.through), loads=bool(options.loads))
    except NoInterpreterError as error:
        raise BadUsageError(f"--through: {error}") from error


def _prepared(
    options: RunOptions,
    runtime: Runtime,
    through: Interpreter | None,
    box: Sandbox | None,
    given: str,
    claimed: Profile,
    services: TargetServices,
    k: int,
) -> list[PreparedTarget]:
    """The targets of one --plugin: one, or one for each scheme where all are asked for.

    Options win over profiles, and profiles over services.
    """
    scheme, root, backing = _at(options.schemes, k), _at(options.roots, k), _at(options.backings, k)
    if scheme is None:
        scheme = claimed.scheme
        root = claimed.root if root is None else root
    environment = {**services.environment, **claimed.environment, **options.environment}
    host_command = options.host_command
    if box is not None:
        host_command = sandboxing.host_command(box, _found(given), environment, runtime)
    # Who is compiled for a sanitizer has it in each of its hosts.
    timeout = options.timeout
    if options.sanitizer:
        from ..harness.launchers.sanitizers import SLOWER  # noqa: PLC0415 - most runs have none

        timeout *= SLOWER.get(options.sanitizer, 1)
    draft = Target(
        name="",
        plugin=Path(given),
        scheme=scheme,
        root=root,
        environment=environment,
        through=through.host if through else (),
        missing=services.missing,
        claims=dict(claimed.claims),
        limits=dict(claimed.limits),
        secrets=tuple(key for key in environment if key in claimed.secrets or looks_secret(key, environment[key])),
        **{**options.of_target, "timeout": timeout, "host_command": host_command},
    )
    draft, seen, known = _registered(given, draft, runtime)
    if seen.abi and not (through or seen.abi.is_plugin):
        raise BadUsageError(f"--plugin={given} cannot be loaded as a plugin: it exports no {ENTRY_POINT}")
    if draft.scheme == EVERY and root is not None:
        raise BadUsageError(f"--root={root} is a URI of one scheme and does not go with --scheme='*'")
    schemes: list[str | None] = [*known] or [None] if draft.scheme in (None, EVERY) else [draft.scheme]
    plugin = draft.plugin
    name = "tensorflow" if through and plugin == through.library else plugin.stem.removeprefix("lib")
    known_backing = shipped()[given].backing if given in shipped() else None
    found = []
    for one in schemes:
        below = services.root if root is None and services.root and paths.parse(services.root).scheme == one else root
        if box is not None:
            below = sandboxing.root(box, below if below is not None else _temporary(one, elsewhere=True))
        base = _root(given, one, below, elsewhere=bool(host_command))
        theirs = backing or claimed.backing or known_backing
        if theirs is None and services.serves(base):
            theirs = services.backing
        target = replace(
            draft,
            name=f"{name}-{one or 'local'}" if len(schemes) > 1 or name == "tensorflow" else name,
            scheme=one,
            root=base,
            runtime=() if through else seen.runtime.libraries,
            backing=None if theirs == NO_BACKING else theirs,
            unbacked=theirs == NO_BACKING,
            backing_options=dict(services.backing_options) if theirs == services.backing else {},
        )
        if box is not None:
            around = sandboxing.host_command(box, plugin, environment, seen.runtime, below)
            target = replace(target, host_command=around)
        target = replace(target, command=_command(options, target, k, len(schemes) > 1))
        measured = services.running if services.serves(base) else None
        told = target_record(target, seen, claimed.name or None, claimed.environment)
        found.append(PreparedTarget(target, seen, told, measured))
    return found


def _registered(given: str, draft: Target, runtime: Runtime) -> tuple[Target, PluginFacts, list[str]]:
    """The target with the path of its plugin and the scheme to judge; what was seen of the plugin, and its schemes.

    The scheme is that of the target, or that of its root, where known. Raises BadUsageError where the plugin has other
    schemes. One that it announces and does not register is no usage error: the cases will tell why.
    """
    is_boxed, sanitizer = sandbox.is_in_one(draft.host_command), draft.sanitizer
    starts = "--sandbox" if is_boxed else "--host-command" if draft.host_command else ""
    option = starts or ("--through" if draft.through else "--runtime" if runtime.libraries else "")
    is_here = not draft.host_command or is_boxed
    plugin = _found(given) if is_here else _path(given) if given in shipped() or declared(given) else Path(given)
    scheme, root = draft.scheme, draft.root
    try:
        seen = see(replace(draft, plugin=plugin), runtime)
    except (NotCompiledSoError, NoToolError) as error:
        raise BadUsageError(f"--sanitizer={sanitizer}: {error}") from error
    except HostLostError as lost:
        raise BadUsageError(f"{option}: {lost}" if option else str(lost)) from lost
    except FileNotFoundError:
        raise BadUsageError(f"--plugin={given}: there is no such file that can be read where the host runs") from None
    except PermissionError as error:
        raise BadUsageError(f"--plugin={given} cannot be read: {error.strerror}") from None
    except NotElfError as error:
        raise BadUsageError(f"--plugin={given} cannot be loaded as a plugin: {error}") from None
    known = list(seen.registration.registered) if seen.registration else []
    announced = {entry.scheme for entry in seen.registration.schemes} if seen.registration else set()
    if scheme is None and root is not None and paths.parse(root).scheme in announced:
        scheme = paths.parse(root).scheme
    if scheme is None and len(known) > 1:
        raise BadUsageError(f"--plugin={given} has several schemes, choose one with --scheme: {_named(known)}")
    if scheme not in (None, EVERY) and known and scheme not in announced:
        raise BadUsageError(f"--scheme={scheme}: {given} has {_named(known)}")
    return replace(draft, plugin=plugin, scheme=scheme), seen, known


def _named(schemes: Sequence[str]) -> str:
    """Schemes in a sentence; the one without a name is that of TensorFlow's local files."""
    return ", ".join(scheme or "'' (--scheme=)" for scheme in schemes)


def _path(given: str) -> Path:
    try:
        return plugin_path(given)
    except ProfileError as error:
        raise BadUsageError(f"--plugin={given}: {error}") from error


def _found(given: str) -> Path:
    plugin = _path(given)
    if plugin.is_dir():
        raise BadUsageError(f"--plugin={given} is a directory, a shared object is expected")
    if not plugin.is_file():
        if given in shipped():
            raise BadUsageError(f"--plugin={given}: it was not built: {shipped()[given].advice}")
        if declared(given):
            raise BadUsageError(f"--plugin={given}: there is no {plugin}: build it first")
        known = f"({', '.join(named())}){nearest(given, named())}"
        raise BadUsageError(f"--plugin={given}: there is no such file, nor a plugin of that name {known}")
    return plugin


def only_target(
    given: str, scheme: str | None, root: str | None, environment: dict[str, str], timeout: float
) -> Target:
    """One scheme of one plugin, without a profile. Raises BadUsageError."""
    draft, _, known = _registered(given, Target("", Path(given), scheme, root, environment, timeout=timeout), Runtime())
    one = draft.scheme if draft.scheme is not None else known[0] if known else None
    return replace(draft, name=draft.plugin.stem.removeprefix("lib"), scheme=one, root=_root(given, one, root))


def _command(options: RunOptions, target: Target, k: int, several: bool) -> tuple[str, ...]:
    """What a person types to run on this target again, which is one of several of its plugin perhaps.

    It is without what a profile says. The values of secrets are taken from the variables of who types it.
    """
    command = ["pytest"]
    if options.plugins:
        command.append(f"--plugin={options.plugins[k]}")
    if options.loads:
        command.append(f"--load={options.loads[k]}")
    if options.profiles:
        command.append(f"--plugin-profile={options.profiles[k]}")
    if target.scheme is not None and (options.schemes or several):
        command.append(f"--scheme={target.scheme}")
    if options.roots:
        command.append(f"--root={options.roots[k]}")
    command += [f"--backing={NO_BACKING}"] * (target.unbacked and bool(options.backings))
    if target.backing and options.backings:
        command.append(f"--backing={Redaction({}, [target.backing]).text(target.backing)}")
    if options.host_command:
        command.append(f"--host-command={shlex.join(options.host_command)}")
    command += options.again
    for name, value in options.environment.items():
        command.append(f"--env={name}" if name in target.secrets else f"--env={name}={value}")
    return tuple(command)


def _root(given: str, scheme: str | None, root: str | None, *, elsewhere: bool = False) -> str | None:
    if scheme is None:
        return None  # the plugin does not get as far
    if root is not None and paths.parse(root).scheme != scheme:
        raise BadUsageError(f"--root={root} is not a URI of the scheme {_named([scheme])}, which {given} has")
    return paths.join(root if root is not None else _temporary(scheme, elsewhere), f"tffs-{secrets.token_hex(6)}")


def _temporary(scheme: str | None, elsewhere: bool) -> str:
    """The folder for temporary files. What the environment names is not there on another machine, nor in a sandbox."""
    return (f"{scheme}://" if scheme else "") + ("/tmp" if elsewhere else tempfile.gettempdir())
