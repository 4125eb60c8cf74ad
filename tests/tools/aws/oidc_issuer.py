"""An OpenID Connect issuer on this machine: discovery, keys, and sign-in with PKCE over HTTPS on loopback, tokens signed with
real keys.

The server's certificate is signed by nobody else: a client must be given `certificate` as an authority (SSL_CERT_FILE).
"""

from __future__ import annotations

import datetime
import ipaddress
import json
import ssl
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from lambda_host import Server

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


class Issuer:
    """`keys` are those that it signs with, by key id; it publishes the public half of each. `first` and `second` are RSA keys,
    as before and after a rotation, `curve` is a key on P-256."""

    def __init__(self, folder: Path) -> None:
        self.keys: dict[str, Key] = {
            "first": rsa_key(),
            "second": rsa_key(),
            "curve": ec.generate_private_key(ec.SECP256R1()),
        }
        self.asked: list[str] = []
        self.people: list[dict[str, Any]] = []  # the claims of those who sign in next
        self.life_s = 300
        self.granted_at: list[str] = []
        self._codes: dict[str, tuple[dict[str, str], dict[str, Any]]] = {}
        self._renewals: dict[str, dict[str, Any]] = {}
        self.certificate, private = _certificate(folder)
        self._server = Server(("127.0.0.1", 0), _pages(self))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, private)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}/pool"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def claims(self, **changed: Any) -> dict[str, Any]:
        """The claims of a token that is valid for five minutes; `changed` replaces claims, and ... removes one."""
        now_s = int(time.time())  # noqa: TID251 - as an issuer
        standard = {"iss": self.url, "aud": "stepless", "sub": "u-1", "iat": now_s, "nbf": now_s - 10, "exp": now_s + 300}
        return {name: value for name, value in {**standard, **changed}.items() if value is not ...}

    def token(self, kid: str = "first", header: Mapping[str, Any] | None = None, key: Key | None = None, **claims: Any) -> str:
        """A token signed with the key `kid`, or with another `key` under its id."""
        signer = key or self.keys[kid]
        algorithm = "RS256" if isinstance(signer, rsa.RSAPrivateKey) else "ES256"
        return jwt.encode(self.claims(**claims), signer, algorithm, {"kid": kid, **(header or {})})

    def authorized(self, asked: Mapping[str, str]) -> str:
        """Where a browser goes that asks for a code: back, as the next of `people`."""
        assert asked["response_type"] == "code" and asked["code_challenge_method"] == "S256"
        code = f"code-{len(self._codes)}"
        self._codes[code] = dict(asked), self.people.pop(0)
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state'], 'iss': self.url})}"

    def granted(self, form: Mapping[str, str]) -> dict[str, Any] | None:
        """The tokens for a code, once, with the verifier that its challenge was made of; None for anything else."""
        if form.get("grant_type") == "refresh_token":
            claims = self._renewals.pop(form.get("refresh_token", ""), None)
        else:
            asked, claims = self._codes.pop(form.get("code", ""), ({}, None))
            proof = urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).decode().rstrip("=")
            if claims is not None and (proof, form.get("redirect_uri"), form.get("client_id")) != (
                asked["code_challenge"], asked["redirect_uri"], asked["client_id"]
            ):
                return None
            claims = {**claims, "nonce": asked["nonce"]} if claims is not None else None
        if claims is None:
            return None
        renewal = f"renewal-{len(self.granted_at)}"
        self._renewals[renewal] = claims
        self.granted_at.append(form["grant_type"])
        made = {"id_token": self.token(**claims), "access_token": "opaque", "refresh_token": renewal}
        return {**made, "token_type": "Bearer", "expires_in": self.life_s}

    def public_pem(self, kid: str) -> bytes:
        encoding, form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        return self.keys[kid].public_key().public_bytes(encoding, form)

    def answer(self, path: str) -> Any:
        self.asked.append(path)
        match path:
            case "/pool/.well-known/openid-configuration":
                ends = {"authorization_endpoint": f"{self.url}/authorize", "token_endpoint": f"{self.url}/token"}
                return {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **ends}
            case "/pool/keys":
                return {"keys": [{**_jwk(key), "kid": kid, "use": "sig"} for kid, key in self.keys.items()]}
        return None


def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65_537, 2_048)


def _jwk(key: Key) -> dict[str, Any]:
    if isinstance(key, rsa.RSAPrivateKey):
        return {**RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "alg": "RS256"}
    return {**ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "alg": "ES256"}


def _pages(issuer: Issuer) -> type[BaseHTTPRequestHandler]:
    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            if path == "/pool/authorize":
                self.send_response(302)
                self.send_header("Location", issuer.authorized(dict(parse_qsl(query))))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            found = issuer.answer(self.path)
            self._say(404 if found is None else 200, found)

        def do_POST(self) -> None:
            form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            found = issuer.granted(form) if self.path == "/pool/token" else None
            self._say(400 if found is None else 200, found or {"error": "invalid_grant"})

        def _say(self, status: int, found: Any) -> None:
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            return

    return Pages


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, valid for a day, and its private key."""
    key = rsa_key()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.fromtimestamp(time.time(), datetime.UTC)  # noqa: TID251 - as an issuer
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "issuer.pem", folder / "issuer.key"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form, no_password = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, no_password))
    return certificate, private
