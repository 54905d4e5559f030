"""A network in trouble: the plugin reaches its services through a relay, which disturbs the connections of an op."""

import contextlib
import functools
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from ...harness.hosting.loader import BlockedError
from ...harness.network.exchanges import Exchange, ExchangeWatch
from ..contract.network import BrokenExchange, Trouble, passing
from .case import Case, NoStimulusError
from .disturbing import FIRST, Attempt, DisturbedStimulus, blocked_by_death, open_now, prepare
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
#: What a descriptor of a connection leads to begins so.
SOCKET = "socket:"
#: The directories in which an op is performed when the network works again: who finds a broken connection says so once.
AGAIN = ("2", "3")


class Network(DisturbedStimulus):
    """A stimulus that is performed through a relay.

    Raises NoStimulusError where the plugin has no service, and BlockedError where the stimulus does not work at all.
    """

    def __init__(self, case: Case, stimulus: Stimulus) -> None:
        from ...harness.network.relay import Relay, facing  # noqa: PLC0415 - most runs have no network, and asyncio is slow to import

        target = case.bench.target
        named = services(target.environment, target.root or "")
        # What this machine does not know others reach for the plugin.
        self.services = {service: name for service, name in named.items() if facing(service)}
        if not self.services:
            raise NoStimulusError(
                "neither its root nor a variable of its environment leads to a service, HOST:PORT or http://HOST:PORT"
            )
        with contextlib.ExitStack() as stack:
            self._relay = stack.enter_context(Relay())
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            super().__init__(case, self._through(folder, case.bench), stimulus)
            self._stack = stack.pop_all()

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._stack.close()

    def begin(self) -> None:
        """Perform the stimulus where there is no trouble."""
        watches = [ExchangeWatch() for _ in self.services]
        with self.control() as control:
            whole = self._performed(control, self._watched(watches))
        self.begin_with(whole)
        self._exchanges = [watch.exchanges for watch in watches]

    def _through(self, folder: str, bench: Workbench) -> Workbench:
        """The same target, which reaches its services through the relay. Files that name them are copied."""
        ways = {service: self._relay.through(service) for service in self.services}
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
        return bench.apart(environment=environment, root=root)

    def attempts(self, troubles: Sequence[Trouble], endings: Sequence[BrokenExchange]) -> Iterator[tuple[str, Attempt]]:
        """Each trouble of each service, in words, and what came of it; then those that end within the op.

        Raises NoStimulusError where the op goes well in all of them: it asks none of the services.
        """
        planned: list[tuple[str, int, Callable[[], Attempt | None]]] = [
            (trouble.what, number, functools.partial(self._in, number, trouble))
            for number in range(len(self.services))
            for trouble in troubles
        ]
        for number, exchanges in enumerate(self._exchanges):
            for ending in endings:
                for place in places(exchanges, ending):
                    what = ending.what.format(f"request {place} of {len(exchanges)}")
                    planned.append((what, number, functools.partial(self._within, number, ending, place)))
        tried = [
            (f"{what}, {self._which(number)}", attempt)
            for what, number, perform in planned
            if (attempt := self._surely(perform)) is not None
        ]
        if all(self._is_whole(attempt) for _, attempt in tried):
            raise NoStimulusError("the op asks none of the services")
        self.tell("troubles", len(tried))
        yield from tried

    def _is_whole(self, attempt: Attempt) -> bool:
        return attempt.went.ok and attempt.again.ok and self.lacking(attempt.went, attempt.there) is None

    def kept(self, attempt: Attempt) -> int:
        """How many connections more are open than before, and than where there is no trouble, behind an op that failed.

        Who works in spite of a trouble may need more of them.
        """
        judged = attempt.waited and attempt.went.failed is not None
        return attempt.open - self.most(attempt.open_before) if judged else 0

    def _surely(self, perform: Callable[[], Attempt | None]) -> Attempt | None:
        attempt = surely(perform, self.kept)
        self._closing.is_told |= attempt is not None and self.kept(attempt) > 0
        return attempt

    def _in(self, number: int, trouble: Trouble) -> Attempt:
        return self._attempt(self._relay.disturbed(number, trouble.disturbance))

    def _within(self, number: int, ending: BrokenExchange, place: int) -> Attempt | None:
        """None where it did not come about, as in an op that goes another way than before: that is no trouble of it."""
        watch = ExchangeWatch(ending.ends, place, ending.every)
        attempt = self._attempt(self._relay.watched(number, watch))
        return attempt if watch.met else None

    def _which(self, number: int) -> str:
        name = list(self.services.values())[number]
        return f"to service {number + 1}, of {name}" if len(self.services) > 1 else f"to which {name} leads"

    @contextlib.contextmanager
    def _watched(self, watches: Sequence[ExchangeWatch]) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            for number, watch in enumerate(watches):
                stack.enter_context(self._relay.watched(number, watch))
            yield

    def _attempt(self, disturbed: AbstractContextManager[object]) -> Attempt:
        with blocked_by_death(), self.trial() as trial:
            return self._performed(trial, disturbed)

    def _performed(self, case: Case, disturbed: AbstractContextManager[object]) -> Attempt:
        """Perform the stimulus in trouble, and after it; look at what is there in another process."""
        for place in (FIRST, *AGAIN):
            prepare(case, place, self._stimulus.before)
        open_before, went = open_now(case, SOCKET), Performance(case, FIRST)
        with disturbed:
            went.perform_all(self._stimulus)
        for place in AGAIN:
            again = Performance(case, place)
            if went.died is None:
                again.perform_all(self._stimulus)
            if again.failed is None or again.failed.code not in passing():
                break
        # What it remembers of a failure it may remember by the path.
        if not self.is_control and went.died is None and again.ok and self.whole.there == self.before:
            place, again = FIRST, Performance(case, FIRST)
            again.perform_all(self._stimulus)
        left = open_now(case, SOCKET)
        if went.failed is not None:
            left = self._closing.wait(lambda: open_now(case, SOCKET), self.most(open_before))
        case.surroundings.end_host()
        return self.looked_at(
            Attempt(went, again, open_before=open_before, open=left), place, functools.partial(_tree, case)
        )


def surely(perform: Callable[[], Attempt | None], kept: Callable[[Attempt], int]) -> Attempt | None:
    """What comes of it. Where connections are kept, it is performed once more.

    Who keeps that of each request which fails does so again; a pool has one more now and then on a busy machine.
    """
    attempt = perform()
    if attempt is None or kept(attempt) <= 0:
        return attempt
    again = perform()
    is_chance = again is not None and again.went.died is None and kept(again) <= 0
    return replace(attempt, open=attempt.open_before) if is_chance else attempt


def places(exchanges: Sequence[Exchange], ending: BrokenExchange) -> list[int]:
    """Which exchanges are to meet a trouble that ends: of those that can, the first, the last and the middle one.

    What meets each second one, and so on, begins with the first, and with the second.
    """
    can = [k for k, one in enumerate(exchanges, 1) if getattr(one, ending.ends.stream) > ending.ends.after]
    if ending.every:
        return can[: ending.every] if len(can) >= ending.every else []
    return list(dict.fromkeys((can[0], can[-1], can[len(can) // 2]))) if can else []


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
