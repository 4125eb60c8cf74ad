"""The page behind a signed link: plain HTML that needs no script, every word of it escaped.

It shows the question and its fields, or what became of it; never anything else of the run.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape
from typing import Final

from stepless.api.forms import Field
from stepless.limits import MAX_PERSON_CHARACTERS

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2024; --paper: #fff; --line: #c3c8cf; --quiet: #5a626c;
  --accent: #0b5cad; --alarm: #a3261b; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --paper: #16181b; --line: #4a5058; --quiet: #a5adb8; --accent: #7db8f5; --alarm: #ff9d92; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.05rem/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
h1 { font-size: 1.35rem; margin: 0 0 .25rem; }
.quiet { color: var(--quiet); margin: 0 0 1.5rem; }
.message { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 1.2rem; margin: 0 0 1.5rem; }
.alarm { border-left: .25rem solid var(--alarm); padding: .1rem 0 .1rem 1rem; margin: 0 0 1.5rem; }
.field { margin: 0 0 1.1rem; }
label { display: block; font-weight: 600; }
.hint { display: block; color: var(--quiet); font-size: .95rem; font-weight: 400; }
.buttons + .quiet, form + .quiet { margin-top: 1.25rem; }
input, select, textarea { box-sizing: border-box; width: 100%; margin-top: .3rem; padding: .5rem .6rem; font: inherit;
  color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .35rem; }
option { background: var(--paper); }
input[type=checkbox] { width: 1.2rem; height: 1.2rem; vertical-align: -.2rem; margin: 0 .4rem 0 0; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.75rem; }
button { font: inherit; font-weight: 600; padding: .6rem 1.4rem; border: 1px solid var(--accent); border-radius: .35rem;
  color: var(--accent); background: transparent; cursor: pointer; }
button:first-child { color: var(--paper); background: var(--accent); }
:focus-visible { outline: .2rem solid var(--accent); outline-offset: .15rem; }
"""
_META: Final = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
_NO_ENTER: Final = "<button disabled hidden></button>"  # the Enter key presses the first button: nobody shall approve by it
_STYLE_HASH: Final = b64encode(sha256(_STYLE.encode()).digest()).decode()

HEADERS: Final = {
    "content-security-policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex, nofollow",
    "cache-control": "no-store",
}
_BUTTONS: Final = {"approved": "Approve", "rejected": "Reject", "source": "Send"}
_DECIDED: Final = {"approved": "Approved", "rejected": "Rejected", "source": "Answered", "timeout": "Nobody answered in time"}


def document(title: str, parts: Iterable[str]) -> str:
    """A whole page around parts that are HTML already; `title` is text."""
    head = f"{_META}<title>{escape(title)}</title><style>{_STYLE}</style>"
    body = "\n".join(part for part in parts if part)
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}</head>\n<body><main>\n{body}\n</main></body>\n</html>\n'


def title(text: str) -> str:
    return f"<h1>{escape(text)}</h1>"


def heading(label: str, workflow: str) -> str:
    return f'<h1>{escape(label)}</h1>\n<p class="quiet">{escape(workflow)}</p>'


def message(text: str) -> str:
    return f'<p class="message">{escape(text)}</p>' if text else ""


def alarm(sentences: Sequence[str]) -> str:
    told = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    return f'<div class="alarm" role="alert">{told}</div>'


def deadline(at: str | None) -> str:
    return f'<p class="quiet">Please answer by {_time(at)}.</p>' if at else ""


def decision(exit: str, by: str | None, at: str) -> str:
    """What was decided, by whom, when."""
    who = f" by {escape(by)}" if by else ""
    word = escape(_DECIDED.get(exit, exit))
    return f'<p class="message" role="status"><strong>{word}</strong>{who}, {_time(at)}.</p>'


def form(fields: Sequence[Field], exits: Sequence[str], by: str, *, asks_who: bool) -> str:
    """Inputs and one button per exit; it goes back to where it came from."""
    inputs = "\n".join(_input(field) for field in fields)
    who = Field("by", "Your name", "Kept with the decision", "text", (), by)
    asked = _input(who, f' autocomplete="name" maxlength="{MAX_PERSON_CHARACTERS}"') if asks_who else ""
    buttons = "".join(_button(exit) for exit in exits)
    return f'<form method="post">\n{_NO_ENTER}\n{inputs}\n{asked}\n<div class="buttons">{buttons}</div>\n</form>'


def _button(exit: str) -> str:
    return f'<button name="decision" value="{escape(exit)}">{escape(_BUTTONS.get(exit, exit))}</button>'


def _input(field: Field, more: str = "") -> str:
    name, value = escape(field.name), escape(field.value)
    hint = f'<span class="hint">{escape(field.hint)}</span>' if field.hint else ""
    label = f"{escape(field.label)}{hint}"
    match field.control:
        case "check":
            ticked = " checked" if field.value else ""
            return f'<div class="field"><label><input type="checkbox" name="{name}" value="true"{ticked}>{label}</label></div>'
        case "choice":
            options = "".join(_option(choice, shown, field.value) for choice, shown in (("", ""), *field.choices))
            control = f'<select name="{name}">{options}</select>'
        case "lines":
            control = f'<textarea name="{name}" rows="4">\n{value}</textarea>'
        case "whole" | "number":
            step = "1" if field.control == "whole" else "any"
            control = f'<input type="number" step="{step}" name="{name}" value="{value}">'
        case _:
            control = f'<input type="text" name="{name}" value="{value}"{more}>'
    return f'<div class="field"><label>{label}{control}</label></div>'


def _option(choice: str, shown: str, value: str) -> str:
    chosen = " selected" if choice == value else ""
    return f'<option value="{escape(choice)}"{chosen}>{escape(shown)}</option>'


def _time(at: str) -> str:
    """`2026-01-31T12:00:00.000Z` for people, and for their devices."""
    return f'<time datetime="{escape(at)}">{escape(at[:10])} {escape(at[11:16])} UTC</time>'
