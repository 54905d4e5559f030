"""The loader: starts hosts for one plugin, each with the plugin loaded and registered as core would.

The next host is started while the present one is used, so that a fresh process for every case costs little. It loads
the plugin only when the present one is gone: a plugin may be for one process at a time. From then on it may load it
before anybody waits for that.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import PurePath

from ..launchers.launcher import HostLostError, Launcher
from ..ops.codes import Code
from ..ops.outcomes import Death, DiedError, Hung
from ..wire import Reply, Value
from .client import Host, HostFaultError
from .registration import Registration, SchemesVaryError, complete, request

#: After so many hangs of one op in a row, or so many in all, it is not called again: a hang costs a time-out.
MAX_HANGS = 2
ALL_HANGS = 8
#: A plugin that did not load so many times, for the same reason, is not tried again: that costs as much as a case.
SAME_FAILURES = 2


class BlockedError(Exception):
    """An op was not called, because something that it needs does not work; `op` is what does not.

    `absent` says that the plugin does not provide `op`, which is no defect; `death` is what became of its call where it
    did not come back.
    """

    def __init__(self, op: str, why: str, *, absent: bool = False, death: Death | None = None) -> None:
        super().__init__(f"blocked by {op}: {why}")
        self.op = op
        self.why = why
        self.absent = absent
        self.death = death


class Loaded:
    """A host with the plugin in it, and what registration gave."""

    def __init__(
        self, host: Host, registration: Registration, hangs: "Hangs", died: Callable[[DiedError], None]
    ) -> None:
        self.host = host
        self.registration = registration
        self._hangs = hangs
        self._died = died
        #: What the host was asked and nobody called for yet.
        self._asked: tuple[str, tuple[Value, ...]] | None = None

    def ask(self, command: str, *values: Value) -> None:
        """Have the host begin with what it is called for next, in the same words. Raises as `call` does."""
        if self._hangs:
            self._hangs.endure(command)
        self.host.send(command, *values)
        self._asked = (command, values)

    def call(self, command: str, *values: Value, ops: Iterable[str] = ()) -> Reply | None:
        """One command, which performs `ops` where it is not named after its own.

        Raises `DiedError` where the plugin does not come back, `BlockedError` where an op hung too often.
        """
        called = (*ops,) or (command,)
        if self._hangs:
            for op in called:
                self._hangs.endure(op)
        try:
            if self._asked is None:
                reply = self.host.call(command, *values)
            else:
                asked, self._asked = self._asked, None
                if asked != (command, values):
                    raise HostFaultError(f"{asked[0]} was asked, and {command} is called")
                reply = self.host.receive()
        except DiedError as died:
            self._died(died)
            raise
        if self._hangs:
            self._hangs.came_back(called)
        return reply

    def exit(self, status: int, way: str) -> str:
        """How a process ended that called `exit` or `quick_exit`.

        Raises `DiedError` where it does not end in time, `BlockedError` where that was so too often.
        """
        self._hangs.endure("exit")
        try:
            ending = self.host.exit(status, way.encode())
        except DiedError as died:
            self._hangs.count(died)
            raise
        self._hangs.came_back(("exit",))
        return ending


class Loader:
    """Gives hosts for one plugin. `timeout` is the time in seconds that one call may take.

    `plugin` is a path as the host sees it. An op that hung `max_hangs` times in a row is not called again; None for one
    that is called whatever it did. `filling` says whether the hosts have an allocator that fills what it gives, as long
    as nothing hangs.
    """

    def __init__(
        self,
        launcher: Launcher,
        plugin: PurePath,
        timeout: float,
        max_hangs: int | None = MAX_HANGS,
        *,
        filling: bool = True,
    ) -> None:
        self._launcher = launcher if filling else launcher.without_filling()
        self._plugin = plugin
        self._timeout = timeout
        self._hangs = Hangs(max_hangs)
        #: Whether the hosts have an allocator that fills what it gives; not any more once something hung.
        self.filling = filling
        #: Whether an op hung while the allocator filled, which is not counted.
        self._hung_filled = False
        self._ahead: Host | None = None
        #: Whether it was asked to load the plugin.
        self._asked = False
        self._schemes: int | None = None
        self._failures: list[Registration] = []

    def load(self) -> Loaded:
        """A fresh host.

        Raises `DiedError` where the plugin does not survive that, `BlockedError` where it hung too often.
        """
        for op in ("dlopen", "TF_InitPlugin", "init", "plugin_memory_free"):
            self._hangs.endure(op)
        host, self._ahead = self._ahead or self._start(), None
        if (known := self._known) is not None:
            self._ahead = host
            return Loaded(host, known, self._hangs, self._died)
        try:
            self._request(host)
            registration = complete(host, self._schemes)
        except SchemesVaryError:
            # Another host is asked for one step after the other.
            host.process.end()
            self._schemes = None
            return self.load()
        except DiedError as died:
            if isinstance(died.death, Hung) and self.filling:
                self._stop_filling()
                return self.load()
            self._hangs.count(died)
            raise
        self._learn(registration)
        # Where the next host cannot be started, who asks for it is told.
        with suppress(HostLostError):
            self._ahead = self._start()
        return Loaded(host, registration, self._hangs, self._died)

    def bare(self) -> Host:
        """A host in which nothing is loaded, for who loads the plugin in it and ends it."""
        self._launcher.reap()
        return Host(self._launcher, self._timeout)

    def begin(self) -> None:
        """Have the host that was started ahead load the plugin already. For who knows that nobody has the plugin."""
        if self._ahead is not None and self._known is None and not self._hangs:
            try:
                self._request(self._ahead)
                self._asked = True
            except (DiedError, HostLostError):
                # Whoever asks for a host next has another one started, and is told.
                self._ahead = None

    def withdraw(self) -> None:
        """End the host that was asked to load the plugin, where nobody wants it."""
        if self._asked:
            self._end_ahead()

    def _end_ahead(self) -> None:
        if self._ahead is not None:
            self._ahead.process.end()
        self._ahead, self._asked = None, False

    def _request(self, host: Host) -> None:
        """Ask for what `complete` awaits, unless that was done ahead."""
        asked, self._asked = self._asked, False
        if not asked:
            # What was killed has the plugin until it is gone.
            self._launcher.reap()
            request(host, self._plugin, self._schemes)

    @property
    def hung(self) -> bool:
        """Whether anything hung so far."""
        return bool(self._hangs) or self._hung_filled

    def _died(self, died: DiedError) -> None:
        """Take down what an op did. The first hang may be the allocator's, and the next one counts."""
        if isinstance(died.death, Hung) and self.filling:
            self._hung_filled = True
            self._stop_filling()
        else:
            self._hangs.count(died)

    def _stop_filling(self) -> None:
        """Go on with an allocator that fills nothing: that may be all that took so long."""
        self.filling = False
        self._end_ahead()
        filling = self._launcher
        self._launcher = filling.without_filling()
        self._schemes = None
        filling.close()

    def close(self) -> None:
        """End the host that was started ahead, and what the launcher keeps."""
        self._end_ahead()
        self._launcher.close()

    def _learn(self, registration: Registration) -> None:
        """What of this will be the same the next time, as far as can be told."""
        if registration.error is None:
            self._failures = []
        elif len(self._failures) < SAME_FAILURES:
            self._failures = [one for one in self._failures if one == registration] + [registration]
        # Then the next host has done it all when it is needed.
        plain = registration.error is None and all(entry.code is Code.OK for entry in registration.schemes)
        self._schemes = len(registration.schemes) if plain and registration.schemes else None

    @property
    def _known(self) -> Registration | None:
        """What comes of loading the plugin, where that is known without loading it."""
        return self._failures[0] if len(self._failures) == SAME_FAILURES else None

    def _start(self) -> Host:
        """A host in which nothing is loaded yet."""
        return (Host if self._known is None else _Empty)(self._launcher, self._timeout)


class _Empty(Host):
    """A host without a plugin. Nothing that is done in it leaves a trace, so it serves one case after the other."""

    def close(self) -> None:
        """Stay."""


class Hangs:
    """How often each op hung, and how often it may: `in_a_row`, and a few times more in all."""

    def __init__(self, in_a_row: int | None) -> None:
        self._in_a_row = in_a_row
        self._row: Counter[str] = Counter()
        self._all: Counter[str] = Counter()
        self._last: dict[str, Hung] = {}

    def __bool__(self) -> bool:
        return bool(self._all)

    def count(self, died: DiedError) -> None:
        """Take down a hang; other deaths are none."""
        if isinstance(died.death, Hung):
            self._row[died.death.op] += 1
            self._all[died.death.op] += 1
            self._last[died.death.op] = died.death

    def came_back(self, ops: Iterable[str]) -> None:
        """Take down that these ops do not hang everywhere."""
        for op in ops:
            self._row.pop(op, None)

    def endure(self, op: str) -> None:
        """Raise `BlockedError` where the op hung too often."""
        if self._in_a_row is None or op not in self._all:
            return
        if self._row[op] >= self._in_a_row or self._all[op] >= ALL_HANGS:
            why = f"it hung {self._all[op]} times, so the suite no longer calls it"
            raise BlockedError(op, why, death=self._last[op])
