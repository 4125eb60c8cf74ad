import asyncio
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpcore
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from stepless.nodes.http.addresses import Allowed
from stepless.nodes.http.transport import open_client

NAME = "payments.example"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keeps quiet."""


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A TLS server on the loopback address with a trusted certificate for NAME."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    start = datetime(2020, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(start).not_valid_after(start + timedelta(days=36_500))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False).sign(key, hashes.SHA256())
    )
    trusted, chain = tmp_path / "trusted.pem", tmp_path / "chain.pem"
    trusted.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    chain.write_bytes(trusted.read_bytes() + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption(),
    ))
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    secure = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    secure.load_cert_chain(chain)
    listener.socket = secure.wrap_socket(listener.socket, server_side=True)
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
    thread.start()
    yield listener.server_port
    listener.shutdown()
    thread.join()
    listener.server_close()


async def loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


async def status_of(url: str) -> int:
    client = open_client(Allowed.parse("127.0.0.1"), loopback)
    try:
        return (await client.get(url)).status_code
    finally:
        await client.aclose()


def test_the_certificate_must_be_the_host_names_although_the_connection_goes_to_an_address(port: int) -> None:
    assert asyncio.run(status_of(f"https://{NAME}:{port}/")) == 204
    with pytest.raises(httpcore.ConnectError, match="Hostname mismatch"):
        asyncio.run(status_of(f"https://other.example:{port}/"))
