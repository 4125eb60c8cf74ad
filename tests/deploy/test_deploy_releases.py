"""What a stack survives on an emulator that enforces IAM: releases forth and back, its deletion, a move to another account."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import aws_commands
import httpx
import moved
import next_release
import pytest
from deployed_runs import (
    ASKED,
    KEYED,
    PARAMETERS,
    answered,
    ask,
    check_permissions,
    client_of,
    ended,
    event_types,
    formats,
    hint,
    listed,
    publish,
    start,
    step,
    tell,
    until,
)
from deployed_schedules import paused_schedule, stays_paused
from invoked_api import InvokedApi
from local_cloud import ROOT, Cloud, Machine

pytestmark = [pytest.mark.long, pytest.mark.story]

PAGE = (ROOT / "docs/run/operations.md").read_text()


@pytest.fixture(scope="module")
def cloud(machine: Machine) -> Iterator[Cloud]:
    """The stack with the timeouts of the template. It is deleted and found again under another name, and moved."""
    built = Cloud(machine)
    built.deploy(PARAMETERS)
    yield built
    check_permissions(machine, "again")
    check_permissions(machine, "moved")


@pytest.fixture(scope="module")
def next_engines(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """By what they write: the next release, and the one after it."""
    folder = tmp_path_factory.mktemp("next")
    return {writes: next_release.engine(machine.build / "Engine", folder / str(writes), writes=writes) for writes in (1, 2)}


def test_releases_follow_each_other_and_go_back_with_runs_in_flight(
    cloud: Cloud, http: httpx.Client, next_engines: dict[int, Path]
) -> None:
    """Over one table, with runs that wait for answers and for a timer, and one that works all the time.

    The source tree is the former release N-1, and altered copies of it are the ones after it, which runs everywhere: a clone need
    not have the history of an older release. N reads a second format of the log and writes the first, N+1 writes the second.
    Then two steps back at once, which the gate between releases does not cover.
    """
    publish(http, "asked", ASKED)
    publish(http, "timed", {"wait": {"type": "wait", "with": {"for": "15s"}}, "after": step("wait", name="awake")})
    names = [f"n{number}" for number in range(12)]
    slow = {"timeout_ms": 111_000}
    nodes = {name: {**step(names[i - 1] if i else None, name=name, seconds=1), **slow} for i, name in enumerate(names)}
    publish(http, "busy", nodes)
    busy, timed = start(http, "busy"), start(http, "timed")
    old, old_too = ask(http, "asked"), ask(http, "asked")
    paused_schedule(http)

    assert cloud.update(next_engines[1], "next") == "UPDATE_COMPLETE"
    tell(f"the next release: version {cloud.live('runner')} of the runner")
    answered(http, *old)
    new = ask(http, "asked")
    assert formats(cloud, new[0]) == formats(cloud, old[0]) == {1}

    assert cloud.update(next_engines[2], "broken", broken=True) == "UPDATE_ROLLBACK_COMPLETE"
    assert cloud.service("lambda").get_function_configuration(FunctionName="local-runner", Qualifier="live")["Environment"][
        "Variables"]["STEPLESS_RELEASE"] == "next"  # fmt: skip
    assert ended(http, timed)["outputs"] == {"after": "awake"}  # before there is a release whose log the first cannot read
    assert cloud.update(next_engines[2], "after-next") == "UPDATE_COMPLETE"
    stays_paused(cloud, http)
    newest = ask(http, "asked")
    assert formats(cloud, newest[0]) == {2}

    assert cloud.update(cloud.machine.build / "Engine", "first") == "UPDATE_COMPLETE"  # two steps back
    hint(cloud, newest[0])
    until(lambda: listed(http, "newer_log") == [newest[0]], "the run to rest")
    refused = [http.get(f"/runs/{newest[0]}"), http.post(f"/resume/{newest[1]}", json={"decision": "approved"})]
    assert [(answer.status_code, answer.json()["code"]) for answer in refused] == [(503, "newer_log")] * 2
    answered(http, *new)
    answered(http, *old_too)

    assert cloud.update(next_engines[1], "next-again") == "UPDATE_COMPLETE"
    hint(cloud, newest[0])
    until(lambda: listed(http, "newer_log") == [], "the run to go on")
    answered(http, *newest)
    assert formats(cloud, newest[0]) == {1, 2}
    run = ended(http, busy)
    assert (run["status"], run["outputs"]) == ("completed", {"n11": "n11"})
    assert event_types(http, busy).count("node.completed") == 12
    dead = cloud.log("deadletter")
    assert not any(run_id in dead.read_text() for run_id in (busy, timed, newest[0], new[0], old[0]) if dead.exists())


# -- lost and found ---------------------------------------------------------------------------------------------------


def test_a_deleted_stack_is_attached_again_and_a_paused_run_goes_on(cloud: Cloud, http: httpx.Client, machine: Machine) -> None:
    """Its restored table, its bucket and its keys, under the permissions of the new stack. The link of before answers the run,
    whose value in the bucket is read."""
    run_id, token = ask(http, "asked")
    outputs, template = cloud.outputs, cloud.template()
    for command in aws_commands.printed(PAGE, "Restore"):
        aws_commands.run(command, {"TABLE": outputs["Table"]}, cloud.service)
    check_permissions(machine, cloud.stack)
    cloud.service("cloudformation").delete_stack(StackName=cloud.stack)
    cloud.service("cloudformation").get_waiter("stack_delete_complete").wait(StackName=cloud.stack, WaiterConfig={"Delay": 1})
    data = {"RestoredTable": "stepless-restored", "RestoredBucket": outputs["Bucket"]}
    data["RestoredSigningKeys"] = outputs["SigningKeys"]
    again = Cloud(machine, "again")
    assert again.create(template, {**PARAMETERS, **data}) == "CREATE_COMPLETE"
    assert {name: again.outputs[output] for name, output in zip(data, ("Table", "Bucket", "SigningKeys"), strict=True)} == data
    with client_of(again) as caller:
        answered(caller, run_id, token)


def test_a_stack_moves_to_another_account_and_region_and_a_paused_run_goes_on(machine: Machine, tmp_path: Path) -> None:
    """By the commands of the page."""
    old, new = Cloud(machine, "again"), Cloud(machine, "moved", region="eu-central-1", account="222222222222")
    with client_of(old) as caller:
        run_id, token = ask(caller, "asked")
    keys = moved.copy_data(old, new, PAGE, tmp_path)
    template = moved.copy_code(old, new)
    data = {"RestoredTable": "stepless-moved", "RestoredBucket": "moved-values", "RestoredSigningKeys": keys}
    assert new.create(template, {**PARAMETERS, **data}) == "CREATE_COMPLETE"
    transport = InvokedApi(new.service("lambda"), "moved-api")
    with httpx.Client(base_url="https://moved.example", headers=KEYED, transport=transport, timeout=40) as caller:
        answered(caller, run_id, token)
    invoked = [each.split()[:2] for each in machine.invoked() if each.endswith("moved-runner 1")]
    assert invoked == [["222222222222", "eu-central-1"]]


