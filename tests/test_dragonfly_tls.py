"""Whom the dragonfly plugin trusts, and whom it shows itself as."""

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.dragonfly_client import BUILT, MISSING, at, configuration, configured, filesystem, read, registered
from tests.proxy_stub import ProxyStub
from tests.s3_server import S3Server
from tffs_conformance.harness.ops.codes import Code

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

CONTENT = b"content" * 1000


class Authority:
    """Signs certificates; all files are in `folder`."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.certificate, self._key = self._made(name)

    def sign(self, name: str) -> tuple[Path, Path]:
        """A certificate for 127.0.0.1, and its key."""
        signer = ["-CA", str(self.certificate), "-CAkey", str(self._key), "-addext", "subjectAltName=IP:127.0.0.1"]
        return self._made(f"{self.name}-{name}", *signer)

    def _made(self, name: str, *more: str) -> tuple[Path, Path]:
        if shutil.which("openssl") is None:
            pytest.skip("not run: openssl is not there: apt-get install openssl")
        certificate, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-keyout", str(key), "-out", str(certificate), "-subj", f"/CN={name}", "-days", "2", *more]
        subprocess.run(command, check=True, capture_output=True)
        return certificate, key


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


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"), "trusted")


@pytest.fixture
def plain() -> Iterator[S3Server]:
    """The store as dfdaemon reaches it."""
    with S3Server() as store:
        store.put("tests/file", CONTENT)
        yield store


def got(folder: Path, store: TlsStore, plain: S3Server, **more: Any) -> tuple[Code, str, bytes]:
    with ProxyStub() as proxy:
        endpoints = {"proxy_endpoint": plain.url}
        config = configuration(store.url, proxy.url, object_storage=endpoints, retry_deadline_s=0.2, **more)
        with filesystem(folder, config) as fs:
            return read(fs, at("file"))


def test_a_store_is_trusted_through_ca_file_only(tmp_path: Path, authority: Authority, plain: S3Server) -> None:
    other = Authority(tmp_path, "other")
    with TlsStore(plain, authority) as store:
        assert got(tmp_path, store, plain, ca_file=str(authority.certificate))[::2] == (Code.OK, CONTENT)
        for ca_file in (None, str(other.certificate)):
            code, message, content = got(tmp_path, store, plain, ca_file=ca_file)
            assert (code, content) == (Code.FAILED_PRECONDITION, b""), message


def test_a_store_that_asks_who_it_is(tmp_path: Path, authority: Authority, plain: S3Server) -> None:
    clients = Authority(tmp_path, "clients")
    certificate, key = clients.sign("me")
    both = tmp_path / "both.pem"
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    with TlsStore(plain, authority, clients) as store:
        trust = {"ca_file": str(authority.certificate)}
        pair = {"client_certificate": str(certificate), "client_key": str(key)}
        for shown in (pair, {"client_certificate": str(both)}):
            assert got(tmp_path, store, plain, **trust, **shown)[::2] == (Code.OK, CONTENT)
        code, message, _ = got(tmp_path, store, plain, **trust)
        assert code in (Code.UNAVAILABLE, Code.FAILED_PRECONDITION), message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ca_file": "missing.pem"}, "the key ca_file names"),
        ({"client_key": "trusted.key"}, "the key client_key is given without client_certificate"),
        ({"client_certificate": "trusted.pem"}, "which is no key"),
        ({"client_certificate": "trusted.pem", "client_key": "trusted-else.key"}, "which is not the key of"),
        ({"object_storage": {"endpoint": "https://s3"}}, "the key object_storage.proxy_endpoint is missing"),
    ],
)
def test_what_cannot_work_is_refused(tmp_path: Path, authority: Authority, given: dict[str, Any], message: str) -> None:
    authority.sign("else")
    files = {key: str(authority.folder / name) for key, name in given.items() if key != "object_storage"}
    config = configuration("http://127.0.0.1:1", "http://127.0.0.1:1", **(given | files))
    entry = registered(configured(tmp_path, config))
    assert (entry.code, message in entry.message) == (Code.INVALID_ARGUMENT, True), entry.message
