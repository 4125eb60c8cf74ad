"""Formats the notice of a question for mail and for Slack. Every link leads to the page of the question; none decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from stepless.model.json import JSON
from stepless.model.texts.company import Company
from stepless.model.texts.details import Detail, instant_text, lines_of
from stepless.model.texts.failure_targets import SLACK_HOSTS
from stepless.model.texts.short_markdown import Block, Span
from stepless.runtime.access.detail_html import value_html

_VERBS: Final[Mapping[str, str]] = {"approved": "Approve", "rejected": "Reject", "source": "Answer", "answer": "Open"}
_ACCENT: Final = "#0b5cad"
_MOST_BLOCKS: Final = 50  # Slack takes no more in one message
_MOST_PEOPLE: Final = 10  # whose links one message of Slack has


class Question(NamedTuple):
    """A question with its links. `people` are the approvers with the link of each by exit; one without a name if there are
    none. The link `answer` leads to all exits."""

    workflow: str
    message: str
    asked_by: str
    details: Sequence[Detail]
    deadline_ms: int | None
    people: Mapping[str, Mapping[str, str]]


def is_slack(url: str) -> bool:
    return urlsplit(url).hostname in SLACK_HOSTS


def mail_text(question: Question) -> str:
    """Returns the text of mail, for readers without HTML."""
    facts = [f"{name}: {fact}" for name, fact in _facts(question)]
    links = [line for name, links in question.people.items() for line in _link_lines(name, links)]
    return "\n".join([question.message, "", *lines_of(question.details), *([""] if question.details else []), *facts, "", *links])


def mail_html(question: Question, company: Company) -> str:
    """Returns mail as HTML. Styles are inline, since many readers leave out others."""
    image = f'<img src="{escape(company.logo)}" alt="" height="32" style="height:32px;vertical-align:middle">'
    logo = image if company.logo else ""
    head = f'<p style="margin:0 0 24px">{logo} <b>{escape(company.name)}</b></p>' if company.logo or company.name else ""
    rows = "".join(
        f'<tr><td style="padding:4px 16px 4px 0;color:#5a626c;vertical-align:top">{escape(row.label)}</td>'
        f'<td style="padding:4px 0;vertical-align:top">{value_html(row)}</td></tr>'
        for row in (*question.details, *(Detail(name, "text", fact, fact) for name, fact in _facts(question)))
    )
    buttons = "".join(_buttons(name, links, company) for name, links in question.people.items())
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"></head>'
        '<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1c2024;background:#ffffff">'
        f'<div style="max-width:560px">{head}<p style="margin:0 0 16px;font-size:20px;font-weight:600;white-space:pre-wrap">'
        f"{escape(question.message)}</p>"
        f'<table role="presentation" style="border-collapse:collapse;margin:0 0 24px">{rows}</table>'
        f'{buttons}<p style="margin:24px 0 0;color:#5a626c;font-size:14px">Each button opens a page that asks you to confirm. '
        "Nothing is decided before.</p></div></body></html>"
    )


def _buttons(name: str, links: Mapping[str, str], company: Company) -> str:
    """The decisions as buttons, the first one filled; `answer` where there is none."""
    who = f'<p style="margin:16px 0 8px;color:#5a626c">{escape(name)}</p>' if name else ""
    color, ink = company.color or _ACCENT, company.ink if company.color else "#ffffff"
    made = []
    for place, (exit, link) in enumerate(_exits(links).items()):
        filled = f"background:{color};color:{ink};border:1px solid {color}"
        style = filled if place == 0 else "color:#1c2024;border:1px solid #767e88"
        made.append(
            f'<a href="{escape(link)}" style="display:inline-block;margin:0 8px 8px 0;padding:10px 20px;border-radius:6px;'
            f'font-weight:600;text-decoration:none;{style}">{escape(_verb(exit))}</a>'
        )
    return who + "".join(made)


def slack(question: Question) -> dict[str, JSON]:
    """Returns the body for an incoming webhook of Slack: link buttons, which open the page."""
    lines = question.message.split("\n")
    blocks: list[JSON] = [{"type": "header", "text": _plain(lines[0], 150)}]
    if more := "\n".join(lines[1:]).strip():
        blocks.append({"type": "section", "text": _plain(more, 3_000)})
    for row in question.details:
        label = f"*{_escaped(row.label)}*\n" if row.label else ""
        blocks.append({"type": "section", "text": {"type": "mrkdwn", "text": (label + _slack_value(row))[:3_000]}})
    facts = [
        f"{name}: {_slack_time(question.deadline_ms) if name == _DUE else _escaped(fact)}" for name, fact in _facts(question)
    ]
    del blocks[_MOST_BLOCKS - 2 * _MOST_PEOPLE - 1 :]
    blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": "  ·  ".join(facts)[:3_000]}]})
    for name, links in [*question.people.items()][:_MOST_PEOPLE]:
        if name:
            blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": _escaped(name)[:3_000]}]})
        buttons: list[JSON] = [_slack_button(*one, place) for place, one in enumerate(_exits(links).items())]
        blocks.append({"type": "actions", "elements": buttons})
    return {"text": _escaped(f"{question.workflow}: {lines[0]}")[:3_000], "blocks": blocks}


def _slack_button(exit: str, link: str, place: int) -> dict[str, JSON]:
    style: dict[str, JSON] = {"style": "primary"} if place == 0 else {}
    return {"type": "button", "text": _plain(_verb(exit), 75), "url": link[:3_000], **style}


def _slack_value(row: Detail) -> str:
    if row.format == "markdown":
        return "\n".join(_slack_line(block, line) for block in row.blocks for line in block.lines)
    shown = _escaped(row.text)
    if row.format == "time":
        shown = _slack_time(round(datetime.fromisoformat(row.value).timestamp() * 1_000))
    return f"<{_escaped(row.link)}|{shown}>" if row.link and row.format != "time" else shown


def _slack_line(block: Block, line: Sequence[Span]) -> str:
    return ("• " if block.is_list else "") + "".join(map(_slack_span, line))


def _slack_span(span: Span) -> str:
    text = _escaped(span.text)
    if span.href:
        return f"<{_escaped(span.href)}|{text}>"
    mark = {"b": "*", "i": "_", "code": "`"}.get(span.style, "")
    return f"{mark}{text}{mark}"


def _slack_time(at_ms: int | None) -> str:
    """An instant that Slack shows in the language and zone of each reader."""
    if at_ms is None:
        return ""
    return f"<!date^{at_ms // 1_000}^{{date_long_pretty}}, {{time}}|{instant_text(datetime.fromtimestamp(at_ms / 1_000, UTC))}>"


_DUE: Final = "Please answer by"


def _facts(question: Question) -> Iterator[tuple[str, str]]:
    if question.asked_by:
        yield "Asked by", question.asked_by
    yield "Workflow", question.workflow
    if question.deadline_ms is not None:
        yield _DUE, instant_text(datetime.fromtimestamp(question.deadline_ms / 1_000, UTC))


def _link_lines(name: str, links: Mapping[str, str]) -> list[str]:
    indent = "  " if name else ""
    return [*([f"{name}:"] if name else []), *(f"{indent}{_verb(exit)}: {link}" for exit, link in links.items())]


def _exits(links: Mapping[str, str]) -> Mapping[str, str]:
    """The links of the decisions, or the one that leads to all of them."""
    return {exit: link for exit, link in links.items() if exit != "answer"} or links


def _verb(exit: str) -> str:
    return _VERBS.get(exit, exit.replace("_", " ").capitalize())


def _plain(text: str, most: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": text[:most] or "-", "emoji": False}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
