"""Serves `GET /docs`: the documentation of the API as a page, generated from /openapi.json. It has no scripts and loads nothing
from other sites, because API keys are sent to the same origin. `GET /` redirects to it, or to the console where there is one to
sign in to."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from http import HTTPStatus
from importlib.resources import files
from shlex import quote
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from stepless.api.guards.auth import wanted_role
from stepless.api.links import Links
from stepless.api.pages.answer_page import COMMON_HEADERS

Schema = Mapping[str, Any]

_CODE: Final = re.compile(r"`([^`]+)`")
_BODIES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_KEY: Final = '-H "Authorization: Bearer $STEPLESS_API_KEY"'
_UNDESCRIBED: Final = "Successful Response"  # FastAPI's text for a response without a description
_META: Final = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'


def add_routes(router: APIRouter, links: Links, document: Callable[[], Schema], home: str = "/docs") -> None:
    """`document` returns the content of /openapi.json; it is called once. `GET /` redirects to `home`."""
    made: list[tuple[str, dict[str, str]]] = []

    @router.get("/docs", include_in_schema=False)
    def read_documentation() -> Response:
        if not made:
            style = (files("stepless.api.pages") / "reference.css").read_text("utf-8")
            made.append((_page(document(), links.base, style), _headers(style)))
        html, headers = made[0]
        return Response(html, 200, headers, "text/html; charset=utf-8")

    @router.get("/", include_in_schema=False)
    def find_documentation() -> Response:
        return Response(None, 307, {"location": f"{links.base}{home}", "cache-control": "no-cache"})


def _headers(style: str) -> dict[str, str]:
    """The headers of the page, which allow only this style."""
    allowed = f"default-src 'none'; style-src 'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'"
    return {
        **COMMON_HEADERS,
        "content-security-policy": f"{allowed}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "cache-control": "no-cache",
    }


def _page(document: Schema, base: str, style: str) -> str:
    groups: dict[str, list[_Operation]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            groups.setdefault(operation["tags"][0], []).append(_Operation(method.upper(), path, operation, base))
    listed = "\n".join(_listed(name, operations) for name, operations in groups.items())
    sections = "\n".join(_section(name, operations) for name, operations in groups.items())
    title = escape(document["info"]["title"])
    return f"""<!doctype html>
<html lang="en">
<head>{_META}<title>{title} API</title><style>{style}</style></head>
<body>
<a class="skip" href="#begin">Skip to the documentation</a>
<header><h1>{title} API</h1><p>{_text(document["info"]["description"])}</p>
<p><a href="{escape(base)}/openapi.json">openapi.json</a> <a href="{escape(base)}/health">health</a></p></header>
<main>
{_beginning(base)}
<div class="columns">
<nav aria-label="Operations">
{listed}
</nav>
<div class="groups">
{sections}
</div>
</div>
</main>
</body>
</html>
"""


def _beginning(base: str) -> str:
    url = base or "$STEPLESS_URL"
    start = f"curl {url}/workflows/WORKFLOW/runs {_KEY} \\\n  -H 'Content-Type: application/json' -H 'Prefer: wait=20'"
    steps = (
        ("List the published workflows.", f"curl {url}/workflows {_KEY}"),
        ("Start a run of a workflow, and wait for its outcome.", f"{start} -d '{{\"inputs\": {{}}}}'"),
        ("Watch it: every response has the link <code>view</code>, which leads to its page.", f"{url}/runs/RUN/view"),
    )  # fmt: skip
    items = "".join(f"<li><p>{what}</p>{_pre(command)}</li>" for what, command in steps)
    return f"""<section id="begin" aria-labelledby="begin-title"><h2 id="begin-title">Begin</h2>
<p>Send an API key with every request, as <code>Authorization: Bearer KEY</code>, except to webhooks, signed links, pages and
<code>/health</code>. Errors are <code>application/problem+json</code> (RFC 9457) with a stable <code>code</code>,
the place and the fix.</p>
<ol>{items}</ol></section>"""


def _listed(name: str, operations: Sequence[_Operation]) -> str:
    links = (f'<a href="#{one.id}">{_method(one.method)} <span>{escape(one.summary)}</span></a>' for one in operations)
    return f"<h2>{escape(name.capitalize())}</h2>\n<ul>{''.join(f'<li>{link}</li>' for link in links)}</ul>"


def _section(name: str, operations: Sequence[_Operation]) -> str:
    articles = "\n".join(one.html() for one in operations)
    title = f'<h2 id="group-{escape(name)}">{escape(name.capitalize())}</h2>'
    return f'<section aria-labelledby="group-{escape(name)}">{title}\n{articles}\n</section>'


class _Operation:
    """One operation of the API: its request and its responses."""

    def __init__(self, method: str, path: str, operation: Schema, base: str) -> None:
        self.id: str = operation["operationId"]
        self.summary: str = operation["summary"]
        self.method = method
        self._path = path
        self._base = base
        self._operation = operation
        self._body: Schema = operation.get("requestBody", {}).get("content", {})

    def html(self) -> str:
        parts = (
            f'<h3><a href="#{self.id}">{escape(self.summary)}</a></h3>',
            f'<p class="asked">{_method(self.method)} <code>{escape(self._path)}</code> {self._role()}</p>',
            f"<p>{_text(self._operation.get('description', ''))}</p>",
            _table("Parameters", [
                (one["name"], one["in"], one.get("schema", {}), one.get("required", False), one.get("description", ""))
                for one in self._operation.get("parameters", ())
            ]),
            _table("Body", list(self._fields())),
            f"<h4>Example</h4>{_pre(self._curl())}",
            self._answers(),
        )  # fmt: skip
        return f'<article id="{self.id}">\n' + "\n".join(part for part in parts if part) + "\n</article>"

    def _role(self) -> str:
        guarded = bool(self._operation.get("security"))
        text = f"key with the role {wanted_role(self.id, self.method)}" if guarded else "needs no key"
        return f'<span class="role">{text}</span>'

    def _fields(self) -> Iterator[tuple[str, str, Schema, bool, str]]:
        schema = self._body.get("application/json", {}).get("schema", {})
        for name, field in schema.get("properties", {}).items():
            yield name, "body", field, name in schema.get("required", ()), field.get("description", "")

    def _curl(self) -> str:
        examples = {one["name"]: one.get("example", one["name"].upper()) for one in self._operation.get("parameters", ())}
        path = re.sub(r"\{(\w+)\}", lambda name: str(examples[name[1]]), self._path)
        words = ["curl", *(() if self.method == "GET" else ("-X", self.method)), f"{self._base or '$STEPLESS_URL'}{path}"]
        if self._operation.get("security"):
            words.append(_KEY)
        for kind, content in self._body.items():
            if "example" in content and self.method in _BODIES:
                example = content["example"]
                text = example if isinstance(example, str) else _shown(example)
                words += [f"\\\n  -H {quote(f'Content-Type: {kind}')}", f"\\\n  -d {quote(text)}"]
                break
        return " ".join(words)

    def _answers(self) -> str:
        rows, shown = [], ""
        for status, answer in self._operation["responses"].items():
            meaning = HTTPStatus(int(status)).phrase if answer["description"] == _UNDESCRIBED else answer["description"]
            rows.append(f"<tr><th scope=row>{escape(status)}</th><td>{_text(meaning)}</td></tr>")
            example = answer.get("content", {}).get("application/json", {}).get("example")
            if not shown and status.startswith("2") and example is not None:
                shown = f"<details><summary>What {status} looks like</summary>{_pre(_shown(example))}</details>"
        return f'<h4>Answers</h4><table class="answers"><tbody>{"".join(rows)}</tbody></table>{shown}'


# -- parts ------------------------------------------------------------------------------------------------------------


def _table(title: str, rows: Sequence[tuple[str, str, Schema, bool, str]]) -> str:
    if not rows:
        return ""
    lines = []
    for name, where, schema, required, about in rows:
        needed = f"{'required' if required else 'optional'}{'' if where == 'body' else f', in the {where}'}"
        cells = (escape(_type(schema)), needed, _text(about))
        row = "".join(f"<td>{cell}</td>" for cell in cells)
        lines.append(f"<tr><th scope=row><code>{escape(name)}</code></th>{row}</tr>")
    return f"<h4>{title}</h4><table><tbody>{''.join(lines)}</tbody></table>"


def _type(schema: Schema) -> str:
    """A JSON Schema as a short text."""
    if "enum" in schema or "const" in schema:
        return " | ".join(map(str, schema.get("enum", [schema.get("const")])))
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"] if one.get("type") != "null")
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any JSON"))


def _method(method: str) -> str:
    return f'<b class="method {method.lower()}">{method}</b>'


def _shown(example: Any) -> str:
    return json.dumps(example, indent=2, ensure_ascii=False)


def _pre(text: str) -> str:
    return f"<pre tabindex=0>{escape(text)}</pre>"


def _text(text: str) -> str:
    """A description, with `code` as HTML."""
    return _CODE.sub(r"<code>\1</code>", escape(text))
