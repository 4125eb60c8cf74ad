"""Defines the kind `webhook`, which starts a run for an HTTP request. The API validates the request before it creates the run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from stepless.limits import (
    MAX_KNOWN_WEBHOOKS,
    MAX_PATH_CHARACTERS,
    MAX_SIGNED_TEMPLATE_CHARACTERS,
    MAX_TOLERANCE_S,
    MAX_URL_CHARACTERS,
    MAX_WEBHOOK_SECRETS,
)
from stepless.model.findings import Finding
from stepless.model.kind import Kind, Nature, Outcome, Part, Work
from stepless.model.triggers.webhook_schemes import (
    PLACEHOLDER,
    PLACEHOLDERS,
    SCHEMES,
    Algorithm,
    Encoding,
    RequestField,
    Scheme,
    SchemeName,
)
from stepless.nodes.params import Params, warning

Method = Annotated[
    Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    BeforeValidator(lambda name: name.upper() if isinstance(name, str) else name),
]
HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Secrets = Text | Annotated[list[Text], Field(min_length=1, max_length=MAX_WEBHOOK_SECRETS)]
PATH: Final = r"^(/[A-Za-z0-9_-]+)+$"
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_GENERAL: Final = ("algorithm", "encoding", "header", "prefix", "template", "timestamp_header", "id_header")


def _known_placeholders(template: str) -> str:
    unknown = sorted({name for name in PLACEHOLDER.findall(template) if name not in PLACEHOLDERS})
    if unknown:
        raise ValueError(f"`{{{unknown[0]}}}` is not one of {', '.join(f'{{{name}}}' for name in PLACEHOLDERS)}")
    if "{body}" not in template and "{fields}" not in template:
        raise ValueError("the template has no {body}, so that the body would not be signed")
    return template


class General(Params):
    """The fields by which a document describes the scheme of a sender that is not in the table."""

    algorithm: Algorithm = "sha256"
    """With `hmac`: the hash function of the HMAC."""
    encoding: Encoding = "hex"
    """With `hmac`: how the signature is written."""
    header: HeaderName | None = None
    """With `hmac`: the header field that carries the signature, by default `X-Signature`."""
    prefix: str = Field("", max_length=100)
    """With `hmac`: the text before the signature in its header, like `sha256=`."""
    template: Annotated[str, AfterValidator(_known_placeholders)] | None = Field(None, max_length=MAX_SIGNED_TEMPLATE_CHARACTERS)
    """With `hmac`: what is signed, with `{id}`, `{timestamp}`, `{body}`, `{url}`, `{method}` and `{fields}` (the fields of a
    form, sorted, each name followed by its value). By default `{timestamp}.{body}`, or `{body}` if `prefix` is given. Without
    `timestamp_header`, `{timestamp}` is read from the header of the signature, which is then
    `t=<unix seconds>,v1=<signature>`."""
    timestamp_header: HeaderName | None = None
    """With `hmac`: the header field with the timestamp, in seconds or milliseconds since 1970 UTC."""
    id_header: HeaderName | None = None
    """With `hmac`: the header field with the sender's id of the delivery. A repeated id returns the same run."""
    tolerance_s: int = Field(300, ge=0, le=MAX_TOLERANCE_S)
    """How many seconds the timestamp of a signature may be in the past or the future, where the scheme has one."""
    url: str | None = Field(None, max_length=MAX_URL_CHARACTERS)
    """The address that the sender calls, for a scheme that signs it. By default, that of the deployment (`PublicUrl`), or else
    the host of the request."""


class Hmac(General):
    """An HMAC over the raw body, by default with a timestamp."""

    hmac: Secrets
    """The shared key, or a list of keys of which any is accepted. By default the header is
    `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`."""
    header: HeaderName = "X-Signature"
    """The header field that carries the signature."""


class Bearer(Params):
    bearer: str = Field(min_length=1)
    """The token that `Authorization: Bearer` must contain."""


class Signed(General):
    """A signature by one of the supported schemes."""

    scheme: SchemeName
    """The sender's scheme, by the table of schemes in the reference; or `hmac`, whose short form is `{hmac: …}`."""
    secret: Secrets
    """The secret that is shared with the sender (`sendgrid`: the public key), or a list of which any is accepted."""


class WebhookParams(Params):
    path: str = Field(pattern=PATH, max_length=MAX_PATH_CHARACTERS)
    """The path below `/hooks`."""
    method: Method | Annotated[list[Method], Field(min_length=1, max_length=len(METHODS))] = "POST"
    """One or several HTTP methods."""
    auth: Literal["none"] | Hmac | Bearer | Signed = "none"
    """How the caller authenticates: a signature (`hmac`, or a `scheme`), a `bearer` token, or `none`."""
    schema_: dict[str, Any] | None = Field(None, alias="schema")
    """JSON Schema of the body. The API refuses any other body with 422, without a run."""
    response: Literal["async", "wait"] = "async"
    """`async` answers 202 at once; `wait` waits for a `respond` node, or for the run's end."""


def signed_by(auth: Hmac | Signed) -> Signed:
    """Returns the long form of `auth`."""
    if isinstance(auth, Signed):
        return auth
    given = {name: getattr(auth, name) for name in auth.model_fields_set if name != "hmac"}
    return Signed(scheme="hmac", secret=auth.hmac, **given)


def secrets_of(auth: Signed) -> Sequence[str]:
    return [auth.secret] if isinstance(auth.secret, str) else auth.secret


def scheme_of(auth: Signed) -> Scheme:
    """Returns the row of the table for `auth`; for `hmac`, the row that its fields describe."""
    if auth.scheme != "hmac":
        return SCHEMES[auth.scheme]
    return _described(
        auth.header, auth.algorithm, auth.encoding, auth.prefix, auth.template, auth.timestamp_header, auth.id_header
    )


@lru_cache(maxsize=MAX_KNOWN_WEBHOOKS)
def _described(
    header: str | None, algorithm: Algorithm, encoding: Encoding, prefix: str, template: str | None, timestamp_header: str | None,
    id_header: str | None,
) -> Scheme:  # fmt: skip
    row = SCHEMES["hmac"]
    signed = template or ("{body}" if prefix else row.template)
    row = row._replace(header=header or row.header, algorithm=algorithm, encoding=encoding, template=signed)
    if id_header is not None:
        row = row._replace(delivery=RequestField("header", id_header))
    if timestamp_header is not None:
        return row._replace(timestamp=RequestField("header", timestamp_header), prefix=prefix, separator="")
    if "{timestamp}" not in signed:
        return row._replace(timestamp=None, prefix=prefix, separator="")
    return row


def check(params: WebhookParams, path: str) -> list[Finding]:
    if "auth" not in params.model_fields_set:
        return [warning("open_webhook", f"{path}.auth", "anyone who knows the path can start runs",
                        "Set `auth: {hmac: \"${NAME}\"}` or `{bearer: \"${NAME}\"}`, or say `auth: none`.")]
    match params.auth:
        case Bearer(bearer=secret):
            return _in_document([secret], path)
        case Hmac() | Signed() as auth:
            signed = signed_by(auth)
            return [*_in_document(secrets_of(signed), path, public=scheme_of(signed).key == "public"), *_unusable(signed, path)]
    return []


def _in_document(secrets: Sequence[str], path: str, *, public: bool = False) -> list[Finding]:
    if public or all("${" in secret for secret in secrets):
        return []
    return [warning("secret_in_document", f"{path}.auth", "the document itself contains the secret",
                    "Keep it in the environment or the secret store and write `${NAME}`.")]


def _unusable(auth: Signed, path: str) -> list[Finding]:
    """Findings for fields that would do nothing, and for a template that cannot be filled in."""
    if auth.scheme != "hmac":
        return [
            warning("unused_parameter", f"{path}.auth.{name}", f"the scheme `{auth.scheme}` has its own {name.replace('_', ' ')}",
                    "Leave it out, or use the scheme `hmac`.")
            for name in _GENERAL if name in auth.model_fields_set and getattr(auth, name) is not None
        ]
    signs = scheme_of(auth).signs
    if auth.url is not None and "url" not in signs:
        return [warning("unused_parameter", f"{path}.auth.url", "the address is not signed", "Leave it out.")]
    if "id" in signs and auth.id_header is None:
        return [Finding("invalid_value", f"{path}.auth.template", "the template has {id}, and no header carries it",
                        "Set `id_header`, or leave {id} out.")]
    if auth.prefix and "timestamp" in signs and auth.timestamp_header is None:
        return [Finding("invalid_value", f"{path}.auth.prefix", "the header `t=…,v1=…` has its own prefix",
                        "Set `timestamp_header`, or leave {timestamp} out of the template.")]
    if auth.timestamp_header is not None and "timestamp" not in signs:
        return [warning("unused_parameter", f"{path}.auth.timestamp_header", "the timestamp is not signed, so it proves nothing",
                        "Add {timestamp} to the template, or leave it out.")]
    return []


def evaluate(work: Work) -> Outcome:
    return Outcome(work.run_inputs)


KIND = Kind(
    "webhook", Nature.ENTRY, WebhookParams, "starts a run for an HTTP request; returns its body, headers, query and path",
    parts={"path": Part.LITERAL, "method": Part.LITERAL, "schema": Part.LITERAL, "response": Part.LITERAL},
    evaluate=evaluate, check=check,
    brief=("method", "path"),
    icon="M8 9 5.5 4.6a2.4 2.4 0 1 1 4.6-.9M8 9l2.6.1a2.4 2.4 0 1 1-.8 4.3M5.4 9.2 3.9 11a2.4 2.4 0 1 0 4 1.4h2.6",
)
