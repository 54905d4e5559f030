"""--conditions=memory: what a plugin makes of an allocation that fails is told, and right plugins are not blamed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_choices import HALVES
from tests.test_suite import report, run
from tests.test_survival import wrong
from tffs_conformance.harness.hosting.client import Host
from tffs_conformance.harness.hosting.loader import Loader
from tffs_conformance.harness.hosting.registration import Scheme
from tffs_conformance.harness.launchers.launcher import HostLostError
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.native import native_directory
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.engine.allocating import LIBRARY, Failure, plan
from tffs_conformance.suite.engine.registering import Attempt

MEMORY = "--conditions=memory"
NAME = "out-of-memory"
LIVES, TOLD, KEPT, AGAIN, CLOSED, CODE = (
    f"{NAME}.{what}"
    for what in (
        "process-lives-on", "failure-is-told", "keeps-what-was-there", "works-again", "closes-what-it-opened", "code",
    )
)  # fmt: skip

#: Each fault, the stimulus that shows it, the clause that it breaks, and what is said of it, a regular expression.
FAULTS = {
    "listing-is-short": (
        "get_children", TOLD, r"allocation \d+ of \d+ in get_children fails: OK, but the answer is .*"
    ),
    "append-is-ok": ("write", TOLD, "allocation in append fails: OK, but file has 25 bytes .* instead of 42 bytes .*"),
    "read-crashes": ("read", LIVES, "allocation in read fails: read ended the process: signal SIGSEGV"),
    "stat-throws": ("stat", LIVES, r"allocation in stat fails: stat let a C\+\+ exception out: std::bad_alloc.*"),
    "open-leaks": ("read", CLOSED, "allocation in new_random_access_file fails: a descriptor stays open"),
    "rename-removes-first": ("rename-over", KEPT, "allocation in rename_file fails: target is gone"),
    "append-stays-broken": ("write", AGAIN, "allocation in append fails: append: code=RESOURCE_EXHAUSTED"),
    "read-spoils-its-file": ("read", AGAIN, "allocation in read fails: read: code=RESOURCE_EXHAUSTED"),
    "lookup-is-remembered": (
        "path_exists", AGAIN, "allocation in path_exists fails: path_exists: code=RESOURCE_EXHAUSTED",
    ),
    "lookup-misses-all": ("paths_exist", CODE, "allocation in paths_exist fails: paths_exist: code=NOT_FOUND"),
    "lookup-misses": ("path_exists", CODE, "allocation in path_exists fails: path_exists: code=NOT_FOUND"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_careless_op_is_told(tmp_path: Path, fault: str) -> None:
    stimulus, clause, said = FAULTS[fault]
    given = ["--plugin=fakes/faulty", f"--env=TFFS_FAULT=memory.{fault}", f"--case={NAME}/one-fails[{stimulus}]"]
    assert run(tmp_path, *given, MEMORY).returncode == 0
    ((verdict, name, got),) = wrong(report(tmp_path))
    assert (verdict, name) == ("warning", clause)
    assert re.fullmatch(f"{stimulus}: {said}", got), got


@pytest.mark.parametrize(
    ("fault", "clause", "said"),
    [("init-throws", LIVES, "init let a C++ exception out: std::bad_alloc"), ("init-is-internal", CODE, "INTERNAL")],
    ids=["throws", "is-internal"],
)
def test_a_careless_registration_is_told(tmp_path: Path, fault: str, clause: str, said: str) -> None:
    given = ["--plugin=fakes/faulty", f"--env=TFFS_FAULT=memory.{fault}", f"--case={NAME}/registration"]
    assert run(tmp_path, *given, MEMORY).returncode == 0
    # What chooses the fault has no memory to read its name, either.
    of_plugin, of_init = sorted(wrong(report(tmp_path)), key=lambda one: one[2])
    assert of_plugin[:2] == ("warning", LIVES)
    thrown = r"allocation 1 of \d+ in TF_InitPlugin fails: TF_InitPlugin let a C\+\+ exception out: std::bad_alloc.*"
    assert re.fullmatch(thrown, of_plugin[2])
    assert of_init[:2] == ("warning", clause)
    assert of_init[2].startswith(f"allocation in init fails: {said}")


def test_a_listing_without_its_directories_is_none(tmp_path: Path) -> None:
    done = run(tmp_path, "--plugin=objectstore_minimal", f"--case={NAME}/one-fails[get_children]", MEMORY)
    assert done.returncode == 0, done.stdout
    (record,) = report(tmp_path)["cases"]
    assert record["verdict"] == "conform", record


@pytest.mark.parametrize("plugin", ["posix", "memory", pytest.param("posix_choices", marks=pytest.mark.long)])
def test_a_right_plugin_is_not_blamed(tmp_path: Path, plugin: str) -> None:
    done = run(tmp_path, f"--plugin={plugin}", "--env=TFFS_CHOICES=all", f"--case={NAME}/*", MEMORY)
    assert done.returncode == 0, done.stdout
    cases = report(tmp_path)["cases"]
    verdicts = {check["clause"]: set[str]() for record in cases for check in record["checks"]}
    for record in cases:
        for check in record["checks"]:
            # In init posix asks for no memory.
            if (record["id"], check["verdict"]) != (f"{NAME}/registration", Verdict.DOES_NOT_APPLY):
                verdicts[check["clause"]].add(check["verdict"])
    assert verdicts.keys() == {LIVES, TOLD, KEPT, AGAIN, CLOSED, CODE}
    for seen in verdicts.values():
        assert Verdict.CONFORM in seen
        assert seen <= {Verdict.CONFORM, Verdict.ABSENT}
    tried = {record["id"]: record.get("output", "") for record in cases if record["verdict"] != Verdict.ABSENT}
    assert len(tried) >= 13
    assert all(re.search(r"[1-9]\d* failing allocations were tried", output) for output in tried.values())


@pytest.mark.parametrize(
    "choices",
    [
        "all,slash-behind-directories",
        *(pytest.param(some, marks=pytest.mark.nightly) for some in (*HALVES, "no-tree-ops", "no-optional-ops")),
        *(pytest.param(f"sync-{how}", marks=pytest.mark.nightly) for how in ("aside", "each-write", "the-filesystem")),
    ],
)
def test_no_choice_is_blamed(tmp_path: Path, choices: str) -> None:
    run(tmp_path, "--plugin=posix_choices", f"--env=TFFS_CHOICES={choices}", f"--case={NAME}/*", MEMORY)
    found = report(tmp_path)
    assert wrong(found) == set()
    assert found["counts"]["conform"] > 150


def test_what_allocates_nothing_is_absent(tmp_path: Path) -> None:
    run(tmp_path, "--plugin=posix", f"--case={NAME}/one-fails[stat]", MEMORY)
    (record,) = report(tmp_path)["cases"]
    assert (record["verdict"], record["reason"]) == ("absent", "it asks the C library for no memory")


def test_another_allocator_is_not_pushed_aside(tmp_path: Path) -> None:
    run(tmp_path, "--plugin=memory", "--env=LD_PRELOAD=libm.so.6", f"--case={NAME}/one-fails[stat]", MEMORY)
    (record,) = report(tmp_path)["cases"]
    assert record["verdict"] == "not run"
    assert record["reason"] == "LD_PRELOAD is set, which may bring another allocator"


def test_a_run_without_it_knows_nothing_of_it(tmp_path: Path) -> None:
    given = ["--plugin=fakes/faulty", "--env=TFFS_FAULT=memory.read-crashes", "--tier=smoke"]
    assert run(tmp_path, *given).returncode == 0
    found = report(tmp_path)
    assert wrong(found) == set()
    assert NAME not in found["classes"]


def test_the_plan_has_the_first_the_middle_and_the_last_of_each_call_before_the_others() -> None:
    planned = plan([("stat", 0), ("read", 1), ("translate_name", 4), ("append", 5), ("append", 2)])
    assert [(one.op, one.call, one.number) for one in planned] == [
        ("read", 2, 1), ("append", 4, 1), ("append", 4, 3), ("append", 4, 5), ("append", 5, 1), ("append", 5, 2),
        ("append", 4, 2), ("append", 4, 4),
    ]  # fmt: skip
    assert str(planned[2]) == "allocation 3 of 5 in append fails"
    assert str(planned[0]) == "allocation in read fails"


# What a host counts --------------------------------------------------------------------------------------------------


@pytest.fixture
def loader(request: pytest.FixtureRequest) -> Iterator[Loader]:
    environment = {"LD_PRELOAD": str(native_directory() / LIBRARY)} if request.param else {}
    plugin = native_directory() / "plugins" / "libposix.so"
    made = Loader(Local(environment), plugin, 10)
    yield made
    made.close()


def counted(host: Host, call: int, number: int) -> list[tuple[str, int]]:
    reply = host.call("allocations", call, number)
    assert reply is not None
    return [(reply.take_text(), reply.take_number()) for _ in iter(lambda: reply.more, False)]


@pytest.mark.parametrize("loader", [True], indirect=True)
def test_what_the_runtime_allocates_is_not_counted_and_does_not_fail(loader: Loader, tmp_path: Path) -> None:
    loaded = loader.load()
    host = loaded.host
    (scheme,) = loaded.registration.registered.values()
    asked = ("path_exists", scheme.filesystem or 0, bytes(tmp_path / "a name for which a message needs memory"))
    assert counted(host, 0, 0) == []
    assert host.call(*asked) is not None
    # The message of its status is longer than a string holds by itself.
    assert counted(host, 1, 1) == [("path_exists", 0)]
    reply = host.call(*asked)
    assert reply is not None
    code, message, _ = reply.take_status()
    assert (code, message.endswith("No such file or directory")) == (5, True)
    assert counted(host, -1, 0) == [("path_exists", 0)]
    assert host.call(*asked) is not None
    assert counted(host, -1, 0) == []
    host.close()


@pytest.mark.parametrize("loader", [True], indirect=True)
def test_only_the_allocation_of_the_call_that_is_named_fails(loader: Loader, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    loaded = loader.load()
    host = loaded.host
    (scheme,) = loaded.registration.registered.values()
    asked = ("get_children", scheme.filesystem or 0, bytes(tmp_path))
    counted(host, 0, 0)
    host.call(*asked)
    # What was listed is given back by functions of the plugin, too.
    first = counted(host, 1, 2)
    calls = len(first)
    assert first[0][1] > 2
    codes = []
    for _ in range(2):
        reply = host.call(*asked)
        assert reply is not None
        codes.append(reply.take_status()[0])
    assert codes == [8, 0]
    assert len(counted(host, -1, 0)) == calls + 1
    host.close()


@pytest.mark.parametrize("loader", [False], indirect=True)
def test_a_host_with_another_allocator_says_so(loader: Loader) -> None:
    host = loader.load().host
    with pytest.raises(HostLostError, match="cannot perform allocations: its allocator is not the one"):
        host.call("allocations", 0, 0)


def test_the_init_in_which_an_allocation_fails_is_the_schemes() -> None:
    schemes = tuple(Scheme(index, name, {}, 0, init_called=True) for index, name in enumerate(("one", "two")))
    attempt = Attempt(None, [("TF_InitPlugin", 2), ("init", 0), ("init", 3)], frozenset(), schemes)
    assert [attempt.of(Failure("", call, 1, 3)) for call in (1, 2, 3, 4)] == [None, *schemes, None]
    assert [attempt.made(call) for call in (1, 3, 4)] == [2, 3, 0]
