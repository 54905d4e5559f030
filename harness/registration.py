"""Loading and registering a plugin, in the steps of core (modular_filesystem_registration.cc).

The host performs the checks on the plugin's own structs; this module asks for one step after the other.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from tffs_conformance.harness.client import WIRE_VERSION, Host, HostFault
from tffs_conformance.harness.codes import Code
from tffs_conformance.harness.tables import TABLES
from tffs_conformance.harness.wire import Value, unsigned


@dataclass(frozen=True, slots=True)
class MissingSymbol:
    """A symbol that the plugin needs and nobody provides."""

    name: str
    demangled: str

    @property
    def is_cplusplus(self) -> bool:
        """Whether the name is mangled, that is: outside TensorFlow's C interface."""
        return self.name.startswith("_Z")


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
    entries. `filesystem` is the host's number for it, or None where registration did not get that far.
    """

    index: int
    scheme: str | None
    tables: Mapping[str, Table]
    shared_blocks: int
    code: Code
    message: str
    init_called: bool
    filesystem: int | None

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
    def registered(self) -> dict[str, Scheme]:
        """The schemes that can be used, by name."""
        return {entry.scheme: entry for entry in self.schemes if entry.scheme is not None and entry.code is Code.OK}


def register(host: Host, path: os.PathLike[str]) -> Registration:
    """Load the plugin and register all its schemes. Raises `Died` where the plugin does not come back."""
    request_load(host, path)
    return complete(host)


def request_load(host: Host, path: os.PathLike[str]) -> None:
    """Ask for the plugin to be loaded without waiting for it."""
    host.send("load", os.fsencode(path))


def complete(host: Host) -> Registration:
    """Register after `request_load`."""
    version, loaded, error, count, *symbols = _values(host.receive())
    if version != WIRE_VERSION:
        raise HostFault(f"the host speaks version {version} of the wire, the client {WIRE_VERSION}")
    if not loaded:
        names = [_text(symbol) for symbol in symbols]
        missing = tuple(MissingSymbol(names[2 * k], names[2 * k + 1]) for k in range(_number(count)))
        return Registration(_text(error), missing, Code.NOT_FOUND, _text(error), False, False, 0, ())
    code, message, announced, allocate_set, free_set = _values(host.call("init_plugin"))
    outcome = Code(_number(code))
    schemes: list[Scheme] = []
    if outcome is Code.OK:
        count_announced = unsigned(_number(announced))
        for index in range(count_announced):
            schemes.append(_register_scheme(host, index))
            host.call("release", index)
        host.call("release", -1)
    first = next((entry for entry in schemes if entry.code is not Code.OK), None)
    return Registration(
        error=None,
        missing=(),
        code=first.code if first else outcome,
        message=first.message if first else _text(message),
        allocate_set=bool(allocate_set),
        free_set=bool(free_set),
        announced=unsigned(_number(announced)),
        schemes=tuple(schemes),
    )


def _register_scheme(host: Host, index: int) -> Scheme:
    scheme_set, scheme, shared, *facts = _values(host.call("describe", index))
    code, message, init_called, _, filesystem = _values(host.call("register", index))
    outcome = Code(_number(code))
    number = _number(filesystem)
    if outcome is Code.ALREADY_EXISTS and number >= 0:
        host.call("cleanup", number)
    return Scheme(
        index=index,
        scheme=_text(scheme) if scheme_set else None,
        tables={
            name: _table(ops, [_number(fact) for fact in facts[5 * k : 5 * k + 5]])
            for k, (name, ops) in enumerate(TABLES.items())
        },
        shared_blocks=_number(shared),
        code=outcome,
        message=_text(message),
        init_called=bool(init_called),
        filesystem=number if outcome is Code.OK else None,
    )


def _table(ops: tuple[str, ...], facts: list[int]) -> Table:
    present, abi, api, size, bits = facts
    return Table(
        present=bool(present),
        abi=abi,
        api=api,
        size=unsigned(size),
        ops=frozenset(op for k, op in enumerate(ops) if bits >> k & 1),
    )


def _values(values: list[Value] | None) -> list[Value]:
    if values is None:
        raise HostFault("a registration step was answered as absent")
    return values


def _number(value: Value) -> int:
    if not isinstance(value, int):
        raise HostFault("the host sent bytes where a number belongs")
    return value


def _text(value: Value) -> str:
    if not isinstance(value, bytes):
        raise HostFault("the host sent a number where bytes belong")
    return os.fsdecode(value)
