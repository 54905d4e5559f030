"""Failing allocations: which are planned to fail, and what a host counts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tffs_conformance.harness.hosting.client import Host
from tffs_conformance.harness.hosting.loader import Loader
from tffs_conformance.harness.hosting.registration import Scheme
from tffs_conformance.harness.launchers.launcher import HostLostError
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.native import native_directory
from tffs_conformance.suite.engine.allocating import LIBRARY, FailedAllocation, RegistrationOutcome, plan


def test_plan_begins_with_first_middle_and_last() -> None:
    planned = plan([("stat", 0), ("read", 1), ("translate_name", 4), ("append", 5), ("append", 2)])
    assert [(one.op, one.call, one.number) for one in planned] == [
        ("read", 2, 1), ("append", 4, 1), ("append", 4, 3), ("append", 4, 5), ("append", 5, 1), ("append", 5, 2),
        ("append", 4, 2), ("append", 4, 4),
    ]  # fmt: skip
    assert str(planned[2]) == "allocation 3 of 5 in append fails"
    assert str(planned[0]) == "allocation in read fails"


# What a host counts --------------------------------------------------------------------------------------------------


@pytest.fixture
def loaded(request: pytest.FixtureRequest) -> Iterator[tuple[Host, int]]:
    """A host of posix, with our allocator or another one, and its filesystem."""
    environment = {"LD_PRELOAD": str(native_directory() / LIBRARY)} if request.param else {}
    loader = Loader(Local(environment), native_directory() / "plugins" / "libposix.so", 10)
    made = loader.load()
    (scheme,) = made.registration.registered.values()
    yield made.host, scheme.filesystem or 0
    made.host.close()
    loader.close()


def counted(host: Host, call: int, number: int) -> list[tuple[str, int]]:
    reply = host.call("allocations", call, number)
    assert reply is not None
    return [(reply.take_text(), reply.take_number()) for _ in iter(lambda: reply.more, False)]


@pytest.mark.parametrize("loaded", [True], indirect=True)
def test_allocations_of_the_runtime_are_not_counted(loaded: tuple[Host, int], tmp_path: Path) -> None:
    host, filesystem = loaded
    asked = ("path_exists", filesystem, bytes(tmp_path / "a name for which a message needs memory"))
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


@pytest.mark.parametrize("loaded", [True], indirect=True)
def test_only_the_named_allocation_fails(loaded: tuple[Host, int], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    host, filesystem = loaded
    asked = ("get_children", filesystem, bytes(tmp_path))
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


@pytest.mark.parametrize("loaded", [False], indirect=True)
def test_host_with_another_allocator_says_so(loaded: tuple[Host, int]) -> None:
    host, _ = loaded
    with pytest.raises(HostLostError, match="cannot perform allocations: its allocator is not the one"):
        host.call("allocations", 0, 0)


def test_allocation_in_init_is_of_its_scheme() -> None:
    schemes = tuple(Scheme(index, name, {}, 0, init_called=True) for index, name in enumerate(("one", "two")))
    attempt = RegistrationOutcome(None, [("TF_InitPlugin", 2), ("init", 0), ("init", 3)], frozenset(), schemes)
    assert [attempt.of(FailedAllocation("", call, 1, 3)) for call in (1, 2, 3, 4)] == [None, *schemes, None]
    assert [attempt.made(call) for call in (1, 3, 4)] == [2, 3, 0]
