"""The sandbox: what a plugin in it cannot do that one beside it can, and that its verdicts are those of other runs."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.test_suite import report, run, run_anew
from tffs_conformance.harness.launchers import sandbox
from tffs_conformance.harness.launchers.sandbox import NoSandboxError, Sandbox
from tffs_conformance.harness.native import NATIVE_DIRECTORY_VARIABLE, native_directory
from tffs_conformance.harness.targets.runtimes import Runtime
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.run.sandboxing import host_command

pytestmark = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not there: apt-get install bubblewrap"
)

#: What can be opened of any process.
PROCESSES = "seen = lambda what: (p for n in os.listdir('/proc') if os.access(p := f'/proc/{n}/{what}', os.R_OK))"
#: Where actions/checkout keeps its token since version 6.
BESIDE = "runner/git-credentials-1.config"
#: What a plugin may try, as a program in Python, which prints 'done' where it could; `given` is what it is tried on.
TRIED = {
    "change a file": "open(given['file'], 'a').write('x')",
    "make a file beside it": "open(given['file'] + '.new', 'w')",
    "read a secret variable": "os.environ['MINE_TOKEN']",
    "read a credential of a tool": "open(os.path.expanduser('~/.aws/credentials')).read(1) or 1 / 0",
    "read the token of a checkout": "open('.git/config').read(1) or 1 / 0",
    "read the token beside a checkout": "open(given['beside']).read(1) or 1 / 0",
    "reach a server on this machine": "socket.create_connection(('127.0.0.1', given['port']), 5)",
    "reach a socket without a file": "socket.socket(socket.AF_UNIX).connect(given['abstract'])",
    "reach the sockets of daemons": "os.listdir('/run')[0]",
    "signal who runs it": "os.kill(given['pid'], 0)",
    "read what others keep in /tmp": "open(given['temporary']).read()",
    "read a credential through a process": f"{PROCESSES}; next(p for p in seen('root' + given['credential']))",
    "reach daemons through a process": f"{PROCESSES}; next(p for p in seen('root/run') if os.listdir(p))",
    "read a secret of a process": f"{PROCESSES}; next(p for p in seen('environ') if b'hunter' in open(p, 'rb').read())",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with a credential and a checkout, which is the working directory."""
    for name in (".aws/credentials", "checkout/.git/config", "checkout/file", BESIDE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("mine")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path / "runner"))
    monkeypatch.setenv("MINE_TOKEN", "hunter22")
    monkeypatch.chdir(tmp_path / "checkout")
    return tmp_path


@pytest.fixture
def box(home: Path) -> Iterator[Sandbox]:
    made = sandbox.make(network=False, unset=["MINE_TOKEN"])
    yield made
    made.close()


def could(what: str, given: dict[str, object], box: Sandbox | None) -> bool:
    command = [sys.executable, "-c", f"import os, socket; given = {given!r}; {TRIED[what]}; print('done')"]
    words = box.command(command, [Path(sys.prefix), Path(sys.base_prefix)]) if box else command
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert "bwrap" not in done.stderr, done.stderr
    return done.stdout == "done\n"


@pytest.mark.parametrize("what", TRIED)
def test_what_a_plugin_cannot_do_in_it(what: str, box: Sandbox) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
        tempfile.NamedTemporaryFile() as temporary,
    ):
        local.bind(f"\0tffs-{os.getpid()}")
        local.listen()
        given = {
            "file": str(Path("file").resolve()), "port": server.getsockname()[1], "abstract": local.getsockname(),
            "pid": os.getpid(), "temporary": temporary.name, "beside": str(Path.home() / BESIDE),
            "credential": os.path.expanduser("~/.aws/credentials"),
        }  # fmt: skip
        assert could(what, given, None), "outside of the sandbox it can"
        assert not could(what, given, box)


def test_what_it_can_change(box: Sandbox, home: Path) -> None:
    """The folder for roots, what is named, and a /tmp of its own, which is the same for all of a run."""
    (home / "named").mkdir()
    writes = f"echo x >{box.root}/a; echo x >{home}/named/b; echo x >/tmp/c"
    subprocess.run(box.command(["sh", "-ec", writes], (), [home / "named"]), check=True)
    assert all(path.exists() for path in (box.root / "a", home / "named" / "b", box.folder / "tmp" / "c"))
    assert not Path("/tmp/c").exists()
    subprocess.run(box.command(["test", "-e", "/tmp/c"], ()), check=True)


def test_nothing_in_it_can_be_put_in_the_place_of_its_folders(box: Sandbox, home: Path) -> None:
    """What is bound for the next host is what was bound for this one."""
    (home / "victim").mkdir()
    for place in (box.folder / "tmp", box.root, "/tmp", box.folder):
        swap = f"mv {place} {place}.old; rmdir {place}; ln -sfn {home}/victim {place}"
        subprocess.run(box.command(["sh", "-c", swap], ()), capture_output=True, check=False)
    write = f"echo x >/tmp/a; echo x >{box.root}/a; echo x >{box.folder}/tmp/a"
    subprocess.run(box.command(["sh", "-c", write], ()), capture_output=True, check=False)
    assert list((home / "victim").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_who_is_nobody_has_one() -> None:
    """Those who run CI are seldom root, and then bubblewrap has other ways to the same."""
    tries = (
        "import sandbox, subprocess\n"
        "box = sandbox.make(False, [])\n"
        "subprocess.run(box.command(['sh', '-c', f'echo $$ >{box.root}/number'], ()), check=True)\n"
        "subprocess.run(box.command(['sh', '-c', f'echo $$ >>{box.root}/number'], ()), check=True)\n"
        "one, other = map(int, (box.root / 'number').read_text().split())\n"
        "box.close(); assert one != other"
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        shutil.copy(sandbox.__file__, folder)
        python = str(Path(sys.base_prefix) / "bin" / "python3")
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", python, "-B", "-c", tries]
        given = {"HOME": "/", "PATH": os.environ["PATH"]}
        done = subprocess.run(as_nobody, cwd=folder, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("programs", "needs", "said"),
    [
        ("/nowhere", (), "bwrap is not there: apt-get install bubblewrap"),
        (os.defpath, (Path("/tmp/tffs-gone"),), "/tmp/tffs-gone cannot be read in it"),
    ],
)
def test_sandbox_that_lacks_something_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, programs: str, needs: tuple[Path, ...], said: str
) -> None:
    monkeypatch.setenv("PATH", programs)
    # Elsewhere other tests have theirs.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(NoSandboxError, match=f"^{said}$"):
        sandbox.make(network=False, unset=[], needs=needs)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(("plugin", "workers"), [("posix", 0), ("memory", 2), ("objectstore_minimal", 2)])
def test_right_plugins_are_right_in_it(plugin: str, workers: int, tmp_path: Path) -> None:
    done = run(tmp_path, f"--plugin={plugin}", "--tier=smoke", "--sandbox=on", f"-n{workers}")
    assert done.returncode == 0, done.stdout + done.stderr
    seen = report(tmp_path)
    assert "in a sandbox without network; where a plugin needs it: --sandbox=network" in done.stdout
    assert "--sandbox=on" in seen["suite"]["command"]
    folder = Path(seen["target"]["root"].partition(":")[2]).parent
    assert not Path(f"/{str(folder).lstrip('/')}").exists()


@pytest.mark.parametrize(
    ("below", "given"),
    [
        ("/tmp", "./mine.so"), ("/tmp/", "{top}"), ("{new}/deeper", "./link.so"), ("{here}", "linked/mine.so"),
        ("{here}/new", "./mine.so"), ("{link}", "./link.so"),
    ],
)  # fmt: skip
def test_a_root_and_a_plugin_are_found_wherever_they_lie(below: str, given: str, tmp_path: Path) -> None:
    here, new = tmp_path / "here", Path("/tmp", f"tffs-new-{os.getpid()}")
    here.mkdir()
    (tmp_path / "link").symlink_to("here")
    with tempfile.TemporaryDirectory(prefix="tffs-") as elsewhere, tempfile.NamedTemporaryFile(suffix=".so") as top:
        for place in (tmp_path / "mine.so", Path(elsewhere) / "mine.so", top.name):
            shutil.copy(plugin_path("posix"), place)
        (tmp_path / "link.so").symlink_to(Path(elsewhere) / "mine.so")
        (tmp_path / "linked").symlink_to(elsewhere)
        places = {"top": top.name, "here": here, "new": new, "link": tmp_path / "link"}
        words = (f"--plugin={given}".format(**places), f"--root=posix://{below}".format(**places))
        done = run(tmp_path, *words, "--backing=file://{path}", "--case=write/plain", "--sandbox=on")
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(here.iterdir()) == []
    assert not new.exists()


@pytest.mark.parametrize(("asked", "tags"), [("on", "enable"), ("try", "disable")])
def test_sandbox_with_installation_below_tmpdir_judges(asked: str, tags: str, tmp_path: Path) -> None:
    """The host and its libraries, and a plugin with one of its own in another folder, which names one there.

    The older of the two kinds of run path is that of its libraries, too.
    """
    shutil.copytree(native_directory(), tmp_path / "venv" / "native")
    for folder in ("build", "lib"):
        (tmp_path / folder).mkdir()
    shutil.copy(plugin_path("posix"), tmp_path / "lib" / "libposix.so")
    way, plugin = f"-Wl,--{tags}-new-dtags,-rpath,{tmp_path}/lib", tmp_path / "build" / "mine.so"
    middle = tmp_path / "lib" / "libmiddle.so"
    linking = ["-x", "c", os.devnull, "-Wl,--no-as-needed", f"-L{tmp_path}/lib"]
    for made, more in ((middle, ["-l:libposix.so", way][: 1 + (tags == "enable")]), (plugin, ["-l:libmiddle.so", way])):
        subprocess.run(["cc", "-shared", "-o", made, *linking, *more], check=True)
    here = {"TMPDIR": str(tmp_path), NATIVE_DIRECTORY_VARIABLE: str(tmp_path / "venv" / "native")}
    done = run_anew(tmp_path / "build", f"--plugin={plugin}", "--tier=smoke", f"--sandbox={asked}", **here)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "in a sandbox without network" in done.stdout


def test_a_path_behind_a_host_is_none_of_this_machine(box: Sandbox, home: Path) -> None:
    (home / "bucket").mkdir()
    for root, is_writable in ((f"mine://store{home}/bucket", False), (f"mine://{home}/bucket", True)):
        command = host_command(box, plugin_path("posix"), {}, Runtime(), root)
        assert (("--bind", f"{home}/bucket") in pairwise(command)) == is_writable


def test_wrong_plugins_are_wrong_in_it(tmp_path: Path) -> None:
    done = run(tmp_path, "--plugin=fakes/faulty", "--env=TFFS_FAULT=crash:stat", "--tier=smoke", "--sandbox=on")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "stat.succeeds" in done.stdout


def test_where_there_is_none_a_run_is_refused_or_says_so(tmp_path: Path) -> None:
    given = ("--plugin=posix", "--case=read/plain")
    why = "bwrap is not there: apt-get install bubblewrap"
    refused = run(tmp_path, *given, "--sandbox=on", PATH="/nowhere")
    assert (refused.returncode, f"--sandbox=on: {why}" in refused.stderr + refused.stdout) == (4, True)
    tried = run(tmp_path, *given, "--sandbox=try", PATH="/nowhere")
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert f"note: no sandbox: {why}" in tried.stderr
    assert "in a sandbox" not in tried.stdout
