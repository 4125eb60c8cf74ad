"""Declares the verbs that work on stored runs, in a local file or behind a URL."""

from __future__ import annotations

import argparse

from stepless.cli.command.item_verbs import RUNS_ITEM, RUNS_ITEMS
from stepless.cli.command.messages import RUNS_SEND, SEND, WORKFLOWS_KEY
from stepless.cli.command.overviews import DRAFTS_LIST, WORKFLOWS_VERSIONS
from stepless.cli.command.schedule_verbs import add_filter, add_keyword, add_runs
from stepless.cli.command.verb import (
    LISTED,
    Verb,
    add_json,
    add_modules,
    add_run,
    add_waiting,
    add_where,
    cursor,
    of_paths,
    positive,
)  # fmt: skip
from stepless.limits import MAX_LISTED_ITEMS

ROLES = ("read", "run", "send", "approve", "admin")
_MANY = "0 done, 1 refused or not completed, 2 bad input"


def _publish(command: argparse.ArgumentParser) -> None:
    of_paths(command.add_argument("files", nargs="+", metavar="FILE", help="workflows, or folders of them"))
    add_modules(command)
    add_where(command)


def _start(command: argparse.ArgumentParser) -> None:
    command.add_argument("workflow", metavar="WORKFLOW", help="the workflow's id")
    _add_inputs(command, "inputs: JSON, @file, or - for standard input (default: {})")
    command.add_argument("--entry", action="append", metavar="NODE", help="start at this entry only; may be repeated")
    command.add_argument("--key", metavar="KEY", help="the key of the run (default: by `key` of the workflow)")
    begins = command.add_mutually_exclusive_group()
    begins.add_argument("--delay", metavar="TIME", help="begin after this time, like 5m")
    begins.add_argument("--at", metavar="INSTANT", help="begin at this instant, like 2026-01-31T12:00:00Z")
    add_keyword(command, "a word to search the run by; may be repeated")
    command.add_argument("--idempotency-key", metavar="KEY", help="a second start with this key returns the first run")
    text = "`inputs`: a second start with the same inputs returns the first run"
    command.add_argument("--idempotent", choices=("inputs",), help=text)
    add_waiting(command)
    add_where(command, keyed=True)


def _add_inputs(command: argparse.ArgumentParser, text: str) -> None:
    command.add_argument("-i", "--inputs", metavar="JSON", help=text)


def _add_limit(command: argparse.ArgumentParser) -> None:
    command.add_argument("--limit", type=positive, default=LISTED, metavar="N", help="at most this many (default: %(default)s)")


def _workflows_list(command: argparse.ArgumentParser) -> None:
    _add_limit(command)
    add_where(command)


def _workflows_show(command: argparse.ArgumentParser) -> None:
    command.add_argument("workflow", metavar="WORKFLOW", help="the workflow's id")
    command.add_argument("--version", type=positive, metavar="N", help="default: the newest")
    add_where(command)


def _drafts_pull(command: argparse.ArgumentParser) -> None:
    command.add_argument("workflow", metavar="WORKFLOW", help="the workflow's id")
    of_paths(command.add_argument("file", metavar="FILE", help="the file of this workflow, or a new one"))
    command.add_argument("--seq", type=cursor, metavar="N", help="the draft as it was after this item (default: as it is now)")
    add_where(command)


def _drafts_run(command: argparse.ArgumentParser) -> None:
    command.add_argument("workflow", metavar="WORKFLOW", help="the workflow's id")
    _add_inputs(command, "inputs: JSON, @file, or - for standard input (default: {}, or those of --from-run)")
    command.add_argument("--seq", type=cursor, metavar="N", help="the draft as it was after this item (default: as it is now)")
    command.add_argument("--entry", action="append", metavar="NODE", help="start at this entry only; may be repeated")
    command.add_argument("--stop-after", metavar="NODE", help="run only what leads to this node, and the node")
    command.add_argument("--from-run", metavar="RUN", help="a former run, whose outputs are reused; needs --from")
    command.add_argument("--from", dest="node", metavar="NODE", help="begin at this node; needs --from-run")
    pins = command.add_mutually_exclusive_group()
    pins.add_argument("--pins", metavar="JSON", help="outputs by node, each {output, handle?}, in place of those of the draft")
    pins.add_argument("--no-pins", action="store_true", help="call every node")
    add_waiting(command)
    add_where(command)


def _runs_list(command: argparse.ArgumentParser) -> None:
    add_filter(command)
    _add_limit(command)
    command.add_argument("--all", action="store_true", help=f"list all matching runs, at most {MAX_LISTED_ITEMS}")
    command.add_argument("--cursor", metavar="CURSOR", help="continue a listing: the cursor that it ended with")
    add_where(command, keyed=True)


def _one_run(command: argparse.ArgumentParser) -> None:
    add_run(command)
    add_where(command)


def _runs_show(command: argparse.ArgumentParser) -> None:
    add_run(command)
    command.add_argument("--node", metavar="NODE", help="show this node: its parameters, output and error")
    add_where(command)


def _runs_events(command: argparse.ArgumentParser) -> None:
    add_run(command)
    command.add_argument("--after", type=cursor, default=0, metavar="N", help="only events above this number")
    command.add_argument("--follow", "-f", action="store_true", help="wait for new events until the run ends")
    add_where(command)


def _runs_cancel(command: argparse.ArgumentParser) -> None:
    add_runs(command)
    command.add_argument("--reason", metavar="TEXT", help="stored with the run")
    add_waiting(command, "cancelled")
    add_where(command, keyed=True)


def _runs_resume(command: argparse.ArgumentParser) -> None:
    add_runs(command)
    command.add_argument("pause", nargs="?", metavar="PAUSE", help="the pause to answer, when there are several")
    command.add_argument("--exit", metavar="EXIT", help="the exit to take: approved, rejected …")
    command.add_argument("--answer", metavar="JSON", help="the fields of the answer: JSON, @file or -")
    command.add_argument("--by", metavar="NAME", help="who answers (default: the user's name)")
    add_waiting(command)
    add_where(command, keyed=True)


def _runs_rerun(command: argparse.ArgumentParser) -> None:
    add_runs(command)
    text = "`failed` (what failed), a node, or an instance like pay@each[3]; reuse the rest"
    command.add_argument("--from", dest="node", metavar="NODE", help=text)
    command.add_argument("--from-start", action="store_true", help="run everything again, also if the run failed")
    text = "of a `distributed` node in --from, run only these again: `failed`, or numbers like 3,17"
    command.add_argument("--items", metavar="ITEMS", help=text)
    _add_inputs(command, "other inputs: JSON, @file, or -")
    command.add_argument("--again", action="store_true", help="with a filter: include runs that were rerun already")
    add_waiting(command)
    add_where(command, keyed=True)


def _runs_here(command: argparse.ArgumentParser) -> None:
    add_runs(command)
    add_waiting(command)
    add_where(command, keyed=True)


def _runs_release(command: argparse.ArgumentParser) -> None:
    add_runs(command)
    add_where(command, keyed=True)


def _runs_hold(command: argparse.ArgumentParser) -> None:
    add_runs(command)
    command.add_argument("--reason", metavar="TEXT", help="stored with the run")
    add_where(command, keyed=True)


def _runs_erase(command: argparse.ArgumentParser) -> None:
    add_run(command)
    command.add_argument("--dry-run", action="store_true", help="erase nothing; list the child runs and reruns, which stay")
    command.add_argument("--force", action="store_true", help="also drop events that are not exported yet")
    command.add_argument("--yes", "-y", action="store_true", help="do not ask")
    add_where(command)


def _blobs_collect(command: argparse.ArgumentParser) -> None:
    command.add_argument("--dry-run", action="store_true", help="remove nothing; count what would be removed")
    command.add_argument("--yes", "-y", action="store_true", help="remove them")
    of_paths(command.add_argument("--state", metavar="FILE", help="keep what was read here, and continue from it"))
    _add_store(command)


def _add_store(command: argparse.ArgumentParser, *json: str) -> None:
    """Where the runs are, for commands that read a store without a server."""
    where = command.add_argument_group("where the runs are")
    where.add_argument("--table", metavar="NAME", help="the table of a stack (its output `Table`), with your AWS credentials")
    where.add_argument("--bucket", metavar="NAME", help="the bucket of the stack (its output `Bucket`)")
    of_paths(where.add_argument("--db", metavar="FILE", help="a file on this machine (default: .stepless/dev.db)"))
    add_json(command, *json)


def _doctor(command: argparse.ArgumentParser) -> None:
    _add_store(command, "print JSON, one document per line for each damaged value")


def _audit_list(command: argparse.ArgumentParser) -> None:
    command.add_argument("--who", metavar="WHO", help="only entries of this caller, exactly as listed")
    command.add_argument("--verb", dest="operation", metavar="VERB", help="only this operation, like cancel_run")
    command.add_argument("--target", metavar="ID", help="only entries that concern this run, workflow or key")
    command.add_argument("--since", metavar="INSTANT", help="only entries at or after this, like 2026-01-31T12:00:00Z")
    command.add_argument("--until", metavar="INSTANT", help="only entries before this")
    _add_limit(command)
    add_where(command)


def _keys_create(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="a name that says who uses the key")
    text = f"what the key may do; may be repeated: {', '.join(ROLES)}"
    command.add_argument("--role", action="append", choices=ROLES, required=True, metavar="ROLE", help=text)
    add_where(command)


def _keys_rotate(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", nargs="?", metavar="KEY", help="the id of an API key, see `keys list`")
    text = "rotate the key that signs links, in the file; with -: read keys from standard input, print them after a new one"
    command.add_argument("--signing", nargs="?", const="", choices=("-", ""), metavar="-", help=text)
    add_where(command)


def _keys_revoke(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", metavar="KEY", help="the id of an API key, see `keys list`")
    add_where(command)


VERBS_THERE = (
    Verb("publish", "stepless.cli.verbs.files.publish:publish", "publish workflows, each as a new version if it changed", """\
  stepless publish refund.yaml
  stepless publish refund.py
  stepless publish workflows/ --url https://abc123.execute-api.eu-central-1.amazonaws.com
""", _publish, exits="0 all published, 2 some were refused"),
    Verb("start", "stepless.cli.verbs.run_changes:start", "start a run of a published workflow", """\
  stepless start refund -i '{"order_id": "A-1", "amount": 400}'
  stepless start refund -i @order.json --keyword customer:c-17 --wait
  stepless start refund --idempotency-key order-17
  stepless start refund -i @order.json --key A-17 --delay 5m
""", _start),
    SEND,
    WORKFLOWS_KEY,
    Verb("workflows list", "stepless.cli.verbs.listing:workflows", "list the published workflows", """\
  stepless workflows list
  stepless workflows list --json | jq -r .id
""", _workflows_list),
    Verb("workflows show", "stepless.cli.verbs.files.publish:show", "print a published workflow as YAML", """\
  stepless workflows show refund
  stepless workflows show refund --version 2 > refund.yaml
""", _workflows_show),
    WORKFLOWS_VERSIONS,
    DRAFTS_LIST,
    Verb("drafts pull", "stepless.cli.verbs.files.publish:pull",
         "write a draft to a file, and keep the comments of the file", """\
  stepless drafts pull refund refund.yaml --url https://flows.example.com

In an existing file, only changed lines differ. A new file gets the text of the draft.
""", _drafts_pull),
    Verb("drafts run", "stepless.cli.verbs.run_changes:run_draft", "run a draft before it is published", """\
  stepless drafts run refund -i @order.json --wait
  stepless drafts run refund --stop-after score --pins '{"score": {"output": {"risk": 3}}}'
  stepless drafts run refund --from-run run_1a2b3c --from pay

The nodes that --from-run has completed and that do not come after --from keep their
outputs. Needs the roles edit and run.
""", _drafts_run),
    Verb("runs list", "stepless.cli.verbs.listing:runs", "list and search runs, the newest first", """\
  stepless runs list
  stepless runs list --workflow refund --waiting answer
  stepless runs list --keyword customer:c-17 --since 2026-01-31T12:00:00Z
  stepless runs list --error provider_error --min-duration 10s
  stepless runs list --status failed --all --json
""", _runs_list),
    Verb("runs show", "stepless.cli.verbs.runs:show", "show a run: its timeline, what it waits for, its outcome", """\
  stepless runs show run_1a2b3c
  stepless runs show run_1a2b3c --node pay
  stepless runs show run_1a2b3c --json | jq .outputs
""", _runs_show),
    Verb("runs events", "stepless.cli.verbs.runs:events", "print a run's events", """\
  stepless runs events run_1a2b3c
  stepless runs events run_1a2b3c --follow
  stepless runs events run_1a2b3c --after 40 --json
""", _runs_events),
    Verb("runs tags", "stepless.cli.verbs.runs:tags", "list what happened to a run's nodes, one row per transition", """\
  stepless runs tags run_1a2b3c
  stepless runs tags run_1a2b3c --json | jq 'select(.tag == "node_retried")'
""", _one_run),
    Verb("runs cost", "stepless.cli.verbs.runs:cost", "show what a run cost on AWS", """\
  stepless runs cost run_1a2b3c
""", _one_run),
    Verb("runs resume", "stepless.cli.verbs.run_changes:resume", "answer a question that a run waits for", """\
  stepless runs resume run_1a2b3c                     # asks at the prompt
  stepless runs resume run_1a2b3c manager --exit approved --answer '{"comment": "fine"}'
  stepless runs resume --workflow refund --waiting answer --exit approved --yes
""", _runs_resume, exits=_MANY),
    RUNS_SEND,
    RUNS_ITEMS,
    RUNS_ITEM,
    Verb("runs cancel", "stepless.cli.verbs.run_changes:cancel", "cancel a run", """\
  stepless runs cancel run_1a2b3c --reason 'sent by hand'
  stepless runs cancel run_1a2b3c --wait
  stepless runs cancel --workflow refund --waiting answer --dry-run
  stepless runs cancel --workflow refund --status paused --yes
""", _runs_cancel, exits=_MANY),
    Verb("runs rerun", "stepless.cli.verbs.run_changes:rerun", "run a run again as a new run, from what failed", """\
  stepless runs rerun run_1a2b3c
  stepless runs rerun run_1a2b3c --from pay
  stepless runs rerun run_1a2b3c --from 'pay@each[3]'
  stepless runs rerun run_1a2b3c --from each --items failed
  stepless runs rerun run_1a2b3c --from-start
  stepless runs rerun run_1a2b3c -i '{"amount": 40}' --wait
  stepless runs rerun --workflow refund --status failed --from pay

A run that failed, timed out or was cancelled is rerun from what failed: all other outcomes are
taken over, also in iterations and child runs. Any other run, and one with other inputs, is
rerun from the start.
With a filter, runs that were rerun already are refused, unless that rerun was cancelled. --again
includes them.
""", _runs_rerun, exits=_MANY),
    Verb("runs redeliver", "stepless.cli.dev.verbs:redeliver", "start a run of the newest version with the same trigger", """\
  stepless runs redeliver run_1a2b3c --wait

Only on a development machine. (`runs rerun` uses the version of the run.)
""", _runs_here),
    Verb("runs skip", "stepless.cli.dev.verbs:skip", "end a wait for time now: a timer, a retry or a deadline", """\
  stepless runs skip run_1a2b3c

Only on a development machine: a wait, a retry, a deadline or a reminder ends now.
Other runs keep the real time.
""", _runs_here),
    Verb("runs hold", "stepless.cli.verbs.run_changes:hold", "hold a run: nothing new starts in it until it is released", """\
  stepless runs hold run_1a2b3c --reason 'the bank is down'
""", _runs_hold, exits=_MANY),
    Verb("runs release", "stepless.cli.verbs.run_changes:release", "release a held run: it continues", """\
  stepless runs release run_1a2b3c
""", _runs_release, exits=_MANY),
    Verb("runs pause", "stepless.cli.verbs.run_changes:hold", "the former name of `runs hold`", """\
  stepless runs pause run_1a2b3c --reason 'the bank is down'
""", _runs_hold, exits=_MANY),
    Verb("runs unpause", "stepless.cli.verbs.run_changes:release", "the former name of `runs release`", """\
  stepless runs unpause run_1a2b3c
""", _runs_release, exits=_MANY),
    Verb("runs erase", "stepless.cli.verbs.erasing:erase", "erase a run that has ended, with its inputs, log and values", """\
  stepless runs erase run_1a2b3c --dry-run
  stepless runs erase run_1a2b3c --yes

Child runs and reruns stay: erase them one by one. A run that has not ended is refused,
and so is one whose events are not exported yet, without --force.
""", _runs_erase, exits="0 erased, 1 not confirmed"),
    Verb("blobs collect", "stepless.cli.verbs.admin.blob_collection:collect",
         "remove shared values that no run names any more", """\
  stepless blobs collect --dry-run
  stepless blobs collect --yes --state collect.json --table TABLE --bucket BUCKET

Former releases stored large values by their hash alone, shared by all runs. This reads the
logs of all runs, and then removes the shared values that none names. No process of a former
release may run meanwhile. If it is interrupted, the same command with the same --state continues.
""", _blobs_collect),
    Verb("doctor", "stepless.cli.verbs.admin.doctor:doctor",
         "check every stored value, and say what is damaged and how to fix it", """\
  stepless doctor
  stepless doctor --db .stepless/dev.db --json
  stepless doctor --table TABLE --bucket BUCKET

It reads the file or the table of a stack, and changes nothing. A server may run meanwhile.
""", _doctor, exits="0 nothing is damaged, 1 something is, 2 the store cannot be read"),
    Verb("audit list", "stepless.cli.verbs.admin.audit:list_", "list who asked for what, when and from where", """\
  stepless audit list --since 2026-01-31T12:00:00Z
  stepless audit list --target run_1a2b3c
  stepless audit list --verb erase_run --json
""", _audit_list),
    Verb("keys list", "stepless.cli.verbs.admin.api_keys:list_", "list API keys", """\
  stepless keys list
""", add_where),
    Verb("keys create", "stepless.cli.verbs.admin.api_keys:create", "create an API key", """\
  stepless keys create shop --role run
  stepless keys create support --role run --role approve
""", _keys_create),
    Verb("keys rotate", "stepless.cli.verbs.admin.api_keys:rotate",
         "give an API key a new secret, or the links a new signing key", """\
  stepless keys rotate key_1a2b3c       # an API key: the old secret stays valid for 24 hours
  stepless keys rotate --signing        # the key that signs links, in the file
  stepless keys rotate --signing - < keys.json > new-keys.json     # of a deployment
""", _keys_rotate),
    Verb("keys revoke", "stepless.cli.verbs.admin.api_keys:revoke", "revoke an API key", """\
  stepless keys revoke key_1a2b3c
""", _keys_revoke),
)  # fmt: skip
