"""A store of objects for tests, with as much of S3's API as objectstore uses, strict about signatures."""

import base64
import hashlib
import re
import threading
import time
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from urllib.parse import quote, quote_plus, unquote
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from tests.faulty_http import Asked, FaultyServer, Reply, When, ranged
from tests.sigv4 import complaint, parameters

ACCESS_KEY = "AKIDTEST"
SECRET_KEY = "wJalr+secret/of=tests"
BUCKET = "bucket"


@dataclass(frozen=True)
class Stored:
    """An object; `size` is what it says of itself, which for one in a test of large ones is more than it holds."""

    content: bytes
    etag: str
    mtime: float = field(default_factory=time.time)
    size: int | None = None
    checksum: dict[str, str] = field(default_factory=dict)  # headers

    @classmethod
    def of(cls, content: bytes) -> "Stored":
        return cls(content, f'"{hashlib.md5(content).hexdigest()}"')

    @property
    def length(self) -> int:
        return len(self.content) if self.size is None else self.size


def error(status: int, code: str, more: str = "") -> Reply:
    text = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>for a person</Message>{more}</Error>"
    return Reply(status, {"Content-Type": "application/xml"}, text.encode())


def document(text: str) -> Reply:
    return Reply(200, {"Content-Type": "application/xml"}, f"<?xml version='1.0'?>{text}".encode())


def of_method(name: str) -> When:
    return lambda asked: asked.method == name


def with_word(word: str) -> When:
    return lambda asked: word in asked.target


is_head, is_get, is_put, is_delete = map(of_method, ("HEAD", "GET", "PUT", "DELETE"))
is_list, is_delete_many = with_word("list-type"), with_word("delete=")
#: The start of an upload in parts, and a part.
is_start, is_part = with_word("uploads="), with_word("partNumber=")


def is_finish(asked: Asked) -> bool:
    """The end of an upload in parts."""
    return asked.method == "POST" and "uploadId=" in asked.target


def is_copy(asked: Asked) -> bool:
    return "x-amz-copy-source" in asked.headers


def _iso(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(moment))


class S3Server(FaultyServer):
    """`buckets` maps names to objects by key; a test may change it as it likes.

    Not every store knows `conditional_deletes`, which are a DELETE with If-Match, or `ranges`, or `encodes` its lists.
    """

    def __init__(self, port: int = 0) -> None:
        self.conditional_deletes = True
        self.ranges = True
        self.encodes = True
        self.buckets: dict[str, dict[str, Stored]] = {BUCKET: {}}
        self.uploads: dict[str, dict[int, Stored]] = {}
        self.lock = threading.RLock()
        super().__init__(port)

    def put(self, key: str, content: bytes) -> Stored:
        self.buckets[BUCKET][key] = stored = Stored.of(content)
        return stored

    def access_key(self, _: Asked) -> str:
        """Who is expected to sign this request."""
        return ACCESS_KEY

    def answer(self, asked: Asked) -> Reply:
        path, _, query = asked.target.partition("?")
        why = complaint(asked.method, path, query, asked.headers, asked.body, self.access_key(asked), SECRET_KEY)
        if why is not None:
            return error(403, why)
        bucket_name, _, key = unquote(path).removeprefix("/").partition("/")
        given = dict(parameters(query))
        with self.lock:
            bucket = self.buckets.get(bucket_name)
            if bucket is None:
                return error(404, "NoSuchBucket")
            if not key:
                return self._on_bucket(bucket, asked, given)
            if "uploads" in given or "uploadId" in given:
                return self._on_upload(bucket, key, asked, given)
            return self._on_object(bucket, key, asked)

    def _on_bucket(self, bucket: dict[str, Stored], asked: Asked, given: dict[str, str]) -> Reply:
        if asked.method == "HEAD":
            return Reply(200)
        if asked.method == "POST" and "delete" in given:
            given_sums = {asked.headers.get("content-md5"), asked.headers.get("x-amz-checksum-sha256")}
            sums = (hashlib.md5(asked.body), hashlib.sha256(asked.body))
            if given_sums.isdisjoint(base64.b64encode(one.digest()).decode() for one in sums):
                return error(400, "BadDigest")
            keys = [entry.text or "" for entry in ElementTree.fromstring(asked.body).iter("Key")]
            for key in keys:
                bucket.pop(key, None)
            told = "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys)
            return document(f"<DeleteResult>{told}</DeleteResult>")
        if asked.method != "GET" or given.get("list-type") != "2":
            return error(405, "MethodNotAllowed")
        return self._list(bucket, given)

    def _list(self, bucket: dict[str, Stored], given: dict[str, str]) -> Reply:
        prefix, delimiter = given.get("prefix", ""), given.get("delimiter", "")
        most, after = int(given.get("max-keys", 1000)), unquote(given.get("continuation-token", ""))
        encoded = self.encodes and given.get("encoding-type") == "url"
        found: dict[str, Stored | None] = {}
        for key in sorted(bucket):
            rest = key.removeprefix(prefix)
            if not key.startswith(prefix):
                continue
            name = prefix + rest.split(delimiter)[0] + delimiter if delimiter and delimiter in rest else key
            if name > after:
                found.setdefault(name, None if name != key or (delimiter and delimiter in rest) else bucket[key])
        page = list(found.items())[:most]

        def text(key: str) -> str:
            return quote_plus(key, safe="/-._~*") if encoded else escape(key)

        parts = [
            f"<CommonPrefixes><Prefix>{text(name)}</Prefix></CommonPrefixes>"
            if stored is None
            else f"<Contents><Key>{text(name)}</Key><LastModified>{_iso(stored.mtime)}</LastModified>"
            f"<ETag>{escape(stored.etag)}</ETag><Size>{stored.length}</Size></Contents>"
            for name, stored in page
        ]
        more = len(found) > len(page)
        token = f"<NextContinuationToken>{quote(page[-1][0], safe='')}</NextContinuationToken>" if more else ""
        kind = f"<EncodingType>{'url' if encoded else ''}</EncodingType>"
        return document(
            f"<ListBucketResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><IsTruncated>{str(more).lower()}"
            f"</IsTruncated>{kind}{token}{''.join(parts)}</ListBucketResult>"
        )

    def _on_object(self, bucket: dict[str, Stored], key: str, asked: Asked) -> Reply:
        stored = bucket.get(key)
        match asked.method:
            case "HEAD" | "GET":
                return error(404, "NoSuchKey") if stored is None else self._read(stored, asked)
            case "PUT":
                return self._put(bucket, key, asked, stored)
            case "DELETE":
                refused = self._refused(asked, stored) if self.conditional_deletes else None
                if refused is None:
                    bucket.pop(key, None)
                return refused or Reply(204)
        return error(405, "MethodNotAllowed")

    def _read(self, stored: Stored, asked: Asked) -> Reply:
        if asked.headers.get("if-match", stored.etag) != stored.etag:
            return error(412, "PreconditionFailed")
        headers = {"ETag": stored.etag, "Last-Modified": formatdate(stored.mtime, usegmt=True)}
        if asked.headers.get("x-amz-checksum-mode") == "ENABLED":
            headers |= stored.checksum
        if asked.headers.get("range") == "bytes=0-0" and self.ranges:
            if not stored.length:
                return error(416, "InvalidRange", "<ActualObjectSize>0</ActualObjectSize>")
            return Reply(206, headers | {"Content-Range": f"bytes 0-0/{stored.length}"}, stored.content[:1])
        whole = Reply(200, headers | {"Content-Length": str(stored.length)}, stored.content)
        return ranged(asked, whole) if self.ranges else whole

    def _refused(self, asked: Asked, stored: Stored | None) -> Reply | None:
        if asked.headers.get("if-none-match") == "*" and stored is not None:
            return error(412, "PreconditionFailed")
        if "if-match" in asked.headers and (stored is None or asked.headers["if-match"] != stored.etag):
            return error(412 if stored else 404, "PreconditionFailed" if stored else "NoSuchKey")
        return None

    def _source(self, asked: Asked) -> Stored | Reply | None:
        """What is to be copied; None where this is no copy."""
        if "x-amz-copy-source" not in asked.headers:
            return None
        name, _, key = unquote(asked.headers["x-amz-copy-source"]).removeprefix("/").partition("/")
        source = self.buckets.get(name, {}).get(key)
        if source is None:
            return error(404, "NoSuchKey")
        if asked.headers.get("x-amz-copy-source-if-match", source.etag) != source.etag:
            return error(412, "PreconditionFailed")
        return source

    def _put(self, bucket: dict[str, Stored], key: str, asked: Asked, stored: Stored | None) -> Reply:
        refused = self._refused(asked, stored)
        if refused is not None:
            return refused
        source = self._source(asked)
        if isinstance(source, Reply):
            return source
        if source is not None:
            if source.length > 5 << 30:
                return error(400, "InvalidRequest")
            bucket[key] = Stored(source.content, source.etag, size=source.size)
            return document(f"<CopyObjectResult><ETag>{escape(source.etag)}</ETag></CopyObjectResult>")
        bucket[key] = Stored.of(asked.body)
        return Reply(200, {"ETag": bucket[key].etag})

    def _on_upload(self, bucket: dict[str, Stored], key: str, asked: Asked, given: dict[str, str]) -> Reply:
        if asked.method == "POST" and "uploads" in given:
            upload = f"upload-{len(self.uploads)}"
            self.uploads[upload] = {}
            return document(
                f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
            )
        parts = self.uploads.get(given["uploadId"])
        if parts is None:
            return error(404, "NoSuchUpload")
        if asked.method == "DELETE":
            del self.uploads[given["uploadId"]]
            return Reply(204)
        if asked.method == "PUT":
            source = self._source(asked)
            if isinstance(source, Reply):
                return source
            part = Stored.of(asked.body)
            if source is not None:
                span = re.fullmatch(r"bytes=(\d+)-(\d+)", asked.headers["x-amz-copy-source-range"])
                assert span is not None
                first, last = int(span[1]), int(span[2]) + 1
                part = replace(Stored.of(source.content[first:last]), size=last - first)
            parts[int(given["partNumber"])] = part
            if source is not None:
                return document(f"<CopyPartResult><ETag>{escape(part.etag)}</ETag></CopyPartResult>")
            return Reply(200, {"ETag": part.etag})
        refused = self._refused(asked, bucket.get(key))
        if refused is not None:
            return refused
        named = [entry.text for entry in ElementTree.fromstring(asked.body).iter("ETag")]
        if named != [parts[number].etag for number in sorted(parts)]:
            return error(400, "InvalidPart")
        chosen = [parts[number] for number in sorted(parts)]
        content = b"".join(part.content for part in chosen)
        sums = b"".join(bytes.fromhex(part.etag.strip('"')) for part in chosen)
        etag = f'"{hashlib.md5(sums).hexdigest()}-{len(parts)}"'
        bucket[key] = Stored(content, etag, size=sum(part.length for part in chosen))
        del self.uploads[given["uploadId"]]
        return document(f"<CompleteMultipartUploadResult><ETag>{escape(etag)}</ETag></CompleteMultipartUploadResult>")
