"""A sandbox for hosts: bubblewrap before the command that starts them, so that a plugin harms nobody who judges it.

In it a plugin reads what its user may read and changes nothing but its root and the folder of the sandbox. It finds no
other process, no socket of a daemon, no credential where tools keep them, and no network, unless it is shared. All
hosts of a run are in one space of process numbers: plugins name temporary files by theirs.
"""

import json
import os
import select
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

#: The program, and how to get it.
PROGRAM, ADVICE = "bwrap", "apt-get install bubblewrap"
#: What a sandbox has of the machine. Sockets of daemons, such as docker's, are below /run.
_MACHINE = (
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"),
    *("--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)
#: What the first process is in, which others see: programs, and nothing that is anybody's.
_KEPT = (
    *("--ro-bind", "/usr", "/usr", "--unshare-user", "--unshare-pid"),
    *("--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)
#: Where else programs and their libraries lie: links to /usr, or folders.
_PROGRAMS = ("/bin", "/lib", "/lib64")
#: Joins the users and the processes of another one.
_JOIN = 'exec env {1} "$0" --userns 8 --pidns 9 "$@" 8</proc/{0}/ns/user 9</proc/{0}/ns/pid'
#: Says that it runs, and waits for the end of its standard input.
_KEEPER = "echo here && exec cat"
#: Says which of its arguments cannot be read.
_READABLE = 'for path; do test -r "$path" || { echo "$path cannot be read in it" >&2; exit 1; }; done'
NO_NETWORK = "--unshare-net"
#: Where tools keep credentials, below the home directory.
CREDENTIALS = (
    ".aws", ".azure", ".config/gcloud", ".config/gh", ".docker", ".git-credentials", ".gnupg", ".kube", ".netrc",
    ".npmrc", ".pypirc", ".ssh",
)  # fmt: skip
#: Seconds in which a sandbox is expected to run a command that does nothing.
_PATIENCE = 20.0


class NoSandboxError(Exception):
    """There is no sandbox here; the text says why, without a full stop."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The sandbox of a run.

    `folder` has what can be written to, each bound by itself, so that nothing inside can put something else in its
    place: `root`, under the same path inside and outside, and what `/tmp` is inside. `network` says whether this
    machine's is shared. `unset` are variables that hosts do not get. With `keeper`, the process of this
    `number`, all others in it end.
    """

    folder: Path
    network: bool
    unset: tuple[str, ...]
    keeper: "subprocess.Popen[str]"
    number: int

    @property
    def root(self) -> Path:
        """The folder for roots."""
        return self.folder / "root"

    def command(self, program: Sequence[str], needs: Iterable[Path], writable: Iterable[Path] = ()) -> tuple[str, ...]:
        """The command that runs `program` in it.

        `needs` are files and folders that must be seen wherever they lie. Of `writable` folders those that are there
        can be changed, but for the root of all files and folders that everybody writes to.
        """
        words = [] if self.network else [NO_NETWORK]
        hidden = _temporary_directories()
        for place in hidden:
            words += ["--bind", str(self.folder / "tmp"), place]
        shown = {way for path in (*needs, Path.cwd()) for way in (path.absolute(), path.resolve())}
        seen: list[str] = []
        for path in sorted(shown):
            if str(path) not in hidden and _is_below(path, hidden) and not _is_below(path, seen):
                seen.append(str(path))
                words += ["--ro-bind-try", str(path), str(path)]
        for path in (self.root, *writable):
            real = path.resolve()
            if real.is_dir() and str(real) not in ("/", *hidden):
                words += ["--bind", str(real), str(real)]
                if real != path.absolute() and _is_below(path.absolute(), hidden):
                    words += ["--bind", str(real), str(path.absolute())]
        for secret in _credentials():
            words += ["--tmpfs", str(secret)] if secret.is_dir() else ["--ro-bind", "/dev/null", str(secret)]
        words += ["--setenv", "TMPDIR", "/tmp", "--chdir", os.getcwd(), "--", *program]
        # Not even the process that becomes the program has what hosts do not get.
        unset = shlex.join(f"--unset={name}" for name in self.unset)
        return "sh", "-c", _JOIN.format(self.number, unset), PROGRAM, *_MACHINE, *words

    def inside(self, directory: str) -> str:
        """What stands there for a directory that lies where everybody writes, and that nobody has made yet."""
        real = os.path.realpath(directory)
        hidden = [place for place in _temporary_directories() if Path(real).is_relative_to(place)]
        if not hidden or (real not in hidden and os.path.isdir(real)):
            return directory
        return os.path.normpath(self.root / os.path.relpath(real, hidden[0]))

    def close(self, keep: bool = False) -> None:
        """End all that is in it, and remove its folder, but to `keep` it."""
        self.keeper.kill()
        self.keeper.communicate()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def is_in_one(command: Sequence[str]) -> bool:
    """Whether a command runs something in a sandbox."""
    return PROGRAM in command[3:4]


def has_network(command: Sequence[str]) -> bool:
    """Whether the sandbox of a command shares the network."""
    return NO_NETWORK not in command


def make(network: bool, unset: Sequence[str], needs: Sequence[Path] = ()) -> Sandbox:
    """A sandbox with an empty folder, which whoever asked for it closes.

    Raises NoSandboxError, also where something that is needed cannot be read in it.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise NoSandboxError(f"{PROGRAM} is not there: {ADVICE}")
    read, write = os.pipe()
    words = [*_KEPT, "--info-fd", str(write)]
    for place in _PROGRAMS:
        if os.path.islink(place):
            words += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            words += ["--ro-bind", place, place]
    # It ends with its standard input, and so with this process.
    keeper = subprocess.Popen(
        [program, *words, "/bin/sh", "-c", _KEEPER], env={"PATH": os.defpath}, pass_fds=[write],
        text=True, errors="replace", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(write)
    with os.fdopen(read) as info:
        number = _begun(keeper, info.read())
    folder = Path(tempfile.mkdtemp(prefix="tffs-sandbox-")).resolve()
    (folder / "tmp").mkdir()
    (folder / "root").mkdir()
    made = Sandbox(folder, network, tuple(unset), keeper, number)
    tried = made.command(["sh", "-c", _READABLE, "sh", *map(str, needs)], needs)
    done = subprocess.run(tried, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        made.close()
        raise NoSandboxError(_last(done.stderr) or f"exit status {done.returncode}")
    return made


def _begun(keeper: "subprocess.Popen[str]", info: str) -> int:
    """The number of the process that a keeper started, which says when it runs."""
    assert keeper.stdout is not None
    ready, _, _ = select.select([keeper.stdout], [], [], _PATIENCE)
    if ready and keeper.stdout.readline():
        return int(json.loads(info)["child-pid"])
    keeper.kill()
    _, said = keeper.communicate()
    raise NoSandboxError(_last(said) or f"{PROGRAM} started nothing within {_PATIENCE:g} s")


def _last(said: str) -> str:
    return (said.strip().splitlines() or [""])[-1]


def _is_below(path: Path, places: Iterable[str]) -> bool:
    return any(path.is_relative_to(place) and str(path) != place for place in places)


def _temporary_directories() -> list[str]:
    """Where programs of everybody write, the outer ones first."""
    found = {os.path.realpath(place) for place in ("/tmp", "/var/tmp", "/dev/shm", tempfile.gettempdir())}
    return sorted(place for place in found if place != "/" and os.path.isdir(place))


def _credentials() -> list[Path]:
    """What keeps credentials of who runs this.

    A checkout of CI keeps its token in the configuration of git; that of GitHub since its version 6 in a file besides.
    """
    places = [Path.home() / name for name in CREDENTIALS]
    places += [place / ".git" / "config" for place in (Path.cwd(), *Path.cwd().parents)]
    if runner := os.environ.get("RUNNER_TEMP"):
        places += Path(runner).glob("git-credentials-*")
    return [place.resolve() for place in places if place.exists()]
