"""The sandbox of a run's hosts, as --sandbox asks for it, and the command that starts the hosts of a target in it."""

import atexit
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..harness.launchers import sandbox
from ..harness.launchers.sandbox import NoSandboxError, Sandbox
from ..harness.native import native_directory
from ..harness.ops import paths
from ..harness.shared_object import elf
from ..harness.shared_object.elf import NotElfError
from ..harness.targets.runtimes import Runtime
from ..harness.targets.shipped import plugin_path
from ..reports.model.redaction import looks_secret
from .run_options import BadUsageError, RunOptions

#: Where the dynamic loader looks for libraries first.
_LIBRARIES = "LD_LIBRARY_PATH"


def asked(options: RunOptions, plugins: Sequence[str]) -> Sandbox | None:
    """The sandbox of a run, where one is asked for. It goes with this process; its folder stays with --keep.

    With `try` there is none where one of the plugins, or what hosts are made of, cannot be seen in it.

    Raises BadUsageError.
    """
    if options.sandbox == "off":
        return None
    for name, value in (("--host-command", options.host_command), ("--through", options.through)):
        if value:
            raise BadUsageError(f"--sandbox and {name} exclude each other: a sandbox is for hosts of this machine")
    network = options.services or options.sandbox == "network"
    secret = [name for name, value in os.environ.items() if looks_secret(name, value)]
    here = [path for path in map(plugin_path, plugins) if path.is_file()]
    try:
        made = sandbox.make(network, secret, [native_directory(), *here])
    except NoSandboxError as error:
        if options.sandbox != "try":
            raise BadUsageError(f"--sandbox={options.sandbox}: {error}") from error
        print(f"note: no sandbox: {error}", file=sys.stderr)
        return None
    atexit.register(made.close, options.keep)
    return made


def host_command(
    box: Sandbox, plugin: Path, environment: Mapping[str, str], runtime: Runtime, root: str | None = None
) -> tuple[str, ...]:
    """What starts hosts in a sandbox for a plugin, which may change a root that lies on this machine."""
    # What a variable names is for the plugin to see, such as the configuration that services write.
    searched = [folder for given in (environment, os.environ) for folder in given.get(_LIBRARIES, "").split(":")]
    named = [Path(value) for value in (*environment.values(), *searched) if value.startswith("/")]
    libraries = [path.absolute() for path in (plugin, *map(Path, (*runtime.libraries, *runtime.more)))]
    around = [way.parent for path in libraries for way in (path, path.resolve())]
    native = native_directory()
    needs = [native, *libraries, *around, *named, *linked(plugin)]
    # Behind a host a path is none of this machine.
    writable = [Path(paths.parse(root).path)] if root is not None and not paths.parse(root).host else []
    return box.command([str(native / "tffs-host")], needs, writable)


def linked(plugin: Path) -> list[Path]:
    """A plugin, the libraries that it finds by its run path, and those that they find by theirs.

    Only shared objects are among them: a plugin may name any file.
    """
    found: list[Path] = []
    asked: list[tuple[Path, Sequence[Path]]] = [(plugin, ())]
    for path, inherited in asked:
        try:
            shared = elf.read(path.read_bytes())
        except (NotElfError, OSError):
            continue
        found.append(path)
        folders, passed_on = shared.search(path.parent, inherited)
        known = {place for place, _ in asked}
        places = dict.fromkeys(folder / name for folder in folders for name in shared.libraries)
        asked += [(place, passed_on) for place in places if place not in known and os.path.isfile(place)]
    return found


def root(box: Sandbox, given: str) -> str:
    """A root in a sandbox: where it is `/tmp` of this machine, or new there, it is in the sandbox's own folder."""
    named = paths.parse(given)
    return given if named.host else f"{named.prefix}{box.inside(named.path)}"
