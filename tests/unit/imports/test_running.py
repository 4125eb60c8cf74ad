"""A converted workflow runs on the engine itself, with fake blocks: agents by a scripted model, tools by functions."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.model.conversation import ModelAnswer, Question
from stepless.nodes.function import function
from stepless.runtime.wiring.single_run import RunResult, arun

pytestmark = pytest.mark.anyio

START = {"s": ("start_trigger", "Start", {})}
PERSON = {"name": "Ada", "tags": ["a", "b"]}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@function("sim.slack")
def slack(**args: Any) -> dict[str, Any]:
    return {"sent": args}


class Parrot:
    """A model that says what it is asked; `asked` is every question."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    async def ask(self, question: Question, delta: Any = None) -> ModelAnswer:
        self.asked.append(question)
        return ModelAnswer(question.turns[-1].text)


async def ran(tried: Any, blocks: Any, edges: Any, inputs: Any) -> tuple[RunResult, Parrot]:
    model = Parrot()
    result = await arun(tried({**START, **blocks}, edges).document, inputs, models=model)
    assert {node.status for node in result.nodes.values()} == {"completed"}, result.error
    return result, model


async def test_an_agent_with_a_system_message_only_runs(tried: Any) -> None:
    agent = ("agent", "Parser", {"model": "gpt-4o", "messages": [{"role": "system", "content": "Parse the resume."}]})
    result, model = await ran(tried, {"a": agent}, [("s", "a", "source")], {"file": "resume.pdf"})
    assert [turn.text for turn in model.asked[0].turns] == ["Parse the resume."]
    assert result.status == "completed"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (PERSON, '{"name":"Ada","tags":["a","b"]}'), ([1, 2], "[1,2]"), (7, "7"), (True, "true"), (None, "null"),
        ("as it is", "as it is"),
    ],
)
async def test_a_whole_reference_in_a_text_field_is_text(value: Any, said: str, tried: Any) -> None:
    agent = ("agent", "Writer", {"model": "gpt-4o", "systemPrompt": "<start.value>", "userPrompt": "<start.value>"})
    _, model = await ran(tried, {"a": agent}, [("s", "a")], {"value": value})
    assert (model.asked[0].system, model.asked[0].turns[-1].text) == (said, said)


async def test_edges_by_handles_of_another_editor_are_followed(tried: Any) -> None:
    blocks = {"x": ("slack", "X", {"text": "Hi <start.name>"}), "y": ("slack", "Y", {"text": "<x.sent>"})}
    result, _ = await ran(tried, blocks, [("s", "x", "out"), ("x", "y", "output-1")], {"name": "Ada"})
    assert set(result.outputs) == {"Y"}
