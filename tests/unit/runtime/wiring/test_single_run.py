"""What a run in this process answers."""

from __future__ import annotations

from stepless import run


def test_a_result_has_the_tags_of_the_run() -> None:
    after = {"type": "transform", "after": "a.error", "with": {"value": 1}}
    nodes = {"a": {"type": "transform", "with": {"value": "{{ 1 / 0 }}"}}, "b": after}
    result = run({"id": "small", "nodes": nodes})
    assert [(tag.tag, tag.instance) for tag in result.tags] == [
        ("node_started", "a"), ("node_failed", "a"), ("node_started", "b"), ("node_completed", "b"), ("partial_success", None),
    ]  # fmt: skip
    error = result.nodes["a"].error
    assert error is not None
    assert dict(result.tags[1].facts) == {"error_code": error["code"], "error_message": error["message"]}
