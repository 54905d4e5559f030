"""posix on what a case of the suite cannot make: pipes, links, permissions, a copy that is cut off, a power cut."""

import os
from pathlib import Path

import pytest

from tests.hosted import hosted, preloaded
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import DiedError

OPENINGS = (
    "new_random_access_file",
    "new_writable_file",
    "new_appendable_file",
    "new_read_only_memory_region_from_file",
)


@pytest.mark.parametrize("op", OPENINGS)
def test_a_pipe_is_refused_and_nobody_waits_for_its_other_end(tmp_path: Path, op: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with hosted("posix") as (_, fs):
        assert fs.open(op, str(tmp_path / "pipe")).code is Code.FAILED_PRECONDITION


def test_a_pipe_is_not_copied(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with hosted("posix") as (_, fs):
        copied = fs.path_op("copy_file", str(tmp_path / "pipe"), str(tmp_path / "copy"))
        assert copied.code is Code.FAILED_PRECONDITION
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("replaces", [False, True], ids=["new", "replaced"])
def test_a_copy_gives_nobody_the_rights_of_an_owner(tmp_path: Path, replaces: bool) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    for path in (source, target) if replaces else (source,):
        path.write_bytes(b"content")
        path.chmod(0o6751)
    with hosted("posix") as (_, fs):
        assert fs.path_op("copy_file", str(source), str(target)).code is Code.OK
    assert target.stat().st_mode & 0o7777 == 0o751


@pytest.mark.parametrize("link", ["there", "gone", "other/there"], ids=["file", "nothing", "another directory"])
def test_a_copy_onto_a_link_goes_where_it_leads(tmp_path: Path, link: str) -> None:
    """As what is written there does: the link stays."""
    (tmp_path / "source").write_bytes(b"content")
    (tmp_path / "other").mkdir()
    (tmp_path / "there").write_bytes(b"old")
    (tmp_path / "second").symlink_to(link)
    (tmp_path / "first").symlink_to(tmp_path / "second")
    with hosted("posix") as (_, fs):
        assert fs.path_op("copy_file", str(tmp_path / "source"), str(tmp_path / "first")).code is Code.OK
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert (tmp_path / link).read_bytes() == b"content"


def test_a_copy_onto_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"content")
    (tmp_path / "loop").symlink_to("loop")
    with hosted("posix") as (_, fs):
        assert fs.path_op("copy_file", str(tmp_path / "source"), str(tmp_path / "loop")).code is Code.UNKNOWN
    assert sorted(os.listdir(tmp_path)) == ["loop", "source"]


#: Ends its process when the first bytes of a copy are there.
ENDS_A_COPY = """
#include <signal.h>
#include <sys/types.h>
ssize_t copy_file_range(int from, off_t *in, int to, off_t *out, size_t n, unsigned flags) {
  raise(SIGKILL);
  return -1;
}
"""


def test_a_process_that_ends_within_a_copy_leaves_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "source").write_bytes(b"content")
    environment = preloaded(tmp_path, ENDS_A_COPY)
    with hosted("posix", environment=environment) as (_, fs), pytest.raises(DiedError, match="SIGKILL"):
        fs.path_op("copy_file", str(root / "source"), str(root / "target"))
    assert os.listdir(root) == ["source"]


#: Writes down what is made durable.
NOTES_SYNC = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int fsync(int file) {
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, name, sizeof name);
  FILE *notes = fopen(getenv("NOTES"), "a");
  fprintf(notes, "%.*s\\n", (int)length, name);
  fclose(notes);
  return 0;
}
"""


@pytest.mark.parametrize("op", ["new_writable_file", "new_appendable_file"])
def test_sync_makes_the_name_of_a_new_file_durable_and_those_of_all_directories_above(tmp_path: Path, op: str) -> None:
    root, notes = tmp_path / "root", tmp_path / "notes"
    root.mkdir()
    with hosted("posix", environment={**preloaded(tmp_path, NOTES_SYNC), "NOTES": str(notes)}) as (_, fs):
        handle = fs.open(op, str(root / "file")).value
        for _ in range(2):
            assert fs.append(handle, b"content").code is Code.OK
            assert fs.handle_op("sync", handle).code is Code.OK
    above = [str(path) for path in (root, *root.parents) if path.stat().st_dev == root.stat().st_dev]
    assert notes.read_text().splitlines() == [str(root / "file"), *above, str(root / "file")]


#: As Linux does: the pages that were lost are clean afterwards, and the next call has nothing to do.
LOSES_ONCE = """
#include <errno.h>
int fsync(int file) {
  static int calls = 0;
  if (calls++ != 0) return 0;
  errno = EIO;
  return -1;
}
"""


def test_what_a_sync_lost_is_not_made_good_by_another_one(tmp_path: Path) -> None:
    with hosted("posix", environment=preloaded(tmp_path, LOSES_ONCE)) as (_, fs):
        handle = fs.open("new_writable_file", str(tmp_path / "file")).value
        assert fs.append(handle, b"content").code is Code.OK
        assert [fs.handle_op(op, handle).code for op in ("sync", "sync", "close")] == [Code.UNKNOWN] * 3


NO_LOOK = """
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
int lstat(const char* path, struct stat* facts) {
  if (strstr(path, "broken") == NULL) return fstatat(AT_FDCWD, path, facts, AT_SYMLINK_NOFOLLOW);
  errno = EIO;
  return -1;
}
"""


@pytest.mark.parametrize("pattern", ["d/broken", "*/broken"])
def test_a_glob_says_that_it_cannot_look(tmp_path: Path, pattern: str) -> None:
    """What cannot be looked at may be there: that is no answer without it."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "broken").touch()
    with hosted("posix", environment=preloaded(tmp_path, NO_LOOK)) as (_, fs):
        assert fs.entries_op("get_matching_paths", f"{tmp_path}/{pattern}").code is Code.UNKNOWN
        assert fs.entries_op("get_matching_paths", f"{tmp_path}/*/other").code is Code.OK
