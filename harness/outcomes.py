"""What an op call gives: an `Outcome` when the call came back, a `Death` when it did not."""

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
    """What the host saw besides the answer; the bits are those of docs/wire.md."""

    NOTHING = 0
    WRAPPER_CHANGED = 1
    ARGUMENT_CHANGED = 2
    OVERRUN = 4
    OBJECT_SET = 8
    SHARED_ENTRIES = 16
    NULL_ENTRY = 32
    STATUS_KEPT = 64


class Source(Enum):
    """Who answered an op."""

    PLUGIN = "plugin"
    DEFAULT = "default"  # the table entry is NULL and core has an algorithm for it
    ABSENT = "absent"  # the table entry is NULL and core answers UNIMPLEMENTED


@dataclass(frozen=True, slots=True)
class Status:
    """A code with its message."""

    code: Code
    message: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """`returned` is the op's return value in bytes, `data` the first `returned` bytes of the buffer."""

    returned: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Undeleted:
    """The two counters of delete_recursively; `POISON_UNSIGNED` where the plugin did not write them."""

    files: int
    dirs: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """`TF_FileStatistics` in bytes and nanoseconds; `is_directory` is the raw byte, so that junk is seen."""

    length: int
    mtime_nsec: int
    is_directory: int

    @property
    def untouched(self) -> bool:
        """Whether the plugin left all three fields as they were handed over."""
        return (self.length, self.mtime_nsec, self.is_directory) == (POISON_SIGNED, POISON_SIGNED, POISON_BYTE)


@dataclass(frozen=True, slots=True)
class Entries:
    """The result of get_children and get_matching_paths: the return value and the strings behind it."""

    returned: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Existence:
    """The result of paths_exist; `statuses` is None where the caller passed none."""

    returned: bool
    statuses: tuple[Status, ...] | None


@dataclass(frozen=True, slots=True)
class Token:
    """The result of the ops that give a token: the return value, and the host's number for the token or 0."""

    returned: int
    token: int


@dataclass(frozen=True, slots=True)
class Keys:
    """What get_filesystem_configuration_keys did to an array of NULL pointers that the host handed over.

    The number it wrote to num_keys, how many pointers it set, and the text behind the first of them.
    """

    returned: int
    pointers: int
    first: str


@dataclass(frozen=True, slots=True)
class Option:
    """A `TF_Filesystem_Option`; `values` are ints, floats or bytes, as `type_tag` (0, 1, 2) says."""

    name: str
    type_tag: int
    values: tuple[int | float | bytes, ...]
    description: str = ""
    per_file: bool = False


T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T_co]):
    """One op call that came back. An op without a status argument has the code OK and an empty message."""

    op: str
    code: Code
    message: str
    value: T_co
    watch: Watch = Watch.NOTHING
    source: Source = Source.PLUGIN

    @property
    def ok(self) -> bool:
        """Whether the status says OK."""
        return self.code is Code.OK


@dataclass(frozen=True, slots=True)
class Crashed:
    """The host process ended while `op` was running."""

    op: str
    how: str  # "signal SIGSEGV", "exit status 3", …
    output: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"{self.op} ended the process: {self.how}"


@dataclass(frozen=True, slots=True)
class Hung:
    """`op` did not answer within the call time-out, in seconds; the host was killed."""

    op: str
    timeout: float
    output: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"{self.op} did not answer within {self.timeout:g} s"


@dataclass(frozen=True, slots=True)
class Threw:
    """A C++ exception came out of `op`."""

    op: str
    type: str
    what: str
    output: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"{self.op} let a C++ exception out: {self.type}({self.what})"


Death = Crashed | Hung | Threw


class Died(Exception):
    """Raised where an op did not come back; after it the host is gone and its handles mean nothing."""

    def __init__(self, death: Death) -> None:
        super().__init__(str(death))
        self.death = death
