"""Converts action blocks: calls, code, responses, waits, approvals, variables, and blocks without an equivalent kind."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from stepless.imports.sim.names import compared
from stepless.imports.sim.site import Node, Site, call_name
from stepless.imports.sim.values import (
    JSON_TYPES,
    Unreadable,
    built,
    named_fields,
    read_json,
    read_list,
    rows,
    typed,
    whole_number,
)
from stepless.limits import MAX_ANSWER_FIELDS, MAX_DURATION_MS, MAX_HEADERS, MAX_ID_CHARACTERS, MAX_MESSAGE_CHARACTERS
from stepless.model.json import JSON
from stepless.model.texts.ids import is_slug

_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_UNITS: Final[Mapping[str, tuple[str, int]]] = {
    "seconds": ("s", 1_000), "minutes": ("m", 60_000), "hours": ("h", 3_600_000), "days": ("d", 86_400_000),
}  # fmt: skip
_AMOUNT: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,6})?")
_OWN_ANSWERS: Final = ("decision", "by", "at")
_REFERENCE: Final = re.compile(r"<[A-Za-z_]|\$\{|\{\{")


def foreign(site: Site) -> Node:
    """A block without an equivalent kind becomes a function with the block's inputs as args, so that the graph stays complete."""
    site.reset()
    call = call_name(site.block.type)
    site.warn("sim_block_without_equivalent", node=site.id, type=site.block.type, call=call)
    args = {name[:MAX_ID_CHARACTERS]: site.value(value, name) for name, value in site.take_rest().items() if name}
    return {"type": "function", "with": {"call": call, "args": args} if args else {"call": call}}


def code(site: Site) -> Node:
    """A code block becomes a call of a function. Its args are the code as text, and the values that the code reads, by the names
    that it uses for them."""
    source = site.take("code")
    if isinstance(source, list):  # an editor's cells
        source = "\n".join(str(piece.get("content", "")) for piece in source if isinstance(piece, dict))
    language = str(site.take("language") or "javascript")
    text = source if isinstance(source, str) else ""
    call = call_name(site.id)
    site.warn("sim_code_kept_as_text", "code", language=language, node=site.id, call=call)
    values = {mention: site.value(mention, "code") for mention in site.references.mentions(text)}
    if re.search(r"\binput\b", text) and site.has_input:
        values["input"] = "<input>"
    args: dict[str, JSON] = {"language": site.references.as_it_is(language), "code": site.references.as_it_is(text)}
    if values:
        args["values"] = values
    rest = {name[:MAX_ID_CHARACTERS]: site.value(value, name) for name, value in site.take_rest().items() if name}
    return {"type": "function", "with": {"call": call, "args": {**rest, **args}}}


def http(site: Site) -> Node:
    """Returns an HTTP request. A body that is valid JSON becomes JSON, any other body text."""
    params: dict[str, JSON] = {}
    method = str(site.take("method") or "GET").upper()
    if method in _METHODS:
        params["method"] = method
    else:
        site.warn("sim_field_unreadable", "method", field="method", detail=f"{method} is not an HTTP method")
    params["url"] = site.text(site.take("url"), "url").strip()
    for field, name in (("params", "query"), ("headers", "headers")):
        table = _table(site, field)
        if table:
            params[name] = table
    body = site.take("body", "formData")
    if body is not None:
        try:
            params["body"] = site.value(read_json(body), "body")
        except Unreadable:
            params["body"] = site.value(body, "body")
    node: Node = {"type": "http", "with": params}
    given = site.take("timeout")
    timeout_ms = whole_number(given)
    if timeout_ms is not None:
        node["timeout_ms"] = min(timeout_ms, MAX_DURATION_MS)
    elif given is not None:
        site.warn("sim_field_unreadable", "timeout", field="timeout", detail=f"{given!r} is not a number of milliseconds")
    site.warn_unused("http")
    return node


def _table(site: Site, field: str) -> dict[str, JSON]:
    value = site.take(field)
    try:
        table = rows(value if value is not None else {})
    except Unreadable as error:
        site.warn("sim_field_unreadable", field, field=field, detail=error)
        return {}
    entries = list(table.items())
    for name, _ in entries[MAX_HEADERS:]:
        site.warn("sim_field_unreadable", field, field=f"{field}.{name}", detail=f"more than {MAX_HEADERS} entries")
    return {
        name: site.text(entry, field) if isinstance(entry, str) else site.value(entry, field)
        for name, entry in entries[:MAX_HEADERS]
    }


def respond(site: Site) -> Node:
    params: dict[str, JSON] = {}
    given = site.take("status")
    status = whole_number(given)
    if status is not None and 200 <= status <= 599:
        params["status"] = status
    elif isinstance(given, str) and _REFERENCE.search(given):
        params["status"] = site.value(given, "status")
    elif given is not None:
        detail = f"{given!r} is not a status from 200 to 599; the status is set to 200"
        site.warn("sim_field_unreadable", "status", field="status", detail=detail)
    headers = _table(site, "headers")
    if headers:
        params["headers"] = headers
    editor, builder = site.take("data"), site.take("builderData")
    by_editor = site.take("dataMode") == "json" or builder is None
    params["body"] = _body(site, "data" if by_editor else "builderData", editor if by_editor else builder)
    site.warn_unused("respond")
    return {"type": "respond", "with": params}


def _body(site: Site, field: str, value: JSON) -> JSON:
    try:
        return site.value(built(value) if field == "builderData" else read_json(value), field)
    except Unreadable as error:
        site.warn("sim_field_unreadable", field, field=field, detail=f"{error}; the body is sent as text")
        return site.value(value, field)


def wait(site: Site) -> Node:
    long = site.take("async") in (True, "true")
    units = (site.take("timeUnit"), site.take("timeUnitLong"))
    unit = units[long]
    letter, factor = _UNITS.get(str(unit)) or _UNITS["minutes" if long else "seconds"]
    amount = site.take("timeValue")
    text = str(amount).strip() if amount is not None else "10"
    site.warn_unused("wait")
    if _AMOUNT.fullmatch(text) and float(text) * factor <= MAX_DURATION_MS:
        wait_ms = round(float(text) * factor)
        whole = f"{int(text)}{letter}" if text.isdecimal() else f"{wait_ms // 1_000}s" if wait_ms % 1_000 == 0 else f"{wait_ms}ms"
        return {"type": "wait", "with": {"for": whole}}
    if _REFERENCE.search(text):
        return {"type": "wait", "with": {"for": f"{site.value(text, 'timeValue') or ''}{letter}"}}
    site.warn("sim_field_unreadable", "timeValue", field="timeValue", detail=f"{text!r} is not a valid time; it is set to 10 s")
    return {"type": "wait", "with": {"for": "10s"}}


def approval(site: Site) -> Node:
    """Returns a question to a person. Data that Sim shows with the question becomes part of the message."""
    lines = [site.references.as_it_is(site.block.name)]
    shown = _shown(site)
    lines += [f"{site.references.as_it_is(name)}: {_line(value)}" for name, value in shown.items()]
    message = "\n".join(lines)
    if len(message) > MAX_MESSAGE_CHARACTERS:
        site.warn("sim_field_unreadable", "builderData", field="builderData", detail="the text is too long for a message")
        message = lines[0][:MAX_MESSAGE_CHARACTERS]
    params: dict[str, JSON] = {"message": message}
    fields = _answer_fields(site)
    if fields:
        params["fields"] = fields
    site.warn("sim_approval_answers", node=site.id)
    site.warn_unused("approval")
    return {"type": "approval", "with": params}


def _line(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shown(site: Site) -> dict[str, JSON]:
    value = site.take("builderData")
    try:
        shown: dict[str, JSON] = site.value(built(value if value is not None else []), "builderData")
    except Unreadable as error:
        site.warn("sim_field_unreadable", "builderData", field="builderData", detail=error)
        return {}
    return shown


def _answer_fields(site: Site) -> dict[str, JSON]:
    value = site.take("inputFormat")
    fields: dict[str, JSON] = {}
    try:
        for field in named_fields(value if value is not None else []):
            name = field["name"].strip()
            if name in _OWN_ANSWERS or len(name) > MAX_ID_CHARACTERS or len(fields) >= MAX_ANSWER_FIELDS:
                detail = "the name is reserved or too long, or there are too many fields"
                site.warn("sim_field_unreadable", "inputFormat", field=name, detail=detail)
                continue
            schema = JSON_TYPES.get(str(field.get("type") or "string"), {})
            title = field.get("description") or field.get("label")
            fields[name] = {**schema, "description": title} if isinstance(title, str) else dict(schema)
    except Unreadable as error:
        site.warn("sim_field_unreadable", "inputFormat", field="inputFormat", detail=error)
    return fields


def child(site: Site) -> Node:
    """Returns a call of another workflow, which must be imported as well: Sim's ids of workflows are not those of Stepless."""
    workflow = site.take("workflowId", "manualWorkflowId")
    if not isinstance(workflow, str) or not is_slug(workflow):
        return foreign(site)
    site.warn("sim_child_workflow", "workflowId", node=site.id, workflow=workflow)
    params: dict[str, JSON] = {"workflow": workflow}
    given = site.take("inputMapping", "input")
    if given is not None:
        try:
            params["inputs"] = site.value(read_json(given), "inputMapping")
        except Unreadable:
            params["inputs"] = site.value(given, "inputMapping")
    site.warn_unused("workflow")
    return {"type": "workflow", "with": params}


def variables(site: Site) -> Node:
    """Assignments to declared variables. Other assignments are left out; they have no effect in Sim either."""
    value = site.take("variables")
    known, by_key = site.references.variables, {entry.key: entry.name for entry in site.references.export.variables}
    written: dict[str, JSON] = {}
    try:
        assignments = read_list(value if value is not None else [])
    except Unreadable as error:
        site.warn("sim_field_unreadable", "variables", field="variables", detail=error)
        assignments = []
    for entry in assignments:
        named = by_key.get(str(entry.get("variableId"))) or str(entry.get("variableName") or "")
        name = known.get(compared(named))
        assigned, detail = typed(entry.get("value"), str(entry.get("type") or "string"))
        if name is None:
            site.warn("sim_variable_unknown", "variables", name=named)
        elif detail:
            site.warn("sim_variable_unreadable", "variables", name=named, type=entry.get("type"), detail=detail)
        else:
            written[name] = site.value(assigned, "variables")
    site.warn_unused("set")
    return {"type": "set", "with": {"variables": written}} if written else {"type": "transform", "with": {"value": {}}}
