"""Renders the page of a signed link: plain HTML, with every text escaped.

The page shows the question, its details and its fields, or its outcome; it shows nothing else of the run. Where its details
have numbers or times, one script of a few lines formats them in the language and zone of the reader; without it they are in
English and UTC.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from html import escape
from typing import Final

from stepless.api.pages.answer_forms import Field
from stepless.limits import MAX_PERSON_CHARACTERS
from stepless.model.texts.company import NONE, Company
from stepless.model.texts.details import Detail, instant_text
from stepless.runtime.access.detail_html import rows_html

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2024; --paper: #fff; --line: #767e88; --quiet: #5a626c;
  --accent: #0b5cad; --alarm: #a3261b; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --paper: #16181b; --line: #868e98; --quiet: #a5adb8; --accent: #7db8f5; --alarm: #ff9d92; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.05rem/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
h1 { font-size: 1.35rem; line-height: 1.3; margin: 0 0 .35rem; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); margin: 0 0 1.5rem; }
.message { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 1.5rem; }
.alarm { border-left: .25rem solid var(--alarm); padding: .1rem 0 .1rem 1rem; margin: 0 0 1.5rem; }
.company { display: flex; align-items: center; gap: .75rem; margin: 0 0 2rem; font-weight: 600; }
.company img { max-width: 12rem; height: 2rem; object-fit: contain; }
.answer, .details { display: grid; grid-template-columns: fit-content(40%) 1fr; gap: .35rem 1.25rem; margin: 0 0 1.5rem; }
time { white-space: nowrap; }
.details time { white-space: normal; }
.outcome { border-left: .25rem solid var(--accent); padding: .35rem 0 .35rem 1rem; margin: 0 0 1.75rem; }
.answer dt, .details dt { color: var(--quiet); }
.answer dd, .details dd { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.details dd > p, .details dd > ul { white-space: normal; }
:is(dd, .prose) > :is(p, ul) { margin: 0 0 .5rem; }
:is(dd, .prose) > ul { padding-left: 1.25rem; }
.prose { margin: 0 0 1.5rem; overflow-wrap: anywhere; }
a { color: var(--accent); }
.fault { color: var(--alarm); margin: .3rem 0 0; }
[aria-invalid] { border-color: var(--alarm); box-shadow: inset 0 0 0 1px var(--alarm); }
.field { margin: 0 0 1.1rem; }
label { display: block; font-weight: 600; }
.hint { display: block; color: var(--quiet); font-size: .95rem; font-weight: 400; }
.buttons + .quiet, form + .quiet { margin-top: 1.25rem; }
input, select, textarea { box-sizing: border-box; width: 100%; margin-top: .3rem; padding: .5rem .6rem; font: inherit;
  color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .35rem; }
option { background: var(--paper); }
input[type=checkbox] { width: 1.2rem; height: 1.2rem; vertical-align: -.2rem; margin: 0 .4rem 0 0; }
.tick label { display: inline; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.75rem; }
button { font: inherit; font-weight: 600; padding: .6rem 1.4rem; border: 1px solid var(--accent); border-radius: .35rem;
  color: var(--accent); background: transparent; cursor: pointer; }
button:first-child { color: var(--paper); background: var(--accent); }
:focus-visible { outline: .2rem solid var(--accent); outline-offset: .15rem; }
"""
_META: Final = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
_NO_ENTER: Final = "<button disabled hidden></button>"  # Enter presses the first button: it must not approve by accident
_SCRIPT: Final = """
for (const one of document.querySelectorAll("time")) {
  const at = new Date(one.dateTime), day = { day: "numeric", month: "long", year: "numeric" };
  const time = { hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
  const zone = one.dateTime.length === 10 ? { timeZone: "UTC" } : {};
  one.textContent = at.toLocaleString([], { ...day, ...(one.classList.contains("day") ? zone : time) });
}
for (const one of document.querySelectorAll("data")) {
  const { currency } = one.dataset;
  try {
    const kind = currency ? { style: "currency", currency } : { maximumFractionDigits: 20 };
    one.textContent = new Intl.NumberFormat([], kind).format(one.value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
}
"""
_FORMATTED: Final = 'class="shown'  # of a detail that the script formats; text cannot have it, since its marks are escaped

COMMON_HEADERS: Final = {  # of every page, in addition to the policy of what it may load
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex, nofollow",
}


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@lru_cache(maxsize=2)
def _style(company: Company) -> str:
    """The style with the colour of the company: that of the first button."""
    if not company.color:
        return _STYLE
    colours = f"color: {company.ink}; background: {company.color}; border-color: {company.color};"
    others = "color: var(--ink); border-color: var(--line);"
    return f"{_STYLE}.buttons button {{ {others} }}\n.buttons button:first-child {{ {colours} }}\n"


def headers(company: Company = NONE, html: str = "") -> dict[str, str]:
    """Returns the headers of a page. It may load its style, its script if it has one, and the logo of the company."""
    script = f"script-src {_hash(_SCRIPT)}; " if _SCRIPT in html else ""
    logo = f"img-src {company.logo}; " if company.logo else ""
    policy = f"default-src 'none'; style-src {_hash(_style(company))}; {script}{logo}"
    return {
        **COMMON_HEADERS,
        "content-security-policy": f"{policy}form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        "cache-control": "no-store",
    }


HEADERS: Final = headers()
_BUTTONS: Final = {"approved": "Approve", "rejected": "Reject", "source": "Send"}
_DECIDED: Final = {"approved": "Approved", "rejected": "Rejected", "source": "Answered", "timeout": "No answer in time"}


def document(title: str, parts: Iterable[str], company: Company = NONE) -> str:
    """Returns a complete page. `parts` are HTML; `title` is text."""
    head = f"{_META}<title>{escape(title)}</title><style>{_style(company)}</style>"
    body = "\n".join(part for part in (_company(company), *parts) if part)
    script = f"<script>{_SCRIPT}</script>" if _FORMATTED in body else ""
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}</head>\n<body><main>\n{body}\n</main>{script}</body>\n</html>\n'


def _company(company: Company) -> str:
    logo = f'<img src="{escape(company.logo)}" alt="">' if company.logo else ""
    return f'<p class="company">{logo}{escape(company.name)}</p>' if logo or company.name else ""


def title(text: str) -> str:
    return f"<h1>{escape(text)}</h1>"


def heading(question: str, label: str, workflow: str, asked_by: str = "") -> str:
    """Returns a heading and paragraphs: the first line of the question is the heading; its other lines follow. Without a question
    the heading is the node's label."""
    first, _, more = question.strip().partition("\n")
    where = " · ".join(part for part in (label if first else "", workflow, f"asked by {asked_by}" if asked_by else "") if part)
    message = f'\n<p class="message">{escape(more.strip())}</p>' if more.strip() else ""
    return f'<h1>{escape(first.strip() or label)}</h1>\n<p class="quiet">{escape(where)}</p>{message}'


def details(rows: Sequence[Detail]) -> str:
    """Returns what the question is about."""
    return rows_html(rows)


def alarm(sentences: Sequence[str]) -> str:
    paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    return f'<div class="alarm" role="alert">{paragraphs}</div>'


def deadline(at: str | None) -> str:
    return f'<p class="quiet">Please answer by {_time(at)}.</p>' if at else ""


def decision(exit: str, by: str | None, at: str, *, thanks: bool = False) -> str:
    """Returns the decision, who made it, and when."""
    who = f" by {escape(by)}" if by else ""
    word = escape(_DECIDED.get(exit, exit))
    lead = "Thank you. " if thanks else ""
    return f'<p class="outcome" role="status">{lead}<strong>{word}</strong>{who}, {_time(at)}.</p>'


def answered(fields: Sequence[tuple[str, str]]) -> str:
    """Returns the fields of an answer, as (label, value)."""
    rows = "".join(f"<dt>{escape(label)}</dt><dd>{escape(value)}</dd>" for label, value in fields)
    return f'<dl class="answer">{rows}</dl>' if rows else ""


def note(sentence: str) -> str:
    return f'<p class="quiet">{escape(sentence)}</p>'


def closed(sentence: str, at: str | None) -> str:
    """Returns why the question can no longer be answered, and since when."""
    since = f" {_time(at)}" if at else ""
    return f'<div class="alarm" role="alert"><p>{escape(sentence)}{since}.</p></div>'


def form(fields: Sequence[Field], exits: Sequence[str], by: str, *, asks_who: bool) -> str:
    """Returns the inputs and one button per exit. The form is sent to its own URL."""
    inputs = "\n".join(_input(field, f"f{number}") for number, field in enumerate(fields))
    bounds = {"autocomplete": "name", "maxlength": str(MAX_PERSON_CHARACTERS)}
    who = Field("by", "Your name", "Kept with the decision", "text", (), by, bounds)
    asked = _input(who, "by") if asks_who else ""
    buttons = "".join(_button(exit) for exit in exits)
    return f'<form method="post">\n{_NO_ENTER}\n{inputs}\n{asked}\n<div class="buttons">{buttons}</div>\n</form>'


def _button(exit: str) -> str:
    return f'<button name="decision" value="{escape(exit)}">{escape(_BUTTONS.get(exit, exit))}</button>'


def _input(field: Field, id: str) -> str:
    """A control with its label, its hint, and the faults of the typed value."""
    hint = f'<span class="hint" id="{id}-hint">{escape(field.hint)}</span>' if field.hint else ""
    faults = f'<p class="fault" id="{id}-fault">{escape("; ".join(field.faults))}</p>' if field.faults else ""
    described = " ".join(name for name, there in ((f"{id}-hint", hint), (f"{id}-fault", faults)) if there)
    given = {"id": id, "name": field.name, **field.bounds}
    if described:
        given["aria-describedby"] = described
    if field.faults:
        given["aria-invalid"] = "true"
    label = f'<label for="{id}">{escape(field.label)}</label>'
    if field.control == "check":
        ticked = " checked" if field.value else ""
        box = f'<input type="checkbox" value="true"{_attributes(given)}{ticked}>'
        return f'<div class="field tick">{box}{label}{hint}{faults}</div>'
    return f'<div class="field">{label}{hint}{_control(field, given)}{faults}</div>'


def _control(field: Field, given: dict[str, str]) -> str:
    match field.control:
        case "choice":
            options = "".join(_option(choice, shown, field.value) for choice, shown in (("", ""), *field.choices))
            return f"<select{_attributes(given)}>{options}</select>"
        case "lines":
            return f'<textarea rows="4"{_attributes(given)}>\n{escape(field.value)}</textarea>'
        case "whole" | "number":
            step = {"step": "1" if field.control == "whole" else "any", **given}
            return f'<input type="number" value="{escape(field.value)}"{_attributes(step)}>'
    return f'<input type="text" value="{escape(field.value)}"{_attributes(given)}>'


def _attributes(given: dict[str, str]) -> str:
    return "".join(f' {name}="{escape(value)}"' for name, value in given.items())


def _option(choice: str, shown: str, value: str) -> str:
    chosen = " selected" if choice == value else ""
    return f'<option value="{escape(choice)}"{chosen}>{escape(shown)}</option>'


def _time(at: str) -> str:
    """An instant like `2026-01-31T12:00:00.000Z` as readable text, with the original in an attribute."""
    return f'<time datetime="{escape(at)}">{escape(instant_text(datetime.fromisoformat(at)))}</time>'
