"""Converts nodes that are neither triggers nor conditions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

from stepless.imports.n8n import conditions
from stepless.imports.n8n.references import response_options
from stepless.imports.n8n.site import Node, Site, call_name
from stepless.imports.sim.names import screaming, slug
from stepless.imports.sim.reference_translation import Read, quoted
from stepless.limits import MAX_DURATION_MS, MAX_MESSAGE_CHARACTERS
from stepless.model.json import JSON

_ALL_FIELDS: Final = 3.0  # from this version of Set on, only what is assigned is returned unless it says otherwise
_METHOD_PARAMETER: Final = 4.0  # of an HTTP Request
_UNITS: Final[Mapping[str, int]] = {"seconds": 1, "minutes": 60, "hours": 3_600, "days": 86_400}
_SHORT: Final = 1.1  # the version of Wait from which on it waits five seconds by default
_BY_PLACE: Final = ("combineByPosition", "mergeByPosition")


def foreign(site: Site) -> Node:
    """Returns a node without an equivalent kind: a call of a function that its author registers."""
    site.reset()
    call = call_name(site.block.type)
    site.warn("n8n_node_without_equivalent", node=site.id, type=site.block.type, call=call)
    for sort, name in site.block.credentials.items():
        site.warn("n8n_credential", node=site.id, name=name, type=sort)
    return {"type": "function", "with": {"call": call, "args": site.arguments()}}


def code(site: Site) -> Node:
    """Converts code in another language: the text is kept for the function that takes its place."""
    language = "Python" if site.block.params.get("pythonCode") or site.block.params.get("language") == "python" else "JavaScript"
    call = call_name("code", site.id)
    site.warn("n8n_code_kept_as_text", node=site.id, language=language, call=call)
    source = site.take("jsCode", "pythonCode", "functionCode")
    site.take("language", "mode", "notice")
    args: dict[str, JSON] = {"code": site.templates.value(str(source or "").removeprefix("="), site.path(""))}
    if site.has_input:
        args["input"] = site.input()
    site.warn_unused("function")
    return {"type": "function", "with": {"call": call, "args": args}}


# -- HTTP -------------------------------------------------------------------------------------------------------------


def http(site: Site) -> Node:
    """Returns an HTTP request."""
    usual = site.take("method" if site.block.version >= _METHOD_PARAMETER else "requestMethod", "method", "requestMethod")
    params: dict[str, JSON] = {"method": str(usual or "GET"), "url": site.text(site.take("url"), "url")}
    query = _table(site, "sendQuery", "queryParameters", "queryParametersUi", "jsonQuery", "queryParametersJson")
    headers = _table(site, "sendHeaders", "headerParameters", "headerParametersUi", "jsonHeaders", "headerParametersJson")
    body, sort = _body(site)
    if sort == "foreign":
        return foreign(site)
    if sort and isinstance(headers, dict):
        headers = {"Content-Type": sort, **headers}
    _credential(site, headers if isinstance(headers, dict) else {})
    for name, value in (("headers", headers), ("query", query), ("body", body)):
        if value not in (None, {}):
            params[name] = value
    if site.option("response") is not None and response_options(site.block).get("neverError") is True:
        params["expect_status"] = ["2xx", "3xx", "4xx", "5xx"]
    node: Node = {"type": "http", "with": params}
    timeout = site.option("timeout")
    if isinstance(timeout, int) and 0 < timeout <= MAX_DURATION_MS:
        node["timeout_ms"] = timeout
    site.take("responseFormat", "jsonParameters", "allowUnauthorizedCerts")
    site.warn_unused("http")
    return node


def _table(site: Site, sent: str, table: str, former: str, text: str, former_text: str) -> JSON:
    """The rows of a table, or its JSON text, as an object."""
    specified = f"specify{sent.removeprefix('send')}"
    is_sent, is_json = site.take(sent), site.take(specified) == "json" or site.take("jsonParameters") is True
    rows, given = site.rows(table, former), site.take(text, former_text)
    if is_sent is not True and site.block.version >= _ALL_FIELDS:
        return {}
    if is_json and given is not None:
        return site.json(given, text)
    return {str(row["name"]): site.value(row.get("value"), table) for row in rows if row.get("name")}


def _body(site: Site) -> tuple[JSON, str]:
    """The body and its content type; the type is `foreign` where the body cannot be written, empty where the kind sets it."""
    sort = str(site.take("contentType", "bodyContentType") or "json")
    is_json = site.take("specifyBody") == "json" or site.take("jsonParameters") is True
    rows = site.rows("bodyParameters", "bodyParametersUi")
    given, raw, raw_type = site.take("jsonBody", "bodyParametersJson"), site.take("body"), site.take("rawContentType")
    if site.take("sendBody") is not True and site.block.version >= _ALL_FIELDS:
        return None, ""
    fields = {str(row["name"]): row.get("value") for row in rows if row.get("name")}
    if sort in ("json", ""):
        if is_json or (not fields and given is not None):
            return site.json(given, "jsonBody"), ""
        return {name: site.value(value, "bodyParameters") for name, value in fields.items()} or None, ""
    if sort == "raw":
        return site.text(raw, "body"), str(raw_type or "text/plain")
    is_fixed = all(isinstance(value, str) and not value.startswith("=") for value in fields.values())
    if sort == "form-urlencoded" and is_fixed and raw is None:
        return urlencode({name: str(value) for name, value in fields.items()}), "application/x-www-form-urlencoded"
    return None, "foreign"


def _credential(site: Site, headers: dict[str, JSON]) -> None:
    """The credential of a request: a bearer token is a header with a secret, every other one is reported."""
    asked = site.take("authentication")
    site.take("nodeCredentialType")
    generic = site.take("genericAuthType")
    if asked in (None, "none"):
        return
    name = next(iter(site.block.credentials.values()), "")
    if generic == "httpBearerAuth":
        secret = screaming(name or site.id, "token")
        headers["Authorization"] = f"Bearer {site.references.variable(secret)}"
        site.warn("n8n_bearer", "authentication", node=site.id, name=name, secret=secret)
    else:
        sort = generic or site.block.params.get("nodeCredentialType") or asked
        site.warn("n8n_credential", "authentication", node=site.id, name=name, type=sort)


# -- data -------------------------------------------------------------------------------------------------------------


def assign(site: Site) -> Node:
    """Converts Set and Edit Fields to an object of the assigned fields, after the fields of the input where they are kept."""
    keeps = _keeps(site)
    if site.take("mode") == "raw":
        made = site.json(site.take("jsonOutput") or "{}", "jsonOutput")
    else:
        made = _assigned(site)
    site.warn_unused("transform")
    if not keeps or not site.has_input:
        return {"type": "transform", "with": {"value": made}}
    if made == {}:
        return {"type": "transform", "with": {"value": site.input()}}
    return {"type": "transform", "with": {"value": f"{{{{ merge({site.input_expression()}, {_expression(made)}) }}}}"}}


def _keeps(site: Site) -> bool:
    if site.block.version < _ALL_FIELDS:
        return site.take("keepOnlySet") is not True
    included, other = site.take("include"), site.take("includeOtherFields")
    if included not in (None, "all", "none"):
        site.warn("n8n_field_ignored", "include", field="include", kind="transform", detail=included)
    return other is True or (included == "all" and other is not False)


def _assigned(site: Site) -> JSON:
    rows = site.rows("assignments", "fields")
    if not rows:
        values = site.take("values")
        for sort, entries in (values if isinstance(values, dict) else {}).items():
            listed = entries if isinstance(entries, list) else []
            rows += [{**entry, "type": sort} for entry in listed if isinstance(entry, dict)]
    dotted = site.option("dotNotation") is not False
    site.option("ignoreConversionErrors")
    made: dict[str, JSON] = {}
    for row in rows:
        name = str(row.get("name") or "")
        given = next((row[key] for key in ("value", f"{row.get('type')}", "stringValue") if row.get(key) is not None), "")
        sort = str(row.get("type") or "string").removesuffix("Value")
        value = _typed(site, given, sort)
        steps = name.split(".") if dotted and "[" not in name else [name]
        inner = made
        for step in steps[:-1]:
            held = inner.setdefault(step, {})
            inner[step] = inner = held if isinstance(held, dict) else {}
        inner[steps[-1]] = value
    return made


def _typed(site: Site, given: JSON, sort: str) -> JSON:
    """A value that is typed as text, as a value of its type."""
    where = "assignments"
    if not isinstance(given, str) or sort == "string":
        return site.value(given, where)
    plain = given.removeprefix("=").strip()
    if sort in ("object", "array") or (sort in ("number", "boolean") and "{{" not in plain):
        return site.json(given if "{{" in plain else plain, where)
    return site.value(given, where)


def _expression(value: JSON) -> str:
    """A value with templates as one expression."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{quoted(key)}: {_expression(item)}' for key, item in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(_expression(item) for item in value)}]"
    if not isinstance(value, str):
        return json.dumps(value)
    text = value.strip()
    if text.startswith("{{") and text.endswith("}}") and text.count("{{") == 1:
        return f"({text[2:-2].strip()})"
    if text.startswith("<") and text.endswith(">") and text.count("<") == 1:
        return text
    return f'"{quoted(value)[1:-1]}"' if "{{" not in value and "<" not in value else _joined(value)


def _joined(value: str) -> str:
    """A text with references as one expression: references are filled in inside of quotes."""
    pieces = []
    for place, part in enumerate(value.replace("{{", "\ue002").replace("}}", "\ue002").split("\ue002")):
        if part:
            written = part.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            pieces.append(f"str({part.strip()})" if place % 2 else f'"{written}"')
    return f'join([{", ".join(pieces)}], "")'


def split_out(site: Site) -> Node:
    """Returns the list of a field."""
    name = site.take("fieldToSplitOut")
    if not isinstance(name, str) or "," in name or name.startswith("=") or site.take("include") not in (None, "noOtherFields"):
        return foreign(site)
    site.option("destinationFieldName")
    site.warn_unused("transform")
    read = site.references.current(site.block, tuple(name.split(".")))
    return {"type": "transform", "with": {"value": read.template() if isinstance(read, Read) else None}}


def merge(site: Site) -> Node:
    """Returns a place where branches meet."""
    mode, by = str(site.take("mode") or "append"), site.take("combineBy", "combinationMode")
    site.take("numberInputs", "chooseBranchMode")
    ids = [site.references.wiring.ids[wire.source] for wire in site.references.wiring.into[site.block.name]]
    if mode == "append" or not ids:
        site.warn("n8n_merge_list", node=site.id)
        site.warn_unused("join")
        return {"type": "join", "merge": "array"}
    if mode == "chooseBranch":
        wanted = str(site.take("useDataOfInput") or 1).strip("=")
        wires = [wire for wire in site.references.wiring.into[site.block.name] if str(wire.edge.input + 1) == wanted]
        site.take("output")
        site.warn_unused("transform")
        place = int(wanted) - 1 if wanted.isdecimal() else 0
        return {"type": "transform", "with": {"value": f"<inputs.input{place}>" if wires else {}}}
    if mode == "mergeByIndex" or (mode == "combine" and by in (None, *_BY_PLACE)):
        inputs = sorted({wire.edge.input for wire in site.references.wiring.into[site.block.name]})
        site.option("includeUnpaired")
        site.option("fuzzyCompare")
        site.warn_unused("transform")
        sides = ", ".join(f"default(<inputs.input{place}>, {{}})" for place in inputs)
        return {"type": "transform", "with": {"value": f"{{{{ merge({sides}) }}}}"}}
    return foreign(site)


# -- control ----------------------------------------------------------------------------------------------------------


def wait(site: Site) -> Node:
    """Returns a wait for some time, until an instant, or for an answer."""
    resume = site.take("resume") or "timeInterval"
    if resume == "timeInterval":
        is_short = site.block.version >= _SHORT
        amount, unit = site.take("amount"), str(site.take("unit") or ("seconds" if is_short else "hours"))
        amount = amount if amount is not None else 5 if is_short else 1
        if not isinstance(amount, int | float) or isinstance(amount, bool) or unit not in _UNITS:
            return foreign(site)
        site.warn_unused("wait")
        return {"type": "wait", "with": {"for": f"{max(1, round(amount * _UNITS[unit]))}s"}}
    if resume == "specificTime":
        instant = site.value(site.take("dateTime"), "dateTime")
        site.warn_unused("wait")
        return {"type": "wait", "with": {"until": instant}}
    site.take("httpMethod", "responseMode", "webhookSuffix", "limitWaitTime", "resumeAmount", "resumeUnit", "limitType")
    site.warn_unused("callback")
    return {"type": "callback"}


def respond(site: Site) -> Node:
    """Returns the answer to the caller of a webhook."""
    sort = str(site.take("respondWith") or "firstIncomingItem")
    params: dict[str, JSON] = {}
    status, headers = site.option("responseCode"), site.option("responseHeaders")
    if isinstance(status, int):
        params["status"] = status
    rows = headers.get("entries") if isinstance(headers, dict) else None
    listed = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    named: dict[str, JSON] = {
        str(row["name"]): site.text(row["value"], "options") for row in listed if row.get("name") and row.get("value")
    }
    if named:
        params["headers"] = named
    match sort:
        case "firstIncomingItem":
            params["body"] = site.input()
        case "allIncomingItems":
            params["body"] = [site.input()]
        case "json":
            params["body"] = site.json(site.take("responseBody") or "{}", "responseBody")
        case "text":
            params["body"] = site.text(site.take("responseBody"), "responseBody")
        case "redirect":
            params["status"] = status if isinstance(status, int) else 302
            params["headers"] = {**named, "Location": site.text(site.take("redirectURL"), "redirectURL")}
        case "noData":
            params.setdefault("status", 204)
        case _:
            return foreign(site)
    site.warn_unused("respond")
    return {"type": "respond", "with": params}


def child(site: Site) -> Node:
    """Returns a call of another workflow, which must be imported as well: it is called by the id that its name becomes."""
    given = site.take("workflowId")
    name = given.get("cachedResultName") or given.get("value") if isinstance(given, dict) else given
    site.take("mode", "source", "options")
    elsewhere = site.block.params.get("source") in ("parameter", "localFile", "url")
    if not isinstance(name, str) or not name or name.startswith("=") or elsewhere:
        return foreign(site)
    site.warn("n8n_child_workflow", "workflowId", node=site.id, workflow=given, id=slug(name))
    params: dict[str, JSON] = {"workflow": slug(name)}
    mapped = site.take("workflowInputs")
    values = mapped.get("value") if isinstance(mapped, dict) else None
    if isinstance(values, dict) and values:
        params["inputs"] = site.value(values, "workflowInputs")
    elif site.has_input:
        params["inputs"] = site.input()
    site.warn_unused("workflow")
    return {"type": "workflow", "with": params}


def stop(site: Site) -> Node:
    """Returns a failure of the run."""
    given = site.take("errorMessage", "errorObject")
    site.take("errorType")
    site.warn_unused("fail")
    message = site.text(given, "errorMessage")[:MAX_MESSAGE_CHARACTERS]
    return {"type": "fail", "with": {"code": "stopped", "message": message or "stopped"}}


def nothing(site: Site) -> Node:
    site.warn_unused("join")
    return {"type": "join"}


ACTIONS: Final[Mapping[str, Callable[[Site], Node]]] = MappingProxyType({
    "httpRequest": http, "if": conditions.condition, "filter": conditions.condition, "switch": conditions.switch, "set": assign,
    "code": code, "function": code, "functionItem": code, "merge": merge, "wait": wait, "respondToWebhook": respond,
    "executeWorkflow": child, "stopAndError": stop, "noOp": nothing, "splitOut": split_out,
})  # fmt: skip
"""Nodes except triggers and loops; `foreign` converts all others."""
