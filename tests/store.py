"""Calls to an S3 store by presigned URLs: the query form of AWS's signature version 4, of the host header only."""

import hashlib
import hmac
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

REGION = "us-east-1"


@dataclass(frozen=True)
class Store:
    """A store, by the address `HOST:PORT` under which the one who calls it knows it."""

    address: str
    access_key: str
    secret_key: str

    def url(
        self,
        method: str,
        path: str,
        seconds: int = 900,
        secret: str | None = None,
        query: Mapping[str, str] | None = None,
    ) -> str:
        """A URL that allows one method on `/bucket/key` for some time; `query` is what it asks for besides."""
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        scope = f"{now[:8]}/{REGION}/s3/aws4_request"
        given = {
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
            "X-Amz-Credential": f"{self.access_key}/{scope}",
            "X-Amz-Date": now,
            "X-Amz-Expires": str(seconds),
            "X-Amz-SignedHeaders": "host",
            **(query or {}),
        }
        asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in sorted(given.items()))
        escaped = quote(path, safe="/-_.~")
        request = f"{method}\n{escaped}\n{asked}\nhost:{self.address}\n\nhost\nUNSIGNED-PAYLOAD"
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
        key = b"AWS4" + (self.secret_key if secret is None else secret).encode()
        for part in (now[:8], REGION, "s3", "aws4_request", text):
            key = hmac.digest(key, part.encode(), "sha256")
        return f"http://{self.address}{escaped}?{asked}&X-Amz-Signature={key.hex()}"

    def put(self, path: str, content: bytes) -> None:
        """Put an object there."""
        request = urllib.request.Request(self.url("PUT", path), data=content, method="PUT")
        with direct().open(request, timeout=60) as answer:
            assert answer.status == 200


def direct() -> urllib.request.OpenerDirector:
    """Whatever the environment says of proxies."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))


def through(proxy: str, url: str, tag: str) -> tuple[bytes, dict[str, str]]:
    """The content and the headers of a GET through a Dragonfly client at `proxy`."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": f"http://{proxy}"}))
    request = urllib.request.Request(url, headers={"X-Dragonfly-Use-P2P": "true", "X-Dragonfly-Tag": tag})
    with opener.open(request, timeout=120) as answer:
        return answer.read(), {name.lower(): value for name, value in answer.headers.items()}
