"""The services that give AWS's credentials to a process, and a store that knows them, in one server."""

import json
import time
from urllib.parse import parse_qsl, unquote

from tests.faulty_http import Asked, Reply
from tests.s3_server import SECRET_KEY, S3Server, document, error
from tests.sigv4 import parameters

ROLE = "role with blank"
METADATA_TOKEN = "AQAE-token-of-a-session"


def _iso(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


class RotatingStore(S3Server):
    """A store that takes the credentials which it gives out; 400 ExpiredToken is its answer to what is no longer good.

    Each is good for `lifetime_s`, or until a test revokes it, and a service wants to be shown `token` for it. The
    store is all of these services.
    """

    def __init__(self) -> None:
        self.lifetime_s = 3600.0
        self.token = "the first token"
        self.issued: list[tuple[str, str, float]] = []  # access key, session token, end
        self.revoked: set[str] = set()
        super().__init__()

    def issue(self) -> tuple[str, str, float]:
        number = len(self.issued)
        # The time goes over the wire in whole seconds.
        self.issued.append((f"ASIA{number}", f"session/{number}+=", float(int(time.time() + self.lifetime_s))))
        return self.issued[-1]

    def revoke_all(self) -> None:
        self.revoked |= {key for key, _, _ in self.issued}

    def complaint(self, key: str, token: str) -> str | None:
        for issued, right, end in self.issued:
            if issued == key:
                expired = time.time() >= end or key in self.revoked
                return "ExpiredToken" if expired else None if token == right else "InvalidToken"
        return "InvalidAccessKeyId"

    def answer(self, asked: Asked) -> Reply:
        path = asked.target.partition("?")[0]
        for prefix, service in (("/sts/", self._sts), ("/container", self._container), ("/latest/", self._metadata)):
            if path.startswith(prefix):
                return service(asked)
        query = dict(parameters(asked.target.partition("?")[2]))
        token = query.get("X-Amz-Security-Token") or asked.headers.get("x-amz-security-token", "")
        why = self.complaint(self.access_key(asked), token)
        if why is not None:
            return error(403 if why == "InvalidAccessKeyId" else 400, why)
        return super().answer(asked)

    def access_key(self, asked: Asked) -> str:
        query = dict(parameters(asked.target.partition("?")[2]))
        credential = query.get("X-Amz-Credential") or asked.headers.get("authorization", "").partition("Credential=")[2]
        return credential.partition("/")[0]

    def services_asked(self) -> list[str]:
        """The targets of the requests to credential services so far."""
        return [asked.target for asked in self.asked if asked.target.startswith(("/sts/", "/container", "/latest/"))]

    def signers(self) -> set[str]:
        """The access keys of all requests for objects so far."""
        services = self.services_asked()
        return {self.access_key(asked) for asked in self.asked if asked.target not in services}

    def _json(self) -> Reply:
        key, token, end = self.issue()
        grant = {"Code": "Success", "AccessKeyId": key, "SecretAccessKey": SECRET_KEY, "Token": token}
        return Reply(200, {"Content-Type": "application/json"}, json.dumps(grant | {"Expiration": _iso(end)}).encode())

    def _container(self, asked: Asked) -> Reply:
        return self._json() if asked.headers.get("authorization") == self.token else Reply(401)

    def _metadata(self, asked: Asked) -> Reply:
        roles = "/latest/meta-data/iam/security-credentials/"
        if asked.target == "/latest/api/token":
            timed = asked.method == "PUT" and "x-aws-ec2-metadata-token-ttl-seconds" in asked.headers
            return Reply(200, {}, METADATA_TOKEN.encode()) if timed else Reply(400)
        if asked.headers.get("x-aws-ec2-metadata-token") != METADATA_TOKEN:
            return Reply(401)
        if asked.target == roles:
            return Reply(200, {}, ROLE.encode())
        return self._json() if unquote(asked.target) == roles + ROLE else Reply(404)

    def _sts(self, asked: Asked) -> Reply:
        given = dict(parse_qsl(asked.body.decode()))
        if asked.method != "POST" or given["Action"] != "AssumeRoleWithWebIdentity" or not given["RoleSessionName"]:
            return Reply(400)
        if given["WebIdentityToken"] != self.token:
            return document("<ErrorResponse><Error><Code>InvalidIdentityToken</Code></Error></ErrorResponse>", 400)
        key, token, end = self.issue()
        grant = {"AccessKeyId": key, "SecretAccessKey": SECRET_KEY, "SessionToken": token, "Expiration": _iso(end)}
        keys = "".join(f"<{name}>{value}</{name}>" for name, value in grant.items())
        result = f"<AssumeRoleWithWebIdentityResult><Credentials>{keys}</Credentials></AssumeRoleWithWebIdentityResult>"
        root = "AssumeRoleWithWebIdentityResponse"
        return document(f"<{root} xmlns='https://sts.amazonaws.com/doc/2011-06-15/'>{result}</{root}>")
