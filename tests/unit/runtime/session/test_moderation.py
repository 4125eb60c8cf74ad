"""The moderation gate: flagged work does not run, flagged text is not shown, and if the moderator fails, nothing passes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.errors import StoreUnavailable
from stepless.nodes.function import FunctionCall, function
from stepless.ports import Message
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.execution.moderation import FunctionModerator
from stepless.runtime.session.runner import Runner
from stepless.runtime.verbs.reads.inspecting import RunView
from stepless.runtime.wiring.local import local

spoken: list[str] = []


@function("moderated.speak")
async def speak(call: FunctionCall, text: str) -> str:
    spoken.append(text)
    call.delta(text[:3])
    call.delta(text[3:])
    return text


class Censor:
    def review(self, phase: str, value: Any) -> str | None:
        if "unreachable" in str(value):
            raise StoreUnavailable("the moderator is out of reach")
        return "a forbidden word" if f"bad {phase}" in str(value) else None


def speaking(text: str, moderation: str, *, moderator: Any = None, **more: Any) -> tuple[RunView, list[str]]:
    """The run of one moderated node, and the types of its events."""
    spoken.clear()
    built = local(None)
    node = {"type": "function", "with": {"call": "moderated.speak", "args": {"text": text}}, "moderation": moderation, **more}
    built.service.publish({"id": "moderated", "nodes": {"a": node}})
    run = built.service.start("moderated", {}).run_id
    runner = Runner(replace(built.world, moderator=moderator))
    asyncio.run(runner.run(Message(run, "start"), Budget(60_000)))
    return built.service.run(run), [str(event["type"]) for event in built.service.events(run).events]


def test_flagged_input_never_reaches_the_node() -> None:
    view, types = speaking("bad input", "input", moderator=Censor())
    assert (view.nodes["a"].code, spoken) == ("moderation_flagged", [])
    assert types.count("moderation.flagged") == types.count("node.blocked") == 1


def test_flagged_output_is_not_streamed_either() -> None:
    view, types = speaking("bad output", "both", moderator=Censor())
    assert (view.nodes["a"].code, view.nodes["a"].output, spoken) == ("moderation_flagged", None, ["bad output"])
    assert "node.stream.delta" not in types


def test_text_is_withheld_until_it_has_passed() -> None:
    view, types = speaking("fine", "output", moderator=Censor())
    assert view.outputs == {"a": "fine"}
    assert types.index("node.stream.delta") < types.index("node.completed")


@pytest.mark.parametrize("moderator", [None, Censor()])
def test_a_gate_that_cannot_be_asked_stays_closed(moderator: Any) -> None:
    view, _ = speaking("unreachable", "input", moderator=moderator)
    assert (view.nodes["a"].code, spoken) == ("moderation_unavailable", [])


@pytest.mark.parametrize("moderator", [None, Censor()])
def test_unless_the_node_says_to_go_on(moderator: Any) -> None:
    view, _ = speaking("unreachable", "both", moderator=moderator, moderation_on_error="allow")
    assert view.outputs == {"a": "unreachable"}


def test_a_secret_is_never_shown_to_the_moderator() -> None:
    shown: list[Any] = []

    class Listener:
        def review(self, phase: str, value: Any) -> str | None:
            shown.append(value)
            return None

    built = local(None, secrets=MemorySecrets({"KEY": "zq7-of-a-bank"}))
    node = {"type": "function", "with": {"call": "moderated.speak", "args": {"text": "${KEY}"}}, "moderation": "both"}
    built.service.publish({"id": "moderated", "env": ["KEY"], "nodes": {"a": node}})
    run = built.service.start("moderated", {}).run_id
    runner = Runner(replace(built.world, moderator=Listener()))
    asyncio.run(runner.run(Message(run, "start"), Budget(60_000)))
    assert spoken[-1] == "zq7-of-a-bank"
    assert len(shown) == 2
    assert "zq7" not in repr(shown)


@pytest.mark.parametrize(("answer", "code"), [(None, None), ("no", "moderation_flagged"), (3, "moderation_unavailable")])
def test_a_registered_function_may_be_the_moderator(answer: Any, code: str | None) -> None:
    answers.append(answer)
    view, _ = speaking("hello", "input", moderator=FunctionModerator("moderated.judge"))
    assert view.nodes["a"].code == code


answers: list[Any] = []


@function("moderated.judge")
def judge(phase: str, value: Any) -> Any:
    return answers.pop()


@pytest.mark.parametrize(("text", "moderation", "phase"), [
    ("bad input", "both", "input"), ("bad output", "both", "output"), ("unreachable", "input", "input"),
])  # fmt: skip
def test_what_was_flagged_says_on_which_side(text: str, moderation: str, phase: str) -> None:
    view, _ = speaking(text, moderation, moderator=Censor())
    (flagged,) = [tag for tag in view.tags if tag.tag == "moderation_flagged"]
    assert flagged.facts["phase"] == phase


IMAGE = {"type": "image", "url": "https://example.com/a.png", "mime": "image/png"}


@function("moderated.draw")
async def draw(call: FunctionCall, media: Any) -> str:
    call.delta("Look: ")
    call.delta(media)
    call.delta("Nice?")
    return "bad output" if media.get("type") == "secret" else "drawn"


def drawn(media: Any, moderation: str) -> tuple[RunView, list[Any]]:
    """The run of a node that streams media, and what became of each piece."""
    built = local(None)
    node = {"type": "function", "with": {"call": "moderated.draw", "args": {"media": media}}, "moderation": moderation}
    built.service.publish({"id": "drawing", "nodes": {"a": node}})
    run = built.service.start("drawing", {}).run_id
    runner = Runner(replace(built.world, moderator=Censor()))
    asyncio.run(runner.run(Message(run, "start"), Budget(60_000)))
    told = [event["payload"] for event in built.service.events(run).events if event["type"] == "node.stream.delta"]
    return built.service.run(run), [piece.get("media") or piece["text"] for piece in told]


def test_media_stand_between_the_text_before_and_after_them() -> None:
    assert drawn(IMAGE, "off")[1] == ["Look: ", IMAGE, "Nice?"]


def test_media_are_withheld_like_text() -> None:
    assert drawn({**IMAGE, "type": "secret"}, "output")[1] == []
    assert drawn(IMAGE, "output")[1] == ["Look: Nice?", IMAGE]


NO_MEDIA = [{}, {**IMAGE, "url": ""}, {**IMAGE, "url": "x" * 9_000}, {**IMAGE, "alt": "A"}, {**IMAGE, "mime": 1}]


@pytest.mark.parametrize("media", NO_MEDIA)
def test_what_is_neither_text_nor_media_fails_the_node(media: Any) -> None:
    assert drawn(media, "off")[0].nodes["a"].code == "invalid_media"
