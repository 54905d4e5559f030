"""Checks signatures as a strict store does: each is calculated again from what arrived."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

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
    if "X-Amz-Signature" in presigned:
        credential, signed = presigned["X-Amz-Credential"], presigned["X-Amz-SignedHeaders"]
        signature, date, payload = presigned["X-Amz-Signature"], presigned["X-Amz-Date"], "UNSIGNED-PAYLOAD"
        given = [(name, value) for name, value in given if name != "X-Amz-Signature"]
    else:
        match = _AUTHORIZATION.fullmatch(headers.get("authorization", ""))
        if match is None:
            return "AccessDenied"
        credential, signed, signature = match["credential"], match["signed"], match["signature"]
        date, payload = headers.get("x-amz-date", ""), headers.get("x-amz-content-sha256", "")
        if payload not in ("UNSIGNED-PAYLOAD", hashlib.sha256(body).hexdigest()):
            return "XAmzContentSHA256Mismatch"
        names = signed.split(";")
        if any(name not in names for name in headers if name.startswith("x-amz-") or name == "host"):
            return "AccessDenied"
    key, day, region, service, end = credential.split("/")
    if key != access_key:
        return "InvalidAccessKeyId"
    canonical = "\n".join(
        [
            method,
            quote(unquote(path), safe="/-._~"),
            "&".join(sorted(f"{quote(n, safe='-._~')}={quote(v, safe='-._~')}" for n, v in given)),
            *(f"{name}:{' '.join(headers.get(name, '').split())}" for name in signed.split(";")),
            "",
            signed,
            payload,
        ]
    )
    scope = f"{day}/{region}/{service}/{end}"
    to_sign = f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    secret = f"AWS4{secret_key}".encode()
    for part in (day, region, service, end):
        secret = hmac.digest(secret, part.encode(), "sha256")
    expected = hmac.new(secret, to_sign.encode(), "sha256").hexdigest()
    return None if hmac.compare_digest(expected, signature) else "SignatureDoesNotMatch"
