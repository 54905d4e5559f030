"""The ops of one registered filesystem as the tables give them: names already translated, no defaults.

Each method performs one command of docs/wire.md and returns its `Outcome`. Where a table entry is NULL the outcome has
the code UNIMPLEMENTED and the source ABSENT. `DiedError` is raised where the plugin does not come back.
"""

import os
import struct
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, TypeVar

from ..ops.codes import Code
from ..ops.outcomes import (
    POISON_BYTE,
    POISON_SIGNED,
    Configuration,
    Death,
    DiedError,
    Entries,
    Existence,
    Keys,
    Option,
    Outcome,
    Read,
    Source,
    Statistics,
    Status,
    Token,
    Undeleted,
    Watch,
)
from ..ops.tables import CHANGING
from ..wire import Reply, Value, unsigned

T = TypeVar("T")

#: Performs one command of the wire.
Caller = Callable[..., Reply | None]
#: One call as it went: the op, the arguments as they were sent, and what came of it.
Call = tuple[str, Sequence[Value], Outcome[object] | Death]

#: The number of a token that no filesystem gave out.
FOREIGN_TOKEN = -1
#: Stands for a number that the plugin did not write.
_NOT_SET = -(2**63)

_CHANGES = CHANGING | {"append", "flush", "sync", "close", "writable_file.cleanup"}
#: The ops that list.
LISTS = frozenset({"get_children", "get_matching_paths"})

_DOUBLE = struct.Struct("<d")
_INTEGER = struct.Struct("<q")


def _nothing(_: Reply) -> None:
    return None


class LateListings:
    """Performs commands of a host as `call` does, those that list no sooner than `seconds` after the last change.

    A program that lists waits before it begins, and not between its ops.
    """

    #: When something was changed last, through any host or backing of this process, by the monotonic clock.
    changed: ClassVar[float] = 0.0

    def __init__(self, call: Caller, seconds: float) -> None:
        self._call = call
        self._seconds = seconds

    def __call__(self, command: str, *values: Value, ops: Iterable[str] = ()) -> Reply | None:
        """One command, which performs `ops` where it is not named after its own."""
        performed = {*ops} or {command}
        if performed & LISTS:
            time.sleep(max(0.0, self.changed + self._seconds - time.monotonic()))
        try:
            return self._call(command, *values, ops=ops)
        finally:
            if performed & _CHANGES:
                LateListings.changed = time.monotonic()


class RawFilesystem:
    """One `TF_Filesystem` in a host. Handles and tokens are the host's numbers; `trace` grows by one entry a call.

    `nobody` says of an op that nobody performed why, before the name of the op.
    """

    def __init__(
        self, call: Caller, filesystem: int, trace: list[Call], nobody: str = "the plugin does not provide"
    ) -> None:
        self.call = call
        self.filesystem = filesystem
        self._trace = trace
        self._nobody = nobody
        #: The op whose default of core is at work.
        self.default = ""

    def perform(self, op: str, arguments: Sequence[Value], take: Callable[[Reply], T], empty: T) -> Outcome[T]:
        """One op; `take` reads what stands behind code, message and watch, `empty` is the value of an absent op."""
        try:
            return self.answered(op, arguments, self.call(op, *arguments), take, empty)
        except DiedError as died:
            self.lost(op, arguments, died.death)
            raise

    def answered(
        self, op: str, arguments: Sequence[Value], reply: Reply | None, take: Callable[[Reply], T], empty: T
    ) -> Outcome[T]:
        """The outcome of an op that came back with `reply`."""
        if reply is None:
            return Outcome(op, Code.UNIMPLEMENTED, f"{self._nobody} {op}", empty, source=Source.ABSENT)
        code, message, watch = reply.take_status()
        # Enumerations are slow to make, and nearly every call is the plain one.
        outcome = Outcome(
            op,
            _code(reply, code) if code else Code.OK,
            message,
            take(reply),
            Watch(watch) if watch else Watch.NOTHING,
            called_by=self.default,
        )
        self._trace.append((op, arguments, outcome))
        return outcome

    def lost(self, op: str, arguments: Sequence[Value], death: Death) -> None:
        """Take down an op that did not come back."""
        self._trace.append((op, arguments, death))

    # Files -----------------------------------------------------------------------------------------------------------

    def open(self, op: str, path: str) -> Outcome[int]:
        """One of the four new_* ops; the value is a handle, 0 unless the code is OK."""
        return self.perform(op, (self.filesystem, os.fsencode(path)), Reply.take_number, 0)

    def handle_op(self, op: str, handle: int) -> Outcome[None]:
        """flush, sync, close and the three cleanups of handles."""
        return self.perform(op, (handle,), _nothing, None)

    def read(self, handle: int, offset: int, n: int) -> Outcome[Read]:
        """Read up to `n` bytes from `offset`."""
        return self.perform("read", (handle, offset, n), lambda r: Read(r.take_number(), r.take_bytes()), Read(-1, b""))

    def read_large(self, handle: int, n: int, places: Sequence[tuple[int, int]]) -> Outcome[Read]:
        """Read `n` bytes from the beginning in one call: more than the wire takes.

        The data is what is in the buffer at these places, each an offset and a length in bytes, one behind the other.
        Where the plugin wrote nothing, there are zeros.
        """
        asked = (handle, 0, n)
        try:
            reply = self.call("read_large", *asked, *(value for place in places for value in place))
        except DiedError as died:
            self.lost("read", asked, died.death)
            raise
        return self.answered(
            "read",
            asked,
            reply,
            lambda r: Read(r.take_number(), b"".join(r.take_bytes() for _ in places)),
            Read(-1, b""),
        )

    def append(self, handle: int, data: bytes) -> Outcome[None]:
        """Append all of `data`."""
        return self.perform("append", (handle, data), _nothing, None)

    def tell(self, handle: int) -> Outcome[int]:
        """The position in bytes."""
        return self.perform("tell", (handle,), Reply.take_number, -1)

    def data(self, handle: int, offset: int, n: int) -> Outcome[tuple[int, bytes]]:
        """The address that data() gave, and `n` bytes from `offset` behind it."""
        return self.perform(
            "data", (handle, offset, n), lambda r: (unsigned(r.take_number()), r.take_bytes()), (0, b"")
        )

    def length(self, handle: int) -> Outcome[int]:
        """The length of a region in bytes."""
        return self.perform("length", (handle,), lambda r: unsigned(r.take_number()), 0)

    # Paths -----------------------------------------------------------------------------------------------------------

    def path_op(self, op: str, *paths: str) -> Outcome[None]:
        """An op that takes paths and gives nothing but a status."""
        return self.perform(op, (self.filesystem, *map(os.fsencode, paths)), _nothing, None)

    def number_op(self, op: str, path: str) -> Outcome[int]:
        """is_directory (0 or 1) and get_file_size (bytes)."""
        return self.perform(op, (self.filesystem, os.fsencode(path)), Reply.take_number, -1)

    def delete_recursively(self, path: str) -> Outcome[Undeleted]:
        """Delete a tree; the value is what the counters hold afterwards."""
        return self.perform(
            "delete_recursively",
            (self.filesystem, os.fsencode(path)),
            lambda r: Undeleted(unsigned(r.take_number()), unsigned(r.take_number())),
            Undeleted(0, 0),
        )

    def paths_exist(self, paths: Sequence[str], with_statuses: bool) -> Outcome[Existence]:
        """Ask for several paths at once, with or without an array for their statuses."""

        def take(reply: Reply) -> Existence:
            returned = bool(reply.take_number())
            if not with_statuses:
                return Existence(returned, None)
            return Existence(
                returned, tuple(Status(_code(reply, reply.take_number()), reply.take_text()) for _ in paths)
            )

        arguments: list[Value] = [self.filesystem, int(with_statuses), *map(os.fsencode, paths)]
        got = self.perform("paths_exist", arguments, take, Existence(False, None))
        # Its statuses are all that it can say so with.
        says_so = not got.value.returned and {one.code for one in got.value.statuses or ()} == {Code.UNIMPLEMENTED}
        return replace(got, code=Code.UNIMPLEMENTED) if says_so else got

    def stat(self, path: str) -> Outcome[Statistics]:
        """The statistics as the op left them, poison included."""
        return self.perform(
            "stat",
            (self.filesystem, os.fsencode(path)),
            lambda r: Statistics(r.take_number(), r.take_number(), _byte(r.take_number())),
            Statistics(0, 0, 0),
        )

    def translate_name(self, uri: str) -> Outcome[str | None]:
        """The translated name, or None where the op returned NULL."""
        return self.perform("translate_name", (self.filesystem, os.fsencode(uri)), _text_or_none, None)

    def entries_op(self, op: str, path: str) -> Outcome[Entries]:
        """get_children and get_matching_paths."""
        return self.perform(
            op,
            (self.filesystem, os.fsencode(path)),
            lambda r: Entries(r.take_number(), tuple(r.take_texts())),
            Entries(-1, ()),
        )

    def flush_caches(self) -> Outcome[None]:
        """Drop what is cached."""
        return self.perform("flush_caches", (self.filesystem,), _nothing, None)

    def cleanup(self) -> Outcome[None]:
        """End the filesystem."""
        return self.perform("cleanup", (self.filesystem,), lambda _: None, None)

    # Transactions ----------------------------------------------------------------------------------------------------

    def start_transaction(self) -> Outcome[Token]:
        """A new token."""
        return self.perform("start_transaction", (self.filesystem,), _token, Token(-1, 0))

    def end_transaction(self, token: int) -> Outcome[int]:
        """The op's return value."""
        return self.perform("end_transaction", (self.filesystem, token), Reply.take_number, -1)

    def add_to_transaction(self, path: str, token: int) -> Outcome[int]:
        """The op's return value."""
        arguments = (self.filesystem, os.fsencode(path), token)
        return self.perform("add_to_transaction", arguments, Reply.take_number, -1)

    def token_op(self, op: str, path: str) -> Outcome[Token]:
        """get_transaction_for_path and get_or_start_transaction_for_path."""
        return self.perform(op, (self.filesystem, os.fsencode(path)), _token, Token(-1, 0))

    def decode_transaction_token(self, token: int) -> Outcome[str | None]:
        """The token as text, or None where the op returned NULL."""
        return self.perform("decode_transaction_token", (self.filesystem, token), _text_or_none, None)

    # Configuration ---------------------------------------------------------------------------------------------------

    def get_filesystem_configuration(self) -> Outcome[Configuration]:
        """All options."""
        return self.perform(
            "get_filesystem_configuration",
            (self.filesystem,),
            lambda r: Configuration(_number_set(r), tuple(_take_option(r) for _ in range(r.take_number()))),
            Configuration(None, ()),
        )

    def set_filesystem_configuration(self, options: Sequence[Option]) -> Outcome[None]:
        """Set several options."""
        values = [value for option in options for value in _option_values(option)]
        return self.perform("set_filesystem_configuration", (self.filesystem, len(options), *values), _nothing, None)

    def get_filesystem_configuration_option(self, key: str) -> Outcome[Option | None]:
        """One option, or None where the plugin handed none over."""
        return self.perform(
            "get_filesystem_configuration_option",
            (self.filesystem, os.fsencode(key)),
            lambda r: _take_option(r) if r.take_number() else None,
            None,
        )

    def set_filesystem_configuration_option(self, option: Option) -> Outcome[None]:
        """Set one option."""
        arguments = (self.filesystem, *_option_values(option))
        return self.perform("set_filesystem_configuration_option", arguments, _nothing, None)

    def get_filesystem_configuration_keys(self) -> Outcome[Keys]:
        """What can be told of the keys (disputed A20). They are not freed: nobody can know how many blocks they are."""
        return self.perform(
            "get_filesystem_configuration_keys",
            (self.filesystem,),
            lambda r: Keys(_number_set(r), r.take_number(), tuple(r.take_texts())),
            Keys(None, 0, ()),
        )


def _text_or_none(reply: Reply) -> str | None:
    is_null, text = reply.take_number(), reply.take_text()
    return None if is_null else text


def _byte(number: int) -> int:
    return POISON_SIGNED if number == POISON_BYTE else number


def _code(reply: Reply, number: int) -> Code:
    try:
        return Code(number)
    except ValueError:
        raise reply.damaged(f"{number} is no status code") from None


def _token(reply: Reply) -> Token:
    return Token(reply.take_number(), reply.take_number(), reply.take_number())


def _number_set(reply: Reply) -> int | None:
    number = reply.take_number()
    return None if number == _NOT_SET else number


def _take_option(reply: Reply) -> Option:
    name, description = reply.take_text(), reply.take_text()
    per_file, type_tag = reply.take_number(), reply.take_number()
    values: list[int | float | bytes] = []
    for _ in range(reply.take_number()):
        value = reply.take()
        is_real = type_tag == 1 and isinstance(value, int)
        values.append(_DOUBLE.unpack(_INTEGER.pack(value))[0] if is_real else value)
    return Option(name, type_tag, tuple(values), description, per_file)


def _option_values(option: Option) -> list[Value]:
    values: list[Value] = [os.fsencode(option.name), os.fsencode(option.description), option.per_file]
    values += [option.type_tag, len(option.values)]
    for value in option.values:
        values.append(_INTEGER.unpack(_DOUBLE.pack(value))[0] if isinstance(value, float) else value)
    return values
