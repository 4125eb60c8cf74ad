"""Prints docs/write/reference.md: every field of the document and of every kind of node, made from the models themselves.

    .venv/bin/python tests/tools/documentation/reference_page.py > docs/write/reference.md

The meaning of a field is the text below it in its source. A test compares the page with what this script prints.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

sys.path.insert(0, str(Path(__file__).parent))

from reference_examples import EXAMPLES
from reference_language import LANGUAGE

from stepless.model.declaration import validation
from stepless.model.declaration.field_docs import field_docs
from stepless.model.kind import Kind, Nature, Part
from stepless.model.texts.durations import DURATION_SCHEMA
from stepless.model.triggers.webhook_schemes import SCHEMES, RequestField, Scheme
from stepless.model.work import CAUSES
from stepless.nodes import KINDS
from stepless.nodes.entries import webhook as webhooks
from stepless.nodes.llm import kind as llm

NATURES: Final = {
    Nature.ENTRY: "An entry: runs start here, and its output is what they were started with.",
    Nature.PURE: "Pure: it is evaluated inside a decision, does no I/O and costs nothing.",
    Nature.EFFECT: "Does work outside the engine: it may be repeated, also after a crash, with the same token.",
    Nature.PAUSE: "Waits: nothing runs, and nothing is paid for, until it continues.",
    Nature.CONTAINER: "A container: it runs its body once per turn.",
}
EXITS: Final = {
    "condition": "one per case",
    "router": "one per route",
    "lambda": "`source`, and `timeout` with `mode: callback`",
}
NOTES: Final = {
    "webhook": """\
The output has these fields:

* `body`: the parsed JSON if the content type is JSON or absent; otherwise the text, in the charset of the content type or UTF-8.
  A body that is no text in its charset is the base64 of its bytes; no character is ever replaced. null if there is none.
* `charset`: the charset of a text or of JSON; null if `body` is base64.
* `query`: the fields of the query, a text each, or a list of texts if a field comes more than once.
* `headers`: the header fields by name in lower case, without those that prove the sender.
* `path`: the path below `/hooks`.
* `form`: the fields of a form, like `query`. A file of a multipart form is `{filename, content_type, content}`, with its bytes as
  base64.
* `raw`: the bytes of the body exactly as they were received and signed, as base64.
* `raw_body`: the text of the body, with JSON as it was written; null if `body` is base64.
* `encoding`: `base64` if `body` is base64.

`form`, `raw` and `raw_body` would store a body twice, so they are there only if the workflow reads them: by a reference such as
`<hook.raw>`, or to all of `<hook>`. In the second case, `raw` and `raw_body` are null where the inputs would exceed 256,000
bytes.
Bodies in `gzip` and `deflate` are decompressed, to at most 256,000 bytes; `raw` is not. A secret of the workflow that occurs in
the body is masked in `raw`, too, which changes its bytes.
""",
    "schedule": """\
When the clocks of `timezone` change, a time of `cron` that is skipped fires nothing, and one that comes twice fires once, the
first time. So does EventBridge Scheduler, which fires schedules on AWS, and so does `stepless dev`. `validate` and a publication
warn of a schedule whose time falls into such an hour (`clock_change`), and `schedules list` shows the next one. One that never
fires, like `0 0 31 2 *`, is refused. A `rate` counts elapsed time: in a process, whole multiples since 1970 UTC; on AWS, from the
creation of the schedule.

A firing starts it with `{scheduled_at, node}`: the instant of the firing, as ISO 8601 text in UTC, and the id of the entry.
The output of a run that is started by hand is the inputs of that start: `scheduled_at` is null unless they have it.
""",
    "function": """\
An exception that the function raises fails the attempt with the cause `provider_error` and the exception's name in snake case
as its code (`KeyError`: `key_error`); a `TimeoutError` has the cause `timeout`. `retry_on` lists both by default.
`NodeFailure(cause, code, message)` sets another cause. Arguments that do not fit are `config`, a result that is not JSON is
`execution`.
""",
    "http": """\
The cause of a failure by its status, and whether it is retried if `retry` allows more attempts:

| status | cause | retried |
|---|---|---|
| 408, 504 | `timeout` | yes |
| 425, 429; 403 and 503 with `Retry-After` | `rate_limit` | yes |
| other 5xx | `provider_error` | yes |
| any other that `expect_status` does not list | `http_error` | if `retry_on` lists `http_error` |

With `retry_statuses` the statuses that it lists are retried, and no others; those of the last row then have the cause
`provider_error`. `retry_on` must list the cause.

`Retry-After` is kept, in seconds or as a date, when it is longer than the back-off. If it is longer than a day and than
`max_backoff_ms`, the node fails at once with the code `rate_limit`.
""",
    "llm": """\
Providers are configured in the environment: `STEPLESS_OPENAI_KEY`, and `STEPLESS_OPENAI_URL` for another server with the
same API, its version included (`https://api.openai.com/v1`: requests go to that address plus `/chat/completions`);
`STEPLESS_BEDROCK_REGION`. Packages may [add others](extending.md#model-providers).
""",
}
PARTS: Final[Mapping[str, tuple[tuple[str, type[BaseModel]], ...]]] = {
    "webhook": (
        ("auth: {hmac: …}", webhooks.Hmac), ("auth: {bearer: …}", webhooks.Bearer), ("auth: {scheme: …}", webhooks.Signed),
    ),
    "llm": (("messages", llm.Message), ("tools", llm.ToolParams)),
}
SCHEMES_NOTE: Final = """\
A time in the header or the body must be within `tolerance_s` of the present. A repeated delivery id returns the same run; where a
scheme has none, the same signed bytes do. `{fields}` are the fields of a form, sorted, each name followed by its value. `{url}`
is the whole address that the sender calls: behind a gateway or a proxy, set the address of the deployment (`PublicUrl`), or `url`
in `auth`. Requests by which Slack, Zoom and Trello check the address are answered without a run: `url_verification`,
`endpoint.url_validation`, and HEAD. `standard` also fits the senders that use [Standard
Webhooks](https://www.standardwebhooks.com), and the signing tokens of GitLab. `stepless hooks try` signs by the same table.
"""
INTRODUCTION: Final = """\
# Reference

Every field of a workflow. `tests/tools/documentation/reference_page.py` makes this page from the models that validate documents;
`stepless schema` prints the same models as a JSON Schema for editors. Begin with the [tutorial](../learn/tutorial.md); the
[glossary](../understand/glossary.md) defines the words.

A document is YAML or JSON. Unknown fields are refused, and no value is converted to another type: `"3"` is not a number. All
errors in a document are reported at once, each with its place and how to fix it.

Durations are texts: `500ms`, `90s`, `15m`, `2h`, `3d`, or ISO-8601 such as `PT2H`. Fields that end in `_ms` are whole numbers of
milliseconds.
"""


def render() -> str:
    """The page."""
    return "\n".join([INTRODUCTION, *_document(), LANGUAGE, *_kinds()]).rstrip() + "\n"


def _document() -> Iterator[str]:
    yield from _part("## The workflow", validation.Document)
    yield from _part("### The field `concurrency`", validation.ConcurrencyDocument)
    yield from _part("### The field `rate`", validation.StartRateDocument)
    yield from _part("### The field `rate_limit`", validation.RateLimitDocument)
    yield from _part("### The field `made_by`", validation.MadeByDocument)
    yield from _part("#### Its field `parts`", validation.PartSourceDocument)
    yield from _part("## Nodes", validation.NodeDocument)
    yield from _part("### The field `retry`", validation.RetryDocument)
    yield "Causes of failure:\n"
    yield from _table(("cause", "means"), [(f"`{cause}`", meaning) for cause, meaning in CAUSES.items()])
    yield from _part("### The field `concurrency` of a node", validation.ConcurrencyDocument)
    yield from _part("### The field `rate` of a node", validation.NodeRateDocument)
    yield from _part("### The field `join`", validation.JoinDocument)
    yield from _part("#### Its field `vars` as an expression", validation.CustomMerge)
    yield "## Edges\n"
    yield "An edge is written at its target, in `after`: `score`, `triage.review`, `[pay, deny.error]`, or as an object. The list"
    yield "`edges` is the alternative form. The order of edges is that of the document: `after` in the order of the nodes,"
    yield "then `edges`.\n"
    yield from _part("### In `after`", validation.AfterDocument)
    yield from _part("### In `edges`", validation.EdgeDocument)
    yield from _part("### `condition` of an edge", validation.ConditionDocument)


def _kinds() -> Iterator[str]:
    yield "## Kinds\n"
    yield "Every kind also has the exit `error`: it is taken after the last attempt failed, and carries the error, an object with"
    yield "`class`, `code`, `message`, `node`, `attempt`, `retryable`, `at`.\n"
    for name, kind in KINDS.items():
        yield f"### `{name}`\n"
        yield f"{kind.summary[:1].upper()}{kind.summary[1:]}. {NATURES[kind.nature]}\n"
        if name in NOTES:
            yield NOTES[name]
        yield f"Exits: {_exits(kind)}.\n"
        yield from _fields(kind.params, kind)
        for label, model in PARTS.get(name, ()):
            yield f"`{label}`:\n"
            yield from _fields(model)
        if name == "webhook":
            yield from _schemes()
        yield f"```yaml\n{EXAMPLES[name].strip()}\n```\n"


def _schemes() -> Iterator[str]:
    """The table of schemes. The first line is the general one, as it is without further fields."""
    yield "#### Webhook schemes\n"
    yield SCHEMES_NOTE
    rows = [
        (f"`{name}`", f"[{row.sender}]({row.documentation})" if row.documentation else "your own", f"`{row.header}`", _proof(row),
         _place(row.timestamp), _place(row.delivery))
        for name, row in SCHEMES.items()
    ]  # fmt: skip
    yield from _table(("scheme", "sender", "header", "value", "time", "delivery id"), rows)


def _proof(row: Scheme) -> str:
    if row.proof == "token":
        return "the secret itself"
    made = f"HMAC-{row.algorithm.upper()}" if row.proof == "hmac" else "ECDSA (P-256, SHA-256)"
    prefix = f"`{row.prefix}` and " if row.prefix else ""
    return f"{prefix}{row.encoding} of {made} over `{row.template}`"


def _place(place: RequestField | None) -> str:
    if place is None:
        return ""
    kinds = {"header": f"`{place.name}`", "item": f"`{place.name}=` of the header", "body": f"`{place.name}` of the body"}
    return kinds[place.kind]


def _exits(kind: Kind) -> str:
    if kind.terminal:
        return "none"
    exits = EXITS.get(kind.name)
    return exits if exits is not None else ", ".join(f"`{exit}`" for exit in kind.exits(kind.params.model_construct()))


def _part(heading: str, model: type[BaseModel]) -> Iterator[str]:
    yield f"{heading}\n"
    yield f"{(model.__doc__ or '').strip()}\n"
    yield from _fields(model)


def _fields(model: type[BaseModel], kind: Kind | None = None) -> Iterator[str]:
    meanings = field_docs(model)
    schema = model.model_json_schema(by_alias=True)
    rows = []
    last = webhooks.General.model_fields if issubclass(model, webhooks.General) else ()  # after the fields that it adds
    for name, field in sorted(model.model_fields.items(), key=lambda item: item[0] in last and item[0] != "header"):
        alias = field.alias or name
        words = Words(schema.get("$defs", {})).of(schema["properties"][alias])
        fixed = kind is not None and kind.parts.get(alias) is Part.LITERAL and alias != "body"
        expression = kind is not None and kind.parts.get(alias) in (Part.EXPRESSION, Part.CASES)
        note = " No references." if fixed else " Texts are expressions." if expression else ""
        rows.append((f"`{alias}`", words, _default(field), meanings[name] + note))
    if rows:
        yield from _table(("field", "type", "default", "meaning"), rows)
    else:
        yield "It has no parameters.\n"


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return "see its fields"
    return "none" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


class Words:
    """A JSON Schema in words."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions

    def of(self, schema: Mapping[str, Any]) -> str:
        if "$ref" in schema:
            return self.of(self._definitions[schema["$ref"].rpartition("/")[2]])
        if schema.get("pattern") == DURATION_SCHEMA["pattern"]:
            return "duration"
        if "enum" in schema or "const" in schema:
            return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            named = [self.of(option) for option in options if option.get("type") != "null"]
            return " or ".join(dict.fromkeys(named))
        return self._typed(schema)

    def _typed(self, schema: Mapping[str, Any]) -> str:
        match schema.get("type"):
            case "string":
                return "text"
            case "boolean":
                return "true or false"
            case "integer" | "number":
                what = "whole number" if schema["type"] == "integer" else "number"
                return what + _bounds(schema.get("minimum"), schema.get("maximum"))
            case "array":
                most = schema.get("maxItems")
                return f"list of {self.of(schema.get('items', {}))}" + (f", at most {most}" if most else "")
            case "object":
                return "object"
            case _:
                return "any JSON"


def _bounds(least: float | None, most: float | None) -> str:
    if least is None or most is None:
        return f", at least {least:,}" if least is not None else f", at most {most:,}" if most is not None else ""
    return f", {least:,} to {most:,}"


if __name__ == "__main__":
    sys.stdout.write(render())
