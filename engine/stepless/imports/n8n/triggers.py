"""Converts triggers to entry kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from stepless.imports.n8n.site import Node, Site
from stepless.imports.sim.names import screaming
from stepless.limits import MAX_MESSAGE_CHARACTERS
from stepless.model.json import JSON
from stepless.nodes import KINDS

_MINUTES: Final = 60
_HOURS: Final = 24
_JSON_TYPES: Final[Mapping[str, JSON]] = {
    "string": {"type": "string"}, "number": {"type": "number"}, "boolean": {"type": "boolean"}, "array": {"type": "array"},
    "object": {"type": "object"},
}  # fmt: skip
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_WAITING: Final = ("lastNode", "responseNode", "streaming")


def manual(site: Site) -> Node:
    """Returns a start by hand."""
    site.warn_unused("manual")
    return {"type": "manual"}


def called(site: Site) -> Node:
    """Returns a start by another workflow, with the inputs that the trigger declares. n8n does not refuse others, so none is
    required."""
    properties: dict[str, JSON] = {}
    for row in site.rows("workflowInputs"):
        if isinstance(row.get("name"), str):
            properties[str(row["name"])] = _JSON_TYPES.get(str(row.get("type") or ""), {})
    example = site.take("jsonExample")
    site.take("inputSource")
    node: Node = {"type": "manual"}
    if isinstance(example, str):
        try:
            given = site.templates.json(example.removeprefix("="), site.path("jsonExample"))
        except ValueError as error:
            site.warn("n8n_field_unreadable", "jsonExample", field="jsonExample", detail=error)
            given = None
        properties |= {name: {} for name in given} if isinstance(given, dict) else {}
    if properties:
        node["inputs"] = {"type": "object", "properties": properties}
    site.warn_unused("manual")
    return node


def failed(site: Site) -> Node:
    """Returns a start by the failure of another workflow."""
    site.warn("n8n_error_trigger", node=site.id)
    return manual(site)


def foreign(site: Site) -> Node:
    """Returns a trigger of another service, for which Stepless has no entry kind."""
    site.warn("n8n_trigger_without_equivalent", node=site.id, type=site.block.type)
    return manual(site)


def webhook(site: Site) -> Node:
    """Returns a webhook at its path. Where n8n asks for a credential, callers need a bearer token."""
    path = str(site.take("path") or site.id).strip("/=")
    given = site.take("httpMethod") or "GET"
    methods = [str(one) for one in (given if isinstance(given, list) else [given])]
    site.take("multipleMethods")
    kept = [one for one in methods if one in _METHODS]
    if kept != methods:
        site.warn("n8n_field_ignored", "httpMethod", field="httpMethod", kind="webhook", detail=", ".join(methods))
    params: dict[str, JSON] = {"path": f"/{path}"}
    params["method"] = kept[0] if len(kept) == 1 else list(kept) or "GET"
    auth = site.take("authentication") or "none"
    if auth == "none":
        params["auth"] = "none"
        site.warn("n8n_open_webhook", node=site.id)
    else:
        name = screaming(next(iter(site.block.credentials.values()), site.id), "token")
        params["auth"] = {"bearer": site.references.variable(name)}
        site.warn("n8n_webhook_auth", "authentication", node=site.id, name=name)
    if str(site.take("responseMode") or "onReceived").strip("=") in _WAITING:
        params["response"] = "wait"
    site.warn_unused("webhook")
    return {"type": "webhook", "with": params}


def schedule(site: Site) -> Node:
    """Returns a schedule with the first rule of the trigger, or a start by hand if it has no equivalent."""
    rows = site.rows("rule", "triggerTimes")
    if len(rows) > 1:
        site.warn("n8n_schedule_rules", "rule", node=site.id, count=len(rows))
    rule = rows[0] if rows else {}
    cron = _former(rule) if site.block.type == "cron" else _cron(rule)
    params: dict[str, JSON] = {"cron": cron}
    timezone = site.references.export.settings.get("timezone")
    if isinstance(timezone, str) and timezone not in ("", "DEFAULT"):
        params["timezone"] = timezone
    site.warn_unused("schedule")
    detail = "it has no equivalent in cron" if not cron else _refused(params)
    if detail:
        site.warn("n8n_schedule_unreadable", detail=f"{detail}: {dict(rule)}", node=site.id)
        return {"type": "manual"}
    return {"type": "schedule", "with": params}


def _cron(rule: Mapping[str, JSON]) -> str:
    """The cron expression of a rule; empty where there is none."""
    sort = str(rule.get("field") or "days")
    if sort == "cronExpression":
        return _five(str(rule.get("expression") or ""))
    minute, hour = _number(rule, "triggerAtMinute", 0), _number(rule, "triggerAtHour", 0)
    every = _number(rule, f"{sort}Interval", 5 if sort == "minutes" else 1)
    if every < 1:
        return ""
    match sort:
        case "minutes" if _MINUTES % every == 0 and every < _MINUTES:
            return f"*/{every} * * * *"
        case "hours" if _HOURS % every == 0 and every < _HOURS:
            return f"{minute} {'*' if every == 1 else f'*/{every}'} * * *"
        case "days" if every == 1:
            return f"{minute} {hour} * * *"
        case "weeks" if every == 1:
            days = rule.get("triggerAtDay")
            named = ",".join(str(day) for day in days) if isinstance(days, list) and days else "0"
            return f"{minute} {hour} * * {named}"
        case "months" if 12 % every == 0:
            return f"{minute} {hour} {_number(rule, 'triggerAtDayOfMonth', 1)} {'*' if every == 1 else f'*/{every}'} *"
    return ""


def _former(rule: Mapping[str, JSON]) -> str:
    """The cron expression of a time of the former node Cron."""
    minute, hour = _number(rule, "minute", 0), _number(rule, "hour", 14)
    match str(rule.get("mode") or "everyDay"):
        case "everyMinute":
            return "* * * * *"
        case "everyHour":
            return f"{minute} * * * *"
        case "everyDay":
            return f"{minute} {hour} * * *"
        case "everyWeek":
            return f"{minute} {hour} * * {rule.get('weekday') or 1}"
        case "everyMonth":
            return f"{minute} {hour} {_number(rule, 'dayOfMonth', 1)} * *"
        case "custom":
            return _five(str(rule.get("cronExpression") or ""))
    return ""


def _five(expression: str) -> str:
    """A cron expression without its seconds; empty if it fires within a minute."""
    fields = expression.strip("= ").split()
    if len(fields) == 6:  # seconds first
        return " ".join(fields[1:]) if fields[0] == "0" else ""
    return " ".join(fields)


def _number(rule: Mapping[str, JSON], name: str, usual: int) -> int:
    value = rule.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else usual


def _refused(params: dict[str, JSON]) -> str:
    """Why the kind refuses these parameters; empty if it accepts them."""
    kind = KINDS["schedule"]
    try:
        model = kind.params.model_validate(params)
    except ValueError:
        return f"{params['cron']} in {params.get('timezone')}"[:MAX_MESSAGE_CHARACTERS]
    return "; ".join(finding.message for finding in kind.check(model, ""))


TRIGGERS: Final[Mapping[str, Callable[[Site], Node]]] = MappingProxyType({
    "manualTrigger": manual, "start": manual, "executeWorkflowTrigger": called, "errorTrigger": failed, "webhook": webhook,
    "scheduleTrigger": schedule, "cron": schedule,
})  # fmt: skip
"""Triggers; `foreign` converts all others."""
