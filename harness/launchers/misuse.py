"""What a tool finds of a host: errors with their stacks, and whose each of them is."""

import itertools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..native import CXX_NAME, RUNTIME_NAME, native_directory

#: What the system has. What lies elsewhere, a plugin brought.
_SYSTEM = ("/lib/", "/lib32/", "/lib64/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/usr/libexec/valgrind/")
#: What does as it is told: an error in one of these is its caller's.
_OBEYS = re.compile(
    r"(?:libc|libm|libpthread|libdl|librt|libstdc\+\+|libc\+\+(?:abi)?|libgcc_s|ld-linux[-\w]*|vgpreload_\w+[-\w]*|"
    rf"lib[at]san|libclang_rt|{'|'.join(name.partition('.')[0] for name in (RUNTIME_NAME, CXX_NAME))})[.-].*"
)
#: Functions of the C++ library that a compiler puts into whoever calls them.
_INLINE = re.compile(r"(?:std|__gnu_cxx)::|__gthread_|operator (?:new|delete)")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a stack: the path of the object, the function where that is known, and `file:line` likewise."""

    object: str
    function: str
    place: str

    def __str__(self) -> str:
        where = self.place or Path(self.object).name or "?"
        return f"{self.function or '?'} ({where})"


@dataclass(frozen=True, slots=True)
class Misuse:
    """One error that came of a command. `kind` says in a few words what it is, the same in each run.

    `stacks` has titles and frames, innermost first. The first `accesses` of them are where it is: one, or the two of a
    race. The others are what it is about.
    """

    command: str
    kind: str
    stacks: tuple[tuple[str, tuple[Frame, ...]], ...]
    accesses: int = 1

    def culprits(self, plugin: Path) -> tuple[Frame, ...]:
        """The frame to blame of each access; none at all where one of them is not the plugin's."""
        # Of what was done long ago a tool may know nothing any more.
        known = [frames for _, frames in self.stacks[: self.accesses] if frames]
        found = tuple(frame for frame in (_culprit(frames, plugin) for frames in known) if frame is not None)
        return found if len(found) == len(known) else ()

    def same(self) -> tuple[object, ...]:
        """What two errors of one cause have in common."""
        return self.kind, frozenset(tuple(_below_host(frames)) for _, frames in self.stacks[: self.accesses])

    def told(self, culprits: Sequence[Frame]) -> str:
        """The error in a few words: what it is, and where in the plugin."""
        names = {frame.function or Path(frame.object).name for frame in culprits}
        return f"{self.kind} in {' and '.join(sorted(names))}"

    def __str__(self) -> str:
        lines = []
        for title, frames in self.stacks:
            lines += [f"{title}:" if frames else title, *(f"    {frame}" for frame in _below_host(frames))]
        return "\n".join(lines)


def host() -> Path:
    """The program of the hosts that are watched."""
    return native_directory() / "tffs-host"


def without_addresses(text: str) -> str:
    """A title as it is in every run."""
    return _ADDRESS.sub("…", text).strip()


def of_plugin(found: Sequence[Misuse], plugin: Path) -> list[tuple[Misuse, tuple[Frame, ...]]]:
    """What is the plugin's own, each stack once, with the frames to blame."""
    first: dict[tuple[object, ...], tuple[Misuse, tuple[Frame, ...]]] = {}
    for misuse in found:
        culprits = misuse.culprits(plugin)
        if culprits:
            first.setdefault(misuse.same(), (misuse, culprits))
    return list(first.values())


def _culprit(frames: Sequence[Frame], plugin: Path) -> Frame | None:
    """The innermost frame of the plugin, or of a library that it brought, where an error is its own.

    What lies in the host is ours, and what lies in a library of the system is nobody's.
    """
    brought = {str(plugin), os.path.realpath(plugin)}
    for frame in frames:
        if frame.object in brought:
            # What it has of the C++ library does as it is told, too, and is a name that says little.
            own = (one for one in frames if one.object in brought and not _INLINE.match(one.function))
            return next(own, frame)
        if frame.object == str(host()):
            return None
        if _OBEYS.fullmatch(Path(frame.object).name) or not frame.object:
            continue
        return None if frame.object.startswith(_SYSTEM) else frame
    return None


def _below_host(frames: Sequence[Frame]) -> "itertools.takewhile[Frame]":
    """The frames without how the host came to call the plugin, which is nobody's business."""
    return itertools.takewhile(lambda frame: frame.object != str(host()), frames)
