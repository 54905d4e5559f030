"""Certificates for tests, made by openssl, and a store that shows them."""

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from tests.s3_server import S3Server


class Authority:
    """Signs certificates; all files are in `folder`."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.certificate, self._key = folder / f"{name}.pem", folder / f"{name}.key"
        new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(self._key)]
        _openssl("req", "-x509", *new_key, "-out", str(self.certificate), "-subj", f"/CN={name}", "-days", "2")

    def sign(self, name: str) -> tuple[Path, Path]:
        """A certificate for 127.0.0.1, and its key."""
        paths = [self.folder / f"{self.name}-{name}.{end}" for end in ("pem", "key", "csr", "ext")]
        certificate, key, request, extension = paths
        new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(key)]
        _openssl("req", "-new", *new_key, "-out", str(request), "-subj", f"/CN={name}")
        extension.write_text("subjectAltName=IP:127.0.0.1\n", encoding="utf-8")
        signer = ["-CA", str(self.certificate), "-CAkey", str(self._key), "-CAcreateserial", "-days", "2"]
        _openssl("x509", "-req", "-in", str(request), *signer, "-out", str(certificate), "-extfile", str(extension))
        return certificate, key


def _openssl(*arguments: str) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("not run: openssl is not there: apt-get install openssl")
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


class TlsStore(S3Server):
    """Serves what `plain` holds, over TLS; with `clients`, only those whom that authority signed."""

    def __init__(self, plain: S3Server, authority: Authority, clients: Authority | None = None) -> None:
        super().__init__()
        self.buckets = plain.buckets
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*authority.sign("server"))
        if clients is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(clients.certificate)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    @property
    def url(self) -> str:
        return f"https://{self.host}"
