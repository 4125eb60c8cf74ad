"""The log as people read it (docs/understand/semantics.md#events, docs/understand/semantics.md#trace)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepless.core.events import NODE_ENDS, RUN_ENDS, EventType
from stepless.core.facts import Answered, CancelRequested, Completed, Failed, Failure, Streamed, Tick
from stepless.core.history.tags import Tag
from stepless.core.history.trace import envelope
from stepless.model.kind import Outcome

Make = Callable[..., Any]
Node = Callable[..., dict[str, Any]]


def wire(run: Any) -> list[dict[str, Any]]:
    return [envelope(run.graph, "run_7", event) for event in run.events]


def test_an_envelope_has_the_shape_of_the_specification(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node("a")})
    run.begin()
    run.decide(Completed("a", 1, Outcome({"n": 1})), at=1_700_000_000_123)
    done = wire(run)[2]
    assert done == {
        "eventId": 3,
        "sequence": 3,
        "type": "node.completed",
        "runId": "run_7",
        "workflowId": "small",
        "timestamp": "2023-11-14T22:13:20.123Z",
        "correlation": {"traceId": "run_7", "parentEventId": 2, "wave": 0, "phase": "node"},
        "payload": {"instance": "a", "node": "a", "kind": "function", "output": {"n": 1}, "status": "completed"},
    }
    assert wire(run)[3]["correlation"] == {"traceId": "run_7", "parentEventId": 3, "wave": 1, "phase": "node"}
    assert [e["eventId"] for e in wire(run)] == list(range(1, 5))


def test_a_parent_always_comes_before_its_consequence(play: Make, node: Node) -> None:
    loop = {"type": "loop", "after": "a", "with": {"times": 2, "body": {"nodes": {"x": node()}}}}
    run = play({"a": node(), "l": loop, "z": node("l")})
    run.begin()
    for instance in ("a", "x@l[0]", "x@l[1]", "z"):
        run.complete(instance)
    for event in wire(run):
        parent = event["correlation"]["parentEventId"]
        assert parent is None or 0 < parent < event["eventId"]


def test_every_end_says_its_status_and_its_code_or_reason(play: Make, node: Node) -> None:
    contract = {"type": "object"}
    run = play({
        "a": node(), "b": node(timeout_ms=5), "c": node(output_contract=contract), "d": node("a"), "e": node(), "f": node(),
    })  # fmt: skip
    run.begin()
    run.decide(Failed("a", 1, Failure("config", "boom")))
    run.decide(Failed("b", 1, Failure("timeout", "timeout", "late", "timeout")))
    run.complete("c", "text")
    run.decide(Failed("e", 1, Failure("moderation", "moderation_blocked", "no", "policy")))
    run.decide(CancelRequested())
    ends = {e["payload"]["instance"]: (e["type"], e["payload"]["status"], e["payload"].get("code") or e["payload"].get("reason"))
            for e in wire(run) if e["type"] in NODE_ENDS}  # fmt: skip
    assert ends == {
        "a": ("node.failed", "failed", "boom"),
        "b": ("node.timed_out", "failed", "timeout"),
        "c": ("node.invalidated", "failed", "output_contract_violation"),
        "d": ("node.skipped", "skipped", "upstream_failure"),
        "e": ("node.blocked", "failed", "moderation_blocked"),
        "f": ("node.cancelled", "cancelled", "run_cancelled"),
    }
    assert run.events[-1].type in RUN_ENDS
    assert wire(run)[-1]["payload"]["status"] == "failed"


def test_tags_tell_each_transition_once(play: Make, node: Node) -> None:
    run = play({"a": node(retry={"attempts": 2, "backoff_ms": 100}), "b": node("a")})
    run.begin()
    run.decide(Failed("a", 1, Failure("timeout"), chance=1.0), at=2_000)
    run.decide(Tick(), at=2_100)
    run.decide(Completed("a", 2, Outcome(1), usage={"input_tokens": 7, "output_tokens": 2}), at=2_150)
    run.decide(CancelRequested())
    assert run.trace.tags == [
        Tag("node_started", "a", {"attempt": 1, "wave": 0}),
        Tag("node_retried", "a", {"attempt": 1, "cause": "timeout", "delay_ms": 100}),
        Tag("node_started", "a", {"attempt": 2, "wave": 0}),
        Tag("node_completed", "a", {"duration_ms": 2_150 - 1_001, "input_tokens": 7, "output_tokens": 2}),
        Tag("node_started", "b", {"attempt": 1, "wave": 1}),
        Tag("node_cancelled", "b", {}),
    ]


def test_a_record_tells_what_an_instance_was_given_and_made_of_it(play: Make, node: Node) -> None:
    run = play({"a": node(), "w": {"type": "approval", "after": "a", "with": {"message": "Go on?"}}, "b": node("w.approved")})
    run.begin({"n": 1})
    run.decide(Completed("a", 1, Outcome("A")), at=2_000)
    waiting = run.trace.nodes["w"]
    assert (waiting.status, waiting.waiting["reason"]) == ("waiting", "human_input")
    run.decide(Answered("w", "approved", {}, by="Ada"), at=3_000)
    a, w, b = (run.trace.nodes[name] for name in ("a", "w", "b"))
    assert (a.inputs, a.output, a.index, a.predecessor, a.wave) == ({"input": {"n": 1}}, "A", 1, None, 0)
    assert (w.output["by"], w.ended_ms, w.waiting) == ("Ada", 3_000, None)
    assert (b.status, b.index, b.predecessor, b.wave, b.ended_ms) == ("running", 3, "w", 2, None)


def test_the_numbers_of_starts_have_no_hole(play: Make, node: Node) -> None:
    run = play({"a": node(retry={"attempts": 2, "backoff_ms": 0}), "b": node("a.error"), "c": node("a"), "d": node("c")})
    run.begin()
    run.decide(Failed("a", 1, Failure("timeout")), at=2_000)
    run.decide(Tick(), at=2_000)
    for instance, attempt in (("a", 2), ("c", 1), ("d", 1)):
        run.complete(instance, attempt=attempt)
    assert [record.index for record in run.trace.nodes.values()] == [1, None, 2, 3]


def test_pieces_of_text_are_numbered_over_all_attempts(play: Make, node: Node) -> None:
    run = play({"a": node(retry={"attempts": 2, "backoff_ms": 0})})
    run.begin()
    run.decide(Streamed("a", 1, "Hel"), Streamed("a", 1, "lo"))
    run.decide(Failed("a", 1, Failure("timeout")), at=2_000)
    run.decide(Tick(), at=2_000)
    run.state = run.folded()
    run.decide(Streamed("a", 2, "Hel"), Streamed("a", 2, "lo"))
    pieces = [(e.data["attempt"], e.data["deltaIndex"], e.data["offset"]) for e in run.events if e.type is EventType.NODE_DELTA]
    assert pieces == [(1, 0, 0), (1, 1, 3), (2, 2, 0), (2, 3, 3)]


def test_tags_of_failures_have_their_facts(play: Make, node: Node) -> None:
    """One row for the gate and one for the end; nothing else in any of them."""
    contract = {"type": "object", "required": ["n"]}
    nodes = {
        "a": node(timeout_ms=7_000), "b": node(), "c": node(input_contract=contract),
        "d": node(output_contract={"type": "string"}), "e": node(moderation="input"), "f": node(moderation="both"),
        "x": node("b.error"),
    }  # fmt: skip
    run = play(nodes)
    run.begin()
    run.decide(Failed("a", 1, Failure("timeout", "timeout", "late", "timeout")))
    run.decide(Failed("b", 1, Failure("config", "boom", "it broke")))
    run.decide(Completed("d", 1, Outcome(5)))
    run.decide(Failed("e", 1, Failure("moderation", "moderation_flagged", "no", "policy")))
    run.decide(Failed("f", 1, Failure("moderation", "moderation_flagged", "never", "policy", phase="input")))
    run.complete("x")
    tags = [tag for tag in run.trace.tags if tag.tag not in ("node_started", "node_completed")]
    broken = [tag.facts["errors"][0] for tag in tags if tag.tag == "contract_violated"]
    assert tags == [
        Tag("contract_violated", "c", {"phase": "input", "errors": [broken[0]]}),
        Tag("node_failed", "c", {"error_code": "input_contract_violation", "error_message": broken[0]}),
        Tag("timed_out", "a", {"timeout_ms": 7_000}),
        Tag("node_failed", "b", {"error_code": "boom", "error_message": "it broke"}),
        Tag("contract_violated", "d", {"phase": "output", "errors": [broken[1]]}),
        Tag("node_failed", "d", {"error_code": "output_contract_violation", "error_message": broken[1]}),
        Tag("moderation_flagged", "e", {"phase": "input", "error_code": "moderation_flagged", "error_message": "no"}),
        Tag("node_failed", "e", {"error_code": "moderation_flagged", "error_message": "no"}),
        Tag("moderation_flagged", "f", {"phase": "input", "error_code": "moderation_flagged", "error_message": "never"}),
        Tag("node_failed", "f", {"error_code": "moderation_flagged", "error_message": "never"}),
    ]
    by_number = {event.sequence: event for event in run.events}
    assert all((by_number[tag.sequence].instance, by_number[tag.sequence].at_ms) == (tag.instance, tag.at_ms) for tag in tags)


# -- places -----------------------------------------------------------------------------------------------------------


def finish(run: Any) -> Any:
    """Lets everything that runs complete, in the order of its start."""
    while run.state.running:
        run.complete(next(iter(run.state.running)))
    return run.trace.nodes


def test_an_instance_tells_its_fork_its_branch_there_and_its_path(play: Make, node: Node) -> None:
    nodes = {
        "s": node(), "a": node("s"), "b": node("s"), "c": node("s"), "a2": node("a"), "ab": node(["a2", "b"]),
        "j": node(["ab", "c"]), "end": node("j"),
    }  # fmt: skip
    run = play(nodes)
    run.begin()
    found = finish(run)
    places = {name: (record.fork, record.branch) for name, record in found.items()}
    assert places == {
        "s": (None, None), "a": ("s", 0), "b": ("s", 1), "c": ("s", 2), "a2": ("s", 0), "ab": ("s", None),
        "j": (None, None), "end": (None, None),
    }  # fmt: skip
    assert found["a2"].path == ("s", "a", "a2")
    assert found["end"].path == ("s", "a", "a2", "ab", "j", "end")


def test_a_place_is_that_of_the_innermost_fork(play: Make, node: Node) -> None:
    nodes = {
        "s": node(), "x": node("s"), "a": node("s"), "b": node("a"), "c": node("a"), "j": node(["b", "c"]), "k": node("j"),
        "never": node("s.error"),
    }  # fmt: skip
    run = play(nodes)
    run.begin()
    found = finish(run)
    places = {name: (record.fork, record.branch) for name, record in found.items()}
    assert (places["b"], places["c"], places["j"], places["k"]) == (("a", 0), ("a", 1), ("s", 1), ("s", 1))
    assert (places["never"], found["never"].path) == (("s", 2), ()), "what never started has a place, and no path"


def test_places_inside_containers(play: Make, node: Node) -> None:
    """The turns of a parallel are branches; a loop is no fork, and what is in it stands where it stands. Ids may come twice."""
    inner = {"nodes": {"f": node(), "g": node("f"), "h": node("f")}}
    nodes = {
        "s": node(), "l": {"type": "loop", "after": "s", "with": {"times": 1, "body": {"nodes": {
            "p": {"type": "parallel", "with": {"branches": 2, "body": inner}}}}}},
        "x": node("s"),
    }  # fmt: skip
    run = play(nodes)
    run.begin()
    found = finish(run)
    places = {name: (record.fork, record.branch) for name, record in found.items()}
    assert places["p@l[0]"] == places["l"] == ("s", 0)
    assert places["f@p[1]@l[0]"] == ("p@l[0]", 1)
    assert places["h@p[1]@l[0]"] == ("f@p[1]@l[0]", 1)
    assert found["h@p[1]@l[0]"].path == ("s", "l", "p@l[0]", "f@p[1]@l[0]", "h@p[1]@l[0]")


def test_the_place_does_not_depend_on_who_settles_first(play: Make, node: Node) -> None:
    nodes = {"s": node(), "a": node("s"), "b": node("s"), "c": node("s"), "ab": node(["a", "b"], join={"mode": "any"})}
    places = []
    for order in (("a", "b"), ("b", "a")):
        run = play(nodes)
        run.begin()
        run.complete("s")
        for name in order:
            run.complete(name)
        places.append({name: (record.fork, record.branch) for name, record in finish(run).items()})
    assert places[0] == places[1]


def test_a_long_path_shows_its_last_part(play: Make, node: Node) -> None:
    run = play({"n0": node(), **{f"n{i}": node(f"n{i - 1}") for i in range(1, 300)}})
    run.begin()
    assert finish(run)["n299"].path == tuple(f"n{i}" for i in range(200, 300))


def test_a_piece_may_be_media(play: Make, node: Node) -> None:
    run = play({"a": node()})
    run.begin()
    image = {"type": "image", "url": "https://example.com/a.png", "mime": "image/png"}
    run.decide(Streamed("a", 1, "Look: "), Streamed("a", 1, "", image), Streamed("a", 1, "!"))
    pieces = [event.data for event in run.events if event.type is EventType.NODE_DELTA]
    told = [(piece["deltaIndex"], piece["offset"], piece["text"]) for piece in pieces]
    assert told == [(0, 0, "Look: "), (1, 6, ""), (2, 6, "!")]
    assert [piece.get("media") for piece in pieces] == [None, image, None]
    assert run.folded().get("a").deltas == 3
