"""The result of an op call: an `Outcome` where the call returned, a `Death` where it did not."""

from dataclasses import dataclass, field
from enum import Enum, IntFlag
from typing import Generic, TypeVar

from .codes import Code

#: The byte with which the host fills statistics, counters and buffers before it hands them to the plugin.
POISON_BYTE = 0xA5
#: The same as a signed and as an unsigned 64-bit number.
POISON_SIGNED = int.from_bytes(bytes([POISON_BYTE]) * 8, "little", signed=True)
POISON_UNSIGNED = int.from_bytes(bytes([POISON_BYTE]) * 8, "little")


class Watch(IntFlag):
    """What the host saw beside the answer, such as a write behind the buffer. The bits are those of docs/wire.md."""

    NOTHING = 0
    WRAPPER_CHANGED = 1
    ARGUMENT_CHANGED = 2
    OVERRUN = 4
    OBJECT_SET = 8
    SHARED_ENTRIES = 16
    NULL_ENTRY = 32
    STATUS_KEPT = 64
    LONG_MESSAGE = 128
    STATUS_REPLACED = 256
    DIRECTORY_MOVED = 512


class Source(Enum):
    """Who answered the op."""

    PLUGIN = "plugin"
    DEFAULT = "default"  # the table entry is NULL and core has an algorithm for it
    ABSENT = "absent"  # the table entry is NULL and core answers UNIMPLEMENTED


@dataclass(frozen=True, slots=True)
class Status:
    """A status code and its message. The message of OK should be empty."""

    code: Code
    message: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """The result of read. `returned` is the return value in bytes, `data` the first `returned` bytes of the buffer."""

    returned: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Undeleted:
    """The two counters of delete_recursively. A counter that the plugin did not write is `POISON_UNSIGNED`."""

    files: int
    dirs: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """The result of stat: length in bytes, time in nanoseconds since the epoch.

    `is_directory` is the raw byte (0 to 255), so that a value other than 0 and 1 is seen. A field that the plugin did
    not write is `POISON_SIGNED`.
    """

    length: int
    mtime_nsec: int
    is_directory: int

    @property
    def untouched(self) -> bool:
        """Whether the plugin wrote none of the three fields."""
        return (self.length, self.mtime_nsec, self.is_directory) == (POISON_SIGNED,) * 3


@dataclass(frozen=True, slots=True)
class Entries:
    """The result of get_children and get_matching_paths: the return value, and the strings in the array."""

    returned: int
    names: tuple[str, ...]

    @property
    def bare(self) -> tuple[str, ...]:
        """The names without the one slash that may stand behind the name of a directory."""
        return tuple(name[:-1] if len(name) > 1 and name.endswith("/") else name for name in self.names)


@dataclass(frozen=True, slots=True)
class Existence:
    """The result of paths_exist. `statuses` has one for each path, or is None where the caller passed NULL."""

    returned: bool
    statuses: tuple[Status, ...] | None


@dataclass(frozen=True, slots=True)
class Token:
    """The result of an op that returns a transaction token.

    `returned` is the return value, `token` the number by which the host knows the token, or 0 for none. `owner` is 0
    where the token names no owner, 1 for the filesystem that was asked, and 2 for another.
    """

    returned: int
    token: int
    owner: int = 0


@dataclass(frozen=True, slots=True)
class Keys:
    """The result of get_filesystem_configuration_keys, which got an array of NULL pointers.

    `returned` is the number it wrote to num_keys, or None, and `pointers` how many pointers it set. `texts` has the
    text behind each where they are as many as it says, else the one behind the first.
    """

    returned: int | None
    pointers: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Configuration:
    """The result of get_filesystem_configuration: the number of options that it wrote, or None, and the options."""

    returned: int | None
    options: "tuple[Option, ...]"


@dataclass(frozen=True, slots=True)
class Option:
    """A `TF_Filesystem_Option`. Its `values` are ints, floats or bytes where `type_tag` is 0, 1 or 2."""

    name: str
    type_tag: int
    values: tuple[int | float | bytes, ...]
    description: str = ""
    per_file: int = 0


T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T_co]):
    """One op call that returned.

    An op without a status argument, such as translate_name, has the code OK and an empty message.
    """

    op: str
    code: Code
    message: str
    value: T_co
    watch: Watch = Watch.NOTHING
    source: Source = Source.PLUGIN
    #: The op whose answer core's default gives back as its own; empty where core answers by itself, or the op does.
    passed_on: str = ""
    #: The op that core was asked for, where its default called this one.
    called_by: str = field(default="", compare=False)

    @property
    def ok(self) -> bool:
        """Whether the status says OK."""
        return self.code is Code.OK


@dataclass(frozen=True, slots=True)
class Crashed:
    """The call of `op` cost the host process. `how` is how it ended, or a sentence about `it`, the op.

    `output` is what the process printed.
    """

    op: str
    how: str  # "signal SIGSEGV", "exit status 3", "it closed …"
    output: str = field(default="", repr=False)

    def __str__(self) -> str:
        said = self.how.startswith("it ")
        return f"{self.op} did not come back: {self.how}" if said else f"{self.op} ended the process: {self.how}"


@dataclass(frozen=True, slots=True)
class Hung:
    """`op` did not return within `timeout` seconds, so the host was killed."""

    op: str
    timeout: float
    output: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"{self.op} did not answer within {self.timeout:g} s"


@dataclass(frozen=True, slots=True)
class Threw:
    """A C++ exception left `op`. `type` is its demangled type, `what` the text of std::exception."""

    op: str
    type: str
    what: str
    output: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"{self.op} let a C++ exception out: {self.type}({self.what})"


@dataclass(frozen=True, slots=True)
class Endless:
    """What `op` answers keeps core's default `walk` going for ever. The host lives, and the walk was left."""

    op: str
    walk: str
    how: str
    output: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"core's default {self.walk} does not end: {self.op} {self.how}"


Death = Crashed | Hung | Threw | Endless


class DiedError(Exception):
    """An op did not return, or leads nowhere. But for `Endless`, the host process is gone with all its open files."""

    def __init__(self, death: Death) -> None:
        super().__init__(str(death))
        self.death = death
