"""Implements `doctor`: checks every stored value of a file or a stack, and says what is damaged and what to do. It changes
nothing."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stepless.cli.reach.gateway import DEFAULT_DB
from stepless.cli.terminal.formatting import put_json
from stepless.drafts.operations.diagnosis import damaged_drafts
from stepless.errors import InvalidRequest, Refused
from stepless.ports import OpenStore
from stepless.runtime.diagnosis.checking import diagnose
from stepless.runtime.wiring.local import inspected
from stepless.runtime.wiring.stores import read_only, scheme_of, shown


def doctor(arguments: argparse.Namespace) -> int:
    """Prints what each damaged value affects and how to fix it. Returns 0 if nothing is damaged, and 1 otherwise. Raises
    `StoreUnusable` for a file that cannot be read."""
    with _opened(arguments) as runs:
        return _report(arguments, runs)


def _report(arguments: argparse.Namespace, runs: OpenStore) -> int:
    if runs.inspection is None:
        message, mend = "this store cannot be read as it is", "ask the maintainer of its package"
        raise Refused(message, code="not_inspectable", status=501, place=_where(arguments), mend=mend)
    damaged = 0
    for found in diagnose(inspected(runs), runs.inspection, damaged_drafts):
        damaged += 1
        if arguments.json:
            put_json({"place": found.place, "why": found.why, "affects": found.affects, "mend": found.mend})
        else:
            print(f"{found.place}: {found.why}\n    Affects: {found.affects}\n    Fix: {found.mend}")
        sys.stdout.flush()
    if not arguments.json:
        print(f"{damaged:,} damaged in {_where(arguments)}." if damaged else f"Nothing is damaged in {_where(arguments)}.")
    return 1 if damaged else 0


@contextmanager
def _opened(arguments: argparse.Namespace) -> Iterator[OpenStore]:
    if bool(arguments.table) != bool(arguments.bucket) or (arguments.table and arguments.db):
        raise InvalidRequest("a stack is a table and a bucket", code="usage", mend="give --table and --bucket, or --db")
    if arguments.table:
        from stepless.runtime.wiring.aws_stores import of_stack

        runs = of_stack(arguments.table, arguments.bucket)
    else:
        file = arguments.db or DEFAULT_DB
        if scheme_of(file) is None and not Path(file).exists():
            raise InvalidRequest("there is no such file", code="no_runs_file", place=file, mend="check --db")
        runs = read_only(file)
    try:
        yield runs
    finally:
        runs.close()


def _where(arguments: argparse.Namespace) -> str:
    return f"table {arguments.table}" if arguments.table else shown(arguments.db or DEFAULT_DB)
