"""Implements `audit list`: who asked for what, when and from where."""

from __future__ import annotations

import argparse
from typing import Final

from stepless.cli.reach.gateway import opened
from stepless.cli.terminal.formatting import Column, put_json, say, table, when

_ENTRIES: Final = (
    Column("WHEN"), Column("WHO", least=10), Column("VERB", least=10), Column("TARGET", least=10), Column("RESULT"),
    Column("FROM", spare=True),
)  # fmt: skip


def list_(arguments: argparse.Namespace) -> int:
    query = {name: getattr(arguments, name) for name in ("who", "target", "since", "until")} | {"verb": arguments.operation}
    with opened(arguments) as gateway:
        found, more = gateway.listed("audit", "entries", arguments.limit, query)
    if arguments.json:
        for entry in found:
            put_json(entry)
        return 0
    if not found:
        print(f"No matching entries in {gateway.where}.")
        return 0
    rows = [
        (when(each["at"]), each["who"], each["verb"], each["target"], each["refused"] or "accepted", each["source"])
        for each in found
    ]
    say(table(_ENTRIES, rows))
    if more:
        print(f"There are more entries. Show them with --limit {10 * arguments.limit}.")
    return 0
