"""Writes a C++ program that performs the calls of a history again without this suite."""

import os
import string
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...harness.native import include_directory, native_directory
from ...harness.ops import paths
from ...harness.ops.outcomes import Entries, Existence, Outcome, Read, Statistics, Undeleted
from ...harness.over_tables.raw import Call
from ...reports.model.records import CheckRecord
from ...reports.model.redaction import Redaction
from ..contract.model import OPENS
from ..engine.target import Target

TEMPLATE = Path(__file__).with_name("reproducer.cc.in")
#: Texts of up to this many bytes are written out. Longer runs of one byte are written as a length.
_RUN = 16
_OBJECTS = dict(
    zip(OPENS, ("TF_RandomAccessFile", "TF_WritableFile", "TF_WritableFile", "TF_ReadOnlyMemoryRegion"), strict=True)
)
_MAKES = ("create_dir", "recursively_create_dir")
_TABLES = {
    "random_access_file.cleanup": "random_access_file_ops",
    "writable_file.cleanup": "writable_file_ops",
    "read_only_memory_region.cleanup": "read_only_memory_region_ops",
}


def source(target: Target, calls: Sequence[Call], names: Mapping[str, str], broken: CheckRecord) -> str:
    """The text of the program.

    `names` maps what the plugin got as a path to the path relative to the history's directory.
    """
    root = target.root or f"{target.scheme}:///tmp/tffs"
    native = native_directory()
    settings = [
        f"  // {name} is to be set.\n" if name in target.secrets else f"  setenv({_text(name)}, {_text(value)}, 1);\n"
        for name, value in target.environment.items()
    ]
    return string.Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        plugin=_plain(target.plugin.name),
        clause=broken.clause,
        expected=_plain(broken.expected),
        got=_plain(broken.got),
        include=include_directory(),
        source="this-file.cc",
        library=native,
        patience=max(1, round(target.timeout)),
        environment="".join(settings),
        directory=paths.join(paths.dirname(root), "tffs-reproduce"),
        path=target.plugin,
        scheme=target.scheme or "",
        calls="\n".join(f"  {line}" for line in _lines(calls, names, target.redaction)),
    )


def _lines(calls: Sequence[Call], names: Mapping[str, str], redaction: Redaction) -> Iterator[str]:
    handles: dict[object, str] = {}
    for number, (op, arguments, came) in enumerate(calls):
        outcome = came if isinstance(came, Outcome) else None
        recorded = _text(redaction.text(answer_text(outcome, names)))
        if op == "translate_name" or (op in _MAKES and _name(arguments[1], names) == 'Name("")'):
            # The program translates names itself where it uses them, and makes the directory after it loaded the
            # plugin.
            continue
        if op in OPENS:
            handle = f"opened{number}"
            if outcome is not None:
                handles[outcome.value] = handle
            yield (
                f"{_OBJECTS[op]} {handle} = Open<{_OBJECTS[op]}>({_text(op)}, fs.{op}, {_name(arguments[1], names)},"
                f" {recorded});"
            )
        else:
            yield _call(op, arguments, names, handles, recorded)


#: How each op is written: `file` is what it was opened as, `one` and `two` are its paths, `first` and `second` what
#: follows the file.
_FORMS = {
    "read": "Read({file}, {first}u, {second}, {recorded});",
    "append": "Append({file}, {data}, {recorded});",
    "tell": "Tell({file}, {recorded});",
    **dict.fromkeys(("flush", "sync", "close"), 'OnFile("{op}", plugin->writable_file_ops->{op}, {file}, {recorded});'),
    "length": "Length({file}, {recorded});",
    "data": "Data({file}, {first}, {second}, {recorded});",
    **{op: f'Cleanup("{op}", plugin->{table}->cleanup, {{file}});' for op, table in _TABLES.items()},
    "stat": "Stat({one}, {recorded});",
    "paths_exist": "PathsExist({{{all}}}, {recorded});",
    "delete_recursively": "DeleteRecursively({one}, {recorded});",
    "flush_caches": "FlushCaches();",
    **dict.fromkeys(("is_directory", "get_file_size"), 'Number("{op}", fs.{op}, {one}, {recorded});'),
    **dict.fromkeys(("get_children", "get_matching_paths"), 'List("{op}", fs.{op}, {one}, {recorded});'),
    **dict.fromkeys(("rename_file", "copy_file"), 'OnTwo("{op}", fs.{op}, {one}, {two}, {recorded});'),
}
_ON_A_PATH = 'OnPath("{op}", fs.{op}, {one}, {recorded});'


def _call(
    op: str, arguments: Sequence[object], names: Mapping[str, str], handles: Mapping[object, str], recorded: str
) -> str:
    as_path = _pattern if op == "get_matching_paths" else _name
    given = [as_path(argument, names) for argument in arguments if isinstance(argument, bytes)] + ["", ""]
    numbers = [argument for argument in arguments[1:] if isinstance(argument, int)] + [0, 0]
    return _FORMS.get(op, _ON_A_PATH).format(
        op=op,
        file=handles.get(arguments[0], ""),
        one=given[0],
        two=given[1],
        all=", ".join(given[:-2]),
        first=numbers[0],
        second=numbers[1],
        data=_bytes(arguments[1]) if op == "append" else "",
        recorded=recorded,
    )


def answer_text(outcome: Outcome[object] | None, names: Mapping[str, str]) -> str:
    """An answer as text, in the form in which the program prints it."""
    if outcome is None:
        return "it does not come back"
    code = str(outcome.code)
    match outcome.value:
        case Read(data=data):
            return f"{code} {_hashed(data)}"
        case (int(), bytes() as data):
            return f"{code} {_hashed(data)}"
        case Statistics() as statistics:
            shown = f" length={statistics.length} directory={statistics.is_directory & 0xFF}"
            return code + (shown if outcome.ok else "")
        case Entries(returned, found):
            shown = " ".join(["", *sorted(_relative(name, names) for name in found)])
            return f"{code} {returned}{shown}"
        case Undeleted(files, dirs):
            return f"{code} {files} {dirs}"
        case Existence(returned, statuses):
            return " ".join([str(returned).lower(), *(str(status.code) for status in statuses or ())])
        case int() as number if outcome.op not in OPENS:
            return f"{code} {number}"
    return code


def _hashed(data: bytes) -> str:
    """The FNV-1a hash of some bytes. The C++ program has the same function."""
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 % 2**64
    return f"{len(data)} bytes #{value}"


def _relative(name: str, names: Mapping[str, str]) -> str:
    for base in (known for known, path in names.items() if not path):
        if name.startswith(f"{base}/"):
            return name.removeprefix(f"{base}/")
    return name


def _name(argument: object, names: Mapping[str, str]) -> str:
    path = os.fsdecode(argument) if isinstance(argument, bytes) else ""
    return f"Name({_text(names[path])})" if path in names else _text(path)


def _pattern(argument: object, names: Mapping[str, str]) -> str:
    pattern = os.fsdecode(argument) if isinstance(argument, bytes) else ""
    relative = _relative(pattern, names)
    return f'directory + "/" + {_text(relative)}' if relative != pattern else _text(pattern)


def _bytes(data: object) -> str:
    assert isinstance(data, bytes)
    if len(data) > _RUN and len(set(data)) == 1:
        return f"std::string({len(data)}, '\\{data[0]:03o}')"
    return f"std::string({_literal(data)}, {len(data)})"


def _text(text: str) -> str:
    return _literal(os.fsencode(text))


def _literal(data: bytes) -> str:
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}" for byte in data)
    return f'"{"".join(plain)}"'


def _plain(text: str) -> str:
    """A text in a form that cannot end a C++ comment."""
    return "".join(character if character.isprintable() else "?" for character in text).rstrip("\\")
