"""Claims of pages about the source: the files that they name exist, the numbers are those of the limits, and the roles of the
template grant what the table of docs/run/security.md says."""

from __future__ import annotations

import asyncio
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from pages import ROOT, blocks, prose

from stepless import NodeFailure, function, limits
from stepless.adapters.aws.dynamo.table.item_keys import DRAFTS, draft, draft_epoch
from stepless.adapters.openai.models import PUBLIC, OpenAIModels
from stepless.core.deciding.settle import backoff_ms
from stepless.drafts.log.records import BLOB_OWNER
from stepless.model.declaration.policies import RETRIED, Retry
from stepless.nodes.entries.webhook import Hmac
from stepless.nodes.function import replacing_registrations, run
from stepless.nodes.http.addresses import ALLOW_VARIABLE
from stepless.ports import Call
from stepless.runtime.triggers.payloads import Firing
from stepless.runtime.triggers.schedule_firing import start_scheduled
from stepless.runtime.wiring.local import local
from stepless.testing import WorkflowTest

SECURITY, ARCHITECTURE, FAQ, REFERENCE = (
    ROOT / "docs" / name for name in ("run/security.md", "understand/architecture.md", "learn/faq.md", "write/reference.md")
)
ENGINE = ROOT / "engine" / "stepless"
DAY_MS = 24 * 3_600_000


def named_files(page: Path) -> list[str]:
    return sorted(set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.(?:py|yaml|md))`", prose(page))))


@pytest.mark.parametrize("page", [SECURITY, ARCHITECTURE], ids=lambda page: page.name)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    names = named_files(page)
    assert len(names) > 10
    assert [name for name in names if not ((ENGINE / name).is_file() or (ROOT / name).is_file())] == []


def test_the_picture_of_rooms_shows_every_room_and_no_other() -> None:
    picture = next(block for block in blocks(ARCHITECTURE) if "runtime" in block.text and "▶" not in block.text)
    rooms = {path.stem for path in ENGINE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert set(picture.text.split()) == rooms - {"__init__", "__main__"}


@pytest.mark.parametrize(
    ("words", "bound"),
    [
        ("30 days where there is none", limits.LINK_LIFE_MS == 30 * DAY_MS),
        ("`tolerance_s` off, 300 seconds by default", Hmac(hmac="x").tolerance_s == 300),
        ("values above 32 KB", limits.INLINE_VALUE_BYTES == 32_000),
        ("within five seconds in", limits.KEYS_FRESH_MS == 5_000),
        ("opens for a day more", limits.KEY_GRACE_MS == DAY_MS),
        ("fewer than 4 characters", limits.MIN_SECRET_CHARACTERS == 4),
        ("from 8 bytes on", limits.MIN_ENCODED_SECRET_BYTES == 8),
        ("at most five, and lose", limits.MAX_REDIRECTS == 5),
        ("`STEPLESS_HTTP_ALLOW` names hosts", ALLOW_VARIABLE == "STEPLESS_HTTP_ALLOW"),
        ("Inputs 256 KB, one output 5 MB", (limits.MAX_INPUT_BYTES, limits.MAX_RESULT_BYTES) == (256_000, 5_000_000)),
        ("`max_steps`, 10,000", limits.DEFAULT_MAX_STEPS == 10_000),
        ("A single wait up to a year", limits.MAX_DURATION_MS == 366 * DAY_MS),
    ],
)
def test_a_number_of_a_page_is_that_of_the_source(words: str, bound: bool) -> None:
    assert any(words in " ".join(page.read_text("utf-8").split()) for page in (SECURITY, FAQ))
    assert bound


def test_what_ten_steps_cost_is_what_was_counted() -> None:
    """docs/understand/measurements/benchmarks.md has the bill of a million runs; README.md rounds it."""
    lines = (ROOT / "docs/understand/measurements/benchmarks.md").read_text("utf-8").splitlines()
    row = next(line for line in lines if line.startswith("| ten nodes"))
    counted = [float(cell) for cell in re.findall(r"([\d.]+)(?:\*\*| \()", row)]
    readme = (ROOT / "README.md").read_text("utf-8")
    told = [re.search(rf"\| \*{{0,2}}{name}.*?\$(\d+)", readme) for name in ("Stepless", "Step Functions", "Lambda durable")]
    assert [float(match[1]) for match in told if match] == pytest.approx(counted, rel=0.1)


class _Template(yaml.SafeLoader):
    """CloudFormation's short forms as what they stand around."""


def _short_form(loader: yaml.SafeLoader, tag: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_mapping(node, deep=True)


_Template.add_multi_constructor("!", _short_form)


@cache
def resources() -> dict[str, Any]:
    return dict(yaml.load((ROOT / "template.yaml").read_text(), _Template)["Resources"])


def actions(role: str) -> set[str]:
    """What a role of the template may do, besides writing its own log."""
    resource = resources()[role]["Properties"]
    granted: set[str] = set()
    for policy in resource["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            if isinstance(statement, dict):
                said = statement["Action"]
                granted |= {said} if isinstance(said, str) else set(said)
    return {action for action in granted if not action.startswith(("logs:", "xray:"))}


ROLES = ("ApiRole", "RunnerRole", "TriggerRole", "SweeperRole", "DeadletterRole", "SandboxRole")


def who_may(*wanted: str) -> set[str]:
    """The roles that may do one of these."""
    return {role for role in ROLES if actions(role) & set(wanted)}


def test_the_sandbox_may_do_nothing() -> None:
    assert actions("SandboxRole") == set()


def test_the_sweeper_reads_and_removes_and_writes_nothing_but_checkpoints_of_drafts() -> None:
    assert actions("SweeperRole") == {
        "dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:Query",
        "dynamodb:PutItem", "dynamodb:UpdateItem", "s3:DeleteObject", "s3:GetObject", "s3:ListBucket", "s3:PutObject",
        "sqs:SendMessage",
        "sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage",
    }  # fmt: skip
    statements = resources()["SweeperRole"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]
    of_action = {one["Action"]: one for one in statements if isinstance(one, dict) and isinstance(one["Action"], str)}
    assert of_action["dynamodb:PutItem"]["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["DRAFT*"]}}
    assert all(f"/blobs/{BLOB_OWNER}/*" in str(one) for one in of_action["s3:PutObject"]["Resource"][1:])
    assert draft("w").startswith("DRAFT") and draft_epoch("w", 1).startswith("DRAFT") and DRAFTS.startswith("DRAFT")


def test_the_roles_are_as_the_table_says() -> None:
    assert who_may("s3:PutObject") == {"ApiRole", "RunnerRole", "SweeperRole"}
    assert who_may("lambda:InvokeFunction") == {"RunnerRole"}
    assert who_may("ssm:GetParameter", "secretsmanager:GetSecretValue") == {"ApiRole", "RunnerRole"}
    assert who_may("scheduler:CreateSchedule") == {"ApiRole", "RunnerRole"}
    assert who_may("s3:DeleteObject") == {"ApiRole", "SweeperRole"}
    assert who_may("dynamodb:PutItem") == {"ApiRole", "RunnerRole", "TriggerRole", "SweeperRole"}


# -- the reference ----------------------------------------------------------------------------------------------------


def test_what_is_waited_between_tries_is_what_the_reference_says() -> None:
    assert "between half of that and all of it" in " ".join(REFERENCE.read_text().split())
    retry = Retry(attempts=3, backoff_ms=400, max_backoff_ms=700)
    assert [backoff_ms(retry, attempt, chance) for attempt in (1, 2) for chance in (0.0, 1.0)] == [200, 400, 350, 700]


def test_a_schedule_puts_out_what_the_reference_says() -> None:
    assert "`scheduled_at` is null unless they have it" in REFERENCE.read_text()
    nodes = {"night": {"type": "schedule", "with": {"rate": "1h"}},
             "at": {"type": "transform", "after": "night", "with": {"value": "<night.scheduled_at>"}}}
    workflow = WorkflowTest({"id": "w", "nodes": nodes})
    assert workflow.run({}).outputs["at"] is None
    assert workflow.run({"scheduled_at": "2030-01-31T09:00:00Z", "node": "night"}).outputs["at"] == "2030-01-31T09:00:00Z"
    firing = Firing("w", "night", 1_900_000_000_000)
    built = local(None)
    built.service.publish({"id": "w", "nodes": nodes})
    started, _ = start_scheduled(built.world, firing)
    assert started is not None
    inputs = json.loads(built.service.run(started.run_id).head.inputs)
    assert inputs == {"scheduled_at": "2030-03-17T17:46:40.000Z", "node": "night"}
    built.close()


@pytest.mark.parametrize(("raised", "cause", "code"), [
    (KeyError("carrot"), "provider_error", "key_error"), (TimeoutError("late"), "timeout", "timeout"),
])  # fmt: skip
def test_an_exception_has_the_cause_that_the_reference_says(raised: Exception, cause: str, code: str) -> None:
    said = REFERENCE.read_text().split("### `function`")[1].split("###")[0]
    assert f"`{cause}`" in said and code in said and cause in RETRIED

    def fail() -> None:
        raise raised

    call = Call("r", "w", "n", "n", "function", 1, {}, {"call": "docs_claims.fail"}, {}, "t", 9_000, 0, print, print)
    with replacing_registrations([]), pytest.raises(NodeFailure) as failed:
        function("docs_claims.fail")(fail)
        asyncio.run(run(call))
    assert (failed.value.cause, failed.value.code) == (cause, code)


@pytest.mark.parametrize("page", ["write/reference.md", "learn/recipes/agent-with-a-human.md"])
def test_the_address_of_a_server_of_models_has_its_version(page: str) -> None:
    said = (ROOT / "docs" / page).read_text()
    assert f"`{PUBLIC}" in said and "`/chat/completions`" in said
    assert OpenAIModels("http://127.0.0.1:9/v1", None, None)._url == "http://127.0.0.1:9/v1/chat/completions"
