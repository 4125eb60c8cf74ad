"""The room of a draft behind a gateway that holds the sockets: who hears what, whichever process serves a message."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from gateway_rooms import EDITS, Deployment, Process, Seat

from stepless.drafts.sessions.bounds import ON_AWS, Bounds
from stepless.errors import StoreUnavailable
from stepless.limits import CHECKPOINT_ITEMS, CONNECTION_LIFE_MS, MEMBERS_FRESH_MS, SILENT_MS, TICKET_LIFE_MS
from stepless.ports import Draft
from stepless.runtime.access.api_keys import hashed
from stepless.runtime.access.roles import Role
from stepless.runtime.draft_runs import StartedRun

READS = frozenset({Role.READ})


@pytest.fixture
def deployment() -> Deployment:
    return Deployment()


@pytest.fixture
def one(deployment: Deployment) -> Process:
    return deployment.process()


@pytest.fixture
def other(deployment: Deployment) -> Process:
    return deployment.process()


def closing(seat: Seat) -> int:
    assert not seat.is_open
    [last] = seat.of("closing")
    assert seat.heard[-1] is last
    return int(last["code"])


def clients(people: list[dict[str, Any]]) -> list[str]:
    return sorted(str(person["client"]) for person in people)


# -- together ----------------------------------------------------------------------------------------------------------


def test_any_process_takes_any_message_and_everyone_hears_each_item_once(one: Process, other: Process) -> None:
    ada, bo = one.enter("ada"), other.enter("bo", "Bo")
    [welcome] = bo.of("welcome")
    assert (welcome["epoch"], welcome["head"], welcome["person"]) == (1, 0, "Bo")
    assert welcome["people"] == [{"client": "ada", "person": "ada", "at": None}]
    assert ada.of("who") == [{"v": 1, "t": "who", "client": "bo", "person": "Bo", "joined": True, "rates": ON_AWS.rates(2)}]
    ada.edit(1, "first", by=other)
    bo.edit(1, "second", base=1, by=one)
    ada.edit(2, "third", base=2, by=one)
    for seat in (ada, bo):
        assert [(item["item"]["seq"], item["item"]["client"]) for item in seat.of("item")] == [(1, "ada"), (2, "bo"), (3, "ada")]
        assert seat.of("item")[1]["item"]["by"] == "Bo"
    late = one.enter("eve", after=1)
    [items] = late.of("items")
    assert ([item["seq"] for item in items["items"]], items["head"]) == ([2, 3], 3)


def test_processes_that_race_for_a_place_in_the_log_commit_both(one: Process, other: Process) -> None:
    ada, bo = one.enter("ada"), other.enter("bo")
    for number in range(1, 11):
        ada.edit(number, f"a{number}", by=one)
        bo.edit(number, f"b{number}", by=other)  # over what it read before: its append fails once
    for seat in (ada, bo):
        assert [item["item"]["seq"] for item in seat.of("item")] == list(range(1, 21))


def test_a_repeat_is_passed_on_again_for_the_process_that_committed_it_may_have_died(
    one: Process, other: Process, deployment: Deployment
) -> None:
    ada, bo = one.enter("ada"), one.enter("bo")
    deployment.gateway.fault = StoreUnavailable("no way out")
    ada.edit(1, "hers")
    assert ada.of("item") == bo.of("item") == []
    deployment.gateway.fault = None
    ada.edit(1, "hers", by=other)
    assert [item["item"]["seq"] for item in ada.of("item") + bo.of("item")] == [1, 1]


def test_a_test_run_is_announced_to_the_members_of_its_epoch(one: Process, other: Process) -> None:
    ada, bo = one.enter("ada"), other.enter("bo", "Bo")
    one.fan.pass_on(Draft("w", 1), StartedRun("run_1", 1, 4, "ada", 1_700_000_000_000))
    one.fan.pass_on(Draft("w", 2), StartedRun("run_2", 2, 0, "ada", 1_700_000_000_000))
    for seat in (ada, bo):
        assert seat.of("run") == [
            {"v": 1, "t": "run", "run": "run_1", "epoch": 1, "seq": 4, "by": "ada", "at": 1_700_000_000_000}
        ]  # fmt: skip


def test_presence_reaches_the_others_and_is_stored_nowhere(one: Process, other: Process, deployment: Deployment) -> None:
    ada, bo = one.enter("ada"), other.enter("bo")
    kept = one.verbs.show("w").seq
    ada.say("at", cursor=[1, 2], unknown="left out")
    assert bo.of("at") == [{"v": 1, "t": "at", "client": "ada", "at": {"cursor": [1, 2]}}] and ada.of("at") == []
    ada.say("at", cursor="x" * 8_001)
    assert len(bo.of("at")) == 1
    assert one.enter("eve").of("welcome")[0]["people"] == [
        {"client": "ada", "person": "ada", "at": None}, {"client": "bo", "person": "ada", "at": None},
    ]  # fmt: skip
    assert one.verbs.show("w").seq == kept


def test_presence_above_the_rate_is_dropped_and_the_rate_falls_with_people(one: Process) -> None:
    ada, bo = one.enter("ada"), one.enter("bo")
    for number in range(50):
        ada.say("at", cursor=[number, 0])
    assert 5 <= len(bo.of("at")) <= 7
    assert [ON_AWS.rates(people)["presence_per_s"] for people in (1, 4, 5, 10, 50)] == [5, 5, 4, 2, 0.4]
    assert [ON_AWS.rates(people)["ops_per_s"] for people in (1, 2, 4, 40)] == [20, 20, 10, 1]
    assert ada.of("welcome")[0]["rates"] == ON_AWS.rates(1) and bo.of("welcome")[0]["rates"] == ON_AWS.rates(2)


def test_a_newcomer_is_sent_presence_within_a_second_and_items_at_once(
    one: Process, other: Process, deployment: Deployment
) -> None:
    ada = one.enter("ada")
    ada.say("at", cursor=[0, 0])  # this process looks up who is here
    bo = other.enter("bo")
    ada.say("at", cursor=[1, 1])
    assert bo.of("at") == []
    ada.edit(1, "hers")
    assert len(bo.of("item")) == 1
    deployment.clock.advance(MEMBERS_FRESH_MS)
    ada.say("at", cursor=[2, 2])
    assert len(bo.of("at")) == 1


def test_an_item_that_no_message_can_hold_is_a_hint(one: Process) -> None:
    ada, bo = one.enter("ada"), one.enter("bo")
    operation = {"writes": [["set", "doc", ["description"], "é" * 15_000]]}
    message: Any = {"client": "curl", "n": 1, "tag": "t", "base": 0, "gestures": [operation]}
    item: Any = one.verbs.submit(Draft("w", 1), message, "curl")
    one.fan.pass_on(Draft("w", 1), item)
    assert ada.of("pull") == bo.of("pull") == [{"v": 1, "t": "pull", "head": 1}]
    ada.say("pull", after=0)
    assert ada.of("pull")[1:] == [{"v": 1, "t": "pull", "head": 1}]


def test_a_pull_reads_the_log_and_too_many_end_the_connection(one: Process) -> None:
    ada = one.enter("ada")
    ada.edit(1, "hers")
    ada.say("pull", after=0)
    assert [item["seq"] for item in ada.of("items")[-1]["items"]] == [1]
    for _ in range(20):
        ada.say("pull", after=1)
    assert closing(ada) == 4429


# -- coming and going --------------------------------------------------------------------------------------------------


def test_a_bad_ticket_is_refused_at_the_handshake(one: Process, other: Process, deployment: Deployment) -> None:
    good = deployment.tickets.issue("w", "ada", EDITS)
    assert one.connect(good)[0] == 200
    late = deployment.tickets.issue("w", "ada", EDITS)
    deployment.clock.advance(TICKET_LIFE_MS)
    for bad in (good, late, "", "x", good[:-2] + "AA", "é.ü"):
        assert other.connect(bad)[0] == 401, bad
    bare = {"requestContext": {"eventType": "CONNECT", "connectionId": "c"}, "queryStringParameters": None}
    assert one.connections.serve(bare) == 401


def test_one_ticket_opens_one_socket_however_many_processes_are_asked(deployment: Deployment) -> None:
    ticket = deployment.tickets.issue("w", "ada", EDITS)
    assert sorted(deployment.process().connect(ticket)[0] for _ in range(5)) == [200, 401, 401, 401, 401]


def test_one_without_a_hello_hears_nothing_and_counts_for_nothing(one: Process, deployment: Deployment) -> None:
    status, connection_id = one.connect(deployment.tickets.issue("w", "ada", EDITS))
    ada = one.enter("ada")
    ada.edit(1, "hers")
    assert status == 200 and deployment.gateway.open[connection_id] == [] and ada.of("welcome")[0]["people"] == []
    Seat(one, connection_id).edit(1, "before hello")
    assert closing(Seat(one, connection_id)) == 4400 and one.verbs.show("w").seq == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[]", 4400), ("{", 4400), ("", 4400), ('{"v":2,"t":"ping"}', 4400), ('{"v":1,"t":"shout"}', 4400), ('{"v":1}', 4400),
        ('{"v":1,"t":"ping","__proto__":' * 900, 4400), ('{"v":1,"t":"ping","x":"' + "y" * 31_000 + '"}', 4413),
        ('{"v":1,"t":"ping","x":"' + "é" * 15_500 + '"}', 4413), ("x" * 1_000_000, 4413), ('{"v":1,"t":"op","n":"1"}', 4400),
    ],
)  # fmt: skip
def test_a_malformed_message_ends_the_connection_with_its_reason(one: Process, text: str, code: int) -> None:
    ada, bo = one.enter("ada"), one.enter("bo")
    ada.say_text(text)
    assert closing(ada) == code and bo.is_open
    assert [(who["client"], who["joined"]) for who in bo.of("who")] == [("ada", False)]
    assert bo.of("who")[0]["rates"] == ON_AWS.rates(1)


def test_bytes_are_refused(one: Process) -> None:
    ada = one.enter("ada")
    ada.say_text("eyJ2IjoxfQ==", isBase64Encoded=True)
    assert closing(ada) == 4400


def test_a_message_of_a_connection_that_is_not_known_closes_it(one: Process, deployment: Deployment) -> None:
    deployment.gateway.open["ghost"] = []
    Seat(one, "ghost").say("ping")
    assert closing(Seat(one, "ghost")) == 1000


def test_one_who_is_gone_is_removed_by_the_next_message_and_the_others_hear_of_it_once(
    one: Process, other: Process, deployment: Deployment
) -> None:
    ada, bo, eve = one.enter("ada"), other.enter("bo"), one.enter("eve")
    del deployment.gateway.open[bo.id]  # without a $disconnect
    ada.edit(1, "hers", by=other)
    assert clients(ada.of("who")) == ["bo", "bo", "eve"] and [who["client"] for who in eve.of("who")] == ["bo"]
    bo.leave()
    assert len(eve.of("who")) == 1
    assert clients([member._asdict() for member in deployment.rooms.members("w")]) == ["ada", "eve"]


def test_many_who_are_gone_at_once_leave_no_one_behind(one: Process, deployment: Deployment) -> None:
    seats = [one.enter(f"c{number}") for number in range(45)]
    for seat in seats[:40]:
        del deployment.gateway.open[seat.id]
    seats[44].edit(1, "still here")
    assert clients([member._asdict() for member in deployment.rooms.members("w")]) == [f"c{number}" for number in range(40, 45)]
    assert len([who for who in seats[44].of("who") if not who["joined"]]) == 40


def test_the_same_client_again_replaces_its_former_connection(one: Process, other: Process) -> None:
    first, bo = one.enter("ada"), one.enter("bo")
    second = other.enter("ada")
    assert closing(first) == 1000 and second.is_open and clients(second.of("welcome")[0]["people"]) == ["bo"]
    assert [who["joined"] for who in bo.of("who")] == []
    first.leave()
    second.edit(1, "still here")
    assert len(bo.of("item")) == 1 and bo.of("who") == []


def test_another_person_cannot_take_a_client_id(one: Process) -> None:
    ada = one.enter("ada", "Ada")
    thief = one.enter("ada", "Eve")
    assert closing(thief) == 4403 and ada.is_open


def test_a_full_room_refuses_the_next(deployment: Deployment) -> None:
    crowd = Deployment(Bounds(people=2)).process()
    seats = [crowd.enter(f"c{number}") for number in range(3)]
    assert closing(seats[2]) == 4429 and all(seat.is_open for seat in seats[:2])
    seats[0].leave()
    assert crowd.enter("c3").is_open


def test_after_the_last_leave_the_draft_is_checked(one: Process, other: Process) -> None:
    ada, bo = one.enter("ada"), other.enter("bo")
    ada.edit(1, "hers")
    ada.leave(by=other)
    assert one.verbs.show("w").head.checked == 0
    bo.leave(by=one)
    assert one.verbs.show("w").head.checked == 1


def test_a_checkpoint_is_made_every_so_many_items(one: Process) -> None:
    ada = Deployment(Bounds(ops_per_s=10_000, session_ops_per_s=10_000)).process().enter("ada")
    for number in range(1, CHECKPOINT_ITEMS + 1):
        ada.edit(number, f"n{number}", base=number - 1)
    assert ada.process.verbs.show("w").head.checked == CHECKPOINT_ITEMS


def test_one_who_is_silent_is_gone_and_a_ping_is_enough_to_stay(one: Process, deployment: Deployment) -> None:
    ada, bo = one.enter("ada"), one.enter("bo")
    for _ in range(3):
        deployment.clock.advance(SILENT_MS * 4 // 5)
        ada.say("ping")
    assert len(ada.of("pong")) == 3
    ada.edit(1, "hers")
    assert closing(bo) == 1000 and ada.is_open
    assert deployment.rooms.find(ada.id).expires_ms == 1_700_000_000_000 + CONNECTION_LIFE_MS


# -- the draft is over -------------------------------------------------------------------------------------------------


def test_a_replaced_draft_closes_its_room_and_not_the_one_of_the_next(one: Process, other: Process) -> None:
    ada, bo = one.enter("ada"), other.enter("bo")
    one.verbs.discard("w", "eve")
    one.verbs.open_empty("w", "eve")
    new = other.enter("new", epoch=3)
    ada.edit(1, "too late", by=other)
    assert closing(ada) == closing(bo) == 4409 and ada.of("answer")[0]["code"] == "replaced"
    assert new.is_open and new.of("item") == []
    assert closing(one.enter("late")) == 4409


def test_a_draft_that_is_not_there_is_over(one: Process) -> None:
    one.verbs.discard("w", "eve")
    assert closing(one.enter("ada")) == 4409


# -- what a person may do ----------------------------------------------------------------------------------------------


def test_one_who_may_only_read_hears_all_and_changes_nothing(one: Process) -> None:
    reader, ada = one.enter("reader", roles=READS), one.enter("ada")
    reader.edit(1, "no")
    ada.edit(1, "yes")
    assert reader.of("answer") == [{"v": 1, "t": "answer", "n": 1, "tag": f"{reader.id}-1", "code": "forbidden"}]
    assert [item["item"]["seq"] for item in reader.of("item")] == [1]


def test_a_key_that_is_removed_ends_its_sockets_within_half_a_minute_spoken_to_or_not(
    one: Process, other: Process, deployment: Deployment
) -> None:
    key, _ = deployment.keys.add("team", ["edit"])
    ada = one.enter("ada", f"key {key.id} team", key_id=key.id)
    listener = other.enter("listener", f"key {key.id} team", key_id=key.id)
    bo = other.enter("bo")
    ada.edit(1, "allowed")
    deployment.keys.remove(key.id)
    deployment.clock.advance(30_000)
    bo.edit(1, "while they listen", base=1, by=other)
    assert closing(listener) == 4403
    ada.edit(2, "not any more", base=2, by=one)
    assert closing(ada) == 4403
    assert one.verbs.show("w").seq == 2


def test_a_role_that_a_key_loses_is_lost_for_its_sockets(one: Process, deployment: Deployment) -> None:
    ada = one.enter("ada", "key k", roles=EDITS, key_id="k")  # a key that never was: its ticket's roles count for nothing
    assert closing(ada) == 4403


def test_a_configured_key_counts_as_long_as_it_is_configured(deployment: Deployment) -> None:
    digest = hashed("team")
    deployment.configured.append(digest)
    now = deployment.process()
    ada = now.enter("ada", f"configured key {digest[:15]}", key_id=digest[:15])
    ada.edit(1, "allowed")
    assert len(ada.of("item")) == 1
    deployment.configured.clear()  # a later release, without it
    ada.edit(2, "not any more", base=1, by=deployment.process())
    assert closing(ada) == 4403


def test_a_login_is_good_until_it_ends(one: Process, other: Process, deployment: Deployment) -> None:
    until = deployment.clock.now_ms() + 60_000
    ada, listener = one.enter("ada", "jwt ada", until_ms=until), one.enter("listener", "jwt bo", until_ms=until)
    eve = one.enter("eve")
    deployment.clock.advance(59_999)
    ada.edit(1, "in time")
    deployment.clock.advance(1)
    ada.edit(2, "too late", base=1, by=other)
    eve.edit(1, "hers", base=1)
    assert closing(ada) == closing(listener) == 4401 and eve.of("item")[-1]["item"]["client"] == "eve"


def test_too_many_edits_are_answered_and_the_others_go_on(one: Process, other: Process) -> None:
    ada, bo = one.enter("ada"), other.enter("bo", "Bo")
    for number in range(1, 1_001):
        ada.edit(number, "flood", base=0)
    answers = ada.of("answer")
    assert len(ada.of("item")) < 60 and {answer["code"] for answer in answers} <= {"rate", "stale"} and ada.is_open
    bo.edit(1, "unharmed", base=one.verbs.show("w").seq)
    assert bo.of("item")[-1]["item"]["client"] == "bo"


# -- faults ------------------------------------------------------------------------------------------------------------


def test_an_edit_that_the_store_does_not_take_is_answered_busy(one: Process, deployment: Deployment) -> None:
    ada = one.enter("ada")
    deployment.drafts.fault = StoreUnavailable("out of reach")
    ada.edit(1, "hers")
    assert ada.of("answer")[0]["code"] == "busy" and ada.is_open
    deployment.drafts.fault = None
    ada.edit(1, "hers")
    assert len(ada.of("item")) == 1


def test_markup_and_odd_keys_travel_as_they_are(one: Process) -> None:
    ada, bo = one.enter("<script>", "<img src=x>"), one.enter("__proto__")
    bo.say("at", selection=["constructor", "<b>"], field="__proto__")
    assert ada.of("at")[0]["at"] == {"selection": ["constructor", "<b>"], "field": "__proto__"}
    assert [who["client"] for who in ada.of("who")] == ["__proto__"]


def test_the_function_loads_no_web_framework() -> None:
    code = "import sys, stepless.drafts.sessions.connections; print({'fastapi', 'starlette', 'mangum'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "set()\n"
