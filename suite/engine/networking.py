"""A network in trouble: the plugin reaches its services through a proxy, which disturbs the connections of an op."""

import contextlib
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ...harness.hosting.loader import BlockedError
from ...harness.network.toxiproxy import NoToxiproxyError, Toxiproxy, facing
from ...harness.ops.outcomes import DiedError
from ..contract.network import Trouble, passing
from ..judge.evidence import Condition
from .case import Case, NoStimulusError
from .failing import FIRST, Attempt, NotTriedError, below, lacking, prepare
from .setup import Tree
from .stimulus import Performance, Stimulus
from .workbench import Workbench

_SERVICE = r"((?:[\w.-]+|\[[0-9a-f:]+\]):\d{1,5})(?![\w.:])"
#: What names a service that is reached without TLS: at the beginning of a value of the environment, or in a file that
#: one names. The certificate of one with TLS is for its own name.
_IN_VALUE, _IN_FILE = re.compile(rf"^(?:http://)?{_SERVICE}"), re.compile(rf"http://{_SERVICE}")
#: A root may name the service itself, as that of a plugin that speaks to any of them does.
_IN_ROOT, THE_ROOT = re.compile(rf"^[\w.+-]+://{_SERVICE}"), "the root"
#: Files of more bytes configure nothing.
LONGEST = 1 << 16
#: The directories in which an op is performed when the network works again: who finds a broken connection says so once.
AGAIN = ("2", "3")
#: Seconds between two looks at connections that are not given back yet.
PAUSE = 0.02


class Network:
    """A stimulus of a case, performed in a fresh host and a fresh directory each time, through a proxy.

    At first there is no trouble: `whole` is what comes of it then. Raises NoStimulusError where the plugin has no
    service, BlockedError where the stimulus does not work at all, and NotTriedError.
    """

    def __init__(self, case: Case, stimulus: Stimulus) -> None:
        self._case = case
        self._stimulus = stimulus
        self._tried = 0
        self.before: Tree = dict(stimulus.before)
        target = case.bench.target
        named = services(target.environment, target.root or "")
        # What this machine does not know others reach for the plugin.
        self.services = {service: name for service, name in named.items() if facing(service)}
        if not self.services:
            raise NoStimulusError(
                "neither its root nor a variable of its environment leads to a service, HOST:PORT or http://HOST:PORT"
            )
        with contextlib.ExitStack() as stack:
            try:
                self._proxy = stack.enter_context(Toxiproxy())
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                self._bench = self._through(case.bench, folder)
            except NoToxiproxyError as missing:
                raise NotTriedError(str(missing)) from missing
            stack.callback(self._bench.close)
            self.whole = self._attempt(None, 0)
            for went in (self.whole.went, self.whole.again):
                if went.failed is not None:
                    case.check.implemented(went.failed)
                    raise BlockedError(went.failed.op, f"{went.failed.code} {went.failed.message}")
                if went.died is not None:
                    raise BlockedError("the host", went.died)
            self._stack = stack.pop_all()

    def __enter__(self) -> "Network":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _through(self, bench: Workbench, folder: str) -> Workbench:
        """The same target, whose services are behind the proxy. Files that name them are copied to `folder`."""
        ways = {service: self._proxy.through(service) for service in self.services}
        environment = dict(bench.target.environment)

        def led_by(match: re.Match[str]) -> str:
            return match[0].replace(match[1], ways.get(match[1], match[1]))

        root = bench.target.root and _IN_ROOT.sub(led_by, bench.target.root)
        for name, value in environment.items():
            text = _read(value)
            pattern = _IN_VALUE if text is None else _IN_FILE
            led = pattern.sub(led_by, value if text is None else text)
            if text is None:
                environment[name] = led
            elif led != text:
                environment[name] = os.path.join(folder, f"{name}-{os.path.basename(value)}")
                Path(environment[name]).write_text(led, encoding="utf-8")
        knowledge = replace(bench.knowledge, root_made=bench.root_made, hosts_differ=bench.hosts_differ)
        target = replace(bench.target, environment=environment, root=root, host_scope="case")
        return Workbench(target, knowledge, max_hangs=None)

    def attempts(self, troubles: Mapping[str, Trouble]) -> Iterator[tuple[str, Attempt]]:
        """Each trouble of each service, in words, and what came of it.

        Raises NoStimulusError where the op goes well in all of them: it asks none of the services.
        """
        tried = list(self._tried_in(troubles))
        if all(self._is_whole(attempt) for _, attempt in tried):
            raise NoStimulusError("the op asks none of the services")
        self._case.condition = Condition(output=f"{len(tried)} troubles were tried\n")
        yield from tried

    def _is_whole(self, attempt: Attempt) -> bool:
        lacks = lacking(self.before, self.whole, attempt.went, attempt.there)
        return attempt.went.ok and attempt.again.ok and lacks is None

    def _tried_in(self, troubles: Mapping[str, Trouble]) -> Iterator[tuple[str, Attempt]]:
        for number, name in enumerate(self.services.values()):
            which = f"to service {number + 1}, of {name}" if len(self.services) > 1 else f"to which {name} leads"
            for trouble in troubles.values():
                yield f"{trouble.what}, {which}", self._attempt(trouble, number)

    def _attempt(self, trouble: Trouble | None, number: int) -> Attempt:
        self._tried += 1
        trial = self._case.trial(self._bench, self._tried)
        try:
            return self._performed(trial, trouble, number)
        except NoToxiproxyError as lost:
            raise NotTriedError(str(lost)) from lost
        except DiedError as died:
            raise BlockedError(died.death.op, str(died)) from died
        finally:
            if trouble is None:
                self._case.surroundings.trace.extend(trial.surroundings.trace)
            trial.surroundings.clear()

    def _performed(self, case: Case, trouble: Trouble | None, number: int) -> Attempt:
        """Perform the stimulus in trouble, and behind it; look at what is there in another process."""
        for place in (FIRST, *AGAIN):
            prepare(case, place, self._stimulus.before)
        open_before, went = _connections(case), Performance(case, FIRST)
        disturbed = contextlib.nullcontext() if trouble is None else self._proxy.disturbed(
            number, trouble.toxics, down=trouble.down
        )  # fmt: skip
        with disturbed:
            went.perform(self._stimulus)
            went.clean_up()
        for place in AGAIN:
            again = Performance(case, place)
            if went.died is None:
                again.perform(self._stimulus)
                again.clean_up()
            if again.failed is None or again.failed.code not in passing():
                break
        # What it remembers of a failure it may remember by the path.
        if trouble is not None and went.died is None and again.ok and self.whole.there == self.before:
            place, again = FIRST, Performance(case, FIRST)
            again.perform(self._stimulus)
            again.clean_up()
        most = open_before if trouble is None else max(open_before, self.whole.open)
        # Who works in spite of a trouble may need more of them.
        until = time.monotonic() + (0 if went.failed is None else case.bench.target.timeout)
        while (left := _connections(case)) > most and time.monotonic() < until:
            time.sleep(PAUSE)
        case.surroundings.end_host()
        try:
            there, there_again = below(_tree(case), FIRST, place)
        except (BlockedError, DiedError) as failed:
            if trouble is None:
                raise
            return Attempt(went, again, {}, {}, unreadable=str(failed))
        return Attempt(went, again, there, there_again, open_before=open_before, open=left)


def services(environment: Mapping[str, str], root: str = "") -> dict[str, str]:
    """The services, `host:port`, each with the variable that names it, or a file in which it stands; or the root."""
    found = {match[1]: THE_ROOT for match in _IN_ROOT.finditer(root)}
    for name, value in sorted(environment.items()):
        text = _read(value)
        for match in _IN_VALUE.finditer(value) if text is None else _IN_FILE.finditer(text):
            found.setdefault(match[1], name)
    return found


def _tree(case: Case) -> Tree:
    """All there is in the directory of a case: what its backing has, where the plugin lists nothing."""
    try:
        return case.setup.tree()
    except BlockedError as blocked:
        if not blocked.absent or case.bench.target.backing is None:
            raise
    return case.surroundings.backing.tree(case.surroundings.backing_name(""))


def _read(value: str) -> str | None:
    """The text of the file that a value names; None where it names none."""
    with contextlib.suppress(OSError, ValueError):
        if os.path.isfile(value) and os.path.getsize(value) <= LONGEST:
            return Path(value).read_text(encoding="utf-8")
    return None


def _connections(case: Case) -> int:
    """How many sockets the host holds."""
    facts = case.surroundings.loaded.host.process.facts
    count = 0
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{facts.pid}/fd" if facts else ""):
            with contextlib.suppress(OSError):
                count += os.readlink(entry.path).startswith("socket:")
    return count
