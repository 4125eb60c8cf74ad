"""Implements `runs show`, `events`, `tags` and `cost`: the state and the history of a run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from stepless.cli.reach.gateway import Gateway, opened
from stepless.cli.terminal.exceptions import Raised, failure_lines, source_line, traceback
from stepless.cli.terminal.formatting import Column, brief, coloured, cut, fields, put_json, say, table, when, width
from stepless.cli.terminal.live import event_text
from stepless.cli.terminal.progress import Progress, duration, instant_ms
from stepless.cli.terminal.timeline import glyphs_for, timeline
from stepless.cli.verbs import following
from stepless.cli.verbs.node import show_node
from stepless.limits import MAX_PAGE_ITEMS
from stepless.ports import SHARD

_NODES: Final = (
    Column("INSTANCE", least=16), Column("KIND", spare=True), Column("STATUS"), Column("CODE", least=8, spare=True),
)  # fmt: skip
_SHOWN: Final = 600  # characters of a value next to its label
_TYPE: Final = 18  # columns
_INSTANCE: Final = 16
_FACT: Final = 120  # characters of a tag's fact


def show(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        if arguments.node is not None:
            show_node(gateway, arguments.run, arguments.node, as_json=arguments.json)
            return 0
        run = gateway.ask("GET", "runs", arguments.run)
        if arguments.json:
            put_json(run)
            return 0
        say(_head(run))
        print()
        progress = _followed(gateway, run)
        say(_nodes(gateway, run) if progress is None else timeline(progress, width(), glyphs_for(sys.stdout.encoding)))
        say(_rest(run, progress))
    return 0


def _head(run: Mapping[str, Any]) -> Iterator[str]:
    version = f" version {run['version']}" if run["version"] else ""
    number = f" #{run['number']}" if run.get("number") else ""
    name, now = f"{run['id']}  {run['workflow']}{number}{version}", str(run.get("summary", run["status"]))
    fits = len(name) + 2 + len(now) <= width()
    yield f"{name}  {coloured(now)}" if fits else name
    started, ended = run["started_at"], run["ended_at"]
    took = duration(instant_ms(ended) - instant_ms(started)) if started and ended else ""
    words = run.get("keywords", run["tags"])  # older servers have only `tags`
    yield from fields([
        ("now", "" if fits else now), ("created", when(run["created_at"])),
        ("ended", f"{when(ended)}, after {took}" if took else ""),
        ("held", _held(run)), ("waits for", "\n".join(map(_limit, run.get("limits", ())))),
        ("parent", f"{run['parent']['run']}  {run['parent']['instance']}" if run.get("parent") else ""),
        ("key", run.get("key") or ""), ("rerun of", _repeated(run.get("rerun"))), ("draft", _draft(run.get("draft"))),
        ("started at", ", ".join(f"{node} (not an entry)" for node in run.get("non_entries", ()))),
        ("keywords", " ".join(words)), ("tags", " ".join(tag for tag in run["tags"] if tag not in words)),
        ("inputs", brief(run["inputs"], _SHOWN) if run["inputs"] else ""),
        ("variables", brief(run["variables"], _SHOWN) if run["variables"] else ""),
    ])  # fmt: skip


def _repeated(rerun: Mapping[str, Any] | None) -> str:
    """The run that this one repeats, and from where; older servers do not tell it."""
    if rerun is None:
        return ""
    since = f" from {rerun['from']}" if rerun["from"] else ""
    who = f" by {rerun['by']}" if rerun["by"] else ""
    return f"{rerun['of']}{since}{who}{': ' if rerun['reason'] else ''}{rerun['reason'] or ''}"


def _draft(draft: Mapping[str, Any] | None) -> str:
    """Whose test run it is, and how much of its draft it ran."""
    if draft is None:
        return ""
    until = f", up to {draft['stop_after']}" if draft["stop_after"] else ""
    return f"a test run by {draft['by']}{until}" if draft["by"] else f"a test run{until}"


def _limit(limit: Mapping[str, Any]) -> str:
    """A limit that attempts wait for: for whom, since when, and the position in line."""
    key = f", key {limit['key']}" if limit["key"] is not None else ""
    until = f", until {when(limit['until'])}" if limit["until"] else ""
    ahead = f", {limit['ahead']} ahead in line" if limit["ahead"] is not None else ""
    nodes = "1 node" if limit["instances"] == 1 else f"{limit['instances']} nodes"
    return f"{limit['of']}{key}: {nodes} since {when(limit['since'])}{until}{ahead}"


def _held(run: Mapping[str, Any]) -> str:
    """Who holds the run and since when; empty if it is not held."""
    held = run["held"]
    if held is None:
        return ""
    who = f" by {held['by']}" if held["by"] else ""
    why = f": {held['reason']}" if held["reason"] else ""
    return f"since {when(held['at'])}{who}{why}\nstepless runs release {run['id']}"


def _followed(gateway: Gateway, run: Mapping[str, Any]) -> Progress | None:
    progress = following.progress_of(gateway, run)
    if progress is not None:
        progress.add(following.events(gateway, run["id"]))
    return progress


def _nodes(gateway: Gateway, run: Mapping[str, Any]) -> list[str]:
    found, more = gateway.ask("GET", "runs", run["id"], "nodes"), "more nodes are not shown"
    rows = [(node["instance"], node["kind"], node["status"], node["code"] or "") for node in found["nodes"]]
    return table(_NODES, rows) + ([more] if found["cursor"] is not None else [])


def _rest(run: Mapping[str, Any], progress: Progress | None) -> Iterator[str]:
    if run["error"]:
        error = run["error"]
        yield ""
        yield from fields([("failed", f"{error.get('node') or 'run'}: {error['message']} [{error['code']}]")])
        yield from source_line(error)
        yield from traceback(run.get("exception"))
    if others := list(_raised(run, progress)):
        yield ""
        yield from failure_lines(others)
    if run["outputs"] not in (None, {}):
        yield ""
        yield from fields([("outputs", brief(run["outputs"], _SHOWN))])
    for pause in run["pauses"]:
        yield ""
        yield from fields(_pause(run["id"], pause))
    if unread := run.get("unread"):  # an older server has none
        yield ""
        listed = [f"{mail['name']} {mail['id']}, since {when(mail['at'])}" for mail in unread]
        if more := run.get("unread_left_out"):
            listed.append(f"and {more:,} more")
        yield from fields([("unread", text) for text in listed])


def _raised(run: Mapping[str, Any], progress: Progress | None) -> Iterator[Raised]:
    """The exceptions raised in nodes, without the one that failed the run."""
    behind = (run["error"] or {}).get("event")
    for _, row in progress.rows() if progress is not None else ():
        if row.error is not None and row.exception is not None and row.error.get("event") != behind:
            yield Raised(row.instance, row.error, row.exception)


def _pause(run_id: str, pause: Mapping[str, Any]) -> list[tuple[str, str]]:
    exits = " or ".join(exit for exit in pause["exits"] if exit != "timeout")
    asked = str(pause["details"].get("message") or "") or pause["reason"].replace("_", " ")
    how = f"stepless runs resume {run_id} {pause['pause']}" if pause["resume_at"] is None and exits else ""
    if pause["reason"] == "subrun":
        child = str(pause["details"].get("run"))
        how = "" if child.startswith(SHARD) else f"stepless runs show {child}"
    return [
        ("waits", f"{pause['pause']}: {asked}"), ("until", when(pause["deadline"] or pause["resume_at"])), ("answers", exits),
        ("then", how),
    ]  # fmt: skip


def outcome(gateway: Gateway, run_id: str, progress: Progress | None) -> Mapping[str, Any]:
    """Prints the state of a run after watching it; returns the run."""
    run: Mapping[str, Any] = gateway.ask("GET", "runs", run_id)
    print()
    if progress is not None:
        say(timeline(progress, width(), glyphs_for(sys.stdout.encoding)))
        print()
    print(f"{coloured(run.get('summary', run['status']))}  {run_id}")
    say(_rest(run, progress))
    return run


# -- tags -------------------------------------------------------------------------------------------------------------


def tags(arguments: argparse.Namespace) -> int:
    """Prints every tag, page by page."""
    with opened(arguments) as gateway:
        run = gateway.ask("GET", "runs", arguments.run)
        began_ms = instant_ms(run["started_at"] or run["created_at"])
        for tag in _tags(gateway, arguments.run):
            if arguments.json:
                put_json(tag)
                continue
            at = duration(instant_ms(tag["at"]) - began_ms)
            facts = " ".join(f"{name}={brief(value, _FACT)}" for name, value in tag["facts"].items())
            say([f"{at:>9}  {tag['tag']:<{_TYPE}}  {cut(tag['instance'] or '', _INSTANCE):<{_INSTANCE}}  {facts}".rstrip()])
    return 0


def _tags(gateway: Gateway, run_id: str) -> Iterator[Mapping[str, Any]]:
    after: int | None = 0
    while after is not None:
        page = gateway.ask("GET", "runs", run_id, "tags", query={"after": after, "limit": MAX_PAGE_ITEMS})
        yield from page["tags"]
        after = page["cursor"]


# -- events -----------------------------------------------------------------------------------------------------------


def events(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        run = gateway.ask("GET", "runs", arguments.run)
        began_ms = instant_ms(run["started_at"] or run["created_at"])
        if arguments.follow:
            for page in following.pages(gateway, arguments.run, arguments.after):
                for event in page:
                    _put_event(event, began_ms, arguments.json)
        else:
            for event in following.events(gateway, arguments.run, arguments.after):
                _put_event(event, began_ms, arguments.json)
    return 0


def _put_event(event: Mapping[str, Any], began_ms: int, as_json: bool) -> None:
    if as_json:
        put_json(event)
        return
    at = duration(instant_ms(event["timestamp"]) - began_ms)
    instance = cut(str(event["payload"].get("instance", "")), _INSTANCE)
    line = f"{event['eventId']:>5} {at:>9}  {event['type']:<{_TYPE}}  {instance:<{_INSTANCE}}  {event_text(event)}"
    print(cut(line, width()).rstrip(), flush=True)


# -- cost -------------------------------------------------------------------------------------------------------------


def cost(arguments: argparse.Namespace) -> int:
    from stepless.cli.verbs.cost import lines

    with opened(arguments) as gateway:
        report = gateway.ask("GET", "runs", arguments.run, "cost")
    if arguments.json:
        put_json(report)
    else:
        say(lines(report))
    return 0
