"""Declares the verbs for messages and keys."""

from __future__ import annotations

import argparse

from stepless.cli.command.verb import Verb, add_run, add_where


def _message(command: argparse.ArgumentParser) -> None:
    command.add_argument("message", metavar="MESSAGE", help="the name of the message, as the workflow declares it")
    command.add_argument("-d", "--data", metavar="JSON", help="the data: JSON, @file, or - for standard input (default: null)")
    text = "the id of the message: it is delivered once, however often it is sent"
    command.add_argument("--idempotency-key", metavar="ID", help=text)


def _send(command: argparse.ArgumentParser) -> None:
    command.add_argument("workflow", metavar="WORKFLOW", help="the workflow's id")
    command.add_argument("--key", required=True, metavar="KEY", help="the key of the runs that are to have it")
    command.add_argument("--keep", metavar="TIME", help="how long the message waits for runs of the key, like 1h")
    command.add_argument("--start", action="store_true", help="start a run if none has the key")
    command.add_argument("-i", "--inputs", metavar="JSON", help="with --start: the inputs of that run (default: the data)")
    _message(command)
    add_where(command, keyed=True)


def _runs_send(command: argparse.ArgumentParser) -> None:
    add_run(command)
    _message(command)
    add_where(command)


def _workflows_key(command: argparse.ArgumentParser) -> None:
    command.add_argument("workflow", metavar="WORKFLOW", help="the workflow's id")
    command.add_argument("key", metavar="KEY", help="the key of a run")
    add_where(command, keyed=True)


SEND = Verb("send", "stepless.cli.verbs.sending:send", "send a message to the runs of a key", """\
  stepless send order payment --key A-17 -d '{"amount": 120}'
  stepless send order payment --key A-17 -d @payment.json --keep 1h
  stepless send order cancelled --key A-17 --idempotency-key evt_5c9b
  stepless send customer visited --key c-17 -d '{"id": "c-17"}' --start
""", _send)  # fmt: skip
WORKFLOWS_KEY = Verb("workflows key", "stepless.cli.verbs.sending:runs_of_key", "list the runs of a key, the newest first", """\
  stepless workflows key order A-17
""", _workflows_key)  # fmt: skip
RUNS_SEND = Verb("runs send", "stepless.cli.verbs.sending:send_to_run", "send a message to a run", """\
  stepless runs send run_1a2b3c payment -d '{"amount": 120}'
""", _runs_send)  # fmt: skip
