"""Large objects of the dragonfly plugin are read while they come, and a transfer that breaks goes on where it broke.

The proxy is a stub of dfdaemon's HTTP contract, not Dragonfly.
"""

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING, at, read, served
from tests.faulty_http import Asked, Fault, Reply
from tests.proxy_stub import ProxyStub
from tests.s3_server import BUCKET, S3Server, Stored
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.filesystem import RandomAccessFile
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

SIZE = 3 << 20
CONTENT = random.Random(1).randbytes(SIZE)
ALTERED = bytes([CONTENT[0] ^ 1]) + CONTENT[1:]
#: Bytes that come before something goes wrong.
CAME = SIZE * 99 // 100
#: What grows: everything from one MiB on.
GROWING = {"whole_object_below": 1 << 20}


def bytes_of(proxy: ProxyStub) -> list[str | None]:
    """The ranges that were asked for."""
    return [asked.headers.get("range") for asked in proxy.asked]


def cut(_: Asked, right: Reply) -> Reply:
    return replace(right, cut=min(CAME, len(right.body) - 1))


def opened(fs: HostFilesystem) -> RandomAccessFile:
    file = fs.new_random_access_file(at("file")).value
    assert file is not None
    return file


def test_the_first_bytes_do_not_wait_for_the_last(tmp_path: Path) -> None:
    with served(tmp_path, **GROWING) as (store, proxy, fs):
        store.put("tests/file", CONTENT)
        rest = threading.Event()
        proxy.inject(lambda _, right: replace(right, drip=rest, free=1 << 20))
        with opened(fs) as file:
            # Were they to wait, this would be the whole minute that the stub holds the rest back.
            assert file.read(1000, 5000).value.data == CONTENT[1000:6000]
            assert not rest.is_set()
            rest.set()
            assert file.read(SIZE - 10, 20).value.data == CONTENT[-10:]
        assert read(fs, at("file"))[2] == CONTENT
        assert bytes_of(proxy) == [None]


def test_a_small_object_is_compared_before_any_byte_is_read(tmp_path: Path) -> None:
    with served(tmp_path, whole_object_below=SIZE + 1) as (store, proxy, fs):
        store.put("tests/file", CONTENT)
        proxy.inject(lambda _, right: replace(right, body=ALTERED))
        with opened(fs) as file:
            assert file.read(1000, 10).code is Code.DATA_LOSS


@pytest.mark.parametrize("below", [1 << 20, SIZE + 1], ids=["growing", "at-once"])
@pytest.mark.parametrize("ranges", [True, False], ids=["206", "200"])
def test_a_break_near_the_end_goes_on_from_there(tmp_path: Path, below: int, ranges: bool) -> None:
    with served(tmp_path, whole_object_below=below, retry_deadline_s=10) as (store, proxy, fs):
        store.put("tests/file", CONTENT)
        proxy.ranges = ranges
        proxy.inject(cut, 1)
        assert read(fs, at("file"))[::2] == (Code.OK, CONTENT)
        assert bytes_of(proxy) == [None, f"bytes={CAME}-{SIZE - 1}"]
        assert all(asked.headers["if-match"] == proxy.asked[0].headers["if-match"] for asked in proxy.asked)


def test_a_break_that_only_the_store_can_mend(tmp_path: Path) -> None:
    config = GROWING | {"fallback_to_source": True, "retry_deadline_s": 2}
    with served(tmp_path, **config) as (store, proxy, fs):
        store.put("tests/file", CONTENT)
        proxy.inject(cut, 1)
        proxy.inject(lambda _, __: Reply(503))
        assert read(fs, at("file"))[::2] == (Code.OK, CONTENT)
        asked = [one for one in store.asked if "X-Amz-Signature" not in one.target and "range" in one.headers]
        assert [one.headers["range"] for one in asked] == [f"bytes={CAME}-{SIZE - 1}"]


def test_an_object_that_breaks_stays_readable_as_far_as_it_came(tmp_path: Path) -> None:
    with served(tmp_path, **GROWING) as (store, proxy, fs):
        store.put("tests/file", CONTENT)
        proxy.inject(cut, 1)
        proxy.inject(lambda _, __: Reply(503))
        with opened(fs) as file:
            assert file.read(0, 100).value.data == CONTENT[:100]
            assert file.read(CAME, 1).code is Code.UNAVAILABLE
            assert file.read(CAME - 100, 100).value.data == CONTENT[CAME - 100 : CAME]
            assert file.read(CAME - 100, 101).code is Code.UNAVAILABLE
            proxy.heal()
            # The next who needs what is missing asks for that, and for no more.
            assert file.read(CAME - 100, 200).value.data == CONTENT[CAME - 100 : CAME + 100]
            assert file.read(SIZE - 1, 2).value.data == CONTENT[-1:]
            assert bytes_of(proxy) == [f"bytes={CAME}-{SIZE - 1}"]


def held_wrongly(proxy: ProxyStub, store: S3Server, rest: threading.Event | None = None) -> None:
    """Dragonfly holds altered bytes under the tag that the object has; what follows the first MiB waits for `rest`."""
    tag = store.buckets[BUCKET]["tests/file"].etag.strip('"')

    def altered(asked: Asked, right: Reply) -> Reply:
        held = asked.headers["x-dragonfly-tag"] == tag
        return replace(right, body=ALTERED, drip=rest, free=1 << 20) if held else right

    proxy.inject(altered)


def test_altered_bytes_that_were_read_end_in_data_loss(tmp_path: Path) -> None:
    with served(tmp_path, **GROWING, retry_deadline_s=10) as (store, proxy, fs):
        store.put("tests/file", CONTENT)
        rest = threading.Event()
        held_wrongly(proxy, store, rest)
        with opened(fs) as file:
            # Nobody can know it before the last byte is there.
            assert file.read(0, 100).value.data == ALTERED[:100]
            rest.set()
            assert file.read(SIZE - 1, 1).code is Code.DATA_LOSS
            for offset in (0, 1000, SIZE - 1):
                assert file.read(offset, 1).code is Code.DATA_LOSS
        # Whoever opens it now gets what Dragonfly has under another tag, all of it compared first.
        with opened(fs) as file:
            assert file.read(0, 100).value.data == CONTENT[:100]
        assert [asked.headers["x-dragonfly-tag"].partition(".")[2] for asked in proxy.asked] == ["", "", "again2"]


def test_altered_bytes_that_nobody_read_are_fetched_anew(tmp_path: Path) -> None:
    with served(tmp_path, **GROWING, retry_deadline_s=10) as (store, proxy, fs):
        store.put("tests/file", CONTENT)
        held_wrongly(proxy, store)
        # The last byte is among those that are asked for, so all of them wait.
        assert read(fs, at("file"))[::2] == (Code.OK, CONTENT)
        region = fs.new_read_only_memory_region_from_file(at("file")).value
        assert region is not None
        with region:
            assert region.data(0, SIZE).value[1] == CONTENT


def another_version(_: Asked, right: Reply) -> Reply:
    return replace(right, headers={**right.headers, "ETag": '"other"'})


def a_page(_: Asked, __: Reply) -> Reply:
    return Reply(200, {"Content-Type": "text/html"}, b"<html>" + bytes(2 << 20))


@pytest.mark.parametrize(
    ("fault", "code"),
    [(another_version, Code.DATA_LOSS), (a_page, Code.FAILED_PRECONDITION)],
    ids=["another-version", "a-page"],
)
def test_an_answer_that_is_wrong_from_the_first_is_not_read(tmp_path: Path, fault: Fault, code: Code) -> None:
    with served(tmp_path, **GROWING) as (store, proxy, fs):
        store.put("tests/file", CONTENT)
        proxy.inject(fault)
        with opened(fs) as file:
            assert file.read(0, 10).code is code


def wrong_range(_: Asked, right: Reply) -> Reply:
    return replace(right, headers={**right.headers, "Content-Range": f"bytes 0-{SIZE - 1}/{SIZE}"})


def wrong_total(_: Asked, right: Reply) -> Reply:
    return replace(right, headers={**right.headers, "Content-Range": f"bytes {CAME}-{SIZE - 1}/{SIZE + 1}"})


@pytest.mark.parametrize("fault", [wrong_range, wrong_total])
def test_a_rest_that_is_another_one_is_refused(tmp_path: Path, fault: Fault) -> None:
    with served(tmp_path, **GROWING) as (store, proxy, fs):
        store.put("tests/file", CONTENT)
        proxy.inject(cut, 1)
        proxy.inject(fault)
        assert read(fs, at("file"))[::2] == (Code.INTERNAL, b"")


def test_overwritten_while_it_comes(tmp_path: Path) -> None:
    with served(tmp_path, **GROWING) as (store, proxy, fs):
        store.put("tests/file", CONTENT)
        proxy.inject(cut, 1)
        proxy.inject(lambda _, __: Reply(412, {"X-Dragonfly-Error-Type": "backend"}))
        with opened(fs) as file:
            assert file.read(0, 10).ok
            # Some of the old version was read, so it is not mixed with the new one.
            assert file.read(CAME, 1).code is Code.ABORTED


def test_overwritten_before_a_byte_of_it_was_read(tmp_path: Path) -> None:
    with served(tmp_path, **GROWING) as (store, _, fs):
        store.put("tests/file", CONTENT)
        with opened(fs) as file:
            store.put("tests/file", CONTENT[::-1])
            assert file.read(0, 10).value.data == CONTENT[::-1][:10]


def test_a_file_that_is_closed_ends_its_transfer(tmp_path: Path) -> None:
    with served(tmp_path, **GROWING) as (store, proxy, fs):
        store.put("tests/file", CONTENT)
        never = threading.Event()
        proxy.inject(lambda _, right: replace(right, drip=never, free=1 << 20), 1)
        with opened(fs) as file:
            assert file.read(0, 10).ok
        # It did not wait for the rest; nothing of it was kept.
        assert read(fs, at("file"))[2] == CONTENT
        assert bytes_of(proxy) == [None, None]
        never.set()


def test_what_comes_counts_as_kept(tmp_path: Path) -> None:
    small = bytes(100_000)
    with served(tmp_path, **GROWING, cache_max_bytes=SIZE + len(small) - 1) as (store, proxy, fs):
        store.put("tests/file", CONTENT)
        store.put("tests/small", small)
        never = threading.Event()
        proxy.inject(lambda _, right: replace(right, drip=never, free=1 << 20), 1, lambda asked: "file" in asked.target)
        for _ in range(2):
            assert read(fs, at("small"))[2] == small
        assert len(proxy.asked) == 1
        with opened(fs) as file:
            assert file.read(0, 10).ok
            assert read(fs, at("small"))[2] == small
            # It left for the other one, though that is not all there.
            assert len(proxy.asked) == 3
        never.set()


def test_more_files_than_may_grow(tmp_path: Path) -> None:
    most, size = 16, 1 << 17
    # Half of the connections are left to others.
    with served(tmp_path, whole_object_below=1, max_connections=2 * most) as (store, proxy, fs):
        never = threading.Event()
        proxy.inject(lambda _, right: replace(right, drip=never, free=size // 2), most)
        files = []
        for k in range(most + 1):
            store.put(f"tests/{k}", CONTENT[k : k + size])
            file = fs.new_random_access_file(at(str(k))).value
            assert file is not None
            files.append(file)
            # The last of them is fetched as small ones are.
            assert file.read(0, 10).value.data == CONTENT[k : k + 10]
        never.set()
        assert all(
            file.read(size - 1, 1).value.data == CONTENT[k + size - 1 : k + size] for k, file in enumerate(files)
        )
        for file in files:
            file.cleanup()


def test_ranges_of_an_object_that_nobody_wants_all_of(tmp_path: Path) -> None:
    with served(tmp_path, **GROWING, read_ahead=1 << 16) as (store, proxy, fs):
        store.put("tests/file", CONTENT)
        with opened(fs) as file:
            for offset, n in ((2 << 20, 4096), ((2 << 20) + 8192, 4096), (SIZE - 10, 20), (65530, 12), (SIZE, 1)):
                assert file.read(offset, n).value.data == CONTENT[offset : offset + n]
        ranges = [asked.headers["range"] for asked in store.asked if asked.method == "GET"]
        blocks = [32, 47, 0, 1]
        assert ranges == [f"bytes={k << 16}-{((k + 1) << 16) - 1}" for k in blocks]
        assert proxy.asked == []


def test_ranges_that_peers_may_have_go_through_dragonfly(tmp_path: Path) -> None:
    block = 5 << 20
    content = CONTENT + CONTENT + CONTENT
    with served(tmp_path, **GROWING, read_ahead=block) as (store, proxy, fs):
        store.put("tests/file", content)
        with opened(fs) as file:
            assert file.read(block - 5, 10).value.data == content[block - 5 : block + 5]
        assert bytes_of(proxy) == [f"bytes=0-{block - 1}", f"bytes={block}-{len(content) - 1}"]


def without_ranges(store: S3Server) -> None:
    store.ranges = False


def overwritten(store: S3Server) -> None:
    store.put("tests/file", CONTENT[::-1])


@pytest.mark.parametrize(
    ("change", "code"), [(without_ranges, Code.INTERNAL), (overwritten, Code.ABORTED)], ids=["no-ranges", "overwritten"]
)
def test_ranges_that_are_not_to_be_had(tmp_path: Path, change: Callable[[S3Server], None], code: Code) -> None:
    with served(tmp_path, **GROWING, read_ahead=1 << 16) as (store, _, fs):
        store.put("tests/file", CONTENT)
        with opened(fs) as file:
            assert file.read(0, 10).ok
            change(store)
            assert file.read(1 << 20, 10).code is code


def test_a_growing_object_of_parts_is_not_compared(tmp_path: Path) -> None:
    with served(tmp_path, **GROWING) as (store, _, fs):
        store.buckets[BUCKET]["tests/file"] = Stored(CONTENT, '"0123456789abcdef0123456789abcdef-2"')
        assert read(fs, at("file"))[::2] == (Code.OK, CONTENT)
