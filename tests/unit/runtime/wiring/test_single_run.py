"""The result of a run in this process."""

from __future__ import annotations

from inspect import Parameter, signature

import pytest

from stepless import Workflow, arun, run
from stepless.runtime.wiring.single_run import RunOptions


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


def test_the_options_are_those_that_arun_takes_and_help_shows_them_by_name() -> None:
    named = [name for name, given in signature(arun).parameters.items() if given.kind is Parameter.KEYWORD_ONLY]
    assert list(RunOptions.__annotations__) == named
    assert signature(run) == signature(arun)


def test_an_option_that_there_is_not_is_refused() -> None:
    flow = Workflow("small")
    flow.transform("a", value=1)
    with pytest.raises(TypeError, match="enrty"):
        flow.run(enrty="a")  # type: ignore[call-arg]
    assert flow.run(entry="a").outputs == {"a": 1}
