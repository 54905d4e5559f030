"""Rows about the dragonfly plugin: the objects there are, steps, what each returns, and the objects in the end.

A step acts on a `Scene`: it performs an op, makes a server fail, or looks at requests and objects. What it returns is
compared; a step without an expectation has to succeed.
"""

import reprlib
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

from tests.dragonfly_client import ROOT, read, served, write
from tests.faulty_http import ALWAYS, Asked, Fault, Reply, When, anything
from tests.pages import PROJECT
from tests.proxy_stub import ProxyStub
from tests.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server, Stored, error
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Entries, Statistics
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem

#: What a user must not see in a message: keys and queries.
SECRETS = (SECRET_KEY, ACCESS_KEY, "X-Amz", "x-amz", "Signature=", "?")
#: No op appends more bytes at once, and parts do not end where blocks do.
BLOCK_BYTES = (3 << 20) + 7

Objects = Mapping[str, bytes | Stored]
P = ParamSpec("P")


@dataclass
class Scene:
    """A store, a proxy and the plugin on them, with one file that is written and one that is read."""

    store: S3Server
    proxy: ProxyStub
    fs: HostFilesystem
    folder: Path
    rest: threading.Event = field(default_factory=threading.Event)  # what a server holds back until this is set
    root: str = ROOT
    writer: Any = None
    reader: Any = None

    def at(self, name: str) -> str:
        return f"{self.root}/{name}"

    @property
    def objects(self) -> dict[str, bytes]:
        """The objects of the bucket, without the prefix of the tests; one below another prefix keeps its name."""
        return {key.removeprefix("tests/"): one.content for key, one in self.store.buckets[BUCKET].items()}

    def put(self, objects: Objects) -> None:
        for name, one in objects.items():
            self.store.buckets[BUCKET][f"tests/{name}"] = one if isinstance(one, Stored) else Stored.of(one)

    def drop(self) -> None:
        """Drop the open files."""
        for file in (self.writer, self.reader):
            if file is not None and file.open:
                file.cleanup()

    def open_file(self) -> Code:
        """Open the file that is read; files that were open are dropped."""
        self.drop()
        opened = self.fs.new_random_access_file(self.at("file"))
        self.reader = opened.value
        return opened.code

    def tell(self) -> object:
        return self.writer.tell().value

    def heals(self) -> None:
        """Nothing goes wrong any more, and nothing was asked."""
        self.store.heal()
        self.proxy.heal()

    def removes(self) -> None:
        del self.store.buckets[BUCKET]["tests/file"]

    def goes_on(self) -> None:
        """What a server holds back comes."""
        self.rest.set()

    def nothing(self) -> None:
        """No step."""


Step = Callable[[Scene], object]
Serve = Callable[..., AbstractContextManager[tuple[S3Server, ProxyStub, HostFilesystem]]]
Given = Step | tuple[Step, object]  # what it returns; without it, it has to succeed


class Situation:
    """Steps with what each returns, objects before and after them, the lines logged, and the configuration.

    Without `after` the objects stay as they were; without `logs` the lines may be any.
    """

    def __init__(
        self,
        name: str,
        *steps: Given,
        before: Objects | None = None,
        after: Mapping[str, bytes] | None = None,
        logs: list[str] | None = None,
        **config: Any,
    ) -> None:
        self._name, self._steps, self._config = name, steps, config
        self._before, self._after, self._logs = before or {}, after, logs

    def __str__(self) -> str:
        return self._name.replace(" ", "-")

    def run(self, folder: Path, serve: Serve = served, root: str = ROOT) -> list[str]:
        """Perform it, with all names below `root` and all local files in `folder`, and give the lines logged."""
        log: list[str] = []
        with serve(folder, log=log, **self._config) as (store, proxy, fs):
            scene = Scene(store, proxy, fs, folder, root=root)
            scene.put(self._before)
            start = scene.objects
            try:
                for number, given in enumerate(self._steps):
                    step, expected = given if isinstance(given, tuple) else (given, None)
                    _compare(number, step(scene), expected)
            finally:
                scene.drop()
                scene.rest.set()
            _compare("objects", scene.objects, start if self._after is None else dict(self._after))
            _compare("uploads", store.uploads, {})
        assert self._logs in (None, log), log
        return log


row = Situation


def _compare(what: object, got: object, expected: object) -> None:
    succeeded = expected is None and (got is None or got is Code.OK)
    same = got == expected and isinstance(got, Code) == isinstance(expected, Code)
    assert succeeded or same, f"step {what}: got {reprlib.repr(got)}, expected {reprlib.repr(expected)}"


def step(function: Callable[Concatenate[Scene, P], object]) -> Callable[P, Step]:
    """Makes steps of a function that acts on a scene: what is returned takes the other arguments."""

    def make(*args: P.args, **kwargs: P.kwargs) -> Step:
        return lambda scene: function(scene, *args, **kwargs)

    return make


# Ops: each returns its value, or the code where it has none -----------------------------------------------------------


@step
def op(scene: Scene, name: str, *names: str) -> object:
    """An op on these names; one that begins with a slash is that of a local file.

    It returns a size, a length and a kind, or sorted names, else the code.
    """
    perform = getattr(scene.fs, name)
    if any(one.startswith("/") for one in names):
        perform = partial(scene.fs.raw.path_op, name)
    got = perform(*(f"{scene.folder}{one}" if one.startswith("/") else scene.at(one) for one in names))
    match got.value:
        case Entries(names=found):
            assert got.ok or not found
            return sorted(found) if got.ok else got.code
        case Statistics(length=length, is_directory=kind) if got.ok:
            return length, kind
    return got.value if got.ok and name == "get_file_size" else got.code


size, stat, children = partial(op, "get_file_size"), partial(op, "stat"), partial(op, "get_children")


@step
def read_all(scene: Scene, name: str = "file") -> bytes | Code:
    code, message, data = read(scene.fs, scene.at(name))
    assert code is Code.OK or (data, [one for one in SECRETS if one in message]) == (b"", []), message
    return data if code is Code.OK else code


@step
def write_all(scene: Scene, content: bytes, name: str = "file") -> Code:
    return write(scene.fs, scene.at(name), content)[0]


@step
def delete_all(scene: Scene, name: str = "d") -> Code:
    """Delete a directory; the counters agree with the code, and it with what is left."""
    got = scene.fs.delete_recursively(scene.at(name))
    assert (got.value.files + got.value.dirs == 0) == got.ok
    assert not got.ok or not any(one.startswith(f"{name}/") for one in scene.objects)
    return got.code


@step
def begin(scene: Scene, name: str = "file", *, appends: bool = False) -> Code:
    """Open the file that is written; files that were open are dropped."""
    scene.drop()
    made = (scene.fs.new_appendable_file if appends else scene.fs.new_writable_file)(scene.at(name))
    scene.writer = made.value
    return made.code


@step
def append(scene: Scene, content: bytes) -> Code:
    """Append in blocks; the code of the first that fails."""
    blocks = (content[first : first + BLOCK_BYTES] for first in range(0, len(content), BLOCK_BYTES))
    return next((code for block in blocks if (code := scene.writer.append(block).code) is not Code.OK), Code.OK)


@step
def on_writer(scene: Scene, name: str) -> Code:
    """Flush, sync, close or tell; the code."""
    code: Code = getattr(scene.writer, name)().code
    return code


@step
def appended(scene: Scene, content: bytes, name: str = "file") -> object:
    """Append to a file and close it; the code of the first op that fails."""
    steps = (begin(name, appends=True), append(content), close)
    return next((code for one in steps if (code := one(scene)) is not Code.OK), Code.OK)


@step
def reads(scene: Scene, offset: int, n: int) -> object:
    """Up to n bytes of the open file."""
    got = scene.reader.read(offset, n)
    return got.value.data if got.code in (Code.OK, Code.OUT_OF_RANGE) else got.code


flush, close = on_writer("flush"), on_writer("close")
drop, open_file, tell, nothing = Scene.drop, Scene.open_file, Scene.tell, Scene.nothing

# What another writer and the servers do -----------------------------------------------------------------------------

heals, goes_on, removes = Scene.heals, Scene.goes_on, Scene.removes


@step
def puts(scene: Scene, content: bytes, name: str = "file") -> None:
    scene.put({name: content})


@step
def has(scene: Scene, server: str, /, **features: bool) -> None:
    """Features of the store or the proxy: ranges, conditional_deletes."""
    vars(getattr(scene, server)).update(features)


@step
def does(
    scene: Scene, server: str, fault: Fault, when: When = anything, times: int = ALWAYS, done: bool = True
) -> None:
    getattr(scene, server).inject(fault, times, when, done)


def answers(server: str, reply: Reply, when: When = anything, times: int = ALWAYS) -> Step:
    """This, and nothing is done."""
    return does(server, lambda *_: reply, when, times, done=False)


store_does, proxy_does = partial(does, "store"), partial(does, "proxy")
store_answers, proxy_answers = partial(answers, "store"), partial(answers, "proxy")
refused = partial(store_answers, error(403, "AccessDenied"))


@step
def stalls(scene: Scene, server: str, free: int = 0, when: When = anything, times: int = ALWAYS) -> None:
    """After so many bytes of a body, of which there is one at least, nothing comes until the scene goes on."""
    stalled = partial(replace, drip=scene.rest, free=free)
    getattr(scene, server).inject(lambda _, right: stalled(right, body=right.body or b"z"), times, when)


proxy_stalls = partial(stalls, "proxy")


@step
def meanwhile(
    scene: Scene, when: When, then: Step, answer: Fault = lambda _, right: right, server: str = "store"
) -> None:
    """A step that comes when the next request of this kind is done, and its answer."""

    def fault(asked: Asked, right: Reply) -> Reply:
        then(scene)
        return answer(asked, right)

    getattr(scene, server).inject(fault, 1, when)


@step
def before(scene: Scene, when: When, first: Step) -> None:
    """A step that comes before the next request of this kind is done."""

    def fault(asked: Asked, _: Reply) -> Reply:
        first(scene)
        return scene.store.answer(asked)

    scene.store.inject(fault, 1, when, done=False)


@step
def wait_for(scene: Scene, what: Step) -> None:
    """Until this is true, a minute at most."""
    end = time.monotonic() + 60
    while not what(scene):
        assert time.monotonic() < end
        time.sleep(0.01)


# Looks ----------------------------------------------------------------------------------------------------------------

objects: Step = attrgetter("objects")


@step
def asked_store(scene: Scene, what: Callable[[Asked], object], when: When = anything) -> list[object]:
    """Something of each request to the store, but those of the proxy."""
    return [what(one) for one in scene.store.asked if "X-Amz-Signature" not in one.target and when(one)]


@step
def asked_proxy(scene: Scene, what: Callable[[Asked], object]) -> list[object]:
    return [what(one) for one in scene.proxy.asked]


@step
def count(scene: Scene, when: When) -> int:
    """Requests of this kind to the store."""
    return sum(map(when, scene.store.asked))


method = attrgetter("method")


def span(asked: Asked) -> str | None:
    return asked.headers.get("range")


#: The ranges that the proxy was asked for.
ranges = asked_proxy(span)


def table(header: str) -> list[list[str]]:
    """The cells of a table in the plugin's README, by how its header begins."""
    page = PROJECT / "reference_plugins/dragonfly/README.md"
    lines = page.read_text(encoding="utf-8").partition(header)[2].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[: lines.index("")]]
