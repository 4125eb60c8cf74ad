"""Lists the webhook schemes: how each sender signs its requests. A new sender is one more row.

The rows are data. `runtime.triggers.signatures` verifies requests by them and `runtime.triggers.signing` makes requests by them;
the general scheme `hmac` is a row that the document itself writes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from stepless.limits import MAX_KNOWN_WEBHOOKS

Algorithm: TypeAlias = Literal["sha1", "sha256", "sha512"]
Encoding: TypeAlias = Literal["hex", "base64"]
Proof: TypeAlias = Literal["hmac", "ecdsa", "token"]
Key: TypeAlias = Literal["text", "whsec", "public"]
Challenge: TypeAlias = Literal["", "head", "slack", "zoom"]

PLACEHOLDER: Final = re.compile(r"\{([a-z]+)\}")
PLACEHOLDERS: Final = ("id", "timestamp", "body", "url", "method", "fields")


class RequestField(NamedTuple):
    """Where a request carries a value: in a `header` of its own, in an `item` of the signature's header (`t=…`), or at a path of
    a JSON `body`."""

    kind: Literal["header", "item", "body"]
    name: str


class Scheme(NamedTuple):
    """How a sender proves that a request is its own.

    `template` is what is signed, from `{id}`, `{timestamp}`, `{body}`, `{url}`, `{method}`, and `{fields}`: the fields of a form,
    sorted, each name followed by its value. `proof` is an HMAC by `algorithm`; `ecdsa`, over P-256 and SHA-256; or the secret
    itself (`token`). The header carries it in `encoding` after `prefix`; several signatures are separated by `separator`.
    `delivery` identifies a delivery across the sender's retries. `key` is the form of the secret. `challenge` is how the sender
    checks the address before it sends: answered without a run. With `decodes_url`, the URL is signed with some of its
    percent-encoded characters decoded. `body_digest` is the query field with the SHA-256 of a body that is no form.
    `documentation` is the sender's page about it.
    """

    sender: str
    header: str
    template: str
    documentation: str
    proof: Proof = "hmac"
    algorithm: Algorithm = "sha256"
    encoding: Encoding = "hex"
    prefix: str = ""
    separator: str = ""
    timestamp: RequestField | None = None
    milliseconds: bool = False
    delivery: RequestField | None = None
    key: Key = "text"
    challenge: Challenge = ""
    decodes_url: bool = False
    body_digest: str = ""

    @property
    def signs(self) -> tuple[str, ...]:
        """The names of the placeholders in the template."""
        return pieces_of(self.template)[1::2]


@lru_cache(maxsize=MAX_KNOWN_WEBHOOKS)
def pieces_of(template: str) -> tuple[str, ...]:
    """Returns the texts of a template, with the names of its placeholders between them."""
    return tuple(PLACEHOLDER.split(template))


HMAC: Final = Scheme(
    "your own", "X-Signature", "{timestamp}.{body}", "", prefix="v1=", separator=",", timestamp=RequestField("item", "t"),
)
"""The scheme `hmac` as it is without further fields."""

SchemeName: TypeAlias = Literal[
    "hmac", "github", "stripe", "standard", "slack", "shopify", "zoom", "hubspot", "linear", "trello", "twilio", "gitlab",
    "bitbucket", "sendgrid",
]  # fmt: skip

SCHEMES: Final[Mapping[SchemeName, Scheme]] = MappingProxyType({
    "hmac": HMAC,
    "stripe": HMAC._replace(
        sender="Stripe", header="Stripe-Signature", delivery=RequestField("body", "id"),
        documentation="https://docs.stripe.com/webhooks/signature",
    ),
    "github": Scheme(
        "GitHub", "X-Hub-Signature-256", "{body}",
        "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
        prefix="sha256=", delivery=RequestField("header", "X-GitHub-Delivery"),
    ),
    "standard": Scheme(
        "Standard Webhooks", "webhook-signature", "{id}.{timestamp}.{body}",
        "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
        encoding="base64", prefix="v1,", separator=" ", timestamp=RequestField("header", "webhook-timestamp"),
        delivery=RequestField("header", "webhook-id"), key="whsec",
    ),
    "slack": Scheme(
        "Slack", "X-Slack-Signature", "v0:{timestamp}:{body}",
        "https://api.slack.com/authentication/verifying-requests-from-slack",
        prefix="v0=", timestamp=RequestField("header", "X-Slack-Request-Timestamp"), delivery=RequestField("body", "event_id"),
        challenge="slack",
    ),
    "shopify": Scheme(
        "Shopify", "X-Shopify-Hmac-Sha256", "{body}", "https://shopify.dev/docs/apps/build/webhooks/subscribe/https",
        encoding="base64", delivery=RequestField("header", "X-Shopify-Webhook-Id"),
    ),
    "zoom": Scheme(
        "Zoom", "x-zm-signature", "v0:{timestamp}:{body}", "https://developers.zoom.us/docs/api/webhooks/",
        prefix="v0=", timestamp=RequestField("header", "x-zm-request-timestamp"), challenge="zoom",
    ),
    "hubspot": Scheme(
        "HubSpot (v3)", "X-HubSpot-Signature-v3", "{method}{url}{body}{timestamp}",
        "https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests",
        encoding="base64", timestamp=RequestField("header", "X-HubSpot-Request-Timestamp"), milliseconds=True, decodes_url=True,
    ),
    "linear": Scheme(
        "Linear", "Linear-Signature", "{body}", "https://linear.app/developers/webhooks",
        timestamp=RequestField("body", "webhookTimestamp"), milliseconds=True, delivery=RequestField("header", "Linear-Delivery"),
    ),
    "trello": Scheme(
        "Trello", "X-Trello-Webhook", "{body}{url}",
        "https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/",
        algorithm="sha1", encoding="base64", delivery=RequestField("body", "action.id"), challenge="head",
    ),
    "twilio": Scheme(
        "Twilio", "X-Twilio-Signature", "{url}{fields}", "https://www.twilio.com/docs/usage/security",
        algorithm="sha1", encoding="base64", delivery=RequestField("header", "I-Twilio-Idempotency-Token"),
        body_digest="bodySHA256",
    ),
    "gitlab": Scheme(
        "GitLab", "X-Gitlab-Token", "", "https://docs.gitlab.com/user/project/integrations/webhooks/", proof="token",
    ),
    "bitbucket": Scheme(
        "Bitbucket", "X-Hub-Signature", "{body}", "https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/",
        prefix="sha256=",
    ),
    "sendgrid": Scheme(
        "SendGrid", "X-Twilio-Email-Event-Webhook-Signature", "{timestamp}{body}",
        "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features",
        proof="ecdsa", encoding="base64", timestamp=RequestField("header", "X-Twilio-Email-Event-Webhook-Timestamp"),
        key="public",
    ),
})  # fmt: skip
"""The schemes by the name that a document writes; the type checker and tests/contract compare the two lists."""
