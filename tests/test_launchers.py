"""Launchers: hosts that a server forks, hosts behind a command, and what is known of each."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.hosted import hosted, raw_filesystem
from tffs_conformance.harness.hosting.client import Host, HostFaultError
from tffs_conformance.harness.hosting.loader import SAME_FAILURES, Loader
from tffs_conformance.harness.hosting.state import State
from tffs_conformance.harness.launchers import command as command_launcher
from tffs_conformance.harness.launchers import local as local_launcher
from tffs_conformance.harness.launchers.command import Command, CommandProcess
from tffs_conformance.harness.launchers.launcher import ALLOCATOR, HostLostError, Launcher, LocalFacts
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.native import native_directory
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Crashed, DiedError, Hung, Threw
from tffs_conformance.harness.over_tables.raw import RawFilesystem
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
FAULTS = {
    "crash:stat": (Crashed, "signal SIGSEGV"),
    "exit:stat": (Crashed, "exit status 0"),
    "hang:stat": (Hung, ""),
    "throw:stat": (Threw, ""),
    "replaces-all:stat": (Crashed, "it closed or replaced descriptors of the process that are not its own"),
    "writes-to-all:stat": (Crashed, "it wrote to a descriptor of the process that is not its own"),
}


@pytest.fixture(params=LAUNCHERS)
def launchers(request: pytest.FixtureRequest) -> Launchers:
    return LAUNCHERS[request.param]


@contextmanager
def faulty(launcher: Launcher, timeout: float = 20) -> Iterator[tuple[Host, RawFilesystem]]:
    """A host with the fake in it, of which each call may take so many seconds."""
    with hosted("fakes/faulty", launcher=launcher, timeout=timeout) as (loaded, raw):
        yield loaded.host, raw


def facts(host: Host) -> LocalFacts:
    known = host.process.facts
    assert known is not None
    return known


@pytest.mark.parametrize(("fault", "expected"), FAULTS.items())
def test_every_launcher_tells_how_a_host_ended(
    launchers: Launchers, fault: str, expected: tuple[type[object], str], tmp_path: Path
) -> None:
    kind, how = expected
    with faulty(launchers({"TFFS_FAULT": fault}), 0.5 if fault.startswith("hang") else 20) as (host, raw):
        with pytest.raises(DiedError) as caught:
            raw.stat(str(tmp_path))
        assert isinstance(caught.value.death, kind)
        assert caught.value.death.op == "stat"
        assert not isinstance(caught.value.death, Threw) or caught.value.death.type == "std::runtime_error"
        assert how == "" or (isinstance(caught.value.death, Crashed) and caught.value.death.how == how)
        assert ("backtrace" in caught.value.death.output) == (fault in ("crash:stat", "hang:stat"))
        assert not host.alive
        with pytest.raises(HostFaultError):
            raw.stat(str(tmp_path))


def test_a_plugin_that_has_no_descriptor_wait_does_not_end_its_host(launchers: Launchers, tmp_path: Path) -> None:
    with faulty(launchers({"TFFS_FAULT": "never-waits:stat"})) as (host, raw):
        for _ in range(20):
            assert raw.stat(str(tmp_path)).code is Code.OK
        assert host.alive


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
    with faulty(launchers({"TFFS_FAULT": "uses-up-memory:stat"})) as (_, raw):
        writer = raw.open("new_writable_file", str(tmp_path / "file")).value
        raw.stat(str(tmp_path))
        with pytest.raises(error, match=said):
            raw.append(writer, b"content" * times)


def test_hosts_of_every_launcher_meet_the_same_process(tmp_path: Path) -> None:
    states: dict[str, State] = {}
    for name, launcher in LAUNCHERS.items():
        with faulty(launcher({})) as (host, _):
            states[name] = State.of(host)
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
    with faulty(launchers(environment)) as (host, raw):
        if not State.of(host).heap:
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
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        assert (int(fields[1]), int(fields[3])) == (os.getpid(), pid)
        assert "tffs-host" in Path(f"/proc/{pid}/cmdline").read_text()
    for host in hosts:
        host.close()
        with pytest.raises(ProcessLookupError):
            os.kill(facts(host).pid, 0)
        usage = facts(host).usage
        assert usage is not None
        assert usage.ru_maxrss > 0
    launcher.close()


def test_hosts_outlive_the_server_that_forked_them_and_are_told_apart() -> None:
    launcher = Local()
    host = Host(launcher, 20)
    launcher.close()
    assert host.call("state") is not None
    host.close()


def test_a_server_that_was_ended_is_replaced() -> None:
    if not forks({}):
        pytest.skip("a host with a sanitizer in it is not forked")
    launcher = Local()
    first = Host(launcher, 20)
    first.call("state")
    server = launcher._server
    assert server is not None
    os.kill(server.process, signal.SIGKILL)
    while Path(f"/proc/{server.process}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.001)
    second = Host(launcher, 20)
    assert second.call("state") is not None
    assert first.call("state") is not None
    for host in (first, second):
        host.close()
    launcher.close()


@pytest.mark.parametrize("symbol", ["__asan_init", "__nothing_special"])
def test_a_sanitizer_is_not_forked(symbol: str, tmp_path: Path) -> None:
    """A library with the name of one is preloaded, as those of instrumented plugins are: hosts start one by one."""
    source, library = tmp_path / "preloaded.c", tmp_path / "preloaded.so"
    source.write_text(f"void {symbol}(void) {{}}")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    if not forks({}):
        pytest.skip("a host with a sanitizer in it is not forked, whatever is preloaded")
    assert forks({"LD_PRELOAD": str(library)}) == (symbol != "__asan_init")


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
    with faulty(launchers({}), 60) as (_, raw):
        reader = raw.open("new_random_access_file", str(tmp_path / "file")).value
        assert raw.read(reader, 0, len(content)).value.data == content
        writer = raw.open("new_writable_file", str(tmp_path / "copy")).value
        assert raw.append(writer, content).ok
        assert raw.handle_op("close", writer).ok
    assert (tmp_path / "copy").read_bytes() == content


#: More than any pipe holds, and two of it are more than a relay keeps for a host.
LARGE = bytes(9 << 20)


@pytest.mark.timeout(60)
def test_an_op_that_hangs_while_more_is_sent_than_a_pipe_holds_is_the_one_that_hung(
    launchers: Launchers, tmp_path: Path
) -> None:
    with faulty(launchers({"TFFS_FAULT": "hang:stat"}), 0.5) as (host, raw):
        host.send("stat", raw.filesystem, os.fsencode(tmp_path))
        with pytest.raises(DiedError) as caught:  # noqa: PT012 - which of them finds out depends on the launcher
            for _ in range(3):
                host.send("append", 0, LARGE)
        assert isinstance(caught.value.death, Hung)
        assert caught.value.death.op == "stat"
        assert not host.alive


@pytest.mark.timeout(60)
def test_a_host_that_reads_nothing_hangs() -> None:
    host = Host(plain({}, ("/bin/sleep", "1000")), 0.5)
    with pytest.raises(DiedError) as caught:
        host.call("append", 0, LARGE)
    assert isinstance(caught.value.death, Hung)
    assert caught.value.death.op == "append"
    assert not host.alive


@pytest.mark.timeout(60)
def test_what_a_host_prints_is_read_while_it_is_sent_something(tmp_path: Path) -> None:
    """A host that prints more than a pipe holds before it reads on is waited for."""
    script = tmp_path / "host"
    script.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        "sys.stdin.buffer.read(1000)\n"
        "sys.stderr.write('x' * (1 << 20))\n"
        "sys.stdin.buffer.read()\n"
    )
    script.chmod(0o700)
    host = Host(plain({}, (str(script),)), 5)
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
    count = tmp_path / "started"
    command = ["sh", "-c", f'echo >> {count}; exec "$0"', HOST]
    loader = Loader(Command(command), plugin_path("posix"), 20)
    for _ in range(10):
        loaded = loader.load()
        loaded.host.close()
    loader.close()
    # One is in use while the next one is prepared.
    assert count.read_text().count("\n") <= 2


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
    with faulty(behind_a_command({})) as (host, _):
        assert isinstance(host.process, CommandProcess)
        host.process._connection.close()
        host.close()
        assert not host.alive


def test_nothing_is_left_of_a_host_whose_relay_is_gone(tmp_path: Path) -> None:
    before = psutil.Process().children(recursive=True)
    with faulty(Command([HOST])) as (host, raw):
        assert raw.stat(str(tmp_path)).ok
        children = set(psutil.Process().children(recursive=True)).difference(before)
        assert children
    assert not any(child.is_running() for child in children)
    assert not host.alive


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
