"""Generates the completion script for a shell from the argument parser (`completion`)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import shtab

_PATHS = {"file": shtab.FILE, "directory": shtab.DIRECTORY}


def completion(arguments: argparse.Namespace) -> int:
    from stepless.cli.command.main import parser  # imported here: main imports this module

    whole = parser()
    for action in _actions(whole):
        wanted = getattr(action, "complete", None)
        if isinstance(wanted, str):
            action.complete = _PATHS[wanted]  # type: ignore[attr-defined]
    print(shtab.complete(whole, shell=arguments.shell), end="")
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _actions(inner)
