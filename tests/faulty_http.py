"""An HTTP server for tests, on a port of its own, that misbehaves as a test wants."""

import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, Self

#: Times that a fault is injected for.
ALWAYS = 10**9


@dataclass
class Reply:
    """What a server answers; then what goes wrong on the way.

    `cut` is after how many bytes of the body the connection breaks; `drip` holds what follows the first `free` bytes of
    the body, or where there is none everything, back until it is set; `framed` is how the body ends: by its length, by
    chunks, or by the end of the connection. After each byte, or after each of the first `free`, come `pace` seconds.
    `head` is how much of the answer's head comes before the connection ends: -2 leaves out its empty line.
    """

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut: int | None = None
    drip: threading.Event | None = None
    free: int = 0
    framed: Literal["length", "chunks", "end"] = "length"
    pace: float = 0
    head: int | None = None


@dataclass(frozen=True)
class Asked:
    method: str
    target: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes


#: What goes wrong: gets the request and the right reply, gives the wrong one.
Fault = Callable[[Asked, Reply], Reply]
When = Callable[[Asked], bool]


def anything(_: Asked) -> bool:
    return True


def status(code: int, **headers: str) -> Reply:
    """A status without a body; names of headers have underscores."""
    return Reply(code, {name.replace("_", "-"): value for name, value in headers.items()})


def with_header(name: str, value: str | None) -> Fault:
    """Another value of a header, or none."""

    def fault(_: Asked, right: Reply) -> Reply:
        headers = {n: v for n, v in right.headers.items() if n != name}
        return replace(right, headers=headers | ({} if value is None else {name: value}))

    return fault


def with_body(change: Callable[[bytes], bytes], **headers: str) -> Fault:
    """What a change makes of the body, and more headers."""
    return lambda _, right: replace(right, body=change(right.body), headers=right.headers | headers)


def silent(_: Asked, right: Reply) -> Reply:
    """The request is done, and its answer is lost."""
    return replace(right, head=0)


def announcing(length: int) -> Fault:
    """More than comes before the connection ends."""
    return lambda _, right: replace(right, headers=right.headers | {"Content-Length": str(length)}, cut=len(right.body))


def without_length(asked: Asked, right: Reply) -> Reply:
    """The same; its end is that of the connection."""
    return replace(with_header("Content-Length", None)(asked, right), framed="end")


@dataclass
class _Planned:
    fault: Fault
    times: int
    when: When
    done: bool


def ranged(asked: Asked, whole: Reply) -> Reply:
    """What a request with a range gets of a whole body: 206, or 416 where the body has no such byte."""
    span = re.fullmatch(r"bytes=(\d+)-(\d*)", asked.headers.get("range", ""))
    if span is None or whole.status != 200:
        return whole
    # A large object says that it is longer than what it holds.
    total, first = int(whole.headers.get("Content-Length", len(whole.body))), int(span[1])
    last = min(int(span[2] or total), total - 1)
    if first > last:
        return Reply(416)
    named = {"Content-Range": f"bytes {first}-{last}/{total}"}
    kept = {name: value for name, value in whole.headers.items() if name != "Content-Length"}
    return replace(whole, status=206, headers=kept | named, body=whole.body[first : last + 1])


class FaultyServer:
    """A server whose replies are those of `answer`, but for the faults that were injected."""

    def __init__(self, port: int = 0) -> None:
        self.asked: list[Asked] = []
        self.connections = 0  # so far
        self._faults: list[_Planned] = []
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle(self) -> None:
                with server._lock:
                    server.connections += 1
                with suppress(ConnectionError):
                    super().handle()

            def serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, self.path, headers, body)
                self.send(asked.method == "HEAD", server.reply(asked))

            do_HEAD = do_GET = do_PUT = do_POST = do_DELETE = serve

            def send(self, to_head: bool, reply: Reply) -> None:
                if reply.drip is not None and to_head:
                    reply.drip.wait(60)
                framing = {
                    "length": {"Content-Length": str(len(reply.body))},
                    "chunks": {"Transfer-Encoding": "chunked"},
                    "end": {"Connection": "close"},
                }
                headers = framing[reply.framed] | reply.headers
                lines = [f"HTTP/1.1 {reply.status} -", *(f"{name}: {value}" for name, value in headers.items()), "\r\n"]
                self.close_connection |= reply.framed == "end" or (reply.head, reply.cut) != (None, None)
                self.wfile.write("\r\n".join(lines).encode()[: reply.head])
                if to_head or reply.status in (204, 304) or reply.head is not None:
                    return
                body = reply.body
                if reply.drip is not None:
                    self.wfile.write(body[: reply.free])
                    reply.drip.wait(60)
                    body = body[reply.free :]
                if reply.framed == "chunks":
                    body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
                body = body if reply.cut is None else body[: reply.cut]
                slow = body[: reply.free or None] if reply.pace else b""
                for part in [*(bytes([byte]) for byte in slow), body[len(slow) :]]:
                    self.wfile.write(part)
                    time.sleep(reply.pace)

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self._server.request_queue_size = 128
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def answer(self, asked: Asked) -> Reply:
        raise NotImplementedError

    def inject(self, fault: Fault, times: int = ALWAYS, when: When = anything, done: bool = True) -> None:
        """The next `times` requests that fit `when` go wrong in this way; not `done`, they change nothing."""
        with self._lock:
            self._faults.append(_Planned(fault, times, when, done))

    def heal(self) -> None:
        """Nothing goes wrong any more, and nothing was asked."""
        with self._lock:
            self._faults.clear()
            self.asked.clear()

    def reply(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            planned = next((one for one in self._faults if one.times > 0 and one.when(asked)), None)
            if planned is not None:
                planned.times -= 1
        if planned is None:
            return self.answer(asked)
        return planned.fault(asked, self.answer(asked) if planned.done else Reply(200))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
