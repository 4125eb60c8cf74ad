"""Converts triggers to entry kinds."""

from __future__ import annotations

import re
from typing import Final

from stepless.imports.sim.names import slug
from stepless.imports.sim.site import Node, Site
from stepless.imports.sim.values import Unreadable, named_fields, whole_number
from stepless.model.json import JSON
from stepless.nodes import KINDS

_TIME: Final = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::[0-5][0-9])?")
_WEEKDAYS: Final = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_MINUTES_PER_HOUR: Final = 60
_DAYS: Final = 31


def start(site: Site) -> Node:
    """Returns a trigger that starts runs by hand, by API or by chat. Its inputs are the run's inputs."""
    _report_inputs(site)
    site.warn_unused("manual")
    return {"type": "manual"}


def foreign(site: Site) -> Node:
    """Returns a trigger of another service, for which Stepless has no entry kind."""
    site.warn("sim_trigger_without_equivalent", node=site.id, type=site.block.type)
    return start(site)


def webhook(site: Site) -> Node:
    """Returns a webhook with its own path. Callers need a bearer token if Sim's trigger requires one."""
    token, asked = site.take("token"), site.take("requireAuth")
    auth: JSON = "none"
    if asked is not False and isinstance(token, str):
        auth = {"bearer": site.text(token, "token")}
    else:
        site.warn("sim_open_webhook", node=site.id)
    _report_inputs(site)
    site.warn_unused("webhook")
    name = slug(site.references.export.name)
    return {"type": "webhook", "with": {"path": f"/{name}/{site.id}", "method": "POST", "auth": auth}}


def schedule(site: Site) -> Node:
    """Returns a schedule with a cron expression, or a manual start if the settings give no valid expression."""
    _report_inputs(site)
    sort = site.take("scheduleType") or "daily"
    settings = {name: site.take(name) for name in _SCHEDULE_FIELDS}
    timezone = site.take("timezone")
    given = {name: str(value).strip() for name, value in settings.items() if value is not None}
    params: dict[str, JSON] = {"cron": _cron(str(sort), given)}
    if timezone is not None:
        params["timezone"] = timezone
    site.warn_unused("schedule")
    detail = _refused(params)
    if detail:
        site.warn("sim_schedule_unreadable", detail=f"{sort}: {detail}", node=site.id)
        return {"type": "manual"}
    return {"type": "schedule", "with": params}


_SCHEDULE_FIELDS: Final = (
    "minutesInterval", "hourlyMinute", "dailyTime", "weeklyDay", "weeklyDayTime", "monthlyDay", "monthlyTime", "cronExpression",
)


def _cron(sort: str, given: dict[str, str]) -> str:
    """The cron expression for the settings; empty if a setting is missing or invalid."""
    match sort:
        case "custom":
            return " ".join(given.get("cronExpression", "").split())
        case "minutes":
            interval = whole_number(given.get("minutesInterval"))
            return f"*/{interval} * * * *" if interval is not None and interval < _MINUTES_PER_HOUR else ""
        case "hourly":
            minute = given.get("hourlyMinute", "0")
            return f"{int(minute)} * * * *" if minute.isascii() and minute.isdecimal() and int(minute) < _MINUTES_PER_HOUR else ""
        case "daily":
            return _at(given.get("dailyTime"), "* * *")
        case "weekly":
            day = given.get("weeklyDay", "").upper()
            return _at(given.get("weeklyDayTime"), f"* * {day}") if day in _WEEKDAYS else ""
        case "monthly":
            monthday = whole_number(given.get("monthlyDay"))
            return _at(given.get("monthlyTime"), f"{monthday} * *") if monthday is not None and monthday <= _DAYS else ""
    return ""


def _at(time: str | None, days: str) -> str:
    found = _TIME.fullmatch(time or "")
    return f"{int(found[2])} {int(found[1])} {days}" if found else ""


def _refused(params: dict[str, JSON]) -> str:
    """Why the kind refuses these parameters; empty if it accepts them."""
    kind = KINDS["schedule"]
    if not params["cron"]:
        return "a setting is missing or invalid"
    try:
        model = kind.params.model_validate(params)
    except ValueError:
        return f"{params['cron']} in {params.get('timezone')}"
    return "; ".join(finding.message for finding in kind.check(model, ""))


def _report_inputs(site: Site) -> None:
    """Reports the inputs that a trigger declares."""
    declared = site.take("inputFormat")
    if declared is None:
        return
    try:
        fields = [f"{field['name']}: {field.get('type') or 'string'}" for field in named_fields(declared)]
    except Unreadable as error:
        site.warn("sim_field_unreadable", "inputFormat", field="inputFormat", detail=error)
        return
    if fields:
        site.warn("sim_input_format", "inputFormat", node=site.id, detail=", ".join(fields))
