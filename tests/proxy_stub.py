"""A stub of the HTTP contract of dfdaemon's proxy, for tests of the plugin. It is no Dragonfly: nothing is shared.

What it keeps of the contract is what was seen of the real one: a GET with `X-Dragonfly-Use-P2P: true` is answered from
a task, which is known by the URL without the signature and by the tag, and is never looked at again; an error of the
store has its status, an empty body and `X-Dragonfly-Error-Type: backend`; a store that does not answer is a 500.
"""

import hashlib
import http.client
from contextlib import closing
from urllib.parse import urlsplit

from tests.faulty_http import Asked, FaultyServer, Reply, ranged
from tests.sigv4 import parameters


class ProxyStub(FaultyServer):
    def __init__(self) -> None:
        self.tasks: dict[str, Reply] = {}
        self.ranges = True
        super().__init__()

    def answer(self, asked: Asked) -> Reply:
        url = urlsplit(asked.target)
        if asked.method != "GET" or asked.headers.get("x-dragonfly-use-p2p") != "true" or not url.netloc:
            return Reply(500, {"X-Dragonfly-Error-Type": "proxy"})
        filtered = asked.headers.get("x-dragonfly-filtered-query-params", "").split(",")
        kept = [pair for pair in parameters(url.query) if pair[0] not in filtered]
        identity = (url.netloc, url.path, kept, asked.headers.get("x-dragonfly-tag"))
        task = hashlib.sha256(repr(identity).encode()).hexdigest()
        known = self.tasks.get(task)
        if known is None:
            known = self._fetched(asked, url.netloc, f"{url.path}?{url.query}")
            if known.status != 200:
                return known
            self.tasks[task] = known
        whole = Reply(200, {**known.headers, "X-Dragonfly-Task-ID": task}, known.body)
        return ranged(asked, whole) if self.ranges else whole

    def _fetched(self, asked: Asked, host: str, target: str) -> Reply:
        headers = {name: value for name, value in asked.headers.items() if name == "if-match"}
        try:
            with closing(http.client.HTTPConnection(host, timeout=30)) as connection:
                connection.request("GET", target, headers=headers)
                response = connection.getresponse()
                body = response.read()
        except (OSError, http.client.HTTPException):
            return Reply(500, {"X-Dragonfly-Error-Type": "backend"})
        if response.status != 200:
            return Reply(response.status, {"X-Dragonfly-Error-Type": "backend"})
        passed = ("ETag", "Last-Modified", "Content-Type")
        return Reply(200, {name: response.headers[name] for name in passed if name in response.headers}, body)
