"""Implements `runs skip` and `runs redeliver`: for runs on a development machine, in the file of `stepless dev` or at its URL."""

from __future__ import annotations

import argparse
from typing import Any

from stepless.cli.reach.gateway import Gateway, opened
from stepless.cli.terminal.progress import duration
from stepless.cli.verbs.bulk import change_many, is_bulk
from stepless.cli.verbs.run_changes import follow_up
from stepless.errors import InvalidRequest


def skip(arguments: argparse.Namespace) -> int:
    if is_bulk(arguments):
        return change_many(arguments, "skip", lambda gateway, run_id: _skipped(_ask(gateway, run_id, "skip")))
    with opened(arguments) as gateway:
        done = _ask(gateway, arguments.run, "skip")
        line = f"{done['run_id']}  {_skipped(done)}"
        return follow_up(gateway, arguments, arguments.run, line, done)


def _skipped(done: dict[str, Any]) -> str:
    moved = f"skips {duration(done['skipped_ms'])}" if done["skipped_ms"] else "is due already"
    return f"{moved} and continues"


def redeliver(arguments: argparse.Namespace) -> int:
    if is_bulk(arguments):
        return change_many(
            arguments, "redeliver", lambda gateway, run_id: f"started as {_ask(gateway, run_id, 'redeliver')['run_id']}"
        )
    with opened(arguments) as gateway:
        done = _ask(gateway, arguments.run, "redeliver")
        line = f"{done['run_id']}  started, version {done['version']}, with the trigger of {arguments.run}"
        return follow_up(gateway, arguments, done["run_id"], line, done)


def _ask(gateway: Gateway, run_id: str, verb: str) -> dict[str, Any]:
    try:
        done: dict[str, Any] = gateway.ask("POST", "runs", run_id, verb)
    except InvalidRequest as error:
        if error.code != "not_found":  # the code of a route that the server does not have
            raise
        message, mend = f"this server does not support {verb}", "use the URL or the file of `stepless dev`"
        raise InvalidRequest(message, code="not_found", place=gateway.where, mend=mend) from error
    return done
