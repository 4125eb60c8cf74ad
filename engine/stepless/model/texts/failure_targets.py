"""Parses the targets of `on_failure_notify`: a secret that holds a URL, a mailbox or an SNS topic."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

FORMS: Final = (
    "`${NAME}` for a URL in a secret (with `slack:`, `teams:` or `webhook:` before it, if its host does not show which), "
    "`mailto:address`, or the ARN of an SNS topic"
)
SLACK_HOSTS: Final = ("hooks.slack.com", "hooks.slack-gov.com")

_SECRET: Final = re.compile(r"(?:(slack|teams|webhook):)?\$\{([A-Za-z_][A-Za-z0-9_]{0,127})\}")
_MAIL: Final = re.compile(r"mailto:([^@ <>,;]+@[^@ <>,;]+)")
_TOPIC: Final = re.compile(r"(arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}(?:\.fifo)?)")


class FailureTarget(NamedTuple):
    """`channel` is slack, teams, webhook, mail or topic; empty: the host of the URL decides. `value` is an address or an ARN, or
    for the others the name of the secret that holds the URL."""

    channel: str
    value: str

    @property
    def secret(self) -> str | None:
        """The name of the secret that is read."""
        return None if self.channel in ("mail", "topic") else self.value


def parse_target(text: str) -> FailureTarget:
    """Raises `ValueError` with a message for people; a URL itself is refused, since it often is a secret."""
    if match := _SECRET.fullmatch(text):
        return FailureTarget(match[1] or "", match[2])
    for channel, pattern in (("mail", _MAIL), ("topic", _TOPIC)):
        if match := pattern.fullmatch(text):
            return FailureTarget(channel, match[1])
    if "://" in text:
        raise ValueError("a URL gives access to a channel, so it is not written here: store it as a secret and write ${NAME}")
    raise ValueError(f"give {FORMS}")
