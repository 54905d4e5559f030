"""Calls to an S3 store by presigned URLs: the query form of AWS's signature version 4."""

import base64
import urllib.request
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials


@dataclass(frozen=True)
class Store:
    """A store, by the address `HOST:PORT` under which the one who calls it knows it."""

    address: str
    access_key: str
    secret_key: str

    def url(self, method: str, path: str, headers: Mapping[str, str] | None = None) -> str:
        """A URL that allows one method on `/bucket/key` for some time, with headers by names in lower case."""
        request = AWSRequest(method, f"http://{self.address}{quote(path)}", headers)
        S3SigV4QueryAuth(Credentials(self.access_key, self.secret_key), "s3", "us-east-1", 900).add_auth(request)
        return str(request.prepare().url)

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
