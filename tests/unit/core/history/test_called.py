"""What instances were called with, read from the log: the parameters that were dispatched, without secrets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepless.core.facts import Answered, Completed, Failed, Failure, Recovered, Tick
from stepless.core.history.call_parameters import bounded
from stepless.core.history.trace import Trace
from stepless.limits import MAX_SHOWN_CALLS, PREVIEW_CHARACTERS, SHOWN_PARAMS_CHARACTERS
from stepless.model.kind import Outcome

Make = Callable[..., Any]
ALL = range(1_000)


def calling(args: Any, after: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "function", "with": {"call": "test.echo", "args": args}, **({"after": after} if after else {}), **more}


def calls(run: Any, instance: str) -> list[Any]:
    return list(Trace(run.graph, "run", ALL).extend(run.events).nodes[instance].calls)


def params(run: Any, instance: str) -> list[Any]:
    return [call.params["args"] for call in calls(run, instance)]


def test_they_are_what_was_dispatched(play: Make) -> None:
    run = play({
        "a": calling({"n": "<input.n>"}),
        "v": {"type": "set", "after": "a", "with": {"variables": {"total": "<a.n>"}}},
        "b": calling({"sum": "{{ <a.n> + 1 }}", "said": "total <workflow.total>", "run": "<run.id>", "at": "{{ now() }}"}, "v"),
    }, variables={"total": 0})  # fmt: skip
    dispatched = {one.id: one.params["args"] for one in run.begin({"n": 7}).dispatches}
    dispatched |= {one.id: one.params["args"] for one in run.complete("a", {"n": 7}).dispatches}
    assert dispatched["b"]["sum"] == 8 and dispatched["b"]["said"] == "total 7"
    assert {name: params(run, name) for name in ("a", "b")} == {name: [args] for name, args in dispatched.items()}
    assert calls(run, "a")[0].params["call"] == "test.echo"


def test_what_changes_later_changes_nothing(play: Make) -> None:
    """A variable that is written again, turns of a loop that are over, an input that comes late."""
    body = {"nodes": {"x": calling({"i": "<loop.index>", "item": "<input>", "seen": "<workflow.seen>"}),
                      "w": {"type": "set", "after": "x", "with": {"variables": {"seen": "<loop.index>"}}}}}  # fmt: skip
    run = play({
        "l": {"type": "loop", "with": {"items": ["a", "b"], "body": body}},
        "first": calling({"got": "<inputs>"}, ["l", "other"], join={"mode": "any"}),
        "other": calling({}),
    }, variables={"seen": None})  # fmt: skip
    run.begin()
    run.complete("x@l[0]")
    run.complete("x@l[1]")
    run.complete("other", "late")
    assert params(run, "x@l[0]") == [{"i": 0, "item": "a", "seen": None}]
    assert params(run, "x@l[1]") == [{"i": 1, "item": "b", "seen": 0}]
    assert params(run, "first") == [{"got": {"input": [{"seen": 0}, {"seen": 1}]}}]


def test_every_attempt_tells_its_own(play: Make) -> None:
    run = play({"a": calling({"at": "{{ now() }}"}, retry={"attempts": 2, "backoff_ms": 0})})
    begun = run.begin().dispatches[0].params["args"]
    run.decide(Failed("a", 1, Failure("timeout")), at=5_000)
    again = run.decide(Tick(), at=9_000).dispatches[0].params["args"]
    assert begun != again
    assert params(run, "a") == [begun, again]
    assert [(call.attempt, call.at_ms) for call in calls(run, "a")] == [(1, 1_001), (2, 9_000)]


def test_what_a_process_that_died_had_called_is_called_again(play: Make) -> None:
    run = play({"a": calling({"at": "{{ now() }}"}), "b": calling({"at": "{{ now() }}"}, delivery="at_most_once")})
    run.begin()
    again = {one.id: one.params["args"] for one in run.decide(Recovered(), at=7_000).dispatches}
    assert params(run, "a") == [again["a"]]
    assert [call.at_ms for call in calls(run, "b")] == [1_001]


def test_no_secret_is_shown_nor_what_was_made_of_one(play: Make) -> None:
    args = {"key": "Bearer ${KEY}", "alone": "${KEY}", "size": "{{ len(${KEY}) }}", "plain": "{{ 1 + 1 }} ${KEY}",
            "list": [{"deep": "{{ upper(${KEY}) }}"}]}  # fmt: skip
    run = play({"a": calling(args)}, env={"KEY": "a-secret-key"})
    assert run.begin().dispatches[0].params["args"]["key"] == "Bearer a-secret-key"
    assert params(run, "a") == [
        {"key": "Bearer ***", "alone": "***", "size": "***", "plain": "2 ***", "list": [{"deep": "***"}]},
    ]


def test_a_log_of_any_release_is_enough(play: Make) -> None:
    """Nothing about it is stored."""
    run = play({"a": calling({"n": 1}), "b": calling({"n": "<a>"}, "a")})
    run.begin()
    run.complete("a", 5)
    assert all("params" not in event.data for event in run.events)
    assert params(run, "b") == [{"n": 5}]


def test_what_is_called_with_nothing_tells_nothing(play: Make) -> None:
    contract = {"required": ["input"], "properties": {"input": {"type": "integer"}}}
    run = play({
        "start": {"type": "manual"},
        "off": calling({"n": 1}, "start", enabled=False),
        "judged": calling({"n": 1}, "start", input_contract=contract),
        "raises": calling({"n": "{{ 1 / 0 }}"}, "start"),
        "turns": {"type": "loop", "after": "start", "with": {"times": 1, "body": {"nodes": {"x": calling({"n": 1})}}}},
    })  # fmt: skip
    run.begin({"a": "text"})
    for name in ("start", "off", "judged", "raises", "turns"):
        assert calls(run, name) == [], name
    assert params(run, "x@turns[0]") == [{"n": 1}]


def test_pauses_tell_what_they_were_asked_with(play: Make) -> None:
    run = play({"w": {"type": "approval", "with": {"message": "Pay <input.n>?"}}})
    run.begin({"n": 3})
    run.decide(Answered("w", "approved", {}))
    assert [call.params["message"] for call in calls(run, "w")] == ["Pay 3?"]


def test_a_condition_tells_what_its_cases_were_up_to_the_one_that_it_took(play: Make) -> None:
    cases = {"large": "<start.n> > 9", "odd": "<start.n> % 2", "never": "<start.n> / 0", "rest": "else"}
    run = play({"start": {"type": "manual"}, "pick": {"type": "condition", "after": "start", "with": {"cases": cases}}})
    run.begin({"n": 7})
    assert [call.params for call in calls(run, "pick")] == [{"cases": {"large": False, "odd": 1}}]
    other = play({"start": {"type": "manual"}, "pick": {"type": "condition", "after": "start", "with": {"cases": cases}}})
    other.begin({"n": 6})  # fails at the third case
    assert [call.params for call in calls(other, "pick")] == [{"cases": {"large": False, "odd": 0}}]
    last = play({"pick": {"type": "condition", "with": {"cases": {"no": "<input.n> > 9", "rest": "else"}}}})
    last.begin({"n": 1})
    assert [call.params for call in calls(last, "pick")] == [{"cases": {"no": False, "rest": True}}]


def test_only_the_wanted_records_are_worked_out(play: Make) -> None:
    run = play({f"n{number}": calling({"n": number}) for number in range(4)})
    run.begin()
    nodes = Trace(run.graph, "run", range(1, 3)).extend(run.events).nodes
    assert [len(record.calls) for record in nodes.values()] == [0, 1, 1, 0]
    assert [len(record.calls) for record in run.trace.nodes.values()] == [0] * 4


def test_the_last_attempts_are_told(play: Make) -> None:
    run = play({"a": calling({}, retry={"attempts": 15, "backoff_ms": 0})})
    run.begin()
    for attempt in range(1, 15):
        run.decide(Failed("a", attempt, Failure("timeout")))
        run.decide(Tick())
    run.decide(Completed("a", 15, Outcome()))
    assert [call.attempt for call in calls(run, "a")] == list(range(16 - MAX_SHOWN_CALLS, 16))


def test_large_values_are_shown_by_their_beginnings(play: Make) -> None:
    most = SHOWN_PARAMS_CHARACTERS
    shown, previews = bounded({"text": "x" * most, "list": [[1] * most], "small": {"a": 1}, "half": "y" * (most // 2)})
    assert shown == {"small": {"a": 1}, "half": "y" * (most // 2)}
    assert previews["text"] == '"' + "x" * (PREVIEW_CHARACTERS - 1)
    assert previews["list"].startswith("[[1,1,1") and len(previews["list"]) == PREVIEW_CHARACTERS
    run = play({"a": calling({"big": "<input>"})})
    run.begin("z" * 100_000)
    (call,) = calls(run, "a")
    assert call.params == {"call": "test.echo"} and call.previews["args"].startswith('{"big":"zzz')
