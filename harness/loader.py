"""The loader: starts hosts for one plugin, each with the plugin loaded and registered as core would.

The next host is started while the present one is used, so that a fresh process for every case costs little.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .client import Host
from .codes import Code
from .outcomes import Died, Hung
from .registration import Registration, complete, request
from .wire import Reply, Value

#: After so many hangs of one op it is not called again: a hang is paid for once.
MAX_HANGS = 2


class Blocked(Exception):
    """An op was not called, because something that it needs does not work; `op` is what does not.

    `absent` says that the plugin does not provide `op`, which is no defect.
    """

    def __init__(self, op: str, why: str, *, absent: bool = False) -> None:
        super().__init__(f"blocked by {op}: {why}")
        self.op = op
        self.why = why
        self.absent = absent


class Loaded:
    """A host with the plugin in it, and what registration gave."""

    def __init__(self, host: Host, registration: Registration, hangs: "Hangs") -> None:
        self.host = host
        self.registration = registration
        self._hangs = hangs

    def call(self, command: str, *values: Value, ops: Iterable[str] = ()) -> Reply | None:
        """One command, which performs `ops` where it is not named after its own.

        Raises `Died` where the plugin does not come back, `Blocked` where an op hung too often.
        """
        for op in ops or (command,):
            self._hangs.endure(op)
        try:
            return self.host.call(command, *values)
        except Died as died:
            self._hangs.count(died)
            raise


class Loader:
    """Gives hosts for one plugin. `command` starts a host, `timeout` is the time in seconds that one call may take.

    An op that hung `max_hangs` times is not called again; None for one that is called whatever it did.
    """

    def __init__(
        self,
        command: Sequence[str],
        plugin: Path,
        environment: Mapping[str, str],
        timeout: float,
        max_hangs: int | None = MAX_HANGS,
    ) -> None:
        self._command = command
        self._plugin = plugin
        self._environment = environment
        self._timeout = timeout
        self._hangs = Hangs(max_hangs)
        # The host that was started ahead, with the number of schemes that it was asked to register.
        self._next: tuple[Host, int | None] | None = None
        self._schemes: int | None = None

    def load(self) -> Loaded:
        """A fresh host. Raises `Died` where the plugin does not survive that, `Blocked` where it hung too often."""
        for op in ("dlopen", "TF_InitPlugin", "init", "plugin_memory_free"):
            self._hangs.endure(op)
        host, schemes = self._next or self._start()
        self._next = None
        try:
            registration = complete(host, schemes)
        except Died as died:
            self._hangs.count(died)
            raise
        # The same again, as far as can be told: then the next host has done it all when it is needed.
        plain = registration.error is None and all(entry.code is Code.OK for entry in registration.schemes)
        self._schemes = len(registration.schemes) if plain and registration.schemes else None
        self._next = self._start()
        return Loaded(host, registration, self._hangs)

    def close(self) -> None:
        """End the host that was started ahead."""
        if self._next is not None:
            self._next[0].close()
            self._next = None

    def _start(self) -> tuple[Host, int | None]:
        host = Host(self._command, self._environment, self._timeout)
        request(host, self._plugin, self._schemes)
        return host, self._schemes


class Hangs:
    """How often each op hung, and how often it may."""

    def __init__(self, max_hangs: int | None) -> None:
        self._max_hangs = max_hangs
        self._counts: Counter[str] = Counter()

    def count(self, died: Died) -> None:
        """Take down a hang; other deaths are none."""
        if isinstance(died.death, Hung):
            self._counts[died.death.op] += 1

    def endure(self, op: str) -> None:
        """Raise `Blocked` where the op hung too often."""
        # `get`: a Counter makes an effort of what it does not hold.
        if self._max_hangs is not None and self._counts.get(op, 0) >= self._max_hangs:
            raise Blocked(op, f"it hung {self._max_hangs} times and is not called again")
