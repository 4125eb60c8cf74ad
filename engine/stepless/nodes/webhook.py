"""`webhook`: a run that an HTTP request starts. The request is judged by the API before there is a run."""

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
    """`hmac` is the shared key: HMAC-SHA256 over the raw body, in `header`, not older than `tolerance_s`."""

    hmac: str = Field(min_length=1)
    header: HeaderName = "X-Signature"
    tolerance_s: int = Field(300, ge=0, le=MAX_TOLERANCE_S)


class Bearer(Params):
    bearer: str = Field(min_length=1)


class Signed(Params):
    """`secret` is shared with the sender, who signs by `scheme`: `github`, `stripe`, `standard` (Standard Webhooks), or `hmac`,
    which is what `{hmac: …}` is short for. `header` is for `hmac` alone; `github` signs no time."""

    scheme: Literal["hmac", "github", "stripe", "standard"]
    secret: str = Field(min_length=1)
    header: HeaderName | None = None
    tolerance_s: int = Field(300, ge=0, le=MAX_TOLERANCE_S)


class WebhookParams(Params):
    path: str = Field(pattern=PATH, max_length=MAX_PATH_CHARACTERS)
    method: Method | Annotated[list[Method], Field(min_length=1, max_length=5)] = "POST"
    auth: Literal["none"] | Hmac | Bearer | Signed = "none"
    schema_: dict[str, Any] | None = Field(None, alias="schema")
    response: Literal["async", "wait"] = "async"


def check(params: WebhookParams, path: str) -> list[Finding]:
    if "auth" not in params.model_fields_set:
        return [warning("open_webhook", f"{path}.auth", "anyone who knows the path can start runs",
                        "Set `auth: {hmac: \"${NAME}\"}` or `{bearer: \"${NAME}\"}`, or say `auth: none`.")]
    match params.auth:
        case Hmac(hmac=secret) | Bearer(bearer=secret) | Signed(secret=secret) if "${" not in secret:
            return [warning("secret_in_document", f"{path}.auth", "the secret stands in the document itself",
                            "Keep it in the environment or the secret store and write `${NAME}`.")]
        case Signed(scheme=scheme, header=str()) if scheme != "hmac":
            told = f"the scheme `{scheme}` names its own header"
            return [warning("unused_parameter", f"{path}.auth.header", told, "Leave it out.")]
    return []


def evaluate(work: Work) -> Outcome:
    return Outcome(work.run_inputs)


KIND = Kind(
    "webhook", Nature.ENTRY, WebhookParams, "starts a run for an HTTP request; puts out its body, headers, query and path",
    parts={"path": Part.LITERAL, "method": Part.LITERAL, "schema": Part.LITERAL, "response": Part.LITERAL},
    evaluate=evaluate, check=check,
)
