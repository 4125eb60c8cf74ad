"""What a verb of the command line is, and the arguments that several share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from stepless.core.state import RunStatus
from stepless.errors import DamagedLog, NewerLog
from stepless.limits import DEFAULT_TARGET_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Verb:
    """`words` as they are typed; `at` is `module:function`, imported when the verb is asked for, so that `--help` need not wait
    for any. `examples` stand at the end of its help, `exits` where the exit codes mean more than is said at the top."""

    words: str
    at: str
    summary: str
    examples: str
    add: Callable[[argparse.ArgumentParser], None]
    exits: str = ""


def of_paths(action: argparse.Action, kind: str = "file") -> None:
    """Lets shells complete an argument with paths: `kind` is file or directory."""
    action.complete = kind  # type: ignore[attr-defined]  # read by `completion`


def add_where(command: argparse.ArgumentParser) -> None:
    where = command.add_argument_group("where the runs are")
    where.add_argument("--url", metavar="URL", help="a server: deployed, or `stepless dev` (or the variable STEPLESS_URL)")
    where.add_argument("--key", metavar="KEY", help="its API key (better: the variable STEPLESS_API_KEY)")
    of_paths(where.add_argument("--db", metavar="FILE", help="a file on this machine (default: .stepless/dev.db)"))
    add_json(command, "print JSON: one document, of a listing one per line")


def add_json(command: argparse.ArgumentParser, told: str = "print one JSON document and nothing else") -> None:
    command.add_argument("--json", action="store_true", help=told)


def add_waiting(command: argparse.ArgumentParser, wished: str = "completed") -> None:
    """What may be done after the run was changed."""
    after = command.add_argument_group("what then").add_mutually_exclusive_group()
    after.add_argument("--wait", action="store_true", help=f"watch the run to its end; exit code 1 unless it is {wished}")
    after.add_argument("--go", action="store_true", help="run it here, where nobody serves the file")
    command.add_argument("--modules", metavar="A,B", help="with --go: Python modules that register functions")


def add_modules(command: argparse.ArgumentParser) -> None:
    command.add_argument("--modules", metavar="A,B", help="Python modules that register functions")


def add_target(command: argparse.ArgumentParser) -> None:
    said = "warn of nodes that do not fit into a runner's invocation of this many seconds (default: %(default)s)"
    command.add_argument("--target-timeout", type=positive, default=DEFAULT_TARGET_TIMEOUT_S, metavar="S", help=said)


def add_engine(command: argparse.ArgumentParser) -> None:
    add_modules(command)
    command.add_argument("--budget-ms", type=milliseconds, metavar="N", help="hand runs over after this long, as Lambda does")


def add_run(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN", help="the run's id")


def statuses() -> tuple[str, ...]:
    return (*(status.value for status in RunStatus), DamagedLog.code, NewerLog.code)


def port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; it is a number from 0 to 65535")
    return int(text)


def positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 10**9):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


def milliseconds(text: str) -> int:
    try:
        return positive(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of milliseconds above 0") from None


def cursor(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) < 10**15):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of an event")
    return int(text)
