"""Implements `runs erase`: erases a run that has ended, after a confirmation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from stepless.cli.reach.gateway import opened
from stepless.cli.terminal.formatting import put_json
from stepless.errors import InvalidRequest


def erase(arguments: argparse.Namespace) -> int:
    """Shows what would happen, asks on a terminal, and then erases the run. Without a terminal, --yes is required."""
    with opened(arguments) as gateway:
        path = ("runs", arguments.run)
        force = {"force": "true"} if arguments.force else {}
        if arguments.dry_run or not arguments.yes:
            planned = gateway.ask("DELETE", *path, query={"dry_run": "true", **force})
            if arguments.dry_run:
                return _put(arguments, planned, f"{arguments.run}  would be erased")
            if not _confirmed(arguments.run, planned):
                return 1
        return _put(arguments, gateway.ask("DELETE", *path, query=force), f"{arguments.run}  erased")


def _confirmed(run_id: str, planned: Mapping[str, Any]) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = "nothing was erased: there is no terminal to ask at"
        raise InvalidRequest(message, code="usage", place=run_id, mend="add --yes to erase it, or --dry-run to see what stays")
    for line in _staying(planned):
        sys.stderr.write(f"{line}\n")
    sys.stderr.write(f"Erase {run_id}, with its inputs, its log and its values, permanently? [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline().strip().lower()
    if answer in ("y", "yes"):
        return True
    sys.stderr.write("Nothing was erased.\n")
    return False


def _put(arguments: argparse.Namespace, shown: Mapping[str, Any], line: str) -> int:
    if arguments.json:
        put_json(shown)
        return 0
    print(line)
    for staying in _staying(shown):
        print(staying)
    return 0


def _staying(shown: Mapping[str, Any]) -> list[str]:
    lines = [f"{name} that stay: {', '.join(shown[field])}" for name, field in _RELATIVES if shown[field]]
    return [*lines, "There may be more of them."] if shown["more"] else lines


_RELATIVES = (("Child runs", "children"), ("Reruns", "reruns"))
