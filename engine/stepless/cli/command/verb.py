"""Defines the type of a command-line verb, and the arguments that several verbs share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from stepless.limits import DEFAULT_TARGET_TIMEOUT_S, MAX_DURATION_FILTER_MS
from stepless.model.texts.durations import parse_duration_ms

LISTED: Final = 20  # the default of --limit


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb. `words` are what the user types. `at` is `module:function`, imported only when the verb runs, so that `--help` is
    fast. `examples` end its help text. `exits` explains the exit codes where they differ from the general ones."""

    words: str
    at: str
    summary: str
    examples: str
    add: Callable[[argparse.ArgumentParser], None]
    exits: str = ""


def of_paths(action: argparse.Action, kind: str = "file") -> None:
    """Lets shells complete an argument with paths: `kind` is file or directory."""
    action.complete = kind  # type: ignore[attr-defined]  # read by `completion`


def add_where(command: argparse.ArgumentParser, *, keyed: bool = False) -> None:
    """Adds the options that choose a server or a file. `keyed`: for this command, --key is the key of a run, so the API key has
    its long name only."""
    where = command.add_argument_group("where the runs are")
    where.add_argument("--url", metavar="URL", help="a server: deployed, or `stepless dev` (or the variable STEPLESS_URL)")
    names = ("--api-key",) if keyed else ("--api-key", "--key")
    text = "API key of the server (better: the variable STEPLESS_API_KEY)"
    where.add_argument(*names, dest="api_key", metavar="KEY", help=text)
    of_paths(where.add_argument("--db", metavar="FILE", help="a file on this machine, or a URL (default: .stepless/dev.db)"))
    add_json(command, "print JSON: one document, or one per line for a listing")


def add_json(command: argparse.ArgumentParser, text: str = "print one JSON document and nothing else") -> None:
    command.add_argument("--json", action="store_true", help=text)


def add_waiting(command: argparse.ArgumentParser, expected: str = "completed") -> None:
    """Adds the options for what the command does after it changed the run."""
    after = command.add_argument_group("after the change").add_mutually_exclusive_group()
    after.add_argument("--wait", action="store_true", help=f"watch the run until it ends; exit code 1 unless it is {expected}")
    after.add_argument("--go", action="store_true", help="run it in this process, if no other process serves the file")
    command.add_argument("--modules", metavar="A,B", help="with --go: Python modules that register functions")


def add_modules(command: argparse.ArgumentParser) -> None:
    command.add_argument("--modules", metavar="A,B", help="Python modules that register functions")


def add_target(command: argparse.ArgumentParser) -> None:
    text = "warn about nodes that do not fit into a runner's invocation of this many seconds (default: %(default)s)"
    command.add_argument("--target-timeout", type=positive, default=DEFAULT_TARGET_TIMEOUT_S, metavar="S", help=text)


def add_engine(command: argparse.ArgumentParser) -> None:
    add_modules(command)
    command.add_argument("--budget-ms", type=milliseconds, metavar="N", help="hand runs over after N ms, as Lambda does")


def add_run(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN", help="the run's id")


def port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: give a number from 0 to 65535")
    return int(text)


def positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 10**9):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return int(text)


def milliseconds(text: str) -> int:
    try:
        return positive(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of milliseconds above 0") from None


def duration_ms(text: str) -> int:
    try:
        return parse_duration_ms(text, MAX_DURATION_FILTER_MS)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def cursor(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) < 10**15):
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of an event")
    return int(text)
