"""Launchers: hosts that a server forks, hosts behind a command, and what is known of each."""

import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.hosted import hosted, raw_filesystem
from tests.test_abi import library
from tests.test_suite import wait_until
from tffs_conformance.harness.hosting.client import Host, HostFaultError
from tffs_conformance.harness.hosting.loader import SAME_FAILURES, Loader
from tffs_conformance.harness.hosting.state import State
from tffs_conformance.harness.launchers import command as command_launcher
from tffs_conformance.harness.launchers import local as local_launcher
from tffs_conformance.harness.launchers.command import Command, CommandProcess
from tffs_conformance.harness.launchers.fork_server import ForkServer
from tffs_conformance.harness.launchers.launcher import ALLOCATOR, HostLostError, Launcher, LocalFacts
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.native import native_directory
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Crashed, Death, DiedError, Hung, Threw
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.harness.wire import WIRE_VERSION, encode

HOST = str(native_directory() / "tffs-host")


def plain(environment: dict[str, str], program: tuple[str, ...] = ()) -> Launcher:
    """Each host is started by itself."""
    launcher = Local(environment, program=program)
    launcher._forks = False
    return launcher


def behind_a_command(environment: dict[str, str]) -> Launcher:
    return Command(["env", "-u", "NO_SUCH_VARIABLE", HOST], environment)


Launchers = Callable[[dict[str, str]], Launcher]
LAUNCHERS: dict[str, Launchers] = {"forked": Local, "plain": plain, "command": behind_a_command}
FAULTS: dict[str, tuple[type[Death], str | None]] = {
    "crash": (Crashed, "signal SIGSEGV"),
    "exit": (Crashed, "exit status 0"),
    "hang": (Hung, None),
    "throw": (Threw, None),
    "replaces-all": (Crashed, "it closed or replaced descriptors of the process that are not its own"),
    "writes-to-all": (Crashed, "it wrote to a descriptor of the process that is not its own"),
}


@pytest.fixture(params=LAUNCHERS)
def launchers(request: pytest.FixtureRequest) -> Launchers:
    return LAUNCHERS[request.param]


def facts(host: Host) -> LocalFacts:
    known = host.process.facts
    assert known is not None
    return known


@pytest.mark.parametrize("fault", FAULTS)
def test_every_launcher_tells_how_a_host_ended(launchers: Launchers, fault: str, tmp_path: Path) -> None:
    (kind, how), starts = FAULTS[fault], launchers({"TFFS_FAULT": f"{fault}:stat"})
    with hosted("fakes/faulty", launcher=starts, timeout=0.5 if fault == "hang" else 20) as (loaded, raw):
        death = death_of(loaded.host, lambda: raw.stat(str(tmp_path)))
        assert isinstance(death, kind)
        assert death.op == "stat"
        assert not isinstance(death, Threw) or death.type == "std::runtime_error"
        assert getattr(death, "how", None) == how
        assert ("backtrace" in death.output) == (fault in ("crash", "hang"))
        with pytest.raises(HostFaultError):
            raw.stat(str(tmp_path))


def death_of(host: Host, call: Callable[[], object], times: int = 1) -> Death:
    """How a host ended that did not survive so many calls."""
    with pytest.raises(DiedError) as caught:  # noqa: PT012 - which of them finds out depends on the launcher
        for _ in range(times):
            call()
    assert not host.alive
    return caught.value.death


def test_a_plugin_that_has_no_descriptor_wait_does_not_end_its_host(launchers: Launchers, tmp_path: Path) -> None:
    with hosted("fakes/faulty", launcher=launchers({"TFFS_FAULT": "never-waits:stat"})) as (loaded, raw):
        for _ in range(20):
            assert raw.stat(str(tmp_path)).code is Code.OK
        assert loaded.host.alive


@pytest.mark.parametrize(
    ("times", "error", "said"),
    [
        (1000, HostLostError, "the host cannot perform append: there is no memory"),
        # It ends before it has read the request.
        (2**20, DiedError, "append ended the process: signal SIGABRT"),
    ],
)
def test_host_without_memory_ends_as_one_that_lacks_it(
    launchers: Launchers, tmp_path: Path, times: int, error: type[Exception], said: str
) -> None:
    with hosted("fakes/faulty", launcher=launchers({"TFFS_FAULT": "uses-up-memory:stat"})) as (_, raw):
        writer = raw.open("new_writable_file", str(tmp_path / "file")).value
        raw.stat(str(tmp_path))
        with pytest.raises(error, match=said):
            raw.append(writer, b"content" * times)


def test_hosts_of_every_launcher_meet_the_same_process(tmp_path: Path) -> None:
    states: dict[str, State] = {}
    for name, launcher in LAUNCHERS.items():
        with hosted("fakes/faulty", launcher=launcher({})) as (loaded, _):
            states[name] = State.of(loaded.host)
    assert len({(state.threads, state.directory, state.handlers) for state in states.values()}) == 1, states
    # What this process leaves open to others is handed on by neither.
    if forks({}):
        assert states["forked"].descriptors == states["command"].descriptors, states


@pytest.mark.parametrize("perturbed", [True, False])
def test_the_environment_reaches_the_plugin_and_the_allocator(
    launchers: Launchers, perturbed: bool, tmp_path: Path
) -> None:
    """A read that hands out freed memory gives junk where the allocator was told to overwrite it, and only there."""
    content = b"content" * 10
    (tmp_path / "file").write_bytes(content)
    environment = {"TFFS_FAULT": "read.freed-block"} | ({} if perturbed else dict.fromkeys(ALLOCATOR, ""))
    with hosted("fakes/faulty", launcher=launchers(environment)) as (loaded, raw):
        if not State.of(loaded.host).heap:
            pytest.skip("the allocator of a sanitizer is not glibc's")
        reader = raw.open("new_random_access_file", str(tmp_path / "file")).value
        assert (raw.read(reader, 0, len(content)).value.data != content) == perturbed


def test_forked_hosts_are_children_of_the_client_in_sessions_of_their_own() -> None:
    launcher = Local()
    hosts = [Host(launcher, 20) for _ in range(3)]
    for host in hosts:
        host.call("state")
    pids = [facts(host).pid for host in hosts]
    assert len({*pids, os.getpid()}) == 4
    for pid in pids:
        _, parent, _, session, *_ = stat_of(pid)
        assert (int(parent), int(session)) == (os.getpid(), pid)
        assert "tffs-host" in Path(f"/proc/{pid}/cmdline").read_text()
    for host in hosts:
        host.close()
        with pytest.raises(ProcessLookupError):
            os.kill(facts(host).pid, 0)
        usage = facts(host).usage
        assert usage is not None
        assert usage.ru_maxrss > 0
    launcher.close()


def test_a_server_that_was_ended_is_replaced() -> None:
    if not forks({}):
        pytest.skip("a host with a sanitizer in it is not forked")
    launcher = Local()
    first = Host(launcher, 20)
    first.call("state")
    server = launcher._server
    assert server is not None
    os.kill(server.process, signal.SIGKILL)
    wait_until(lambda: stat_of(server.process)[0] == "Z")
    second = Host(launcher, 20)
    assert second.call("state") is not None
    # Hosts outlive the server that forked them, whoever ended it.
    launcher.close()
    for host in (first, second):
        assert host.call("state") is not None
        host.close()


def stat_of(pid: int) -> list[str]:
    """What /proc/PID/stat says after the name: the state, the parent, the group, the session."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


@pytest.mark.parametrize("symbol", ["__asan_init", "__nothing_special"])
def test_a_sanitizer_is_not_forked(symbol: str, tmp_path: Path) -> None:
    """A library with the name of one is preloaded, as those of instrumented plugins are: hosts start one by one."""
    if not forks({}):
        pytest.skip("a host with a sanitizer in it is not forked, whatever is preloaded")
    preloaded = library(tmp_path, "preloaded.so", f"void {symbol}(void) {{}}")
    assert forks({"LD_PRELOAD": str(preloaded)}) == (symbol != "__asan_init")


def forks(environment: dict[str, str]) -> bool:
    launcher = Local(environment)
    host = Host(launcher, 20)
    assert host.call("state") is not None
    forked = launcher._server is not None
    host.close()
    launcher.close()
    return forked


def test_large_frames_come_whole(launchers: Launchers, tmp_path: Path) -> None:
    content = os.urandom(1 << 20) * 9 + b"end"
    (tmp_path / "file").write_bytes(content)
    with hosted("fakes/faulty", launcher=launchers({}), timeout=60) as (_, raw):
        reader = raw.open("new_random_access_file", str(tmp_path / "file")).value
        assert raw.read(reader, 0, len(content)).value.data == content
        writer = raw.open("new_writable_file", str(tmp_path / "copy")).value
        assert raw.append(writer, content).ok
        assert raw.handle_op("close", writer).ok
    assert (tmp_path / "copy").read_bytes() == content


#: More than any pipe holds, and two of it are more than a relay keeps for a host.
LARGE = bytes(9 << 20)


@pytest.mark.timeout(60)
def test_hang_during_a_long_send_names_its_op(launchers: Launchers, tmp_path: Path) -> None:
    with hosted("fakes/faulty", launcher=launchers({"TFFS_FAULT": "hang:stat"}), timeout=0.5) as (loaded, raw):
        loaded.host.send("stat", raw.filesystem, os.fsencode(tmp_path))
        death = death_of(loaded.host, lambda: loaded.host.send("append", 0, LARGE), 3)
        assert (type(death), death.op) == (Hung, "stat")


@pytest.mark.timeout(60)
def test_a_host_that_reads_nothing_hangs() -> None:
    host = Host(plain({}, ("/bin/sleep", "1000")), 0.5)
    death = death_of(host, lambda: host.call("append", 0, LARGE))
    assert (type(death), death.op) == (Hung, "append")


@pytest.mark.timeout(60)
def test_what_a_host_prints_is_read_while_it_is_sent_something() -> None:
    """A host that prints more than a pipe holds before it reads on is waited for."""
    script = "import sys; sys.stdin.buffer.read(1000); sys.stderr.write('x' * (1 << 20)); sys.stdin.buffer.read()"
    host = Host(plain({}, (sys.executable, "-c", script)), 5)
    host.send("append", 0, LARGE)
    host.close()
    assert "x" * 1000 in host.output


@pytest.mark.parametrize("plugin", ["fakes/noinit", "fakes/unresolved", "no plugin"])
def test_a_plugin_that_does_not_load_is_not_tried_again(plugin: str) -> None:
    loader = Loader(Local(), Path(__file__) if plugin == "no plugin" else plugin_path(plugin), 20)
    loaded = [loader.load() for _ in range(SAME_FAILURES + 3)]
    (error,) = {one.registration.error for one in loaded}
    assert error is not None
    assert len({one.registration.missing for one in loaded}) == 1
    later = loaded[SAME_FAILURES + 1 :]
    assert len({facts(one.host).pid for one in later}) == 1
    for one in loaded:
        one.host.close()
    # Whoever closed it has closed nothing: the next one may have it.
    assert State.of(loader.load().host).threads
    loader.close()
    assert not later[0].host.alive


# Connections ----------------------------------------------------------------------------------------------------------


def test_one_connection_serves_many_hosts(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = ["sh", "-c", f'echo $$ >> {pids}; exec "$0"', HOST]
    loader = Loader(Command(command), plugin_path("posix"), 20)
    for _ in range(10):
        loader.load().host.close()
    loader.close()
    # One is in use while the next one is prepared.
    assert len(pids.read_text().split()) <= 2


def answering(*version: int) -> list[str]:
    """A command whose relay says that it speaks a version of the wire, and takes nothing that follows."""
    answer = f"sys.stdout.buffer.write({encode('done', version)!r}); sys.stdout.flush()"
    return [sys.executable, "-c", f"import sys, time; {answer}; time.sleep(1000)"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["/no-such-command"], "no-such-command"),
        ([sys.executable, "-c", "import sys; sys.exit('no such container')"], "exit status 1: no such container"),
        (answering(), "another version: .*: put there what 'tffs-conformance config --host"),
        (answering(WIRE_VERSION + 1), "another version: .*: put there what 'tffs-conformance config --host"),
    ],
)
def test_command_without_a_host_says_why(monkeypatch: pytest.MonkeyPatch, command: list[str], said: str) -> None:
    monkeypatch.setattr(command_launcher, "KILL_PATIENCE", 0.5)
    with pytest.raises(HostLostError, match=said):
        Loader(Command(command), plugin_path("posix"), 20).load()


@pytest.mark.timeout(60)
def test_a_command_that_reads_nothing_is_no_death(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_launcher, "KILL_PATIENCE", 0.5)
    host = Host(Command(answering(WIRE_VERSION)), 0.5)
    with pytest.raises(HostLostError, match=r"the command took nothing of what it was sent for 0\.5 s"):
        host.call("append", 0, LARGE)
    assert not host.alive


def test_a_connection_that_is_lost_is_no_death_and_the_next_one_works(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = ["sh", "-c", f'echo $$ >> {pids}; exec "$0"', HOST]
    loader = Loader(Command(command, {"TFFS_FAULT": "hang:stat"}), plugin_path("fakes/faulty"), 20)
    loaded = loader.load()
    raw = raw_filesystem(loaded)
    for pid in pids.read_text().split():
        os.kill(int(pid), signal.SIGKILL)
    with pytest.raises(HostLostError, match="connection"):
        raw.stat(str(tmp_path))
    assert not loaded.host.alive
    # That which was started ahead is lost, too: told when it is taken, or when used, if it has loaded the plugin.
    with pytest.raises(HostLostError):
        raw_filesystem(loader.load()).stat(str(tmp_path))
    loaded = loader.load()
    assert loaded.registration.registered
    loaded.host.close()
    loader.close()


def test_a_host_whose_end_was_interrupted_can_be_ended() -> None:
    with hosted("fakes/faulty", launcher=behind_a_command({})) as (loaded, _):
        assert isinstance(loaded.host.process, CommandProcess)
        loaded.host.process._connection.close()
        loaded.host.close()
        assert not loaded.host.alive


def test_nothing_is_left_of_a_host_whose_relay_is_gone(tmp_path: Path) -> None:
    before = psutil.Process().children(recursive=True)
    with hosted("fakes/faulty", launcher=Command([HOST])) as (loaded, raw):
        assert raw.stat(str(tmp_path)).ok
        children = set(psutil.Process().children(recursive=True)).difference(before)
        assert children
    assert not any(child.is_running() for child in children)
    assert not loaded.host.alive


def test_who_waits_awake_gives_up_where_it_does_not_help_and_tries_again() -> None:
    patience = local_launcher.Patience()
    read, write = os.pipe()
    poll = select.poll()
    poll.register(read, select.POLLIN)
    for _ in range(local_launcher.TRY_AGAIN // 2):
        assert patience.look(poll) == []
    assert patience._looks == 0
    os.write(write, b"x")
    found = [patience.look(poll) for _ in range(local_launcher.TRY_AGAIN // 2)]
    assert found[-1] == [(read, select.POLLIN)]
    assert found[0] == []
    assert patience.look(poll) == found[-1]
    os.close(read)
    os.close(write)


# The process that forks hosts, where a signal ends the client's waiting at a bad moment -------------------------------

#: What does not end is a failure.
ends = pytest.mark.timeout(30)


@contextmanager
def asked(server: ForkServer) -> Iterator[Callable[[], int]]:
    """A host that is asked for, and what tells its number; it ends with its wire."""
    read, write = os.pipe()
    # One that had the other end of what it reads would live on.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        yield server.fork(read, nowhere, nowhere)
    finally:
        for descriptor in (write, read, nowhere):
            os.close(descriptor)


@pytest.fixture
def server() -> ForkServer:
    return ForkServer([HOST], dict(os.environ))


@ends
def test_a_server_ends_though_an_answer_got_lost(server: ForkServer) -> None:
    with asked(server):
        assert server._socket.recv(100)
        server.close()


@ends
def test_lost_answer_belongs_to_no_other_host(server: ForkServer) -> None:
    with asked(server) as first, asked(server) as second:
        lost = int.from_bytes(server._socket.recv(100)[4:], "little")
        assert second() not in (lost, 0)
        assert os.path.exists(f"/proc/{second()}")
        server.close()
        with pytest.raises(HostLostError):
            first()


def test_hosts_that_ended_unasked_are_reported(server: ForkServer) -> None:
    with asked(server) as host:
        server.close()
        assert host() > 0
        os.kill(host(), 9)
        os.waitpid(host(), 0)
