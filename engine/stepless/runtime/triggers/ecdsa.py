"""Verifies and makes signatures by ECDSA over P-256 and SHA-256, as DER in base64, with the library `cryptography`.

The library is imported with the first such signature: it takes 0.1 seconds, and few webhooks need it.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stepless.errors import ConfigError, Forbidden

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey


def is_signed(public: str, signed: bytes, signatures: Sequence[str]) -> bool:
    """Returns whether one of the signatures is of `signed`, by the owner of a public key in PEM, or DER in base64. Raises
    `Forbidden` (secret_missing, 503) if the key cannot be read."""
    key = _public(public)
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
    from cryptography.hazmat.primitives.hashes import SHA256

    for signature in signatures:
        try:
            key.verify(b64decode(signature, validate=True), signed, ECDSA(SHA256()))
        except (InvalidSignature, binascii.Error, ValueError):
            continue
        return True
    return False


def signature_of(private: str, signed: bytes) -> str:
    """Returns the signature of `signed` by a private key in PEM. Raises `ConfigError`."""
    key = _private(private)
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
    from cryptography.hazmat.primitives.hashes import SHA256

    return b64encode(key.sign(signed, ECDSA(SHA256()))).decode()


def new_private() -> str:
    """Returns a new private key, in PEM without a password."""
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = generate_private_key(SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def public_of(private: str) -> str:
    """Returns the public key of a private one, as DER in base64, on one line. Raises `ConfigError`."""
    key = _private(private)
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return b64encode(key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()


def _public(text: str) -> EllipticCurvePublicKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.serialization import load_der_public_key, load_pem_public_key

    try:
        pem = text.lstrip().startswith("-----")
        key = load_pem_public_key(text.encode()) if pem else load_der_public_key(b64decode("".join(text.split()), validate=True))
    except (binascii.Error, ValueError, UnsupportedAlgorithm):
        key = None
    if isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1):
        return key
    message = "the webhook's secret is not a public key of the curve P-256, so no request can be accepted"
    raise Forbidden(message, code="secret_missing", mend="set the verification key that the sender shows", status=503)


def _private(text: str) -> EllipticCurvePrivateKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(text.encode(), None)
    except (TypeError, ValueError, UnsupportedAlgorithm):
        key = None
    if isinstance(key, EllipticCurvePrivateKey) and isinstance(key.curve, SECP256R1):
        return key
    mend = "give a private key of the curve P-256 in PEM, without a password"
    raise ConfigError("this is not such a private key", code="invalid_value", place="the secret", mend=mend)
