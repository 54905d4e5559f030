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
        self._make(self.certificate, self._key, name)

    def sign(self, name: str) -> tuple[Path, Path]:
        """A certificate for 127.0.0.1, and its key."""
        certificate, key = (self.folder / f"{self.name}-{name}.{end}" for end in ("pem", "key"))
        signer = ["-CA", str(self.certificate), "-CAkey", str(self._key), "-addext", "subjectAltName=IP:127.0.0.1"]
        self._make(certificate, key, name, *signer)
        return certificate, key

    def _make(self, certificate: Path, key: Path, name: str, *more: str) -> None:
        if shutil.which("openssl") is None:
            pytest.skip("not run: openssl is not there: apt-get install openssl")
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-keyout", str(key), "-out", str(certificate), "-subj", f"/CN={name}", "-days", "2", *more]
        subprocess.run(command, check=True, capture_output=True)


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
