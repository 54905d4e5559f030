"""Checks signatures as a strict store does: each is calculated again from what arrived."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<credential>[^,]+),\s*"
    r"SignedHeaders=(?P<signed>[^,]+),\s*Signature=(?P<signature>\w+)"
)


def parameters(query: str) -> list[tuple[str, str]]:
    """The decoded names and values of a query string; here, a plus sign is a plus sign."""
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return [(unquote(name), unquote(value)) for name, _, value in pairs]


def complaint(
    method: str, path: str, query: str, headers: Mapping[str, str], body: bytes, access_key: str, secret_key: str
) -> str | None:
    """Why this request is refused: an S3 error code; None where it is signed as it should be."""
    given = parameters(query)
    presigned = dict(given)
    kind: type[S3SigV4Auth | S3SigV4QueryAuth]
    if "X-Amz-Signature" in presigned:
        kind = S3SigV4QueryAuth
        credential, signed = presigned["X-Amz-Credential"], presigned["X-Amz-SignedHeaders"]
        signature, date = presigned["X-Amz-Signature"], presigned["X-Amz-Date"]
        given = [(name, value) for name, value in given if name != "X-Amz-Signature"]
    else:
        kind = S3SigV4Auth
        match = _AUTHORIZATION.fullmatch(headers.get("authorization", ""))
        if match is None:
            return "AccessDenied"
        credential, signed, signature = match["credential"], match["signed"], match["signature"]
        date = headers.get("x-amz-date", "")
        if headers.get("x-amz-content-sha256") not in ("UNSIGNED-PAYLOAD", hashlib.sha256(body).hexdigest()):
            return "XAmzContentSHA256Mismatch"
        names = signed.split(";")
        if any(name not in names for name in headers if name.startswith("x-amz-") or name == "host"):
            return "AccessDenied"
    key, _day, region, service, _end = credential.split("/")
    if key != access_key:
        return "InvalidAccessKeyId"
    named = {name: headers.get(name, "") for name in signed.split(";")}
    request = AWSRequest(method, f"http://store{quote(unquote(path), safe='/-._~')}", named, params=given)
    request.context["timestamp"] = date
    scheme = kind(Credentials(access_key, secret_key), service, region)
    expected = scheme.signature(scheme.string_to_sign(request, scheme.canonical_request(request)), request)
    return None if hmac.compare_digest(expected, signature) else "SignatureDoesNotMatch"
