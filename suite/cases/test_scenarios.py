"""Scenarios: what TensorFlow and its users do with files, from beginning to end."""

import struct
import zlib
from itertools import pairwise

import pytest

from ...harness.ops.codes import Code
from ...harness.over_tables import programs
from ...harness.over_tables.programs import Program
from ..engine.case import Case, NoStimulusError
from ..engine.marks import clauses, full, over_tables
from ..engine.setup import Tree
from .test_write import handed_over, writer

SHARDS = 3
#: How often, in seconds, and for how long at most a state file is replaced while others read it.
ROUNDS, SECONDS = 100, 1.0


def shard(prefix: str, number: int) -> str:
    """The name of one data file of a checkpoint."""
    return f"{prefix}.data-{number:05}-of-{SHARDS:05}"


def saved(case: Case, directory: str, prefix: str) -> Tree:
    """Save a checkpoint as TensorFlow does: write it in a temporary directory, and rename its files to their place."""
    temporary = f"{directory}/{prefix}_temp"
    case.setup.require(case.fs.recursively_create_dir(case.uri(temporary)))
    contents = {shard(prefix, k): b"%s shard %d " % (prefix.encode(), k) * (1000 * k + 1) for k in range(SHARDS)}
    contents[f"{prefix}.index"] = b"index of " + prefix.encode()
    for name, content in contents.items():
        case.setup.write(f"{temporary}/{name}", content)
    for name in contents:
        case.setup.require(case.fs.rename_file(case.uri(temporary, name), case.uri(directory, name)))
    case.setup.require(case.fs.delete_dir(case.uri(temporary)))
    return {f"{directory}/{name}": content for name, content in contents.items()}


@clauses("scenarios.checkpoint-is-complete", "recursively_create_dir.succeeds", "rename_file.succeeds",
         "delete_dir.succeeds")  # fmt: skip
def test_checkpoint(case: Case) -> None:
    """Three checkpoints are saved in one directory, and then read."""
    expected: Tree = {"model": None}
    for step in (1, 2, 10):
        expected |= saved(case, "model", f"ckpt-{step}")
        case.unchanged("scenarios.checkpoint-is-complete", expected)


@clauses("scenarios.state-file-is-replaced", "rename_file.succeeds", "stat.succeeds")
def test_state_file(case: Case) -> None:
    """A state file is replaced by a temporary one, by longer, shorter and equally long ones, and read each time."""
    states = (b"ckpt-1", b"ckpt-2", b"ckpt-1000000", b"ckpt-3", b"")
    for number, state in enumerate(states):
        temporary = case.setup.write(f"checkpoint.tmp{number}", state)
        case.setup.require(case.fs.rename_file(temporary, case.uri("checkpoint")))
        case.unchanged("scenarios.state-file-is-replaced", {"checkpoint": state})
        size = case.setup.require(case.fs.stat(case.uri("checkpoint"))).length
        case.check.equal("scenarios.state-file-is-replaced", "length", len(state), size)


@full
@over_tables
@clauses("scenarios.state-file-is-always-there", "rename_file.succeeds")
def test_state_file_is_watched(case: Case) -> None:
    """One thread replaces the state file, two look for it and read it."""
    # Core's default copies and deletes, which others see; the plugin is not to blame.
    case.needs("rename_file", itself=True)
    state, temporary = (
        case.fs.translate(uri) for uri in (case.setup.write("checkpoint", b"ckpt-0"), case.uri("temporary"))
    )
    saver, watchers = Program(case.tables), [Program(case.tables) for _ in range(2)]
    for content in (b"ckpt-1", b"ckpt-22"):
        handle = saver.open("new_writable_file", temporary).value
        saver.append(handle, content)
        saver.handle_op("close", handle)
        saver.handle_op("writable_file.cleanup", handle)
        saver.path_op("rename_file", temporary, state)
    for watcher in watchers:
        for _ in range(6):
            watcher.path_op("path_exists", state)
            handle = watcher.open("new_random_access_file", state).value
            watcher.read(handle, 0, 64)
            watcher.handle_op("random_access_file.cleanup", handle)
    went = programs.run_within(case.tables, [saver, *watchers], ROUNDS, SECONDS)
    for timed in went[0]:
        case.setup.require(timed.outcome)
    outcomes = [timed.outcome for thread in went[1:] for timed in thread]
    missing = [got for got in outcomes if got.op in ("path_exists", "new_random_access_file") and not got.ok]
    read = {got.value.data for got in outcomes if got.op == "read" and got.code in (Code.OK, Code.OUT_OF_RANGE)}
    wrong = sorted(read - {b"ckpt-0", b"ckpt-1", b"ckpt-22"})
    right = "the state before or after"
    got = f"{missing[0].op}: code={missing[0].code}" if missing else f"content={wrong[0]!r}" if wrong else right
    case.check.that("scenarios.state-file-is-always-there", not missing and not wrong, right, got)


@clauses("scenarios.old-checkpoints-are-pruned", "get_matching_paths.succeeds", "delete_file.succeeds")
def test_prune(case: Case) -> None:
    """Of four checkpoints two are deleted, by the patterns of their files."""
    clause = "scenarios.old-checkpoints-are-pruned"
    case.setup.mkdir("model")
    trees = {}
    for prefix in ("ckpt-1", "ckpt-10", "ckpt-11", "ckpt-2"):
        trees[prefix] = {f"model/{shard(prefix, k)}": b"%d" % k for k in range(SHARDS)} | {f"model/{prefix}.index": b""}
        case.setup.build(trees[prefix])
    for old in ("ckpt-1", "ckpt-11"):
        for rest, count in ((".data-?????-of-?????", SHARDS), (".index", 1), (".meta", 0)):
            found = case.setup.require(case.fs.get_matching_paths(f"{case.uri('model')}/{old}{rest}")).names
            case.check.equal(clause, f"files of {old}{rest}", count, len(found))
            for path in found:
                case.setup.require(case.fs.delete_file(case.uri("model", path.rpartition("/")[2])))
    case.unchanged(clause, {"model": None, **trees["ckpt-10"], **trees["ckpt-2"]})


#: A SavedModel, and the names that a loader looks for and that are not there.
MODEL: Tree = {
    "model": None,
    "model/saved_model.pb": b"\x08\x01\x12graph",
    "model/variables": None,
    "model/variables/variables.index": b"index",
    "model/variables/variables.data-00000-of-00001": bytes(range(256)) * 40,
    "model/assets": None,
    "model/assets/vocabulary": None,
    "model/assets/vocabulary/words.txt": b"one\ntwo\n",
    "model/assets.extra": None,
}
LACKING = (
    "saved_model.pbtxt",
    "saved_model.cpb",
    "fingerprint.pb",
    "variables/variables.data-00001-of-00002",
    "debug/x",
)


@clauses("scenarios.saved-model-is-loaded", "new_read_only_memory_region_from_file.succeeds")
def test_saved_model(case: Case) -> None:
    """A SavedModel with directories in directories is looked for, walked, read, and its variables mapped."""
    clause = "scenarios.saved-model-is-loaded"
    case.setup.build(MODEL)
    case.check.status(clause, case.fs.path_exists(case.uri("model/saved_model.pb")), Code.OK)
    for name in LACKING:
        case.check.status(clause, case.fs.path_exists(case.uri("model", name)), Code.NOT_FOUND)
    case.unchanged(clause, MODEL)
    name = "model/variables/variables.data-00000-of-00001"
    got = case.fs.new_read_only_memory_region_from_file(case.uri(name))
    if not case.check.unimplemented(got):
        with case.setup, case.setup.opened(got) as region:
            length = region.length().value
            case.check.equal(clause, "mapped", MODEL[name], region.data(0, min(length, 1 << 20)).value[1])


EVENTS = [b"event %d " % k * (k * 400 + 1) for k in range(6)]


@clauses("scenarios.event-file-is-followed", "scenarios.event-file-grows", "append.succeeds", "flush.succeeds",
         "stat.succeeds", "get_file_size.succeeds", "close.succeeds")  # fmt: skip
def test_event_file(case: Case) -> None:
    """One reader stays open at the end of a file to which events are appended and flushed."""
    uri = case.uri("events.out")
    with writer(case, "events.out") as file:
        case.setup.require(file.append(b"version"))
        handed_over(case, file.flush())
        opened = case.fs.new_random_access_file(uri)
        case.check.implemented(opened)
        clause = "scenarios.event-file-is-followed"
        if not case.check.that(clause, opened.ok, "opens", f"code={opened.code}", opened.message):
            return
        whole, offset = b"version", 0
        with case.setup.opened(opened) as reader:
            for event in [b"", *EVENTS]:
                case.setup.require(file.append(event))
                handed_over(case, file.flush())
                whole += event
                got = reader.read(offset, len(whole) + 100)
                case.check.equal("scenarios.event-file-is-followed", "new bytes", whole[offset:], got.value.data)
                case.check.equal("scenarios.event-file-is-followed", "code", Code.OUT_OF_RANGE, got.code)
                offset = len(whole)
                length = case.setup.require(case.fs.stat(uri)).length
                case.check.equal("scenarios.event-file-grows", "length", len(whole), length)
                case.check.equal(
                    "scenarios.event-file-grows", "size", len(whole), case.setup.require(case.fs.get_file_size(uri))
                )
        case.setup.require(file.close())


@clauses("scenarios.event-file-is-followed", "append.succeeds", "flush.succeeds", "close.succeeds")
def test_event_in_halves(case: Case) -> None:
    """One reader stays open; an event of which it met the first bytes is read from its start once it is whole."""
    clause = "scenarios.event-file-is-followed"
    with writer(case, "events.out") as file:
        case.setup.require(file.append(b"version" + EVENTS[0][:5]))
        handed_over(case, file.flush())
        opened = case.fs.new_random_access_file(case.uri("events.out"))
        case.check.implemented(opened)
        if not case.check.that(clause, opened.ok, "opens", f"code={opened.code}", opened.message):
            return
        offset = len(b"version")
        with case.setup.opened(opened) as reader:
            for event, following in pairwise(EVENTS):
                half = reader.read(offset, len(event)).value.data
                case.check.equal(clause, "first bytes", event[:5], half)
                case.setup.require(file.append(event[5:] + following[:5]))
                handed_over(case, file.flush())
                got = reader.read(offset, len(event))
                case.check.equal(clause, "event", event, got.value.data)
                case.check.equal(clause, "code", Code.OK, got.code)
                offset += len(event)
        case.setup.require(file.close())


def record(data: bytes) -> list[bytes]:
    """The three pieces that a record is appended in. Checksums of another kind do as well."""
    header = struct.pack("<Q", len(data))
    return [header + struct.pack("<I", zlib.crc32(header)), data, struct.pack("<I", zlib.crc32(data))]


#: The bytes before the data of a record: its length and a checksum.
HEADER = 12
RECORDS = [b"", b"x", b"record" * 100, bytes(256 * 1024 - 16), b"last"]


@pytest.mark.parametrize("cut", [pytest.param(n, id=str(n)) for n in (0, 1, 4, 5, 13)])
@clauses("scenarios.records-are-read", "append.succeeds", "close.succeeds")
def test_records(case: Case, cut: int) -> None:
    """Records are read one after the other, header, then the rest, until the end; the last one lacks so many bytes."""
    clause = "scenarios.records-are-read"
    pieces = [piece for data in RECORDS for piece in record(data)]
    whole = b"".join(pieces)[: len(b"".join(pieces)) - cut]
    case.surroundings.within_size(len(whole))
    if not case.writes_files or cut:
        uri = case.setup.write("records", whole)
    else:
        uri = case.uri("records")
        with writer(case, "records") as file:
            for piece in pieces:
                case.setup.require(file.append(piece))
            case.setup.require(file.close())
    with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as reader:
        offset, n, is_header, ended = 0, HEADER, True, False
        while not ended:
            got = reader.read(offset, n)
            expected = whole[offset : offset + n]
            ended = len(expected) < n
            case.check.equal(clause, f"code at {offset}", Code.OUT_OF_RANGE if ended else Code.OK, got.code)
            case.check.equal(clause, f"bytes at {offset}", expected, got.value.data)
            if not ended:
                offset += n
                # The header says how long the data is; four bytes of a checksum follow it.
                n = struct.unpack("<Q", expected[:8])[0] + 4 if is_header else HEADER
                is_header = not is_header


@clauses("scenarios.versions-are-polled", "get_children.succeeds", "delete_recursively.succeeds")
def test_versions(case: Case) -> None:
    """A model server looks for versions; they come whole or are copied file by file, and old ones are deleted."""
    clause = "scenarios.versions-are-polled"
    base = case.setup.mkdir("models")

    def polled() -> list[str]:
        case.check.status(clause, case.fs.path_exists(base), Code.OK)
        # Some stores list what is below, too; a server takes the first part of each name.
        return sorted({name.partition("/")[0] for name in case.setup.require(case.fs.get_children(base)).names})

    case.check.equal(clause, "versions", [], polled())
    there: list[str] = []
    for version in ("1", "2", "10", "0000000011"):
        files = {name: version.encode() for name in ("/variables/variables.index", "/saved_model.pb")}
        tree = {"": None, "/variables": None, **files}
        case.setup.build({f"models/{version}{name}": content for name, content in tree.items()})
        there.append(version)
        if len(there) > 2:
            case.setup.require(case.fs.delete_recursively(case.uri("models", there.pop(0))))
        case.check.equal(clause, "versions", sorted(there), polled())
    for version in there:
        content = case.setup.content(case.uri("models", version, "saved_model.pb"))
        case.check.equal(clause, f"model {version}", version.encode(), content)


@pytest.mark.parametrize("marked", [pytest.param(False, id="implicit"), pytest.param(True, id="marked")])
@clauses("scenarios.what-others-made-is-there", "stat.succeeds", "get_matching_paths.succeeds",
         "delete_recursively.succeeds")  # fmt: skip
def test_others_made(case: Case, marked: bool) -> None:
    """Another tool copied files in directories there; they are asked about, listed, read, matched, and deleted."""
    clause, around = "scenarios.what-others-made-is-there", case.surroundings
    case.uri()
    if marked and not around.backing.marks_directories:
        raise NoStimulusError("this storage has directories of its own, and no objects that mark them")
    for name in ("data", "data/train") if marked else ():
        around.backing.mark_directory(around.backing_name(name))
    others: Tree = {"data": None, "data/train": None, "data/train/part-0": b"first", "data/README": b"read me"}
    for name, content in others.items():
        if content is None:
            around.backing.make_directory(around.backing_name(name))
        else:
            around.backing.write(around.backing_name(name), content)
    for name in ("data", "data/train"):
        case.check.status(clause, case.fs.path_exists(case.uri(name)), Code.OK)
        case.check.equal(clause, f"kind of {name}", 1, case.setup.require(case.fs.stat(case.uri(name))).is_directory)
        kind = case.fs.is_directory(case.uri(name))
        if not case.check.unimplemented(kind):
            case.check.equal(clause, f"is_directory of {name}: returned", 1, kind.value)
    case.tree_is(clause, others)
    matches = case.setup.require(case.fs.get_matching_paths(case.uri("data") + "/*/part-*")).names
    case.check.equal(clause, "matches", ["part-0"], [path.rpartition("/")[2] for path in matches])
    case.setup.require(case.fs.delete_recursively(case.uri("data")))
    case.tree_is(clause, {})


@pytest.mark.parametrize(
    "states",
    [
        pytest.param([b"ckpt-1", b"ckpt-2", b"ckpt-3"], id="same-length"),
        pytest.param([b"ckpt-9", b"ckpt-10", b"ckpt-1"], id="other-lengths"),
    ],
)
@clauses("scenarios.what-others-wrote-is-seen", "stat.succeeds")
def test_others_wrote(case: Case, states: list[bytes]) -> None:
    """Another process writes the state file anew, again and again; it is read and asked about each time."""
    clause = "scenarios.what-others-wrote-is-seen"
    uri = case.uri("checkpoint")
    for state in states:
        case.surroundings.backing.write(case.surroundings.backing_name("checkpoint"), state)
        case.check.equal(clause, "content", state, case.setup.content(uri))
        case.check.equal(clause, "length", len(state), case.setup.require(case.fs.stat(uri)).length)
        case.check.status(clause, case.fs.path_exists(uri), Code.OK)
