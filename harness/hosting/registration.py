"""Loading and registering a plugin, in the steps of core (modular_filesystem_registration.cc).

The host performs the checks on the plugin's own structs; this module asks for one step after the other.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..ops.codes import Code
from ..ops.outcomes import Death, DiedError
from ..ops.tables import TABLES
from ..wire import WIRE_VERSION, Reply, unsigned
from .client import Host, HostFaultError

#: A plugin that announces more schemes than this has not written the number.
MOST_SCHEMES = 1000


@dataclass(frozen=True, slots=True)
class MissingSymbol:
    """A symbol that the plugin needs and nobody provides."""

    name: str
    demangled: str


@dataclass(frozen=True, slots=True)
class Table:
    """What a plugin says of one of its tables; `size` in bytes, `ops` the entries that are not NULL."""

    present: bool
    abi: int
    api: int
    size: int
    ops: frozenset[str]


@dataclass(frozen=True, slots=True)
class Scheme:
    """One entry of the plugin: what it says, and what came of its registration.

    `scheme` is None where the pointer is NULL. `shared_blocks` counts pointers that appear more than once among all
    entries. `filesystem` is the host's number for it, or None where registration did not get that far; `code` is
    UNKNOWN until the entry was tried.
    """

    index: int
    scheme: str | None
    tables: Mapping[str, Table]
    shared_blocks: int
    code: Code = Code.UNKNOWN
    message: str = ""
    init_called: bool = False
    filesystem: int | None = None

    @property
    def present(self) -> frozenset[str]:
        """All ops of all tables that are not NULL."""
        return frozenset().union(*(table.ops for table in self.tables.values()))


@dataclass(frozen=True, slots=True)
class Registration:
    """What loading and registering gave. `error` is the loader's sentence where the plugin did not load."""

    error: str | None
    missing: tuple[MissingSymbol, ...]
    code: Code
    message: str
    allocate_set: bool
    free_set: bool
    announced: int
    schemes: tuple[Scheme, ...]

    @property
    def failure(self) -> str | None:
        """The loader's sentence with C++ names as people read them, or None where the plugin loaded."""
        sentence = self.error
        for symbol in self.missing:
            sentence = sentence.replace(symbol.name, symbol.demangled) if sentence else None
        return sentence

    @property
    def registered(self) -> dict[str, Scheme]:
        """The schemes that can be used, by name."""
        return {entry.scheme: entry for entry in self.schemes if entry.scheme is not None and entry.code is Code.OK}


class SchemesVaryError(Exception):
    """The plugin does not announce as many schemes as it did before: the host was asked for the wrong steps."""


class DiedRegisteringError(DiedError):
    """The plugin loaded and described its schemes, and did not survive their registration."""

    def __init__(self, death: Death, schemes: tuple[Scheme, ...]) -> None:
        super().__init__(death)
        self.schemes = schemes


def register(host: Host, path: os.PathLike[str]) -> Registration:
    """Load the plugin and register all its schemes. Raises `DiedError` where the plugin does not come back."""
    request(host, path)
    return complete(host)


def request(host: Host, path: os.PathLike[str], schemes: int | None = None) -> None:
    """Ask for the plugin to be loaded without waiting for it, and for so many schemes to be registered, if it is known.

    That is for plugins that were seen to register all of their schemes: then no step depends on the one before.
    """
    host.send("load", os.fsencode(path))
    if schemes is not None:
        host.send("init_plugin")
        for index in range(schemes):
            host.send("describe", index)
        for index in range(schemes):
            host.send("register", index)
            host.send("release", index)
        host.send("release", -1)


def complete(host: Host, schemes: int | None = None) -> Registration:
    """What came of `request`, with the steps that were not asked for yet.

    Raises `DiedError` where the plugin does not come back, `SchemesVaryError` where it announces another number of
    schemes than what was asked for.
    """

    def step(command: str, *values: int) -> Reply:
        return _done(host.call(command, *values) if schemes is None else host.receive())

    reply = _done(host.receive())
    version = reply.take_number()
    if version != WIRE_VERSION:
        raise HostFaultError(f"the host speaks version {version} of the wire, the client {WIRE_VERSION}")
    loaded, error = reply.take_number(), reply.take_text()
    if not loaded:
        missing = tuple(MissingSymbol(reply.take_text(), reply.take_text()) for _ in range(reply.take_number()))
        return Registration(error, missing, Code.NOT_FOUND, error, False, False, 0, ())
    return _registered_all(host, step, schemes)


def again(host: Host) -> Registration:
    """Call TF_InitPlugin of a plugin that is registered once more, and register what it gives, as TensorFlow does.

    Its schemes are taken, so each filesystem that it makes is cleaned up at once. Raises `DiedError`.
    """
    return _registered_all(host, lambda command, *values: _done(host.call(command, *values)), None)


def _registered_all(host: Host, step: Callable[..., Reply], schemes: int | None) -> Registration:
    """What TF_InitPlugin gives, and what comes of the registration of each scheme."""
    reply = step("init_plugin")
    code, message = Code(reply.take_number()), reply.take_text()
    announced = unsigned(reply.take_number())
    allocate_set, free_set = bool(reply.take_number()), bool(reply.take_number())
    if schemes is not None and (code is not Code.OK or announced != schemes):
        raise SchemesVaryError(f"the plugin announced {schemes} schemes first, then {announced}")
    entries: list[Scheme] = []
    if code is Code.OK:
        # All are looked at before the first is registered: that frees its tables, which may be those of others, too.
        indices = range(min(announced, MOST_SCHEMES))
        described = tuple(_describe(step("describe", index), index) for index in indices)
        try:
            for entry in described:
                entries.append(_registered(host, step("register", entry.index), entry))
                step("release", entry.index)
            step("release", -1)
        except DiedError as died:
            raise DiedRegisteringError(died.death, (*entries, *described[len(entries) :])) from died
    first = next((entry for entry in entries if entry.code is not Code.OK), None)
    return Registration(
        error=None,
        missing=(),
        code=first.code if first else code,
        message=first.message if first else message,
        allocate_set=allocate_set,
        free_set=free_set,
        announced=announced,
        schemes=tuple(entries),
    )


def _describe(facts: Reply, index: int) -> Scheme:
    is_set, scheme, shared = facts.take_number(), facts.take_text(), facts.take_number()
    tables = {name: _table(ops, facts) for name, ops in TABLES.items()}
    return Scheme(index, scheme if is_set else None, tables, shared)


def _registered(host: Host, reply: Reply, entry: Scheme) -> Scheme:
    code, message = Code(reply.take_number()), reply.take_text()
    init_called, _, filesystem = reply.take_number(), reply.take_number(), reply.take_number()
    if code is Code.ALREADY_EXISTS and filesystem >= 0:
        _done(host.call("cleanup", filesystem))
    return replace(
        entry,
        code=code,
        message=message,
        init_called=bool(init_called),
        filesystem=filesystem if code is Code.OK else None,
    )


def _table(ops: tuple[str, ...], facts: Reply) -> Table:
    present, abi, api = bool(facts.take_number()), facts.take_number(), facts.take_number()
    size, bits = unsigned(facts.take_number()), facts.take_number()
    return Table(present, abi, api, size, frozenset(op for k, op in enumerate(ops) if bits >> k & 1))


def _done(reply: Reply | None) -> Reply:
    if reply is None:
        raise HostFaultError("a registration step was answered as absent")
    return reply
