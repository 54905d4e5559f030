"""A store of objects for tests, with as much of S3's API as objectstore uses, strict about signatures."""

import base64
import hashlib
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


def document(text: str, status: int = 200) -> Reply:
    return Reply(status, {"Content-Type": "application/xml"}, f"<?xml version='1.0'?>{text}".encode())


def error(status: int, code: str) -> Reply:
    return document(f"<Error><Code>{code}</Code><Message>for a person</Message></Error>", status)


def with_etag(name: str, etag: str) -> Reply:
    return document(f"<{name}><ETag>{escape(etag)}</ETag></{name}>")


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
    With `counts` a token in a list is the number of names before the page, and not the last of them.
    """

    def __init__(self, port: int = 0) -> None:
        self.lock = threading.RLock()
        self.renew()
        super().__init__(port)

    def renew(self) -> None:
        """There is one bucket without objects, and the store knows what it may know."""
        self.conditional_deletes = self.ranges = self.encodes = True
        self.counts = False
        self.buckets: dict[str, dict[str, Stored]] = {BUCKET: {}}
        self.uploads: dict[str, dict[int, Stored]] = {}

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
            try:
                keys = [entry.text or "" for entry in ElementTree.fromstring(asked.body).iter("Key")]
            except ElementTree.ParseError:
                return error(400, "MalformedXML")
            for key in keys:
                bucket.pop(key, None)
            told = "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys)
            return document(f"<DeleteResult>{told}</DeleteResult>")
        if asked.method != "GET" or given.get("list-type") != "2":
            return error(405, "MethodNotAllowed")
        return self._list(bucket, given)

    def _list(self, bucket: dict[str, Stored], given: dict[str, str]) -> Reply:
        prefix, delimiter = given.get("prefix", ""), given.get("delimiter") or "\0"
        most, token = int(given.get("max-keys", 1000)), unquote(given.get("continuation-token", ""))
        encoded = self.encodes and given.get("encoding-type") == "url"
        found: dict[str, Stored | None] = {}
        for key in sorted(one for one in bucket if one.startswith(prefix)):
            name, cut, _ = key.removeprefix(prefix).partition(delimiter)
            found.setdefault(prefix + name + cut, None if cut else bucket[key])
        names = list(found.items())
        left = names[int(token or 0) :] if self.counts else [one for one in names if one[0] > token]
        page = left[:most]

        def text(key: str) -> str:
            return quote_plus(key, safe="/-._~*") if encoded else escape(key)

        parts = [
            f"<CommonPrefixes><Prefix>{text(name)}</Prefix></CommonPrefixes>"
            if stored is None
            else f"<Contents><Key>{text(name)}</Key><LastModified>{_iso(stored.mtime)}</LastModified>"
            f"<ETag>{escape(stored.etag)}</ETag><Size>{stored.length}</Size></Contents>"
            for name, stored in page
        ]
        if more := len(left) > most:
            token = str(int(token or 0) + most) if self.counts else quote(page[-1][0], safe="")
            parts.append(f"<NextContinuationToken>{token}</NextContinuationToken>")
        parts += [f"<IsTruncated>{str(more).lower()}</IsTruncated><EncodingType>{'url' * encoded}</EncodingType>"]
        return document(
            f"<ListBucketResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>{''.join(parts)}</ListBucketResult>"
        )

    def _on_object(self, bucket: dict[str, Stored], key: str, asked: Asked) -> Reply:
        stored = bucket.get(key)
        match asked.method:
            case "HEAD" | "GET":
                return error(404, "NoSuchKey") if stored is None else self._read(stored, asked)
            case "PUT":
                return self._put(bucket, key, asked, stored)
            case "DELETE":
                if self.conditional_deletes and (refused := self._refused(asked, stored)):
                    return refused
                bucket.pop(key, None)
                return Reply(204)
        return error(405, "MethodNotAllowed")

    def _read(self, stored: Stored, asked: Asked) -> Reply:
        if asked.headers.get("if-match", stored.etag) != stored.etag:
            return error(412, "PreconditionFailed")
        headers = {"ETag": stored.etag, "Last-Modified": formatdate(stored.mtime, usegmt=True)}
        if asked.headers.get("x-amz-checksum-mode") == "ENABLED":
            headers |= stored.checksum
        whole = Reply(200, headers | {"Content-Length": str(stored.length)}, stored.content)
        reply = ranged(asked, whole) if self.ranges else whole
        if reply.status != 416:
            return reply
        size = f"<ActualObjectSize>{stored.length}</ActualObjectSize>"
        return document(f"<Error><Code>InvalidRange</Code>{size}</Error>", 416)

    def _refused(self, asked: Asked, stored: Stored | None) -> Reply | None:
        if asked.headers.get("if-none-match") == "*" and stored is not None:
            return error(412, "PreconditionFailed")
        if stored is None:
            return error(404, "NoSuchKey") if "if-match" in asked.headers else None
        matches = asked.headers.get("if-match", stored.etag) == stored.etag
        return None if matches else error(412, "PreconditionFailed")

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
        source = self._refused(asked, stored) or self._source(asked)
        if isinstance(source, Reply):
            return source
        if source is None:
            bucket[key] = Stored.of(asked.body)
            return Reply(200, {"ETag": bucket[key].etag})
        if source.length > 5 << 30:
            return error(400, "InvalidRequest")
        bucket[key] = replace(source, mtime=time.time(), checksum={})
        return with_etag("CopyObjectResult", source.etag)

    def _on_upload(self, bucket: dict[str, Stored], key: str, asked: Asked, given: dict[str, str]) -> Reply:
        if asked.method == "POST" and "uploads" in given:
            upload = f"upload-{len(self.uploads)}"
            self.uploads[upload] = {}
            text = f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
            return document(text)
        parts = self.uploads.get(given["uploadId"])
        if parts is None:
            return error(404, "NoSuchUpload")
        if asked.method == "DELETE":
            del self.uploads[given["uploadId"]]
            return Reply(204)
        if asked.method == "PUT":
            return self._put_part(parts, int(given["partNumber"]), asked)
        chosen = [parts[number] for number in sorted(parts)]
        if refused := self._refused(asked, bucket.get(key)):
            return refused
        if [entry.text for entry in ElementTree.fromstring(asked.body).iter("ETag")] != [one.etag for one in chosen]:
            return error(400, "InvalidPart")
        sums = b"".join(bytes.fromhex(part.etag.strip('"')) for part in chosen)
        etag = f'"{hashlib.md5(sums).hexdigest()}-{len(parts)}"'
        content = b"".join(part.content for part in chosen)
        bucket[key] = Stored(content, etag, size=sum(part.length for part in chosen))
        del self.uploads[given["uploadId"]]
        return with_etag("CompleteMultipartUploadResult", etag)

    def _put_part(self, parts: dict[int, Stored], number: int, asked: Asked) -> Reply:
        source = self._source(asked)
        if isinstance(source, Reply):
            return source
        if source is None:
            parts[number] = Stored.of(asked.body)
            return Reply(200, {"ETag": parts[number].etag})
        first, last = map(int, asked.headers["x-amz-copy-source-range"].removeprefix("bytes=").split("-"))
        parts[number] = replace(Stored.of(source.content[first : last + 1]), size=last + 1 - first)
        return with_etag("CopyPartResult", parts[number].etag)
