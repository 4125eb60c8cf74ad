"""Calls models behind an OpenAI-compatible server: OpenAI's own, a gateway, or one on this machine (vLLM, Ollama, llama.cpp…)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from stepless.adapters.openai.wire import Assembly, answer_of, body_of
from stepless.limits import MAX_RESULT_BYTES, MODEL_CONNECT_S, MODEL_READ_S, PREVIEW_CHARACTERS
from stepless.model.conversation import ModelAnswer, Question
from stepless.model.work import NodeFailure

if TYPE_CHECKING:
    import httpx

PUBLIC: Final = "https://api.openai.com/v1"
_NO_MONEY: Final = "insufficient_quota"


class OpenAIModels:
    """Sends requests to `url` + /chat/completions; `model` is the default. The key is sent to that URL only: redirects are not
    followed. httpx is imported for the first question."""

    def __init__(self, url: str = PUBLIC, key: str | None = None, model: str | None = None) -> None:
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._key = key
        self._model = model
        self._tokens_field = "max_completion_tokens" if url.rstrip("/") == PUBLIC else "max_tokens"
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"OpenAIModels({self._url!r}, model={self._model!r})"

    async def ask(self, question: Question, delta: Callable[[str], None] | None = None) -> ModelAnswer:
        """See `Models.ask`."""
        import httpx

        model = question.model or self._model
        if model is None:
            raise NodeFailure("config", "model_missing", "no model is configured", retryable=False,
                              mend="give `model`, or set STEPLESS_OPENAI_MODEL")
        body = body_of(question, model, streamed=delta is not None, tokens_field=self._tokens_field)
        try:
            async with asyncio.timeout(question.timeout_ms / 1000):
                return await self._exchange(body, delta)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise NodeFailure("timeout", "timeout", "the model did not answer in time") from error
        except httpx.HTTPError as error:
            message = f"the model's provider cannot be reached: {str(error) or type(error).__name__}"
            raise NodeFailure("provider_error", "model_unavailable", message) from error
        except ValueError as error:
            message = f"the provider's answer cannot be read: {error}"
            raise NodeFailure("provider_error", "model_unavailable", message[:PREVIEW_CHARACTERS]) from error

    async def _exchange(self, body: dict[str, object], delta: Callable[[str], None] | None) -> ModelAnswer:
        client = self._client()
        request = client.build_request("POST", self._url, content=json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))
        response = await client.send(request, stream=True)
        async with aclosing(response):
            if response.status_code != 200:
                raise failure_of(response, await _beginning(response))
            if delta is None or "text/event-stream" not in response.headers.get("content-type", ""):
                return answer_of(json.loads(await _whole(response)))
            assembly = Assembly(delta)
            async for data in _events(response):
                assembly.take(_piece(data))
            return assembly.answer()

    def _client(self) -> httpx.AsyncClient:
        import httpx

        loop = asyncio.get_running_loop()
        known = self._clients.get(loop)
        if known is None:
            headers = {"content-type": "application/json"}
            if self._key is not None:
                headers["authorization"] = f"Bearer {self._key}"
            timeout = httpx.Timeout(MODEL_READ_S, connect=MODEL_CONNECT_S)
            known = self._clients[loop] = httpx.AsyncClient(headers=headers, timeout=timeout)
        return known

    async def close(self) -> None:
        """Closes the connections of the running loop; the next question opens new ones."""
        known = self._clients.pop(asyncio.get_running_loop(), None)
        if known is not None:
            await known.aclose()


async def _whole(response: httpx.Response) -> bytes:
    data = bytearray()
    async for piece in response.aiter_bytes():
        data += piece
        if len(data) > MAX_RESULT_BYTES:
            raise ValueError(f"it has more than {MAX_RESULT_BYTES:,} bytes")
    return bytes(data)


async def _beginning(response: httpx.Response) -> bytes:
    data = bytearray()
    async for piece in response.aiter_bytes():
        data += piece
        if len(data) > PREVIEW_CHARACTERS * 16:
            break
    return bytes(data)


async def _events(response: httpx.Response) -> AsyncIterator[str]:
    """The data of server-sent events, up to the event that ends the answer. Ignores other fields and comments."""
    size = 0
    async for line in response.aiter_lines():
        size += len(line)
        if size > MAX_RESULT_BYTES:
            raise ValueError(f"it has more than {MAX_RESULT_BYTES:,} characters")
        if line.startswith("data:"):
            data = line[5:].strip()
            if data == "[DONE]":
                return
            yield data


def _piece(data: str) -> object:
    piece = json.loads(data)
    if isinstance(piece, dict) and piece.get("error"):
        message = f"the provider stopped in the middle of the answer: {_message_of(data.encode())}"
        raise NodeFailure("provider_error", "model_unavailable", message)
    return piece


def failure_of(response: httpx.Response, body: bytes) -> NodeFailure:
    """Returns the node failure for a status other than 200."""
    status, text = response.status_code, _message_of(body)
    after_ms = retry_after_ms(response.headers)
    if status == 429 and _NO_MONEY not in text:
        return NodeFailure("rate_limit", "model_rate_limited", f"the provider limits requests: {text}", retry_after_ms=after_ms)
    if status == 503 and after_ms is not None:
        return NodeFailure("rate_limit", "model_rate_limited", f"the provider is overloaded: {text}", retry_after_ms=after_ms)
    if status in (408, 504):
        return NodeFailure("timeout", "timeout", f"the provider timed out ({status}): {text}")
    if status >= 500:
        return NodeFailure("provider_error", "model_unavailable", f"the provider failed ({status}): {text}")
    mend = "check the key and the account" if status in (401, 403, 429) else "check the model's name and the parameters"
    return NodeFailure("http_error", "model_request_refused", f"the provider refuses the request ({status}): {text}",
                       mend=mend)


def retry_after_ms(headers: httpx.Headers) -> int | None:
    """Milliseconds from `Retry-After-Ms`, or from `Retry-After` in seconds. A date in `Retry-After` is ignored."""
    for name, factor in (("retry-after-ms", 1), ("retry-after", 1000)):
        try:
            value = float(headers.get(name, ""))
        except ValueError:
            continue
        if 0 <= value < 1e9:
            return int(value * factor)
    return None


def _message_of(body: bytes) -> str:
    """The provider's error message, with its error code; the body itself if it has neither."""
    try:
        error = json.loads(body)["error"]
        text = f"{error['message']} [{error.get('code') or error.get('type')}]" if isinstance(error, dict) else str(error)
    except (ValueError, KeyError, TypeError, RecursionError):
        text = body.decode("utf-8", "replace")
    return text[:PREVIEW_CHARACTERS]
