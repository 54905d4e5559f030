"""The host as one file: in an image that has nothing but a shell, and under valgrind."""

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.hosted import hosted
from tests.test_suite import report, run
from tffs_conformance.harness import services
from tffs_conformance.harness.hosting.loader import Loader
from tffs_conformance.harness.launchers.command import Command
from tffs_conformance.harness.ops.outcomes import DiedError, Threw
from tffs_conformance.harness.services import ServiceMissingError
from tffs_conformance.harness.targets.shipped import plugin_path

#: One worker has the container.
pytestmark = pytest.mark.xdist_group("portable host")

IMAGE = f"tffs-conformance/bare:test-{os.getpid()}"
#: The oldest glibc that the host runs with.
OLDEST_GLIBC = (2, 28)


@pytest.fixture(scope="module")
def valgrind() -> str:
    found = shutil.which("valgrind")
    if found is None:
        pytest.skip("there is no valgrind; on Debian: apt-get install valgrind")
    return found


def test_it_needs_an_old_c_library_and_no_other(far_host: Path) -> None:
    content = far_host.read_bytes()
    # Those of the runtime inside are among them.
    versions = {(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", content)}
    assert versions
    assert max(versions) <= OLDEST_GLIBC
    assert not [name for name in needed(far_host) if "stdc++" in name or "gcc_s" in name or "tensorflow" in name]


def test_it_is_handed_out(far_host: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tffs_conformance", "config", f"--host={tmp_path / 'new'}"]
    # Not in the clone, which has no native parts.
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    exported = Path(done.stdout.strip())
    assert exported.read_bytes() == far_host.read_bytes()
    assert exported.stat().st_mode & 0o111


@pytest.mark.parametrize("option", ["-static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL", ""])
@pytest.mark.parametrize(
    ("thrown", "type_", "what"),
    [('std::out_of_range("far")', "std::out_of_range", "far"), ("Several()", "Several", "several"), ("7", "int", "")],
)
def test_exceptions_of_all_kinds(
    far_host: Path, tmp_path: Path, option: str, thrown: str, type_: str, what: str
) -> None:
    """The plugin has the system's C++ library, or one inside, and the host one of its own."""
    source, plugin = tmp_path / "throws.cc", tmp_path / "libthrows.so"
    source.write_text(f"""
    #include <stdexcept>
    #include <string>
    struct First {{ virtual ~First() = default; std::string text = "first"; }};
    struct Several : First, virtual std::exception {{
      const char *what() const noexcept override {{ return "several"; }}
    }};
    extern "C" void TF_InitPlugin(void *) {{ throw {thrown}; }}
    """)
    subprocess.run(["c++", "-shared", "-fPIC", "-o", plugin, source, *option.split()], check=True)
    loader = Loader(Command([str(far_host)]), plugin, 20)
    with pytest.raises(DiedError) as caught:
        loader.load()
    loader.close()
    death = caught.value.death
    assert isinstance(death, Threw)
    # The text takes names of the C++ library, which one that is hidden inside the plugin does not show.
    assert (death.type, death.what) == (type_, "" if option else what)


def test_valgrind_sees_the_plugin(far_host: Path, valgrind: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content" * 10)
    command = Command([valgrind, "-q", str(far_host)], {"TFFS_FAULT": "read.freed-block"})
    with hosted("fakes/faulty", launcher=command, timeout=60) as (loaded, raw):
        reader = raw.open("new_random_access_file", str(tmp_path / "file")).value
        raw.read(reader, 0, 70)
        raw.stat(str(tmp_path))
        assert "Invalid read" in loaded.host.output


@pytest.mark.nightly
def test_the_suite_runs_under_valgrind(far_host: Path, valgrind: str, tmp_path: Path) -> None:
    given = (f"--host-command={valgrind} -q {far_host}", "--plugin=posix", "--call-timeout=60")
    counts = judged(tmp_path, *given)["counts"]
    assert counts["violation"] == counts["error"] == 0
    assert counts["conform"] > 20


# An image that has nothing but a shell -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def container(far_host: Path) -> Iterator[str]:
    try:
        client = services.connect()
    except ServiceMissingError as missing:
        pytest.skip(str(missing))
    if shutil.which("docker") is None:
        pytest.skip("there is no docker command, only its daemon")
    files = {"/tffs-host": far_host, "/bin/sh": Path("/bin/sh")}
    for name in ("posix", "fakes/faulty"):
        files[f"/plugins/{Path(name).name}.so"] = plugin_path(name)
    # The shell waits for a line that does not come.
    with container_of(client, IMAGE, files, "read line", stdin_open=True, network_mode="none") as made:
        yield made.id


@contextmanager
def container_of(
    client: Any, name: str, files: dict[str, Path], script: str, folders: Iterable[str] = (), **more: Any
) -> Iterator[Any]:
    """A container in which a shell runs a script, of an image of this name with these files."""
    repository, _, tag = name.partition(":")
    client.api.import_image_from_data(image(files, folders), repository=repository, tag=tag)
    try:
        made = client.containers.run(name, ["/bin/sh", "-c", script], detach=True, **more)
        try:
            yield made
        finally:
            made.remove(force=True)
    finally:
        client.images.remove(name)


def image(files: dict[str, Path], folders: Iterable[str] = ()) -> bytes:
    """A tar file with these files, the libraries that they need, these folders, and one for temporary files."""
    programs = [file for file in files.values() if file.read_bytes().startswith(b"\x7fELF")]
    libraries = {library: Path(library) for file in programs for library in needed(file)}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, mode in {"tmp": 0o1777, **dict.fromkeys(folders, 0o755)}.items():
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            tar.addfile(folder)
        for name, path in {**libraries, **files}.items():
            content = path.read_bytes()
            entry = tarfile.TarInfo(name.lstrip("/"))
            entry.size, entry.mode = len(content), 0o755
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def needed(file: Path) -> Iterable[str]:
    """The libraries that the dynamic loader loads for a file, itself included."""
    done = subprocess.run(["ldd", file], capture_output=True, text=True, check=True)
    found = re.findall(r"(?:=>\s*)?(/\S+) \(0x", done.stdout)
    return [path for path in found if "libtensorflow_framework" not in path]


def test_the_suite_runs_in_an_image_that_has_a_shell_only(container: str, tmp_path: Path) -> None:
    judged_there_as_here(tmp_path, f"docker exec -i {container} /tffs-host", "--scheme=posix")


def judged_there_as_here(folder: Path, host: str, *arguments: str) -> None:
    """Judge posix by a host of another machine, and by one of this machine."""
    there = judged(folder / "there", f"--host-command={host}", "--plugin=/plugins/posix.so", *arguments)
    here = judged(folder / "here", "--plugin=posix")
    assert there["counts"] == here["counts"]
    assert there["target"]["sha256"] == here["target"]["sha256"]
    assert there["counts"]["conform"] > 20


def test_a_crash_in_a_container_is_told_by_its_signal(container: str) -> None:
    command = Command(["docker", "exec", "-i", container, "/tffs-host"], {"TFFS_FAULT": "crash:stat"})
    with (
        hosted(Path("/plugins/faulty.so"), launcher=command) as (_, raw),
        pytest.raises(DiedError, match="signal SIGSEGV"),
    ):
        raw.stat("/tmp")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("docker exec -i {} /tffs-host", "no such file that can be read where the host runs"),
        ("sh -c 'echo no such container >&2; exit 1'", "no such container"),
    ],
)
def test_what_is_not_there_is_a_usage_error(
    request: pytest.FixtureRequest, tmp_path: Path, command: str, said: str
) -> None:
    words = command.format(request.getfixturevalue("container")) if "{}" in command else command
    done = run(tmp_path, f"--host-command={words}", "--plugin=/plugins/missing.so")
    assert (done.returncode, said in done.stderr + done.stdout) == (pytest.ExitCode.USAGE_ERROR, True)


def judged(directory: Path, *arguments: str) -> dict[str, Any]:
    directory.mkdir(exist_ok=True)
    run(directory, "--tier=smoke", *arguments)
    return report(directory)
