"""Verifies the signatures of webhook requests by `model.triggers.webhook_schemes`, over the raw body, in constant time.

A signature proves that someone who has the secret made these bytes. Four things are easy to get wrong:

* *The bytes as they came are signed*, not what they parse to. A body that was parsed and written again has other spaces and
  another order of keys. The JSON of a body is read only to find a timestamp or a delivery id in it.
* *Comparisons take the same time wherever they differ* (`compare_digest`), and every secret is compared with every signature: a
  loop that stopped at the first match would tell which of several secrets is in use. The number of signatures is bounded, so that
  a header cannot buy computing time.
* *A valid signature stays valid.* Where the scheme signs a timestamp, it must be recent. Where it signs none, or signs no
  delivery id, whoever has seen one request can send it again, under another delivery id; the table says what each sender signs.
* *A sender retries with a new signature and the same delivery id*, so a repeated delivery id returns the same run. Without one,
  what is signed identifies the request: the MAC itself, or for ECDSA, where one message has many valid signatures, the hash of
  the message.

A sender may have signed another address than the one that arrives (a proxy, a trailing query), so each address under which it may
have called is tried. A missing or unusable secret refuses with 503, never with success.
"""

from __future__ import annotations

import binascii
import hmac
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, NamedTuple
from urllib.parse import parse_qs, parse_qsl

from stepless.compile.reading.strict_json import strict_json
from stepless.errors import Forbidden, InvalidRequest
from stepless.limits import MAX_FORM_FIELDS, MAX_SIGNATURES
from stepless.model.json import JSON, parse_path, read_path
from stepless.model.triggers.webhook_schemes import RequestField, Scheme, pieces_of
from stepless.nodes.entries.webhook import Signed, scheme_of, secrets_of
from stepless.runtime.triggers import ecdsa

_FORM: Final = "application/x-www-form-urlencoded"
_MILLISECONDS_FROM: Final = 10**12  # a number of seconds this large is in the year 33658
_DECODED: Final = (
    ("%3A", ":"), ("%2F", "/"), ("%3F", "?"), ("%40", "@"), ("%21", "!"), ("%24", "$"), ("%27", "'"), ("%28", "("), ("%29", ")"),
    ("%2A", "*"), ("%2C", ","), ("%3B", ";"),
)  # fmt: skip
"""The characters that HubSpot decodes in the address before it signs it."""


class SignedRequest(NamedTuple):
    """What a signature may cover. Header names are in lower case; `urls` are the addresses that the sender may have called."""

    headers: Mapping[str, str]
    body: bytes
    method: str = "POST"
    urls: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """A valid signature. `headers` are the names of the headers that contained it, in lower case. `delivery` is the sender's
    delivery id, or None; then `signature` identifies the request, unless it is empty. `secret` is the one that fits."""

    headers: frozenset[str]
    delivery: str | None
    signature: str
    secret: str = field(default="", repr=False)


def verify(
    auth: Signed, headers: Mapping[str, str], body: bytes, now_ms: int, *, method: str = "POST", urls: Sequence[str] = ()
) -> Proof:
    """Checks a request's signature. Header names are in lower case; `urls` are the addresses that the sender may have called.

    Raises `Forbidden`: bad_signature, stale_signature, or secret_missing (503) if the scheme cannot use the secret.
    """
    scheme = scheme_of(auth)
    request = SignedRequest(headers, body, method, urls)
    given = _Given(scheme, request)
    secret, signature = given.proved(auth)
    if given.timestamp:
        _check_age(given.timestamp_ms, auth.tolerance_s, now_ms)
    names = {scheme.header.lower()}
    if scheme.timestamp is not None and scheme.timestamp.kind == "header":
        names.add(scheme.timestamp.name.lower())
    return Proof(frozenset(names), given.delivery, signature, secret)


def sign(secret: str, body: bytes, now_ms: int) -> str:
    """Returns the value of the signature header for the schemes hmac and stripe."""
    seconds = now_ms // 1000
    return f"t={seconds},v1={hmac.new(secret.encode(), f'{seconds}.'.encode() + body, sha256).hexdigest()}"


def key_of(scheme: Scheme, secret: str) -> bytes:
    """Returns the key that a secret contains. Raises `Forbidden` (secret_missing) if it does not have the form of the scheme."""
    if scheme.key != "whsec":
        return secret.encode()
    try:
        return b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        raise _unusable_secret("`whsec_` and base64") from None


def mac_of(scheme: Scheme, key: bytes, signed: bytes) -> str:
    """Returns the HMAC of what is signed, as the sender writes it, without its prefix."""
    mac = hmac.digest(key, signed, scheme.algorithm)
    return mac.hex() if scheme.encoding == "hex" else b64encode(mac).decode()


def filled(scheme: Scheme, request: SignedRequest, url: str, timestamp: str, delivery: str) -> bytes:
    """Returns the bytes that are signed: the template with its values."""
    parts = []
    for at, piece in enumerate(pieces_of(scheme.template)):
        match piece if at % 2 else "":
            case "body":
                parts.append(request.body)
            case "timestamp":
                parts.append(timestamp.encode())
            case "id":
                parts.append(delivery.encode("utf-8", "surrogatepass"))
            case "url":
                parts.append(url.encode("utf-8", "surrogatepass"))
            case "method":
                parts.append(request.method.encode())
            case "fields":
                parts.append(sorted_fields(request))
            case _:
                parts.append(piece.encode())
    return b"".join(parts)


def sorted_fields(request: SignedRequest) -> bytes:
    """Returns the fields of a form, sorted by name, each name followed by its values; nothing for another body."""
    if not is_form(request.headers):
        return b""
    fields: dict[str, set[str]] = {}
    for name, value in _pairs(request.body):
        fields.setdefault(name, set()).add(value)
    text = "".join(name + value for name in sorted(fields) for value in sorted(fields[name]))
    return text.encode("utf-8", "surrogateescape")


def urls_of(scheme: Scheme, urls: Sequence[str]) -> Iterator[str]:
    """Yields every form of the address in which the scheme may have signed it; one empty text if it does not sign it."""
    if "url" not in scheme.signs:
        yield ""
        return
    for url in urls:
        yield url
        if scheme.decodes_url:
            decoded = url
            for code, character in _DECODED:
                decoded = decoded.replace(code, character).replace(code.lower(), character)
            yield decoded


class _Given:
    """What a request says of its signature."""

    def __init__(self, scheme: Scheme, request: SignedRequest) -> None:
        self._scheme = scheme
        self._request = request
        self._json: JSON = json_of(request.body) if _reads_body(scheme) else None
        header = request.headers.get(scheme.header.lower(), "")
        self._items = [item.strip() for item in (header.split(scheme.separator) if scheme.separator else [header])]
        self.delivery = self._delivery()
        self.timestamp = self._timestamp()

    def proved(self, auth: Signed) -> tuple[str, str]:
        """Returns the secret that made the signature, and what identifies the request. Raises `Forbidden`."""
        scheme = self._scheme
        prefix = scheme.prefix
        signatures = [item[len(prefix):] for item in self._items if item.startswith(prefix)][:MAX_SIGNATURES]
        if scheme.proof == "token":
            return self._token(secrets_of(auth), signatures), ""
        urls = self._request.urls if auth.url is None else _with_query(auth.url, self._request.urls)
        found: tuple[str, str] | None = None
        for secret in secrets_of(auth):
            key = key_of(scheme, secret)
            for url in urls_of(scheme, urls):
                signed = filled(scheme, self._request, url, self.timestamp, self.delivery or "")
                identity = self._fits(key, signed, signatures)
                if identity and found is None:
                    found = secret, identity
        if found is None or ("id" in scheme.signs and not self.delivery) or not self._digest_fits():
            raise self._refused("the signature does not match the body")
        return found

    def _fits(self, key: bytes, signed: bytes, signatures: Sequence[str]) -> str:
        """What identifies the request if one of the signatures fits; else an empty text."""
        scheme = self._scheme
        if scheme.proof == "ecdsa":  # one message has many valid signatures, so the message itself identifies it
            return sha256(signed).hexdigest() if ecdsa.is_signed(key.decode(), signed, signatures) else ""
        wanted = mac_of(scheme, key, signed)
        # a list, not a generator: `any` must not stop at the first match
        matches = [hmac.compare_digest(one.encode(), wanted.encode()) for one in signatures]
        of_item = scheme.timestamp is not None and scheme.timestamp.kind == "item"
        return (wanted if of_item else scheme.prefix + wanted) if any(matches) else ""

    def _token(self, secrets: Sequence[str], given: Sequence[str]) -> str:
        pairs = [(secret, hmac.compare_digest(one.encode(), secret.encode())) for secret in secrets for one in given]
        fitting = [secret for secret, matches in pairs if matches]
        if not fitting:
            raise self._refused("the token does not match")
        return fitting[0]

    def _timestamp(self) -> str:
        """The timestamp as it was sent; empty for a scheme without one."""
        field = self._scheme.timestamp
        if field is None:
            return ""
        value = self._at(field)
        is_number = isinstance(value, int) and not isinstance(value, bool)
        text = value if isinstance(value, str) else str(value) if is_number else ""
        if not (text.isascii() and text.isdecimal() and len(text) <= 15):
            raise self._refused("the signature is missing or malformed")
        return text

    @property
    def timestamp_ms(self) -> int:
        number = int(self.timestamp)
        return number if number >= _MILLISECONDS_FROM else number * 1000

    def _delivery(self) -> str | None:
        field = self._scheme.delivery
        value = self._at(field) if field is not None else None
        return value if isinstance(value, str) and value else None

    def _at(self, field: RequestField) -> JSON:
        if field.kind == "header":
            return self._request.headers.get(field.name.lower(), "")
        if field.kind == "item":
            return next((item.partition("=")[2] for item in self._items if item.partition("=")[0] == field.name), "")
        return read_path(self._json, parse_path(field.name))

    def _digest_fits(self) -> bool:
        """Whether the query has the SHA-256 of a body that is no form, where the scheme signs such a body in this way only."""
        name, request = self._scheme.body_digest, self._request
        if not name or not request.body or is_form(request.headers):
            return True
        digest = sha256(request.body).hexdigest().encode()
        given = [text for url in request.urls for text in parse_qs(url.partition("?")[2]).get(name, ())]
        matches = [hmac.compare_digest(text.lower().encode(), digest) for text in given]
        return any(matches)

    def _refused(self, message: str) -> Forbidden:
        return Forbidden(message, code="bad_signature", mend=_format(self._scheme), status=401)


def _format(scheme: Scheme) -> str:
    """How the signature is sent, for the sender."""
    name = scheme.header.lower()
    if scheme.proof == "token":
        return f"send the header {name} with the token"
    made = f"{scheme.encoding} HMAC-{scheme.algorithm.upper()}" if scheme.proof == "hmac" else "base64 ECDSA"
    written = f"{scheme.prefix}<{made} of {scheme.template}>"
    field = scheme.timestamp
    if field is not None and field.kind == "item":
        written = f"{field.name}=<unix seconds>{scheme.separator}{written}"
    others = [each.name for each in (scheme.delivery if "id" in scheme.signs else None, field) if each and each.kind == "header"]
    return f"send the header {name}: {written}" + (f", with {' and '.join(others)}" if others else "")


def _with_query(url: str, received: Sequence[str]) -> Sequence[str]:
    """The address that the document names, as it is and with the query of the request."""
    query = next((each.partition("?")[2] for each in received), "")  # a host may be malformed
    return [url, f"{url}?{query}"] if query and "?" not in url else [url]


def is_form(headers: Mapping[str, str]) -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() == _FORM


def _pairs(body: bytes) -> Sequence[tuple[str, str]]:
    try:
        text = body.decode("utf-8", "surrogateescape")
        return parse_qsl(text, keep_blank_values=True, errors="surrogateescape", max_num_fields=MAX_FORM_FIELDS)
    except ValueError as error:
        message = f"a form has at most {MAX_FORM_FIELDS} fields"
        raise InvalidRequest(message, code="invalid_form", mend="send fewer fields") from error


def _reads_body(scheme: Scheme) -> bool:
    return any(field is not None and field.kind == "body" for field in (scheme.timestamp, scheme.delivery))


def json_of(body: bytes) -> JSON:
    """Returns the parsed body; None if it is not JSON."""
    try:
        return strict_json(body)
    except InvalidRequest:
        return None


def _check_age(at_ms: int, tolerance_s: int, now_ms: int) -> None:
    if abs(now_ms - at_ms) > tolerance_s * 1000:
        message = f"the signature is more than {tolerance_s} seconds old or in the future"
        raise Forbidden(message, code="stale_signature", mend="sign with the current time", status=401)


def _unusable_secret(form: str) -> Forbidden:
    message = f"the webhook's secret is not {form}, so no request can be accepted"
    return Forbidden(message, code="secret_missing", mend="set the secret that the sender shows", status=503)
