"""Toxiproxy (https://github.com/Shopify/toxiproxy): a proxy for TCP that can be told to disturb connections."""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from types import TracebackType
from typing import Any, Self

#: The program, and how to get it.
PROGRAM = "toxiproxy-server"
ADVICE = "its releases are at github.com/Shopify/toxiproxy"
#: Seconds in which it is expected to be there, and so many times it is started: its port may have been taken.
START_PATIENCE, TIMES = 20.0, 3
_HERE = "127.0.0.1"
#: Becomes a program that ends with its parent: prctl(PR_SET_PDEATHSIG, SIGKILL).
_ENDING_WITH_PARENT = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execv(sys.argv[1], sys.argv[1:])"


class NoToxiproxyError(Exception):
    """The proxy cannot be used; the text says why, without a full stop."""


class Toxiproxy:
    """A proxy of this machine, which ends with this process. Raises NoToxiproxyError."""

    def __init__(self) -> None:
        program = shutil.which(PROGRAM)
        if program is None:
            raise NoToxiproxyError(f"{PROGRAM} is not there: {ADVICE}")
        self._process, self._port = _started(program)
        self._names: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: object, _: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()

    def through(self, service: str) -> str:
        """The address, `host:port`, behind which this service can be reached from now on."""
        name = str(len(self._names))
        listen = f"{facing(service) or _HERE}:0"
        made = self._ask("POST", "/proxies", {"name": name, "listen": listen, "upstream": service})
        self._names.append(name)
        return str(made["listen"])

    @contextmanager
    def disturbed(self, number: int, toxics: Sequence[Mapping[str, Any]], *, down: bool) -> Iterator[None]:
        """Within, the connections of the `number`-th address are disturbed by `toxics`, or there are none."""
        path = f"/proxies/{self._names[number]}"
        if down:
            self._ask("POST", path, {"enabled": False})
        for toxic in toxics:
            self._ask("POST", f"{path}/toxics", {**toxic, "name": f"{toxic['type']}-{toxic['stream']}"})
        try:
            yield
        finally:
            for toxic in toxics:
                self._ask("DELETE", f"{path}/toxics/{toxic['type']}-{toxic['stream']}")
            if down:
                self._ask("POST", path, {"enabled": True})

    def _ask(self, method: str, path: str, told: Mapping[str, Any] | None = None) -> dict[str, Any]:
        try:
            status, answer = _asked(self._port, method, path, told)
        except (OSError, HTTPException, ValueError) as error:
            raise NoToxiproxyError(f"{PROGRAM} does not answer: {error}") from error
        if status >= 300:
            raise NoToxiproxyError(f"{PROGRAM} refuses {method} {path}: {answer.get('error', status)}")
        return answer


def facing(service: str) -> str | None:
    """The address of this machine from which it reaches a service: others of that network reach it there, too.

    None where this machine does not know the name.
    """
    host, _, port = service.rpartition(":")
    try:
        family, kind, *_, address = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as nothing_is_sent:
            nothing_is_sent.connect(address)
            own = str(nothing_is_sent.getsockname()[0])
    except (OSError, UnicodeError):
        return None
    return f"[{own}]" if ":" in own else own


def _asked(port: int, method: str, path: str, told: Mapping[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
    connection = HTTPConnection(_HERE, port, timeout=START_PATIENCE)
    try:
        # It takes requests of browsers for attacks.
        connection.request(method, path, None if told is None else json.dumps(told), {"User-Agent": "tffs-conformance"})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read() or "{}")
    finally:
        connection.close()


def _started(program: str) -> tuple[subprocess.Popen[bytes], int]:
    """The program, and the port at which it takes orders."""
    for _ in range(TIMES):
        with socket.create_server((_HERE, 0)) as place:
            port = place.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "-IS", "-c", _ENDING_WITH_PARENT, program, "-host", _HERE, "-port", str(port)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until = time.monotonic() + START_PATIENCE
        while process.poll() is None and time.monotonic() < until:
            try:
                if _asked(port, "GET", "/version")[0] == 200:
                    return process, port
            except (OSError, HTTPException, ValueError):
                time.sleep(0.01)
        process.kill()
        process.wait()
    raise NoToxiproxyError(f"{PROGRAM} does not start")
