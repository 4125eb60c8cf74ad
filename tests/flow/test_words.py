"""The words of a flow, used as they are not meant."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import ConfigError
from stepless.flow import flows, manual, part, step, steps, workflow


async def coroutine(n: int) -> int:
    return n


@pytest.mark.parametrize(("used", "said"), [
    (lambda: workflow(coroutine), r'coroutine: `@workflow` takes the id of the workflow \(write @workflow\("coroutine"\)\)'),
    (lambda: workflow("words", lift="sometimes"), "words: `lift` is 'sometimes' .it is one of auto, function, never."),
    (lambda: workflow("words", on="webhook"), "words: `on` is what starts runs"),
    (lambda: workflow("words", colour=1), "words: a workflow has no option `colour`"),
    (lambda: step(coroutine), r'coroutine: `@step` takes the name of the step \(write @step\("coroutine"\)\)'),
    (lambda: part(len), "len: a part is an `async def` of several steps"),
])  # fmt: skip
def test_a_word_that_is_used_otherwise_says_how_it_is_written(used: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        used()


def test_a_module_of_flows_reads_nothing_when_it_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(function: Any, source: Any = None) -> Any:
        raise AssertionError(f"the source of {function} is read")

    monkeypatch.setattr(flows, "origin_of", read)
    monkeypatch.setattr(steps, "origin_of", read)
    made = workflow("words-lazy", on=manual())(coroutine)
    part(coroutine)
    with pytest.raises(AssertionError, match="is read"):
        made.document()
