"""Hosts for a plugin that was compiled with AddressSanitizer or ThreadSanitizer, and the log that these write.

The runtime of a sanitizer replaces the allocator and the threads of its process, so that it has to be loaded before all
else. A plugin names the one that it was compiled for, and the host, which was not compiled so, is started with that.
"""

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..shared_object.elf import SharedObject, read
from .launcher import NotCompiledSoError, NoToolError
from .local import Local
from .misuse import Frame, Misuse, host, without_addresses
from .watch import Log, ToolWatch

#: A call may take so many times as long as elsewhere.
SLOWER: Mapping[str, int] = {"address": 4, "thread": 15}
_RUNTIME = re.compile(r"lib(?:clang_rt\.)?(a|t)san(?:[-_]\w+)*\.so(?:\.\d+)*")
_INIT = {"address": "__asan_init", "thread": "__tsan_init"}
_OPTIONS = {"address": "ASAN_OPTIONS", "thread": "TSAN_OPTIONS"}
_PRELOADED = "LD_PRELOAD"
#: What holds of each host. Crashes are told by the host itself, and what is never freed by cases.
_ALWAYS: Mapping[str, str] = {
    "address": "halt_on_error=0:detect_leaks=0:detect_odr_violation=0:allocator_may_return_null=1:"
    "abort_on_error=1:handle_abort=0",
    "thread": "halt_on_error=0:exitcode=0:atexit_sleep_ms=0:die_after_fork=0:report_signal_unsafe=0:"
    "report_thread_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0",
}
#: What holds of those by which a plugin is judged, beside that.
_JUDGED: Mapping[str, str] = {
    "address": "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0",
    "thread": "report_bugs=0",
}
#: And of those that are watched.
_WATCHED: Mapping[str, str] = {
    "address": "handle_segv=1:handle_sigbus=1",
    "thread": "report_bugs=1:second_deadlock_stack=1:history_size=5",
}
#: A frame as they are asked to write it: function, object, file and line between tabs.
_FORMAT = "symbolize=1:print_summary=1:log_exe_name=0:stack_trace_format='    #%n\t%f\t%m\t%s\t%l'"
_FRAME = re.compile(r" *#\d+\t(.*)\t(.*)\t(.*)\t(\d+)")
_UNKNOWN = "<null>"
_ERROR = re.compile(
    rb"^[^\n]*(?:ERROR|WARNING): (?:Address|Thread)Sanitizer: .*?^SUMMARY: [^\n]*\n", re.DOTALL | re.MULTILINE
)
_WARNING = re.compile(r"WARNING: ThreadSanitizer: (.*?)(?: \(pid=\d+\))?$", re.MULTILINE)
_SUMMARY = re.compile(r"^SUMMARY: AddressSanitizer: (\S+)", re.MULTILINE)
_ACCESS = re.compile(r"\b(?:read|write) of size \d+", re.IGNORECASE)
_HEAD = re.compile(r"^==\d+==ERROR: AddressSanitizer: ")
#: What says nothing of a plugin.
_ASIDE = ("==", "HINT:", "(longjmp", "SUMMARY:")
#: Where the linker does not look, as for clang's.
_ADVICE = "link the plugin with -Wl,-rpath of its folder, such as $(clang -print-runtime-dir)"
#: Errors that are none of memory: more was asked for than there is.
_NO_MISUSE = ("allocation-size-too-big", "calloc-overflow", "out-of-memory", "rss-limit-exceeded")


@dataclass(frozen=True, slots=True)
class Sanitizer:
    """The sanitizer `name` of a plugin: the `runtime` that it names, and the `program` that starts a host with that."""

    name: str
    runtime: str
    program: tuple[str, ...]

    def judging(self, environment: Mapping[str, str]) -> Local:
        """What starts the hosts by which the plugin is judged; `environment` is set for them."""
        return self._hosts(environment, _JUDGED[self.name])

    def watch(self, environment: Mapping[str, str]) -> ToolWatch:
        """What starts hosts that are watched. Raises NoToolError."""
        return ToolWatch(lambda log: self._hosts(environment, f"{_WATCHED[self.name]}:{_FORMAT}:log_path='{log}'"), LOG)

    def _hosts(self, environment: Mapping[str, str], options: str) -> Local:
        more = _surroundings(self.name, self.runtime, environment, options)
        # The allocator is the sanitizer's own.
        return Local({**environment, **more}, {}, self.program)


@functools.cache
def of(name: str, plugin: Path) -> Sanitizer | None:
    """The sanitizer of this name, for a plugin; none where the tool is another one.

    Raises NotCompiledSoError, NoToolError, NotElfError and OSError.
    """
    if name not in SLOWER:
        return None
    runtime = _runtime(name, plugin, read(plugin.read_bytes()))
    return Sanitizer(name, runtime, _program(name, runtime))


def _runtime(name: str, plugin: Path, seen: SharedObject) -> str:
    """What to load first. The dynamic linker looks for a bare name. Raises NotCompiledSoError."""
    found = {kind[1]: library for library in seen.libraries if (kind := _RUNTIME.fullmatch(library))}
    library = found.get(name[0])
    if library is not None:
        places = (folder / library for folder in seen.search(plugin.parent)[0])
        return next((str(place) for place in places if place.is_file()), library)
    # The shared runtime that clang 14 has for threads crashes in programs that were not compiled for it.
    clang = ", or with clang -fsanitize=address -shared-libasan" if name == "address" else ""
    advice = f"compile and link it with gcc -fsanitize={name}{clang}"
    named = seen.exported | seen.needed | seen.weak
    if _INIT[name] in named:
        raise NotCompiledSoError(
            f"{plugin.name} has the sanitizer's runtime inside, or leaves it to its program: {advice}"
        )
    other = next((kind for kind in SLOWER if kind[0] in found or _INIT[kind] in named), None)
    if other is not None:
        raise NotCompiledSoError(f"{plugin.name} was compiled with -fsanitize={other}: {advice}")
    raise NotCompiledSoError(f"{plugin.name} was not compiled with -fsanitize={name}: {advice}")


@functools.cache
def _program(name: str, runtime: str) -> tuple[str, ...]:
    """What starts a host with the runtime. Raises NoToolError.

    Addresses may be spread too far for ThreadSanitizer, now and then or always: where that is allowed, they are not
    spread at all.
    """
    plain = (str(host()),)
    fixed = (shutil.which("setarch") or "setarch", "-R", *plain)
    if name == "thread" and not _fails(fixed, name, runtime):
        return fixed
    if why := _fails(plain, name, runtime):
        raise NoToolError(f"{Path(runtime).name} does not start: {why}")
    return plain


def _fails(program: tuple[str, ...], name: str, runtime: str) -> str:
    """Why a host without anything to do does not end well, in one line; empty where it does."""
    given = {**os.environ, **_surroundings(name, runtime, {}, _JUDGED[name])}
    try:
        done = subprocess.run(
            program, env=given, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        return str(error)
    said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
    # The dynamic linker goes on without what it does not find.
    if "cannot be preloaded" in done.stderr:
        return f"{said[0].rstrip('.')}; {_ADVICE}"
    return said[0] if done.returncode else ""


def _surroundings(name: str, runtime: str, environment: Mapping[str, str], options: str) -> dict[str, str]:
    """The variables of a host: what the user gave, and behind it what is ours, which the runtime takes then."""
    variable = _OPTIONS[name]

    def given(of: str) -> str:
        return environment.get(of, os.environ.get(of, ""))

    return {
        _PRELOADED: ":".join(filter(None, (runtime, given(_PRELOADED)))),
        variable: ":".join(filter(None, (given(variable), _ALWAYS[name], options))),
    }


def _read(text: str, command: str) -> Misuse | None:
    """An error: lines, and frames behind those that they are about."""
    stacks: list[tuple[str, list[Frame]]] = []
    for line in text.splitlines():
        frame = _FRAME.fullmatch(line)
        if frame is not None:
            function, path, file, number = (part.replace(_UNKNOWN, "") for part in frame.groups())
            place = f"{Path(file).name}:{number}" if file and number != "0" else Path(file).name if file else ""
            if stacks:
                stacks[-1][1].append(Frame(path, function, place))
        elif (title := without_addresses(_HEAD.sub("", line))) and not title.startswith(_ASIDE):
            stacks.append((title.removesuffix(":"), []))
    # Where it is: all that stands above says what it is.
    begin = next((k for k, (_, frames) in enumerate(stacks) if frames), 0)
    whole = tuple((title, tuple(frames)) for title, frames in stacks[begin:])
    race, memory = _WARNING.search(text), _SUMMARY.search(text)
    if race is not None:
        accesses = sum(_ACCESS.search(title) is not None for title, _ in whole[:2])
        return Misuse(command, race[1], whole, max(1, accesses))
    if memory is None or memory[1] in _NO_MISUSE:
        return None
    access = _ACCESS.search(text)
    return Misuse(command, f"{memory[1]}: {access[0].lower()}" if access else memory[1], whole)


#: What a sanitizer writes.
LOG = Log(_ERROR, _read)
