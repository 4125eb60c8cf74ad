"""`runs skip` and `runs redeliver`: for runs on one's own machine, in the file of `stepless dev` or at its URL."""

from __future__ import annotations

import argparse

from stepless.cli.reach.gateway import Gateway, opened
from stepless.cli.terminal.progress import duration
from stepless.cli.verbs.acting import become
from stepless.errors import InvalidRequest
from stepless.model.json import JSON


def skip(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        done = _ask(gateway, arguments.run, "skip")
        moved = f"skips {duration(done['skipped_ms'])}" if done["skipped_ms"] else "is due already"
        told = f"{done['run_id']}  {moved}, and goes on"
        return become(gateway, arguments, arguments.run, told, done)


def redeliver(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        done = _ask(gateway, arguments.run, "redeliver")
        told = f"{done['run_id']}  started, version {done['version']}, with what started {arguments.run}"
        return become(gateway, arguments, done["run_id"], told, done)


def _ask(gateway: Gateway, run_id: str, verb: str) -> dict[str, JSON]:
    try:
        done: dict[str, JSON] = gateway.ask("POST", "runs", run_id, verb)
    except InvalidRequest as error:
        if error.code != "not_found":  # which says that there is no such route
            raise
        message, mend = f"this server does not {verb}", "only `stepless dev`, and the file that it serves, do"
        raise InvalidRequest(message, code="not_found", place=gateway.where, mend=mend) from error
    return done
