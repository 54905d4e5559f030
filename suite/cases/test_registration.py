"""Loading and registration: what TF_InitPlugin hands over, and what core makes of it."""

import re

import pytest

from ...harness.hosting import leaks
from ...harness.hosting.client import HostFaultError
from ...harness.hosting.registration import Registration, Scheme, again
from ...harness.ops.codes import Code
from ...harness.ops.tables import FILESYSTEM, RANDOM_ACCESS_FILE, READ_ONLY_MEMORY_REGION, TABLES, WRITABLE_FILE
from ...harness.over_tables.raw import RawFilesystem
from ...harness.shared_object.releases import functions_of_c
from ...harness.targets.backing import BackingUnableError
from ...harness.wire import unsigned
from ..engine.case import Case, NoStimulusError
from ..engine.marks import clauses, full, over_tables, smoke
from ..engine.plugin_file import abi_of, advice
from ..judge.blame import SURVIVED

pytestmark = over_tables


def registered(case: Case) -> Registration:
    """What the plugin registered. A plugin that does not load blocks the case."""
    with case.setup:
        return case.surroundings.registration


@smoke
@clauses("registration.loads", "registration.imports-c-symbols-only", "registration.exports-init",
         "registration.blocks-are-freeable", "init.succeeds")  # fmt: skip
def test_load(case: Case) -> None:
    """The plugin is loaded and registered, and what it handed over is freed."""
    registration = case.surroundings.registration
    names = {symbol.name: symbol.demangled for symbol in registration.missing}
    missing, of_tensorflow = [*names.values()], {*names}
    # TensorFlow's own libraries lack nothing: there the plugin's file tells what it needs of them.
    inside = bool(case.bench.target.runtime)
    told = abi_of(case) if missing or inside else None
    if inside and told is not None:
        of_tensorflow.update(told.of_tensorflow)
    foreign = [names.get(symbol, symbol) for symbol in sorted(of_tensorflow) if symbol not in functions_of_c()]
    if missing and not foreign:
        runtime = "this TensorFlow" if inside else "the stand-in for TensorFlow"
        remedy = advice(told) or "--env=LD_PRELOAD=… can bring them"
        raise BackingUnableError(f"{runtime} lacks {', '.join(missing)}: {remedy}")
    no_init = registration.error is not None and "TF_InitPlugin" in registration.error
    got = (
        "loaded"
        if registration.error is None
        else "missing symbols: " + ", ".join(missing)
        if missing
        else "not loaded"
    )
    said = "; ".join(text for text in (registration.error, advice(told) if missing else "") if text)
    case.check.that("registration.loads", registration.error is None or no_init, "loaded", got, said)
    case.check.equal("registration.imports-c-symbols-only", "symbols beyond TensorFlow's interface for C", [], foreign)
    if registration.error is None or no_init:
        case.check.that(
            "registration.exports-init", not no_init, "TF_InitPlugin", "none" if no_init else "TF_InitPlugin"
        )
    if registration.error is None:
        failed = next((entry for entry in registration.schemes if entry.init_called and entry.code is not Code.OK
                       and entry.code is not Code.ALREADY_EXISTS), None)  # fmt: skip
        code = failed.code if failed else Code.OK
        case.check.that("init.succeeds", failed is None, "code=OK", f"code={code}", failed.message if failed else "")
        case.check.that("registration.blocks-are-freeable", True, "all freed", "all freed")


@clauses("registration.sets-allocate", "registration.sets-free")
def test_allocator(case: Case) -> None:
    """TF_InitPlugin fills in the allocator."""
    registration = registered(case)
    if registration.error is not None:
        case.blocked("dlopen", registration.error)
    case.check.equal("registration.sets-allocate", "set", True, registration.allocate_set)
    case.check.equal("registration.sets-free", "set", True, registration.free_set)


@clauses("registration.has-a-scheme")
def test_schemes(case: Case) -> None:
    """The plugin announces schemes."""
    registration = registered(case)
    if registration.error is None and registration.allocate_set and registration.free_set:
        case.check.that(
            "registration.has-a-scheme", registration.announced > 0, "1 or more", str(registration.announced)
        )
    else:
        case.blocked("dlopen", registration.message)


@clauses("registration.scheme-is-set", "registration.scheme-can-be-reached", "registration.no-duplicate-scheme")
def test_scheme_names(case: Case) -> None:
    """Every entry has a name of its own by which paths reach it."""
    names = [entry.scheme for entry in need(case)]
    case.check.equal("registration.scheme-is-set", "entries without scheme", 0, names.count(None))
    given = [name for name in names if name is not None]
    case.check.equal("registration.no-duplicate-scheme", "schemes twice", 0, len(given) - len(set(given)))
    odd = [name for name in given if name and not re.fullmatch("[A-Za-z][A-Za-z0-9.]*", name)]
    case.check.equal("registration.scheme-can-be-reached", "schemes no path reaches", [], odd)


@clauses("registration.abi-matches", "registration.api-matches")
def test_versions(case: Case) -> None:
    """The numbers of every table that is set."""
    tables = [
        (entry.scheme, name, table) for entry in need(case) for name, table in entry.tables.items() if table.present
    ]
    case.check.equal(
        "registration.abi-matches", "other ABI", [], [f"{s}: {n}" for s, n, table in tables if table.abi != 0]
    )
    case.check.equal(
        "registration.api-matches", "other API", [], [f"{s}: {n}" for s, n, table in tables if table.api != 0]
    )


#: The ops that core requires in each table that is not NULL.
REQUIRED = {
    FILESYSTEM: ("init", "cleanup"),
    RANDOM_ACCESS_FILE: ("random_access_file.cleanup",),
    WRITABLE_FILE: ("writable_file.cleanup",),
    READ_ONLY_MEMORY_REGION: ("read_only_memory_region.cleanup", "data", "length"),
}
#: The ops that open something, and the table of its ops.
CREATORS = {
    "new_random_access_file": RANDOM_ACCESS_FILE,
    "new_writable_file": WRITABLE_FILE,
    "new_appendable_file": WRITABLE_FILE,
    "new_read_only_memory_region_from_file": READ_ONLY_MEMORY_REGION,
}
#: The size of an entry of a table, in bytes.
ENTRY = 8


@clauses("registration.required-ops")
def test_required_ops(case: Case) -> None:
    """Core refuses a scheme that lacks a required op."""
    missing = [
        f"{entry.scheme}: {op}"
        for entry in need(case)
        for name, ops in REQUIRED.items()
        for op in ops
        if (entry.tables[name].present or name == FILESYSTEM) and op not in entry.tables[name].ops
    ]
    case.check.equal("registration.required-ops", "missing", [], missing)


@clauses("registration.creators-have-tables")
def test_creators(case: Case) -> None:
    """Core refuses a scheme with an op that opens something for which there is no table."""
    alone = [
        f"{entry.scheme}: {op}"
        for entry in need(case)
        for op, name in CREATORS.items()
        if op in entry.tables[FILESYSTEM].ops and not entry.tables[name].present
    ]
    case.check.equal("registration.creators-have-tables", "ops without their table", [], alone)


#: What an opened file is for.
PURPOSE = {RANDOM_ACCESS_FILE: "read", WRITABLE_FILE: "append"}


@clauses("registration.tables-are-filled", "registration.empty-tables-are-null")
def test_filled_tables(case: Case) -> None:
    """The tables of what is opened have the op for which it is opened, and a table that has nothing is not there."""
    useless = [
        f"{entry.scheme}: {op} without {PURPOSE[name]}"
        for entry in need(case)
        for op, name in CREATORS.items()
        if name in PURPOSE and op in entry.tables[FILESYSTEM].ops and entry.tables[name].present
        if PURPOSE[name] not in entry.tables[name].ops
    ]
    case.check.equal("registration.tables-are-filled", "ops whose files are of no use", [], useless)
    empty = [
        f"{entry.scheme}: {name}"
        for entry in need(case)
        for name, table in entry.tables.items()
        if table.present and name != FILESYSTEM and table.ops <= {f"{name}.cleanup"}
    ]
    case.check.equal("registration.empty-tables-are-null", "tables without ops", [], empty)


@clauses("registration.every-scheme-registers")
def test_every_scheme(case: Case) -> None:
    """Each of the schemes that the plugin announces is registered."""
    registered(case)
    refused = [f"{entry.scheme}: {entry.code} {entry.message}" for entry in need(case) if entry.code is not Code.OK]
    case.check.equal("registration.every-scheme-registers", "refused", [], refused)


@clauses("registration.size-covers-required-ops")
def test_sizes(case: Case) -> None:
    """Every table is at least as long as its required ops; it may end early, and be longer than the host knows."""
    short = [
        f"{entry.scheme}: {name}"
        for entry in need(case)
        for name, table in entry.tables.items()
        if table.present and table.size < ENTRY * len(REQUIRED[name])
    ]
    case.check.equal("registration.size-covers-required-ops", "tables too short", [], short)


#: The sizes of the tables in the versions of the interface, in bytes; later ones may have more.
VERSIONS = {
    FILESYSTEM: (176, 224, 264),
    **{name: (ENTRY * len(TABLES[name]),) for name in TABLES if name != FILESYSTEM},
}


@clauses("registration.size-is-of-a-version")
def test_sizes_of_versions(case: Case) -> None:
    """The size of each table is one that a header of TensorFlow gives it."""
    odd = [
        f"{entry.scheme}: {name} has {table.size} bytes"
        for entry in need(case)
        for name, table in entry.tables.items()
        if table.present and table.size not in VERSIONS[name] and table.size < max(VERSIONS[name])
    ]
    case.check.equal("registration.size-is-of-a-version", "tables that are cut off", [], odd)


@clauses("registration.scheme-is-free")
def test_free_schemes(case: Case) -> None:
    """No scheme is one that TensorFlow has before it loads a plugin."""
    taken = [entry.scheme for entry in need(case) if entry.scheme in ("", "file", "ram", "gs")]
    case.check.equal("registration.scheme-is-free", "schemes of TensorFlow", [], taken)


#: The blocks that are asked for of each size.
BLOCKS = 8
#: What pointers and 64-bit numbers take.
ALIGNMENT = 8


@pytest.mark.parametrize("size", [pytest.param(size, id=str(size)) for size in (0, 1, 24, 4096, 1 << 20)])
@clauses("registration.allocator-is-usable", "registration.allocator-aligns", *SURVIVED)
def test_blocks_of_size(case: Case, size: int) -> None:
    """Blocks of one size are allocated, filled, looked at and freed."""
    need(case)
    reply = case.surroundings.host.call("allocate", size, BLOCKS)
    if reply is None:
        raise HostFaultError("the host does not allocate")
    addresses = [unsigned(reply.take_number()) for _ in range(BLOCKS)]
    spoilt, none = reply.take_number(), addresses.count(0)
    got = f"{none} are NULL" if none and size else f"{spoilt} overlap" if spoilt else "usable"
    case.check.that(
        "registration.allocator-is-usable", got == "usable", "usable", got, f"{BLOCKS} blocks of {size} bytes"
    )
    if size:
        odd = sum(address % ALIGNMENT != 0 for address in addresses)
        case.check.that("registration.allocator-aligns", not odd, "aligned", "aligned" if not odd else "not aligned")


@clauses("registration.blocks-are-distinct")
def test_blocks(case: Case) -> None:
    """Every block that the host frees stands in one place."""
    shared = max(entry.shared_blocks for entry in need(case))
    case.check.equal("registration.blocks-are-distinct", "blocks that stand twice", 0, shared)


@smoke
@clauses("cleanup.succeeds")
def test_cleanup(case: Case) -> None:
    """The filesystem is cleaned up after use."""
    with case.setup:
        raw = case.tables
        case.fs.path_exists(case.uri())
    case.surroundings.discard_filesystem()
    case.check.status("cleanup.succeeds", raw.cleanup(), Code.OK)


@clauses("cleanup.after-init")
def test_cleanup_after_init(case: Case) -> None:
    """The filesystem is cleaned up before any op, as it is where the scheme is taken."""
    with case.setup:
        raw = case.tables
    case.surroundings.discard_filesystem()
    case.check.status("cleanup.after-init", raw.cleanup(), Code.OK)


@clauses("registration.again", *SURVIVED)
def test_again(case: Case) -> None:
    """TF_InitPlugin is called a second time, and the filesystem from the first time is used on."""
    uri = case.setup.write("file", b"content")
    second = again(case.surroundings.host)
    known = {entry.scheme for entry in need(case)}
    more = [f"{entry.scheme}: {entry.code}" for entry in second.schemes
            if entry.scheme in known and entry.code is not Code.ALREADY_EXISTS]  # fmt: skip
    case.check.equal("registration.again", "schemes registered twice", [], more)
    case.check.status("registration.again", case.fs.path_exists(uri), Code.OK)
    case.check.equal("registration.again", "content", b"content", case.setup.content(uri))


@clauses("cleanup.leaves-others", *SURVIVED)
def test_other_schemes(case: Case) -> None:
    """The filesystems of the other schemes are cleaned up, and this one is used on."""
    uri = case.setup.write("file", b"content")
    others = [entry for entry in need(case) if entry.scheme != case.bench.target.scheme]
    if not others:
        raise NoStimulusError("the plugin has only one scheme")
    for entry in others:
        if entry.filesystem is not None:
            RawFilesystem(case.surroundings.loaded.call, entry.filesystem, case.surroundings.trace).cleanup()
    case.check.status("cleanup.leaves-others", case.fs.path_exists(uri), Code.OK)
    case.check.equal("cleanup.leaves-others", "content", b"content", case.setup.content(uri))
    # Another case in the same host would miss the others.
    case.surroundings.host.close()


@full
@clauses("cleanup.releases-everything", *SURVIVED)
def test_again_and_again(case: Case) -> None:
    """Filesystems are made and cleaned up again and again, and the process must not hold more each time."""
    need(case)
    host = case.surroundings.host

    def repeat(rounds: int) -> None:
        for _ in range(rounds):
            again(host)

    # A pool is full after some hundred registrations.
    found = leaks.leaked_per_round(host, repeat, leaks.FILLING // leaks.FULL["descriptors"])
    case.check.equal("cleanup.releases-everything", "grows each time", [], sorted(found))


def need(case: Case) -> tuple[Scheme, ...]:
    """The schemes that the plugin registers. End the case where there are none."""
    found = case.surroundings.announced
    if not found:
        registration = registered(case)
        case.blocked("dlopen" if registration.error else "TF_InitPlugin", registration.message or "no scheme")
    return found
