"""Declares the verbs for webhooks."""

from __future__ import annotations

import argparse

from stepless.cli.command.verb import Verb, add_where, of_paths
from stepless.limits import MAX_REQUEST_BYTES


def _try(command: argparse.ArgumentParser) -> None:
    command.add_argument("hook", metavar="HOOK", help="the path of the webhook, like /orders; or the id of its workflow")
    text = f"the body: a text, @file, or - for standard input; at most {MAX_REQUEST_BYTES:,} bytes (default: {{}})"
    command.add_argument("--body", metavar="TEXT", help=text)
    command.add_argument("--content-type", metavar="TYPE", help="default: that of the sender, or application/json")
    command.add_argument("--method", metavar="METHOD", help="default: the first one of the webhook")
    command.add_argument("--query", default="", metavar="QUERY", help="the query, like a=1&b=2")
    command.add_argument("--secret", metavar="SECRET", help="the shared secret (better: the variable that the webhook names)")
    keyed = "sendgrid: the private key in PEM; a new one is written there if the file does not exist"
    of_paths(command.add_argument("--private-key", metavar="FILE", help=keyed))
    command.add_argument("--delivery", metavar="ID", help="the sender's id of the delivery (default: a new one)")
    called = "the address that the sender calls, where it is signed (default: that of the server)"
    command.add_argument("--called", metavar="URL", help=called)
    command.add_argument("--print", action="store_true", dest="prints", help="send nothing; print the request as a curl command")
    add_where(command)


VERBS_OF_HOOKS = (
    Verb("hooks try", "stepless.cli.verbs.files.hooks:try_", "send a request to a webhook, signed as its sender would", """\
  stepless hooks try /orders --body '{"order": 7}'
  stepless hooks try /orders --body @order.json --url https://flows.example.com
  stepless hooks try shop --body @order.json --print

The scheme and the name of the secret are read from the published workflow; the secret from
the variable of that name, or --secret. This starts a real run.
""", _try, exits="0 accepted, 1 refused by the webhook, 2 bad input"),
)  # fmt: skip
