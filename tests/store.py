"""Calls to an S3 store by presigned URLs: the query form of AWS's signature version 4."""

import base64
import hashlib
import hmac
import urllib.request
import zlib
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
        headers: Mapping[str, str] | None = None,
    ) -> str:
        """A URL that allows one method on `/bucket/key` for some time.

        `query` is what it asks for besides, `headers` what has to be sent with it, by names in lower case.
        """
        signed = {"host": self.address, **(headers or {})}
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        scope = f"{now[:8]}/{REGION}/s3/aws4_request"
        given = {
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
            "X-Amz-Credential": f"{self.access_key}/{scope}",
            "X-Amz-Date": now,
            "X-Amz-Expires": str(seconds),
            "X-Amz-SignedHeaders": ";".join(sorted(signed)),
            **(query or {}),
        }
        asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in sorted(given.items()))
        escaped = quote(path, safe="/-_.~")
        lines = "".join(f"{name}:{value}\n" for name, value in sorted(signed.items()))
        request = f"{method}\n{escaped}\n{asked}\n{lines}\n{';'.join(sorted(signed))}\nUNSIGNED-PAYLOAD"
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
        key = b"AWS4" + (self.secret_key if secret is None else secret).encode()
        for part in (now[:8], REGION, "s3", "aws4_request", text):
            key = hmac.digest(key, part.encode(), "sha256")
        return f"http://{self.address}{escaped}?{asked}&X-Amz-Signature={key.hex()}"

    def put(self, path: str, content: bytes, *, crc: bool = False) -> None:
        """Put an object there; with `crc` as today's SDKs do, with a CRC-32 that the store compares and keeps."""
        headers = {}
        if crc:
            headers["x-amz-checksum-crc32"] = base64.b64encode(zlib.crc32(content).to_bytes(4, "big")).decode()
        url = self.url("PUT", path, headers=headers)
        request = urllib.request.Request(url, data=content, headers=headers, method="PUT")
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
