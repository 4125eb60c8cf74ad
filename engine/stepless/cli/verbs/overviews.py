"""Implements `approvals`, `errors`, `stats`, `diff`, `workflows versions` and `drafts list`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from stepless.cli.reach.gateway import opened
from stepless.cli.terminal.formatting import Column, brief, put_json, say, table, when
from stepless.cli.terminal.progress import duration
from stepless.errors import InvalidRequest
from stepless.limits import MAX_LISTED_APPROVALS, MAX_LISTED_DECISIONS, MAX_LISTED_STATS, MAX_LISTED_VERSIONS, MAX_PAGE_ITEMS

Row = Mapping[str, Any]
Columns = Sequence[tuple[Column, Callable[[Row], str]]]

_QUESTIONS: Final[Columns] = (
    (Column("RUN"), lambda each: each["run_id"]),
    (Column("WORKFLOW", least=12), lambda each: each["workflow"]),
    (Column("PAUSE", least=8), lambda each: each["pause"]),
    (Column("QUESTION", least=16), lambda each: each["message"]),
    (Column("DEADLINE"), lambda each: when(each["deadline"])),
    (Column("SINCE", spare=True), lambda each: when(each["since"])),
)
_DECISIONS: Final[Columns] = (
    (Column("RUN"), lambda each: each["run_id"]),
    (Column("WORKFLOW", least=12), lambda each: each["workflow"] or ""),
    (Column("PAUSE", least=8), lambda each: each["pause"]),
    (Column("DECISION", least=8), lambda each: each["decision"] or ""),
    (Column("BY", least=8), lambda each: each["by"] or ""),
    (Column("AT"), lambda each: when(each["at"])),
    (Column("COMMENT", least=8, spare=True), lambda each: each["comment"] or ""),
)
_FAILURES: Final[Columns] = (
    (Column("COUNT", right=True), lambda each: str(each["count"])),
    (Column("WORKFLOW", least=12), lambda each: each["workflow"]),
    (Column("NODE", least=8), lambda each: each["node"] or ""),
    (Column("CODE", least=8), lambda each: each["code"]),
    (Column("MESSAGE", least=16), lambda each: each["example"]),
    (Column("LAST"), lambda each: when(each["last_at"])),
    (Column("LAST RUN", spare=True), lambda each: each["runs"][0] if each["runs"] else ""),
)
_HEALTH: Final[Columns] = (
    (Column("WORKFLOW", least=12), lambda each: each["workflow"]),
    (Column("RUNS", right=True), lambda each: f"{each['runs']}{'+' if each['at_least'] else ''}"),
    (Column("FAILED", right=True), lambda each: _percent(each["failure_rate"])),
    (Column("MEDIAN", right=True), lambda each: _duration(each["p50_ms"])),
    (Column("P95", right=True), lambda each: _duration(each["p95_ms"])),
    (Column("USD", right=True, spare=True), lambda each: "" if each["usd"] is None else f"{each['usd']:.6f}"),
    (Column("NEXT", spare=True), lambda each: when(each["next_at"])),
)
_VERSIONS: Final[Columns] = (
    (Column("VERSION", right=True), lambda each: str(each["version"])),
    (Column("PUBLISHED"), lambda each: when(each["published_at"])),
    (Column("BY", least=8), lambda each: each["by"] or ""),
    (Column("MESSAGE", least=16, spare=True), lambda each: each["message"] or ""),
)
_DRAFTS: Final[Columns] = (
    (Column("WORKFLOW", least=12), lambda each: each["workflow"]),
    (Column("CREATED"), lambda each: when(each["created_at"])),
    (Column("BY", least=8), lambda each: each["created_by"]),
)


def approvals(arguments: argparse.Namespace) -> int:
    if arguments.decided:
        if arguments.workflow is not None or arguments.due_before is not None or arguments.assigned:
            mend = "leave --workflow, --due-before and --assigned out"
            raise InvalidRequest("--decided lists the decisions of all workflows", code="usage", mend=mend)
        path, name, columns, most = "approvals/decisions", "decisions", _DECISIONS, MAX_LISTED_DECISIONS
        return _listed(arguments, path, name, columns, "No decisions", most=most)
    assigned = "true" if arguments.assigned else None
    query = {"workflow": arguments.workflow, "due_before": arguments.due_before, "assigned": assigned}
    return _listed(arguments, "approvals", "approvals", _QUESTIONS, "No open questions", query, most=MAX_LISTED_APPROVALS)


def errors(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        found = gateway.ask("GET", "errors", query={"workflow": arguments.workflow, "since": arguments.since})
        where = gateway.where
    _put(arguments, found["errors"], _FAILURES, f"No failures in {where} since {when(found['since'])}.")
    if found["errors"] and not arguments.json:
        least = "At least " if found["at_least"] else ""
        print(f"\n{least}{found['count']} failures since {when(found['since'])}, in {found['group_count']} groups.")
        if found["unsure"]:
            print("Some of them may have been run again since.")
    return 0


def stats(arguments: argparse.Namespace) -> int:
    if arguments.workflow is None:
        query = {"window": arguments.window}
        return _listed(arguments, "stats", "workflows", _HEALTH, "No workflows", query, most=MAX_LISTED_STATS)
    with opened(arguments) as gateway:
        found = gateway.ask("GET", "workflows", arguments.workflow, "stats", query={"window": arguments.window})
    _put(arguments, [found], _HEALTH)
    return 0


def versions(arguments: argparse.Namespace) -> int:
    found: list[Row] = []
    before = arguments.before
    with opened(arguments) as gateway:
        while len(found) < arguments.limit:
            query = {"before": before, "limit": min(arguments.limit - len(found), MAX_LISTED_VERSIONS)}
            page = gateway.ask("GET", "workflows", arguments.workflow, "versions", query=query)
            found += page["versions"]
            before = page["next_before"]
            if before is None:
                break
    _put(arguments, found, _VERSIONS)
    if before is not None:
        _say_more(f"There are more versions. Show them with --before {before}")
    return 0


def drafts(arguments: argparse.Namespace) -> int:
    return _listed(arguments, "drafts", "drafts", _DRAFTS, "No drafts")


def diff(arguments: argparse.Namespace) -> int:
    versions_given = arguments.former is not None, arguments.to is not None
    if any(versions_given) and (not all(versions_given) or arguments.against is not None or arguments.seq is not None):
        mend = "give --from and --to for two versions, or neither for the draft"
        raise InvalidRequest("the command does not say what to compare", code="usage", mend=mend)
    with opened(arguments) as gateway:
        if all(versions_given):
            query: dict[str, Any] = {"from": arguments.former, "to": arguments.to}
            found = gateway.ask("GET", "workflows", arguments.workflow, "diff", query=query)
        else:
            query = {"against": arguments.against, "seq": arguments.seq}
            found = gateway.ask("GET", "drafts", arguments.workflow, "diff", query=query)
    if arguments.json:
        put_json(found)
        return 0
    if not found["lines"]:
        print("No differences.")
        return 0
    for node in found["nodes"]:
        former = f", formerly {node['former_id']}" if "former_id" in node else ""
        print(f"{node['change']:<8}  {' / '.join(node['path'])}{former}")
        for field in node["fields"]:
            print(f"          {_path(field['path'])}: {_side(field, 'before')} -> {_side(field, 'after')}")
    for field in found["document"]:
        print(f"{'changed':<8}  {_path(field['path'])}: {_side(field, 'before')} -> {_side(field, 'after')}")
    print()
    say(f"{line['op']} {line['text']}".rstrip() for line in found["lines"])
    return 0


def _listed(
    arguments: argparse.Namespace, path: str, name: str, columns: Columns, none: str, query: Mapping[str, Any] | None = None,
    *, most: int = MAX_PAGE_ITEMS,
) -> int:  # fmt: skip
    with opened(arguments) as gateway:
        found, cursor = gateway.listed(path, name, arguments.limit, query, cursor=arguments.cursor, most=most)
        _put(arguments, found, columns, f"{none} in {gateway.where}.")
    if cursor is not None:
        _say_more(f"There are more. Show them with --limit {10 * arguments.limit} or --cursor {cursor}")
    return 0


def _put(arguments: argparse.Namespace, found: Sequence[Row], columns: Columns, none: str = "Nothing is listed.") -> None:
    if arguments.json:
        for each in found:
            put_json(each)
    elif found:
        say(table([column for column, _ in columns], [[cell(each) for _, cell in columns] for each in found]))
    else:
        print(none)


def _say_more(text: str) -> None:
    """Standard output has only rows, for programs."""
    sys.stdout.flush()
    sys.stderr.write(f"{text}\n")


def _path(path: str | Sequence[Any]) -> str:
    return path if isinstance(path, str) else ".".join(map(str, path))


def _side(field: Row, side: str) -> str:
    return brief(field[side], 60) if side in field else "nothing"


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{100 * rate:.0f} %"


def _duration(ms: int | None) -> str:
    return "" if ms is None else duration(ms)
