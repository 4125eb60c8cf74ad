"""Answers questions to a model from a list, for tests and for examples that run offline."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from stepless.errors import ConfigError
from stepless.model.conversation import ModelAnswer, Question, ToolCall
from stepless.model.json import JSON
from stepless.model.work import NodeFailure

_FIELDS: Final = frozenset({"text", "object", "calls", "finish", "input_tokens", "output_tokens", "fail"})


class ScriptedModels:
    """Gives the answers in order, regardless of the questions; `asked` keeps the questions.

    An answer is a text, or an object: {text} or {object} (any JSON, returned as text), `calls` ([{call, args}]), `finish`,
    `input_tokens`, `output_tokens` (10 and 5 when left out); or {fail: {cause, code, message, retry_after_ms}}, with tokens if
    the failed call used any. Streamed text comes word by word. Raises `ConfigError` for an answer of any other form.
    """

    def __init__(self, answers: Iterable[JSON]) -> None:
        self._answers = deque(_checked(number, answer) for number, answer in enumerate(answers, 1))
        self.asked: list[Question] = []

    @classmethod
    def read(cls, path: str | Path) -> ScriptedModels:
        """Reads the list from a JSON file. Raises `ConfigError` if the file cannot be read or holds no list."""
        try:
            answers = json.loads(Path(path).read_bytes())
        except (OSError, ValueError) as error:
            raise ConfigError(f"the answers cannot be read: {error}", code="invalid_script", place=str(path)) from error
        if not isinstance(answers, list):
            raise ConfigError("the answers are not a list", code="invalid_script", place=str(path), mend="write a JSON list")
        return cls(answers)

    async def ask(self, question: Question, delta: Callable[[str], None] | None = None) -> ModelAnswer:
        """Returns the next answer. Raises its `NodeFailure` if it is a failure, and one with cause config if no answer is
        left."""
        self.asked.append(question)
        if not self._answers:
            message = f"the script has only {len(self.asked) - 1} answers, and the workflow asks for one more"
            raise NodeFailure("config", "script_exhausted", message, retryable=False, mend="add an answer to the script")
        scripted = self._answers.popleft()
        if "fail" in scripted:
            raise _failure(scripted)
        text = scripted.get("text", "")
        if "object" in scripted:
            text = json.dumps(scripted["object"], ensure_ascii=False)
        if delta is not None:
            for piece in re.findall(r"\S+\s*|\s+", text):
                delta(piece)
        calls = tuple(
            ToolCall(f"call_{len(self.asked)}_{number}", call["call"], call.get("args", {}))
            for number, call in enumerate(scripted.get("calls", ()))
        )
        finish = "tools" if calls else scripted.get("finish", "stop")
        return ModelAnswer(text, calls, finish, scripted.get("input_tokens", 10), scripted.get("output_tokens", 5))


def _checked(number: int, answer: JSON) -> Mapping[str, Any]:
    if isinstance(answer, str):
        return {"text": answer}
    if isinstance(answer, dict) and answer and answer.keys() <= _FIELDS:
        return answer
    raise ConfigError("an answer must be a text or an object", code="invalid_script", place=f"answer {number}",
                      mend=f"an object's fields are {', '.join(sorted(_FIELDS))}")


def _failure(scripted: Mapping[str, Any]) -> NodeFailure:
    fail = scripted["fail"]
    cause = fail.get("cause", "provider_error")
    usage = {name: scripted[name] for name in ("input_tokens", "output_tokens") if name in scripted}
    message = fail.get("message", "scripted")
    return NodeFailure(cause, fail.get("code", cause), message, retry_after_ms=fail.get("retry_after_ms"), usage=usage)
