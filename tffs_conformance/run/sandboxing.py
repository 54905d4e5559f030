"""The sandbox of a run's hosts, as --sandbox asks for it, and the command that starts the hosts of a target in it."""

import atexit
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from ..harness.launchers import sandbox
from ..harness.launchers.sandbox import NoSandboxError, Sandbox
from ..harness.native import native_directory
from ..harness.ops import paths
from ..harness.shared_object.runtimes import Runtime
from ..reports.model.redaction import looks_secret
from .run_options import BadUsageError, RunOptions


def asked(options: RunOptions) -> Sandbox | None:
    """The sandbox of a run, where one is asked for. It goes with this process; its folder stays with --keep.

    Raises BadUsageError.
    """
    if options.sandbox == "off":
        return None
    for name, value in (("--host-command", options.host_command), ("--through", options.through)):
        if value:
            raise BadUsageError(f"--sandbox and {name} exclude each other: a sandbox is for hosts of this machine")
    network = options.services or options.sandbox == "network"
    secret = [name for name, value in os.environ.items() if looks_secret(name, value)]
    try:
        made = sandbox.make(network, secret)
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
    host = native_directory() / "tffs-host"
    # What a variable names is for the plugin to see, such as the configuration that services write.
    named = [Path(value) for value in environment.values() if value.startswith("/")]
    libraries = [path.absolute() for path in (plugin, *map(Path, (*runtime.libraries, *runtime.more)))]
    around = [way.parent for path in libraries for way in (path, path.resolve())]
    # Behind a host a path is none of this machine.
    writable = [Path(paths.parse(root).path)] if root is not None and not paths.parse(root).host else []
    return box.command([str(host)], [host, *libraries, *around, *named], writable)


def root(box: Sandbox, given: str) -> str:
    """A root in a sandbox: where it is `/tmp` of this machine, or new there, it is in the sandbox's own folder."""
    named = paths.parse(given)
    return given if named.host else f"{named.prefix}{box.inside(named.path)}"
