"""Implements `send`, `runs send` and `workflows key`: sends messages to runs, and finds the runs of a key."""

from __future__ import annotations

import argparse
from typing import Any

from stepless.cli.reach.files import read_inputs
from stepless.cli.reach.gateway import Gateway, opened
from stepless.cli.terminal.formatting import put_json


def send(arguments: argparse.Namespace) -> int:
    query: dict[str, Any] = {"key": arguments.key, "keep": arguments.keep, "start": "true" if arguments.start else None}
    if arguments.inputs is not None:
        query["inputs"] = arguments.inputs
    with opened(arguments) as gateway:
        sent = _ask(gateway, arguments, "workflows", arguments.workflow, query=query)
        _print(gateway, arguments, sent)
    return 0


def send_to_run(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        _print(gateway, arguments, _ask(gateway, arguments, "runs", arguments.run, query=None))
    return 0


def _ask(gateway: Gateway, arguments: argparse.Namespace, *of: str, query: dict[str, Any] | None) -> Any:
    data = read_inputs(arguments.data, "--data") if arguments.data is not None else None
    headers = {"idempotency-key": arguments.idempotency_key} if arguments.idempotency_key is not None else {}
    return gateway.ask("POST", *of, "messages", arguments.message, query=query, body=data, headers=headers)


def _print(gateway: Gateway, arguments: argparse.Namespace, sent: Any) -> None:
    if arguments.json:
        put_json(sent)
        return
    if sent["started"]:
        print(f"{sent['id']}  started {sent['started']}")
    elif sent["delivered"]:
        print(f"{sent['id']}  delivered to {', '.join(sent['delivered'])}")
    if sent["kept_until"]:
        print(f"{sent['id']}  kept until {sent['kept_until']}")
    if gateway.file and not gateway.holder:
        print(f"No process serves {gateway.where} now. Start `stepless dev --db {gateway.where}` to apply the message.")


def runs_of_key(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        found = gateway.ask("GET", "workflows", arguments.workflow, "keys", arguments.key)
    if arguments.json:
        put_json(found)
        return 0
    for run in found["runs"]:
        mark = "  live" if run["run_id"] == found["live"] else ""
        print(f"{run['run_id']}  {run['status']:<10}  {run['created_at']}{mark}")
    if not found["runs"]:
        print(f"No run of {arguments.workflow} has had the key {arguments.key}.")
    return 0
