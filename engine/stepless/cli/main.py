"""Arguments in, an exit code out: 0 done, 1 the run did not complete, 2 bad input."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from keyword import iskeyword
from typing import NoReturn

from stepless.cli.complaints import tell
from stepless.errors import SteplessError

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

_COMMANDS = {  # where each is, imported when it is asked for: `--help` and `schema` need not wait for the others
    "dev": "stepless.cli.dev",
    "run": "stepless.cli.run",
    "validate": "stepless.cli.check",
    "schema": "stepless.cli.check",
    "graph": "stepless.cli.check",
    "import": "stepless.cli.import_sim",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and answers its exit code. A user's mistake is told on standard error: the place, one sentence, the
    mend."""
    try:
        arguments = parser().parse_args(_joined(sys.argv[1:] if argv is None else argv))
    except SystemExit as stopped:  # after --help, or after argparse has told what is wrong
        return int(stopped.code or 0)
    verb = f"{arguments.command}_" if iskeyword(arguments.command) else arguments.command
    command: Callable[[argparse.Namespace], int] = getattr(import_module(_COMMANDS[arguments.command]), verb)
    try:
        return command(arguments)
    except SteplessError as error:
        tell(error, getattr(error, "file", ""), getattr(error, "text", ""))
        return BAD_INPUT
    except BrokenPipeError:  # `stepless schema | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED


def _joined(argv: Sequence[str]) -> list[str]:
    """`--approve yes` and a lone `--approve` as one word: it must not swallow the file after it."""
    words: list[str] = []
    for word in argv:
        if words and words[-1] == "--approve" and word in ("yes", "no"):
            words[-1] = f"--approve={word}"
        else:
            words.append(word)
    return ["--approve=yes" if word == "--approve" else word for word in words]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"error: {message}\n    See `{self.prog} --help`.\n")


def parser() -> argparse.ArgumentParser:
    top = _Parser(
        prog="stepless", description="Durable workflows: write a graph, run it anywhere.", epilog=_TOP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    for name, (summary, examples, add) in _SUBCOMMANDS.items():
        add(commands.add_parser(
            name, help=summary, description=f"{summary[:1].upper()}{summary[1:]}.", epilog=f"examples:\n{examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        ))  # fmt: skip
    return top


def _add_dev(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="where the workflows are (default: here)")
    command.add_argument("--db", default=".stepless/dev.db", metavar="FILE", help="where runs are kept (default: %(default)s)")
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    command.add_argument("--port", type=_port, default=8400, help="port to listen on, 0 for a free one (default: %(default)s)")
    command.add_argument("--port-file", metavar="FILE", help="write the URL there once it listens")
    command.add_argument("--open", action="store_true", help="open the browser")
    _add_engine(command)


def _add_run(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", nargs="?", metavar="FILE", help="the workflow, YAML or JSON")
    command.add_argument("-i", "--inputs", metavar="JSON", help="inputs: JSON, @file, or - for standard input (default: {})")
    command.add_argument("--entry", action="append", metavar="NODE", help="start at this node only; may be repeated")
    command.add_argument("--approve", choices=("yes", "no"), help="answer every question with yes (or no) instead of asking")
    command.add_argument("--db", metavar="FILE", help="keep the run in this file (default: in memory)")
    command.add_argument("--continue", dest="run_id", metavar="RUN_ID", help="go on with a run of --db")
    command.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    _add_engine(command)


def _add_engine(command: argparse.ArgumentParser) -> None:
    command.add_argument("--modules", metavar="A,B", help="Python modules that register functions")
    command.add_argument("--budget-ms", type=_positive, metavar="N", help="hand runs over after this long, as Lambda does")


def _add_validate(command: argparse.ArgumentParser) -> None:
    command.add_argument("files", nargs="+", metavar="FILE", help="workflows, YAML or JSON")
    command.add_argument("--modules", metavar="A,B", help="Python modules that register functions")


def _add_schema(command: argparse.ArgumentParser) -> None:
    command.set_defaults()


def _add_graph(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help="the workflow, YAML or JSON")
    command.add_argument("--format", choices=("mermaid", "dot"), default="mermaid", help="default: %(default)s")


def _add_import(command: argparse.ArgumentParser) -> None:
    command.add_argument("tool", choices=("sim",), metavar="TOOL", help="whose export it is: sim")
    command.add_argument("file", metavar="FILE", help="the export")
    command.add_argument("-o", "--out", metavar="FILE", help="write the workflow there (default: standard output)")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; it is a number from 0 to 65535")
    return int(text)


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 10**9):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of milliseconds above 0")
    return int(text)


_TOP = """\
examples:
  stepless run hello.yaml -i '{"name": "Ada"}'
  stepless dev workflows/
  stepless validate workflows/*.yaml

exit codes: 0 done, 1 the run did not complete, 2 bad input
"""

_DEV = """\
  stepless dev
  stepless dev workflows/ --port 0 --open
  stepless dev workflows/ --modules shop.payments,shop.mail

Python files beside the workflows that import stepless are loaded too.
STEPLESS_API_KEY sets the API key; without it one is made and kept with the runs.
"""

_RUN = """\
  stepless run hello.yaml -i '{"name": "Ada"}'
  stepless run refund.yaml -i @order.json --approve
  stepless run refund.yaml --db runs.db
  stepless run --db runs.db --continue run_1a2b3c
  stepless run hello.yaml --json | jq .outputs

Python files beside the workflow that import stepless are loaded too.
exit codes: 0 it completed, 1 it did not, 2 bad input, 130 interrupted
"""

_VALIDATE = """\
  stepless validate refund.yaml
  stepless validate workflows/*.yaml

exit codes: 0 no error, 2 some error
"""

_SCHEMA = """\
  stepless schema > workflow.schema.json

then, as the first line of a workflow:
  # yaml-language-server: $schema=workflow.schema.json
"""

_GRAPH = """\
  stepless graph refund.yaml
  stepless graph refund.yaml --format dot | dot -Tsvg > refund.svg
"""

_IMPORT = """\
  stepless import sim export.json > workflow.yaml
  stepless import sim export.json -o workflow.yaml

what is not carried over is told on standard error
exit codes: 0 it is a workflow now, 2 it is no export
"""

_SUBCOMMANDS: dict[str, tuple[str, str, Callable[[argparse.ArgumentParser], None]]] = {
    "dev": ("serve a folder of workflows: API, webhooks and timers in one process", _DEV, _add_dev),
    "run": ("run one workflow here and watch it", _RUN, _add_run),
    "validate": ("check workflows and show every finding", _VALIDATE, _add_validate),
    "schema": ("print the JSON Schema of a workflow, for editors", _SCHEMA, _add_schema),
    "graph": ("draw a workflow as Mermaid or DOT", _GRAPH, _add_graph),
    "import": ("turn the export of another tool into a workflow", _IMPORT, _add_import),
}
