"""Stimuli of every op on files, to be given while something fails under the plugin."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ...harness.ops.codes import Code
from ...harness.ops.tables import OPS
from ..engine.case import NoStimulusError
from ..engine.stimulus import Performance, Stimulus

#: The files of a directory.
FILES: Mapping[str, bytes | None] = {"d": None, "d/a": b"a", "d/b": b"b", "d/in": None, "d/in/c": b"c"}


def stimuli(old: bytes, pieces: Sequence[bytes]) -> Mapping[str, Stimulus]:
    """The stimuli by name. A file has `old` in it, and what is written to one are these pieces."""

    def write(do: Performance, *, appending: bool = False, then: Sequence[str] = ()) -> None:
        opens = do.fs.new_appendable_file if appending else do.fs.new_writable_file
        file = do.opened(opens(do.uri("file")))
        # What is appended begins otherwise than what was there: who loses that is seen.
        for piece in reversed(pieces) if appending else pieces:
            do.done(file.append(piece))
        for op in then:
            do.done(getattr(file, op)())
        do.done(file.close())

    def read(do: Performance) -> None:
        file = do.opened(do.fs.new_random_access_file(do.uri("file")))
        do.done(file.read(0, 4))
        do.done(file.read(4, len(old)), Code.OUT_OF_RANGE)

    def mapped(do: Performance) -> None:
        region = do.opened(do.fs.new_read_only_memory_region_from_file(do.uri("file")))
        do.done(region.length())
        do.done(region.data(0, len(old)))

    file, two = {"file": old}, {"file": old, "target": b"other"}
    target = frozenset({"target"})
    parts = {"parts": None, "parts/file": old, "parts/other": b"other"}
    return {
        "write": Stimulus(write, anew=True),
        "write-over": Stimulus(write, file, gives_up=frozenset({"file"}), anew=True),
        "append": Stimulus(lambda do: write(do, appending=True), file),
        "flush": Stimulus(lambda do: write(do, then=("flush",)), anew=True),
        "sync": Stimulus(lambda do: write(do, then=("sync",)), durable=True, anew=True),
        "read": Stimulus(read, file),
        "region": Stimulus(mapped, file),
        "stat": Stimulus(lambda do: do.done(do.fs.stat(do.uri("file"))), file),
        "path_exists": Stimulus(lambda do: do.done(do.fs.path_exists(do.uri("file"))), file),
        "paths_exist": Stimulus(_all_there, two),
        "is_directory": Stimulus(lambda do: do.done(do.fs.is_directory(do.uri("d"))), {"d": None}),
        "get_file_size": Stimulus(lambda do: do.done(do.fs.get_file_size(do.uri("file"))), file),
        "get_children": Stimulus(lambda do: do.done(do.fs.get_children(do.uri("d"))), FILES),
        "get_matching_paths": Stimulus(_match, FILES),
        "create_dir": Stimulus(lambda do: do.done(do.fs.create_dir(do.uri("new")))),
        "recursively_create_dir": Stimulus(
            lambda do: do.done(do.fs.recursively_create_dir(do.uri("new", "in", "it"))), anew=True
        ),
        "delete_file": Stimulus(lambda do: do.done(do.fs.delete_file(do.uri("file"))), file),
        "delete_dir": Stimulus(lambda do: do.done(do.fs.delete_dir(do.uri("empty"))), {"empty": None}),
        "delete_recursively": Stimulus(lambda do: do.done(do.fs.delete_recursively(do.uri("d"))), FILES, anew=True),
        "rename": Stimulus(lambda do: do.done(do.fs.rename_file(do.uri("file"), do.uri("new"))), file),
        "rename-over": Stimulus(lambda do: do.done(do.fs.rename_file(do.uri("file"), do.uri("target"))), two),
        "rename-elsewhere": Stimulus(
            lambda do: do.done(do.fs.rename_file(do.uri("parts", "file"), do.uri("new"))), parts
        ),
        "copy": Stimulus(lambda do: do.done(do.fs.copy_file(do.uri("file"), do.uri("new"))), file, anew=True),
        "copy-over": Stimulus(
            lambda do: do.done(do.fs.copy_file(do.uri("file"), do.uri("target"))), two, gives_up=target, anew=True
        ),
    }


def demand_own(name: str, present: Collection[str]) -> None:
    """Raise NoStimulusError where a plugin lacks the op of a stimulus: what core then does is not the plugin's."""
    if name in OPS and name not in present:
        raise NoStimulusError(f"core performs {name} by other ops, which are tried")


def given_up(stimulus: Stimulus, present: Collection[str]) -> frozenset[str]:
    """What the ops may spoil where they fail. Where a plugin has no rename_file, core writes the target anew."""
    return stimulus.gives_up if "rename_file" in present else stimulus.gives_up | {"target"}


def _all_there(do: Performance) -> None:
    found = do.fs.paths_exist([do.uri("file"), do.uri("target")])
    codes = [status.code for status in found.value.statuses or () if status.code is not Code.OK]
    # It has no status of its own: it says of a path what path_exists would.
    code = next((one for one in codes if one is not Code.NOT_FOUND), codes[0] if codes else found.code)
    do.done(replace(found, code=code))


def _match(do: Performance) -> None:
    for pattern in ("?", "a"):
        found = do.fs.get_matching_paths(f"{do.uri()}/*/{pattern}")
        do.done(found)
        # The names are those of another directory each time, as URIs or translated.
        above, translated = do.uri(), do.fs.translate(do.uri())
        do.values[-1] = sorted(name.removeprefix(above).removeprefix(translated) for name in found.value.names)
