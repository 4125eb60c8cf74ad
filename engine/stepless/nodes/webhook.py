"""The kind `webhook`: starts a run for an HTTP request. The API validates the request before it creates the run."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from stepless.limits import MAX_PATH_CHARACTERS, MAX_TOLERANCE_S
from stepless.model.findings import Finding
from stepless.model.kind import Kind, Nature, Outcome, Part, Work
from stepless.nodes.params import Params, warning

Method = Annotated[
    Literal["GET", "POST", "PUT", "PATCH", "DELETE"],
    BeforeValidator(lambda name: name.upper() if isinstance(name, str) else name),
]
HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")]
PATH: Final = r"^(/[A-Za-z0-9_-]+)+$"


class Hmac(Params):
    """An HMAC-SHA256 signature over the raw body and a timestamp."""

    hmac: str = Field(min_length=1)
    """The shared key: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`."""
    header: HeaderName = "X-Signature"
    """The header field that carries the signature."""
    tolerance_s: int = Field(300, ge=0, le=MAX_TOLERANCE_S)
    """How many seconds the timestamp of a signature may be in the past or the future."""


class Bearer(Params):
    bearer: str = Field(min_length=1)
    """The token that `Authorization: Bearer` must contain."""


class Signed(Params):
    """A signature by one of the supported schemes."""

    scheme: Literal["hmac", "github", "stripe", "standard"]
    """The sender's scheme: `github`, `stripe`, `standard` (Standard Webhooks), or `hmac`, whose short form is `{hmac: …}`."""
    secret: str = Field(min_length=1)
    """The secret that is shared with the sender."""
    header: HeaderName | None = None
    """With `hmac`: the header field that carries the signature."""
    tolerance_s: int = Field(300, ge=0, le=MAX_TOLERANCE_S)
    """How many seconds the timestamp of a signature may be in the past or the future. `github` has no timestamp."""


class WebhookParams(Params):
    path: str = Field(pattern=PATH, max_length=MAX_PATH_CHARACTERS)
    """The path below `/hooks`."""
    method: Method | Annotated[list[Method], Field(min_length=1, max_length=5)] = "POST"
    """One or several HTTP methods."""
    auth: Literal["none"] | Hmac | Bearer | Signed = "none"
    """How the caller authenticates: a signature (`hmac`, or a `scheme`), a `bearer` token, or `none`."""
    schema_: dict[str, Any] | None = Field(None, alias="schema")
    """JSON Schema of the body. The API refuses any other body with 422, without a run."""
    response: Literal["async", "wait"] = "async"
    """`async` answers 202 at once; `wait` waits for a `respond` node, or for the run's end."""


def check(params: WebhookParams, path: str) -> list[Finding]:
    if "auth" not in params.model_fields_set:
        return [warning("open_webhook", f"{path}.auth", "anyone who knows the path can start runs",
                        "Set `auth: {hmac: \"${NAME}\"}` or `{bearer: \"${NAME}\"}`, or say `auth: none`.")]
    match params.auth:
        case Hmac(hmac=secret) | Bearer(bearer=secret) | Signed(secret=secret) if "${" not in secret:
            return [warning("secret_in_document", f"{path}.auth", "the document itself contains the secret",
                            "Keep it in the environment or the secret store and write `${NAME}`.")]
        case Signed(scheme=scheme, header=str()) if scheme != "hmac":
            message = f"the scheme `{scheme}` has its own header"
            return [warning("unused_parameter", f"{path}.auth.header", message, "Leave it out.")]
    return []


def evaluate(work: Work) -> Outcome:
    return Outcome(work.run_inputs)


KIND = Kind(
    "webhook", Nature.ENTRY, WebhookParams, "starts a run for an HTTP request; puts out its body, headers, query and path",
    parts={"path": Part.LITERAL, "method": Part.LITERAL, "schema": Part.LITERAL, "response": Part.LITERAL},
    evaluate=evaluate, check=check,
)
