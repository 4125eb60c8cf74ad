"""Formats the notice of a failed run for each channel. Texts of the log are plain text there, so they cannot add links or
mentions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from stepless.model.json import JSON
from stepless.model.texts.failure_targets import SLACK_HOSTS

_SUBJECT_CHARACTERS: Final = 100  # SNS takes no more
_TEAMS_HOSTS: Final = (".webhook.office.com", ".logic.azure.com", ".logic.azure.us", ".api.powerplatform.com")


class FailureNotice(NamedTuple):
    """`subject` is one line. `facts` are names and values, in order; `detail` is the run's last event (docs/run/events.md)."""

    subject: str
    message: str
    facts: Mapping[str, str]
    link: str
    detail: Mapping[str, JSON]


def notice_of(detail: Mapping[str, Any], name: str) -> FailureNotice:
    """Returns the notice for the end of a run of the workflow `name`."""
    error = detail.get("error") or {}
    timed_out = detail["type"] == "run.timed_out"
    message = error.get("message") or ("The run reached its time limit." if timed_out else "The run failed.")
    facts = {
        "Workflow": detail["workflow"], "Run": f"{detail['run']}{_number(detail)}", "Node": error.get("node"),
        "Code": error.get("code"), "Time": detail["at"], "Rerun of": detail.get("rerun_of"),
    }  # fmt: skip
    subject = " ".join(f"{name} {'timed out' if timed_out else 'failed'}{_at(error)}".split())
    return FailureNotice(subject, message, {key: str(fact) for key, fact in facts.items() if fact}, detail["view"], detail)


def _number(detail: Mapping[str, Any]) -> str:
    return f" (number {detail['number']})" if detail.get("number") else ""


def _at(error: Mapping[str, Any]) -> str:
    return f" at {error['node']}" if error.get("node") else ""


def channel_of(url: str) -> str:
    """Returns the format that the host of a URL expects."""
    host = urlsplit(url).hostname or ""
    if host in SLACK_HOSTS:
        return "slack"
    return "teams" if host.endswith(_TEAMS_HOSTS) else "webhook"


def slack(notice: FailureNotice) -> dict[str, JSON]:
    """Formats a notice for an incoming webhook of Slack."""
    blocks: list[JSON] = [
        {"type": "header", "text": _plain(notice.subject, 150)},
        {"type": "section", "text": _plain(notice.message, 3_000)},
        {"type": "section", "fields": [_plain(f"{name}: {fact}", 2_000) for name, fact in notice.facts.items()]},
    ]
    if _is_absolute(notice.link):
        blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": f"<{notice.link}|Open the run>"}]})
    return {"text": _escaped(notice.subject), "blocks": blocks}


def _plain(text: str, most: int) -> dict[str, JSON]:
    return {"type": "plain_text", "text": text[:most], "emoji": False}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def teams(notice: FailureNotice) -> dict[str, JSON]:
    """Formats a notice for an incoming webhook of Teams, as an adaptive card."""
    content: dict[str, JSON] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
        "body": [
            _run(notice.subject, weight="Bolder", size="Medium"),
            _run(notice.message),
            *(_run(f"{name}: {fact}", isSubtle=True) for name, fact in notice.facts.items()),
        ],
    }  # fmt: skip
    if _is_absolute(notice.link):
        content["actions"] = [{"type": "Action.OpenUrl", "title": "Open the run", "url": notice.link}]
    card = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": content}
    return {"type": "message", "attachments": [card]}


def _run(text: str, **style: JSON) -> dict[str, JSON]:
    """A text without Markdown, which a `TextBlock` would interpret."""
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, **style}]}


def webhook(notice: FailureNotice) -> dict[str, JSON]:
    """Formats a notice for any other receiver: the event itself."""
    return dict(notice.detail)


def subject_of(notice: FailureNotice) -> str:
    """Returns one line of ASCII for mail and SNS."""
    return notice.subject.encode("ascii", "replace").decode()[:_SUBJECT_CHARACTERS]


def text_of(notice: FailureNotice) -> str:
    """Formats a notice for mail and SNS."""
    facts = [f"{name}: {fact}" for name, fact in notice.facts.items()]
    return "\n".join([notice.message, "", *facts, "", notice.link])


def _is_absolute(link: str) -> bool:
    return link.startswith(("https://", "http://"))
