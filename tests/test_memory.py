"""The memory plugin where the suite cannot ask every plugin: its options at work, shared bytes, staged changes."""

from collections.abc import Iterator

import pytest

from tests.hosted import hosted
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.filesystem import MemoryRegion
from tffs_conformance.harness.ops.guard import Guard
from tffs_conformance.harness.ops.outcomes import Option
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem

ROOT = "memory:///tests"
INT, REAL, BUFFER = 0, 1, 2


@pytest.fixture
def fs() -> Iterator[HostFilesystem]:
    with hosted("memory") as (loaded, raw):
        filesystem = HostFilesystem(raw, loaded.registration.registered["memory"].present, Guard(ROOT))
        assert filesystem.recursively_create_dir(ROOT).ok
        yield filesystem


def at(name: str) -> str:
    return f"{ROOT}/{name}"


def write(fs: HostFilesystem, name: str, content: bytes, *, append: bool = False) -> list[Code]:
    """The codes of append and close."""
    file = (fs.new_appendable_file if append else fs.new_writable_file)(at(name)).value
    assert file is not None
    with file:
        return [file.append(content).code, file.close().code]


def read(fs: HostFilesystem, name: str) -> bytes | Code:
    opened = fs.new_random_access_file(at(name))
    if opened.value is None:
        return opened.code
    with opened.value as file:
        return file.read(0, 1 << 20).value.data


def region(fs: HostFilesystem, name: str) -> MemoryRegion:
    made = fs.new_read_only_memory_region_from_file(at(name)).value
    assert made is not None
    return made


def set_option(fs: HostFilesystem, name: str, type_tag: int, value: int | float | bytes) -> Code:
    return fs.raw.set_filesystem_configuration_option(Option(name, type_tag, (value,))).code


def start(fs: HostFilesystem, *names: str) -> int:
    """The token of a new transaction with these paths."""
    token = fs.raw.start_transaction().value.token
    for name in names:
        assert fs.raw.add_to_transaction(fs.translate(at(name)), token).ok
    return token


# Options -------------------------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_not_written_in_part(fs: HostFilesystem) -> None:
    assert set_option(fs, "capacity", INT, 100) is Code.OK
    assert write(fs, "file", b"a" * 60) == [Code.OK, Code.OK]
    assert write(fs, "file", b"b" * 41, append=True) == [Code.RESOURCE_EXHAUSTED, Code.OK]
    assert read(fs, "file") == b"a" * 60
    assert write(fs, "file", b"c" * 40, append=True) == [Code.OK, Code.OK]
    assert read(fs, "file") == b"a" * 60 + b"c" * 40
    assert fs.copy_file(at("file"), at("copy")).code is Code.RESOURCE_EXHAUSTED
    assert fs.path_exists(at("copy")).code is Code.NOT_FOUND


def test_room_comes_back_with_the_last_user(fs: HostFilesystem) -> None:
    assert set_option(fs, "capacity", INT, 100) is Code.OK
    write(fs, "file", b"a" * 100)
    reader = fs.new_random_access_file(at("file")).value
    assert reader is not None
    assert fs.delete_file(at("file")).ok
    assert write(fs, "other", b"b")[0] is Code.RESOURCE_EXHAUSTED
    reader.cleanup()
    assert write(fs, "other", b"b")[0] is Code.OK


def test_a_limit_below_what_is_there_takes_nothing_away(fs: HostFilesystem) -> None:
    write(fs, "file", b"a" * 60)
    assert set_option(fs, "capacity", INT, 10) is Code.OK
    assert read(fs, "file") == b"a" * 60
    assert write(fs, "file", b"b", append=True)[0] is Code.RESOURCE_EXHAUSTED
    assert set_option(fs, "capacity", INT, -1) is Code.OK
    assert write(fs, "file", b"b", append=True)[0] is Code.OK


def test_options_are_at_work(fs: HostFilesystem) -> None:
    """Times are rounded to the granularity, the label stands in the text of tokens, and keys are one block."""
    write(fs, "file", b"")
    exact = fs.stat(at("file")).value.mtime_nsec
    assert set_option(fs, "mtime_granularity", REAL, 1.0) is Code.OK
    assert fs.stat(at("file")).value.mtime_nsec == exact - exact % 10**9
    assert set_option(fs, "label", BUFFER, b"blue\0one") is Code.OK
    assert fs.raw.decode_transaction_token(start(fs)).value == "transaction 1 of memory blue\\x00one"
    got = fs.raw.get_filesystem_configuration_keys().value
    assert (got.returned, got.pointers, got.texts) == (3, 1, ("capacity",))


@pytest.mark.parametrize(
    "option",
    [
        *(Option("capacity", INT, values) for values in ((-2,), (), (1, 2))),
        Option("capacity", REAL, (1.0,)),
        *(Option("mtime_granularity", REAL, (float(value),)) for value in ("-1", "nan", "inf")),
        Option("label", INT, (0,)),
    ],
)
def test_values_that_mean_nothing_are_refused(fs: HostFilesystem, option: Option) -> None:
    before = fs.raw.get_filesystem_configuration().value
    assert fs.raw.set_filesystem_configuration_option(option).code is Code.INVALID_ARGUMENT
    assert fs.raw.get_filesystem_configuration().value == before


def test_options_are_set_all_or_none(fs: HostFilesystem) -> None:
    before = fs.raw.get_filesystem_configuration().value
    got = fs.raw.set_filesystem_configuration([Option("capacity", INT, (5,)), Option("no-such", INT, (5,))])
    assert got.code is Code.NOT_FOUND
    assert fs.raw.get_filesystem_configuration().value == before


# Bytes ---------------------------------------------------------------------------------------------------------------


def test_regions_and_copies_share_the_bytes_and_grow_apart(fs: HostFilesystem) -> None:
    write(fs, "file", b"shared")
    write(fs, "file", b"!", append=True)
    fs.copy_file(at("file"), at("copy"))
    with region(fs, "file") as one, region(fs, "file") as two, region(fs, "copy") as copy:
        assert one.data(0, 7).value == two.data(0, 7).value == copy.data(0, 7).value
        write(fs, "file", b" by one", append=True)
        write(fs, "copy", b" by another", append=True)
        assert (one.length().value, one.data(0, 7).value[1]) == (7, b"shared!")
    assert (read(fs, "file"), read(fs, "copy")) == (b"shared! by one", b"shared! by another")


def test_a_region_outlives_its_file(fs: HostFilesystem) -> None:
    write(fs, "file", b"as it was")
    with region(fs, "file") as made:
        address = made.data(0, 0).value[0]
        write(fs, "file", b"written anew, and longer")
        fs.delete_file(at("file"))
        assert made.data(0, 9).value == (address, b"as it was")


def test_pieces_are_not_copied_one_by_one(fs: HostFilesystem) -> None:
    """A block that is full doubles: of 256 appends at most 9 move the file."""
    addresses = set()
    for _ in range(256):
        write(fs, "file", b"x" * 100, append=True)
        with region(fs, "file") as made:
            addresses.add(made.data(0, 0).value[0])
    assert len(addresses) <= 9


# Transactions --------------------------------------------------------------------------------------------------------


def test_a_transaction_sees_what_it_staged(fs: HostFilesystem) -> None:
    for name in ("file", "log"):
        write(fs, name, b"old")
    token = start(fs, "file", "log", "dir", "dir/inner", "moved")
    assert write(fs, "file", b"new") == [Code.OK, Code.OK]
    assert write(fs, "file", b"er", append=True) == [Code.OK, Code.OK]
    # Appending leaves the file alone, too.
    for content in (b" and", b" new"):
        assert write(fs, "log", content, append=True) == [Code.OK, Code.OK]
    assert fs.rename_file(at("file"), at("moved")).ok
    assert fs.create_dir(at("dir")).ok
    assert fs.create_dir(at("dir")).code is Code.ALREADY_EXISTS
    assert write(fs, "dir/inner", b"in a directory that is not there yet") == [Code.OK, Code.OK]
    assert fs.delete_dir(at("dir")).code is Code.FAILED_PRECONDITION
    assert sorted(fs.get_children(ROOT).value.names) == ["file", "log"]
    assert (read(fs, "file"), read(fs, "log")) == (b"old", b"old")
    assert fs.raw.end_transaction(token).ok
    assert sorted(fs.get_children(ROOT).value.names) == ["dir", "log", "moved"]
    assert (read(fs, "moved"), read(fs, "log")) == (b"newer", b"old and new")
    assert read(fs, "dir/inner") == b"in a directory that is not there yet"


def test_other_paths_change_at_once(fs: HostFilesystem) -> None:
    token = start(fs, "staged")
    write(fs, "staged", b"later")
    write(fs, "other", b"now")
    assert fs.get_children(ROOT).value.names == ("other",)
    assert fs.rename_file(at("other"), at("staged")).code is Code.FAILED_PRECONDITION
    assert fs.rename_file(at("staged"), at("third")).code is Code.FAILED_PRECONDITION
    assert read(fs, "other") == b"now"
    fs.raw.end_transaction(token)
    assert read(fs, "staged") == b"later"


def test_nothing_gets_in_the_way_of_an_end(fs: HostFilesystem) -> None:
    """What would make the end impossible is refused while the transaction is open."""
    fs.create_dir(at("kept"))
    fs.create_dir(at("gone"))
    token = start(fs, "kept/file", "gone")
    assert write(fs, "kept/file", b"") == [Code.OK, Code.OK]
    assert fs.delete_dir(at("kept")).code is Code.FAILED_PRECONDITION
    refused = fs.delete_recursively(at("kept"))
    assert (refused.code, refused.value.files, refused.value.dirs) == (Code.FAILED_PRECONDITION, 0, 1)
    assert fs.delete_dir(at("gone")).ok
    assert fs.new_writable_file(at("gone/file")).code is Code.FAILED_PRECONDITION
    assert fs.raw.end_transaction(token).ok
    assert fs.path_exists(at("gone")).code is Code.NOT_FOUND
    assert fs.delete_recursively(at("kept")).ok


def test_what_was_not_ended_goes_with_the_filesystem(fs: HostFilesystem) -> None:
    start(fs, "file")
    write(fs, "file", b"never seen")
    assert fs.raw.cleanup().ok
