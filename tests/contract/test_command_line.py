"""Everything that the API does can be done from a terminal: each route has a verb, each of its query parameters an option."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from contract import openapi
from stepless.cli.command.main import VERBS
from stepless.cli.command.verb import Verb

# The verb that sends each request. A route that is in neither table fails the test.
VERB_OF: Final = {
    "publish_workflow": "publish", "read_workflow": "workflows show", "read_version": "workflows show",
    "list_workflows": "workflows list", "list_versions": "workflows versions", "compare_versions": "diff",
    "list_schedules": "schedules list", "read_schedules": "schedules list", "pause_schedule": "schedules pause",
    "resume_schedule": "schedules resume", "fire_schedule": "schedules fire",
    "list_runs": "runs list", "read_run": "runs show", "list_nodes": "runs show", "start_run": "start", "read_cost": "runs cost",
    "list_tags": "runs tags", "replay_events": "runs events", "cancel_run": "runs cancel", "hold_run": "runs hold",
    "release_run": "runs release", "pause_run": "runs pause", "unpause_run": "runs unpause", "rerun_run": "runs rerun",
    "erase_run": "runs erase", "skip_time": "runs skip", "redeliver_run": "runs redeliver", "decide": "runs resume",
    "list_approvals": "approvals", "list_decisions": "approvals", "list_errors": "errors", "read_stats": "stats",
    "list_stats": "stats", "list_keys": "keys list", "make_key": "keys create", "rotate_key": "keys rotate",
    "remove_key": "keys revoke", "list_audit": "audit list", "list_drafts": "drafts list", "read_draft_text": "drafts pull",
    "compare_draft": "diff", "run_draft_now": "drafts run", "convert_export": "import",
    "send_message": "send", "send_to_run": "runs send", "read_key": "workflows key",
    "read_items": "runs items", "change_items": "runs items", "read_item": "runs item",
}  # fmt: skip
_PAGES: Final = "a page of the console reads it"
_EDITOR: Final = "the editor of the console edits drafts, a file is edited with an editor of the machine"
_SENDER: Final = "the sender of a webhook calls it; `hooks try` does as one"
NO_VERB: Final = {
    "count_runs": "`--dry-run` of a verb with a filter counts",
    "change_runs": "the verbs with a filter send one request for each run, and report each",
    "answer_pause": "`runs resume` answers by the link of the question",
    "show_question_get": "it is the page of the question; `runs resume` asks at the prompt",
    "read_run_document": "`workflows show --version` prints it",
    "read_value": "`runs show --node` prints the values of a node",
    "summarize_run": _PAGES, "list_timeline": _PAGES, "watch_run": _PAGES, "read_caller": _PAGES,
    "open_draft": _EDITOR, "read_draft": _EDITOR, "discard_draft": _EDITOR, "read_ops": _EDITOR, "edit_draft": _EDITOR,
    "read_draft_document": _EDITOR, "read_draft_findings": _EDITOR, "settle_draft_conflict": _EDITOR,
    "read_draft_conflicts": _EDITOR, "publish_draft": _EDITOR, "save_draft": _EDITOR, "type_draft_text": _EDITOR,
    "read_draft_history": _EDITOR, "restore_draft": _EDITOR, "evaluate_draft": _EDITOR, "read_draft_scope": _EDITOR,
    "list_draft_runs": _EDITOR, "enter_draft": _EDITOR,
    "invite_to_console": "it is about browsers", "list_sessions": "it is about browsers", "end_session": "it is about browsers",
    "read_console_settings": "it is about browsers", "open_console": "it is about browsers",
    "list_kinds": "docs/write/reference.md and `stepless schema` describe the kinds",
    "trigger_get": _SENDER, "trigger_post": _SENDER, "trigger_put": _SENDER, "trigger_patch": _SENDER, "trigger_delete": _SENDER,
    "health": "it is for load balancers",
}  # fmt: skip

# Options that are not named like their parameter, by the destination that argparse has for them.
OPTION_OF: Final = {
    ("list_audit", "verb"): "operation", ("replay_events", "afterEventId"): "after", ("compare_versions", "from"): "former",
}  # fmt: skip
_ALL_PAGES: Final = "the verb reads every page"
_FILTERED: Final = "its output is a line for each event, which a shell filters"
NO_OPTION: Final = {
    ("list_runs", "tag"): "the former name of `keyword`",
    ("list_workflows", "cursor"): "`--limit` reads further pages",
    ("list_audit", "cursor"): "`--limit` reads further pages",
    ("list_schedules", "limit"): _ALL_PAGES, ("list_schedules", "cursor"): _ALL_PAGES,
    ("list_nodes", "after"): "the verb shows the first nodes, and says that there are more",
    ("list_nodes", "limit"): "the verb shows the first nodes, and says that there are more",
    ("list_nodes", "instance"): "`--node` names it",
    ("list_tags", "after"): _ALL_PAGES, ("list_tags", "limit"): _ALL_PAGES,
    ("replay_events", "limit"): _ALL_PAGES, ("replay_events", "instance"): _FILTERED, ("replay_events", "node"): _FILTERED,
    ("replay_events", "type"): _FILTERED, ("replay_events", "text"): _FILTERED,
    ("replay_events", "inputs"): "the page of a node asks for them",
    ("read_version", "format"): "the verb prints YAML, and JSON with --json",
    ("start_run", "check"): "the form of the console asks for it before it starts a run",
}  # fmt: skip

OPERATIONS: Final = {
    operation["operationId"]: operation
    for methods in json.loads(openapi.FILE.read_text("utf-8"))["paths"].values()
    for operation in methods.values()
}
VERB: Final[dict[str, Verb]] = {verb.words: verb for verb in VERBS}


def parameters(name: str) -> Iterator[str]:
    yield from (one["name"] for one in OPERATIONS[name].get("parameters", ()) if one["in"] == "query")


def destinations(words: str) -> set[str]:
    command = argparse.ArgumentParser()
    VERB[words].add(command)
    return {action.dest for action in command._actions}


def test_every_route_has_a_verb_or_a_reason() -> None:
    assert set(OPERATIONS) - set(VERB_OF) - set(NO_VERB) == set(), "add a verb, and name it in VERB_OF"
    assert set(VERB_OF) & set(NO_VERB) == set()
    assert (set(VERB_OF) | set(NO_VERB)) - set(OPERATIONS) == set(), "there is no such route any more"
    assert set(VERB_OF.values()) <= set(VERB)


@pytest.mark.parametrize("name", VERB_OF)
def test_every_query_parameter_has_an_option_or_a_reason(name: str) -> None:
    known = destinations(VERB_OF[name])
    missing = {
        each for each in parameters(name) if OPTION_OF.get((name, each), each) not in known and (name, each) not in NO_OPTION
    }
    assert missing == set(), f"add options to `{VERB_OF[name]}`"


def test_no_exception_is_left_over() -> None:
    def stands(name: str, parameter: str, named: Any) -> bool:
        return parameter in parameters(name) and named not in destinations(VERB_OF[name])

    assert {each for each in NO_OPTION if not stands(*each, each[1])} == set()
    assert {each for each, at in OPTION_OF.items() if at not in destinations(VERB_OF[each[0]])} == set()
