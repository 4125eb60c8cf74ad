"""The words of a flow, used as they are not meant."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import ConfigError
from stepless.flow import FlowRefused, manual, part, step, workflow


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


def test_the_words_read_no_source_until_a_flow_is_compiled() -> None:
    space: dict[str, Any] = {}
    exec("async def gone(n: int) -> int: return n", space)  # a function whose source cannot be read
    made = workflow("words-lazy", on=manual())(space["gone"])
    part(space["gone"])
    step("words.gone")(space["gone"])
    with pytest.raises(FlowRefused, match="source_missing"):
        made.document()
