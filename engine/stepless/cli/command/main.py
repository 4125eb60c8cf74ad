"""Parses the arguments, runs one command and returns its exit code: 0 done, 1 the run did not complete, 2 bad input."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from stepless.cli.command.extras import missing_extra
from stepless.cli.command.file_verbs import VERBS_HERE
from stepless.cli.command.hooks import VERBS_OF_HOOKS
from stepless.cli.command.overviews import VERBS_OF_OVERVIEWS
from stepless.cli.command.run_verbs import VERBS_THERE
from stepless.cli.command.schedule_verbs import VERBS_OF_SCHEDULES
from stepless.cli.command.verb import Verb
from stepless.cli.terminal.error_output import error_document, print_error
from stepless.compile.suggest import did_you_mean, listed
from stepless.errors import InvalidRequest, SteplessError

DONE, FAILED, BAD_INPUT = 0, 1, 2
VERBS: tuple[Verb, ...] = VERBS_HERE + VERBS_THERE + VERBS_OF_OVERVIEWS + VERBS_OF_SCHEDULES + VERBS_OF_HOOKS
GROUPS = {
    "workflows": "list and show published workflows and their versions",
    "drafts": "list drafts, run them, and write them to files",
    "runs": "inspect runs and change them",
    "schedules": "list, pause, resume and fire schedules",
    "hooks": "try webhooks",
    "blobs": "remove shared values of former releases",
    "audit": "see who changed what",
    "keys": "manage API keys and signing keys",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code. A user error goes to standard error: the place, one sentence and the fix; as
    JSON with --json."""
    words = _with_help(_joined(sys.argv[1:] if argv is None else argv))
    try:
        arguments = parser().parse_args(words)
        code = _command(arguments.verb)(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as stopped:  # after --help
        return int(stopped.code or 0)
    except SteplessError as error:
        _print_error(error, "--json" in words)
        return BAD_INPUT
    except ModuleNotFoundError as error:
        if (missing := missing_extra(error)) is None:
            raise
        _print_error(missing, "--json" in words)
        return BAD_INPUT
    except BrokenPipeError:  # `stepless schema | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE


def _command(verb: Verb) -> Callable[[argparse.Namespace], int]:
    module, _, name = verb.at.partition(":")
    command: Callable[[argparse.Namespace], int] = getattr(import_module(module), name)
    return command


def _print_error(error: SteplessError, as_json: bool) -> None:
    file, text = getattr(error, "file", ""), getattr(error, "text", "")
    if as_json:
        sys.stderr.write(json.dumps({"error": error_document(error, text)}) + "\n")
    else:
        print_error(error, file, text)


def _joined(argv: Sequence[str]) -> list[str]:
    """Joins `--approve yes` into one word, and gives a lone `--approve` the value yes: argparse must not take the file after it
    as its value."""
    words: list[str] = []
    for word in argv:
        if words and words[-1] == "--approve" and word in ("yes", "no"):
            words[-1] = f"--approve={word}"
        else:
            words.append(word)
    return ["--approve=yes" if word == "--approve" else word for word in words]


def _with_help(words: list[str]) -> list[str]:
    """Adds `--help` to an empty command line and to a group without a verb; turns `--version` into `version`."""
    if words[:1] == ["--version"]:
        return ["version", *words[1:]]
    return [*words, "--help"] if not words or (len(words) == 1 and words[0] in GROUPS) else words


def explain(arguments: argparse.Namespace) -> int:
    """Runs `help VERB` as `VERB --help`."""
    parser().parse_args([*arguments.of, "--help"])
    return DONE


# -- the parser -------------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        near = did_you_mean(str(value), known)
        if isinstance(action, argparse._SubParsersAction):
            mend = f"{near or f'The commands are {listed(known, len(known))}.'} See `{self.prog} --help`"
            raise InvalidRequest(f"there is no command `{self.prog} {value}`", code="usage", mend=mend)
        name = action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)
        message = f"{name} must be one of {listed(known, len(known))}, not `{value}`"
        raise InvalidRequest(message, code="usage", mend=near or f"see `{self.prog} --help`")

    def error(self, message: str) -> NoReturn:
        raise InvalidRequest(message, code="usage", mend=f"see `{self.prog} --help`")


def parser() -> argparse.ArgumentParser:
    """Returns the parser of every verb and its arguments. The parsed arguments hold the chosen verb as `verb`."""
    top = _Parser(
        prog="stepless", description="Durable workflows: write a graph, run it anywhere.", epilog=_TOP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    top.add_argument("--version", action="store_true", help="print the version")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    groups: dict[str, argparse._SubParsersAction[_Parser]] = {}
    for verb in VERBS:
        group, _, name = verb.words.rpartition(" ")
        if group and group not in groups:
            groups[group] = _group(commands, group)
        added = (groups[group] if group else commands).add_parser(
            name, help=verb.summary, description=_wrapped(verb.summary), epilog=_epilog(verb),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        verb.add(added)
        added.set_defaults(verb=verb)
    return top


def _group(commands: argparse._SubParsersAction[_Parser], name: str) -> argparse._SubParsersAction[_Parser]:
    about = GROUPS[name]
    examples = "".join(verb.examples.splitlines(keepends=True)[0] for verb in VERBS if verb.words.startswith(f"{name} "))
    added = commands.add_parser(
        name, help=about, description=_wrapped(about), epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    return added.add_subparsers(dest=f"{name}_verb", required=True, metavar="VERB", parser_class=_Parser)


def _wrapped(summary: str) -> str:
    """The summary as a wrapped sentence. Examples must not be wrapped, so argparse does not wrap any text."""
    return textwrap.fill(f"{summary[:1].upper()}{summary[1:]}.", shutil.get_terminal_size((80, 24)).columns - 2)


def _epilog(verb: Verb) -> str:
    exits = f"\nexit codes: {verb.exits}\n" if verb.exits else ""
    return f"examples:\n{verb.examples}{exits}"


_TOP = """\
examples:
  stepless init refunds
  stepless run hello.yaml -i '{"name": "Ada"}'
  stepless dev workflows/
  stepless publish workflows/ --url https://abc123.execute-api.eu-central-1.amazonaws.com
  stepless runs list --status paused

exit codes: 0 done, 1 the run did not complete, 2 bad input or a refusal, 130 interrupted
"""
