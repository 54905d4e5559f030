"""The client: calls a host with a time-out, and tells how it ended.

Launchers (harness/launchers/) start the host; what they start is a `Process`.
"""

import functools
import re

from .. import wire
from ..launchers.launcher import LAST_WORDS, HostEndedError, HostLostError, HostSilentError, Launcher, Process, how
from ..ops.outcomes import Crashed, DiedError, Hung, Threw

#: What of the plugin runs during the commands that are not named after their op.
OP_OF_COMMAND = {
    "load": "dlopen",
    "init_plugin": "TF_InitPlugin",
    # Entries that were announced and are not there end the process when they are looked at.
    "describe": "TF_InitPlugin",
    "register": "init",
    "release": "plugin_memory_free",
    "read_large": "read",
}

#: The commands that perform ops of which only what the host prints tells which one it was.
PROGRAMS = ("threads", "measure", "repeat", "keep_busy")
#: The commands whose answer is as long as the client asks.
ASKED_FOR = ("read", "data", "file")
#: Commands that are whole programs may take so many times as long as one call.
LONGER = {"perform": 12}
_LAST_WORDS = re.compile(
    r"^the host (got SIG\w+|lost the thread|came back twice|lost its wire) in ([^\s;]+)(?: of another thread)?",
    re.MULTILINE,
)
#: What the host says of its end where the exit status does not tell.
_ENDINGS = {
    "lost the thread": "it ended the thread that called it",
    "came back twice": "it came back twice, for a process that it forked returned as well",
    "lost its wire": "it closed or replaced descriptors of the process that are not its own",
}
#: What became of a host of which other bytes came than its replies.
_GARBLED = "it wrote to a descriptor of the process that is not its own"
#: How a host ends that cannot work in its environment, before it has answered anything, and its sentence about that.
_BROKEN = how(0, 71)
_WHY_BROKEN = re.compile(r"^tffs-host: (.*)", re.MULTILINE)


class HostFaultError(Exception):
    """The host did not understand the client: a defect of ours, never of the plugin."""


class Host:
    """One host. `call` performs one command; a host that died is never used again.

    `timeout` is the time in seconds that one call may take. All that starts or asks raises `HostLostError` where the
    host cannot be reached.
    """

    def __init__(self, launcher: Launcher, timeout: float) -> None:
        self.timeout = timeout
        self.process: Process = launcher.start()
        self._unread: list[str] = []
        self._answered = False

    @property
    def alive(self) -> bool:
        """Whether the host can be asked."""
        return self.process.alive

    @property
    def output(self) -> str:
        """What the host printed so far (log lines of the runtime included)."""
        return self.process.output

    def send(self, command: str, *values: wire.Value) -> None:
        """Ask without waiting; the answer is fetched by `receive`, in the order of asking.

        Raises `DiedError` and `HostLostError` as that does, where the host does not take what is asked.
        """
        if not self.process.alive:
            raise HostFaultError(f"{command} was asked of a host that is gone")
        self._unread.append(command)
        running = self._unread[0]
        try:
            self.process.send(wire.encode(command, values), self._patience(running))
        except HostSilentError:
            raise self._hung(running) from None
        except KeyboardInterrupt:
            self.close()
            raise

    def receive(self) -> wire.Reply | None:
        """The values behind `done`, or None for `absent`.

        Raises `DiedError` where the plugin did not come back, `HostLostError` where the host's environment is at fault.
        """
        command = self._unread.pop(0)
        try:
            reply = self.process.receive(self._patience(command))
            reply.damaged = functools.partial(self._damaged, command)
            kind = reply.take_bytes()
        except HostEndedError:
            # The wire may be closed by a plugin that closes descriptors while its process lives on.
            self.process.wait(LAST_WORDS)
            raise self._ended(command, self.process.end()) from None
        except HostSilentError:
            raise self._hung(command) from None
        except wire.WireError:
            kind = b""
        except KeyboardInterrupt:
            # What has not come yet would be taken for the answer to what is asked next.
            self.close()
            raise
        self._answered = True
        if kind == b"done":
            return reply
        if kind == b"absent":
            return None
        self.close()
        if kind == b"threw":
            raise DiedError(
                Threw(OP_OF_COMMAND.get(command, command), reply.take_text(), reply.take_text(), self.output)
            )
        if kind == b"large":
            size = wire.unsigned(reply.take_number())
            if command in ASKED_FOR:
                raise HostFaultError(f"{command}: {size} bytes were asked for, and {wire.LARGEST_BODY} are the most")
            ending = f"it gave results of {size} bytes, and {wire.LARGEST_BODY} are the most"
            raise DiedError(Crashed(OP_OF_COMMAND.get(command, command), ending, self.output))
        if kind == b"lacks":
            raise HostLostError(f"the host cannot perform {command}: {reply.take_text()}")
        if kind == b"bad":
            raise HostFaultError(f"{command}: {reply.take_text()}")
        raise DiedError(Crashed(OP_OF_COMMAND.get(command, command), _GARBLED, self.output))

    def call(self, command: str, *values: wire.Value) -> wire.Reply | None:
        """Ask and wait."""
        self.send(command, *values)
        return self.receive()

    def close(self) -> None:
        """End the process and everything it started; its output and resource use stay readable."""
        if self.process.alive:
            self.process.end()

    def quit(self) -> str:
        """End the process through a return from its `main`: destructors run, and sanitizers and valgrind report.

        How it ended; it is killed after the time-out.
        """
        try:
            return self.exit() if self.process.alive else ""
        except DiedError:
            return f"it did not end within {self.timeout:g} s"

    def exit(self, *how_to: wire.Value) -> str:
        """The same, by `exit` or `quick_exit` with a status. Raises `DiedError` where it does not end in time."""
        try:
            self.process.send(wire.encode("quit", how_to), self.timeout)
            left = self.process.wait(self.timeout)
        except HostSilentError:
            left = False
        if not left:
            raise self._hung("exit")
        return self.process.end()

    def _patience(self, command: str) -> float:
        """Seconds that a command may take."""
        return self.timeout * LONGER.get(command, 1)

    def _hung(self, command: str) -> DiedError:
        """What a host that does not come back from a command makes of it."""
        self.process.abort()
        self.close()
        words = _LAST_WORDS.findall(self.output) if command in PROGRAMS else ()
        op = words[-1][1] if words else OP_OF_COMMAND.get(command, command)
        return DiedError(Hung(op, self._patience(command), self.output))

    def _ended(self, command: str, ending: str) -> DiedError | HostLostError:
        """What a host that ended during a command makes of it."""
        output = self.output
        why = _WHY_BROKEN.search(output)
        if not self._answered and ending == _BROKEN and why:
            return HostLostError(why[1])
        op = OP_OF_COMMAND.get(command, command)
        words = _LAST_WORDS.findall(output)
        if words:
            said, where = words[-1]
            ending = _ENDINGS.get(said, ending)
            # In threads it is none of theirs where the process itself was told to end.
            if command in PROGRAMS or said in _ENDINGS:
                op = OP_OF_COMMAND.get(where, where)
        return DiedError(Crashed(op, ending, output))

    def _damaged(self, command: str, why: str) -> Exception:
        """What an answer makes of its host that is none: the plugin wrote over the memory of the host."""
        self.close()
        return self._ended(command, f"it damaged the answer of its host: {why}")
