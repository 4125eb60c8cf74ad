"""The contract of `Models`, for every adapter, over the wire formats that providers publish, with a server on loopback."""

from __future__ import annotations

import asyncio
import json
import struct
import threading
from binascii import crc32
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import pytest

from stepless.adapters.aws.effects.models import CONFIG, BedrockModels
from stepless.adapters.memory.models import ScriptedModels
from stepless.adapters.openai.models import OpenAIModels
from stepless.model.conversation import ModelAnswer, Question, Tool, ToolCall, ToolResult, Turn
from stepless.model.work import NodeFailure
from stepless.ports import Models

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
FIND = Tool("find", "finds", {"type": "object", "properties": {"what": {"type": "string"}}})
HELLO = Question((Turn("user", "Hello"),), 10_000, system="Be brief.", temperature=0.5, max_tokens=50)
CALLED = (ToolCall("c1", "find", {"what": "tea"}), ToolCall("c2", "find", {"what": "café"}))


@dataclass
class Server:
    """Returns the scripted responses in order and records the requests. `None` is a response that never arrives."""

    replies: list[tuple[int, dict[str, str], bytes] | None] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    url: str = ""


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            state.asked.append((self.path, dict(self.headers), json.loads(body)))
            reply = state.replies.pop(0)
            if reply is None:
                state.over.wait()
                return
            status, headers, data = reply
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Logs nothing."""

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.daemon_threads = True
    state.url = f"http://127.0.0.1:{served.server_port}"
    thread = threading.Thread(target=served.serve_forever, args=(0.01,))
    thread.start()
    yield state
    state.over.set()
    served.shutdown()
    thread.join()
    served.server_close()


# -- the same answer in each provider's format -------------------------------------------------------------------------


def openai_whole(answer: ModelAnswer) -> tuple[int, dict[str, str], bytes]:
    calls = [{"id": call.identity, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
             for call in answer.calls]
    finish = {"tools": "tool_calls"}.get(answer.finish, answer.finish)
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": answer.text, "tool_calls": calls}}
    usage = {"prompt_tokens": answer.input_tokens, "completion_tokens": answer.output_tokens}
    return 200, {"Content-Type": "application/json"}, json.dumps({"choices": [choice], "usage": usage}).encode()


def openai_streamed(answer: ModelAnswer) -> tuple[int, dict[str, str], bytes]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": letter} for letter in answer.text)]
    for number, call in enumerate(answer.calls):
        deltas.append({"tool_calls": [{"index": number, "id": call.identity, "function": {"name": call.name, "arguments": ""}}]})
        deltas += [{"tool_calls": [{"index": number, "function": {"arguments": piece}}]} for piece in json.dumps(call.arguments)]
    events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events.append({"choices": [{"delta": {}, "finish_reason": {"tools": "tool_calls"}.get(answer.finish, answer.finish)}]})
    events.append({"choices": [], "usage": {"prompt_tokens": answer.input_tokens, "completion_tokens": answer.output_tokens}})
    lines = [": a comment", *(f"data: {json.dumps(event)}\n" for event in events), "data: [DONE]\n\n"]
    return 200, {"Content-Type": "text/event-stream"}, "\n".join(lines).encode()


STOPS = {"stop": "end_turn", "length": "max_tokens", "tools": "tool_use", "content_filter": "content_filtered"}


def bedrock_whole(answer: ModelAnswer) -> tuple[int, dict[str, str], bytes]:
    content: list[dict[str, Any]] = [{"text": answer.text}] if answer.text else []
    content += [{"toolUse": {"toolUseId": c.identity, "name": c.name, "input": c.arguments}} for c in answer.calls]
    body = {
        "output": {"message": {"role": "assistant", "content": content}}, "stopReason": STOPS[answer.finish],
        "usage": {"inputTokens": answer.input_tokens, "outputTokens": answer.output_tokens, "totalTokens": 0},
    }
    return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


def frame(kind: str, body: dict[str, Any], *, message: str = "event") -> bytes:
    """One message of application/vnd.amazon.eventstream."""
    said = {f":{message if message == 'event' else 'exception'}-type": kind, ":content-type": "application/json",
            ":message-type": message}
    headers = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
        for name, value in said.items()
    )
    payload = json.dumps(body).encode()
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    data = prelude + struct.pack("!I", crc32(prelude)) + headers + payload
    return data + struct.pack("!I", crc32(data))


def bedrock_streamed(answer: ModelAnswer) -> tuple[int, dict[str, str], bytes]:
    frames = [frame("messageStart", {"role": "assistant"})]
    frames += [frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": letter}}) for letter in answer.text]
    for number, call in enumerate(answer.calls, 1):
        start = {"toolUse": {"toolUseId": call.identity, "name": call.name}}
        frames.append(frame("contentBlockStart", {"contentBlockIndex": number, "start": start}))
        frames += [frame("contentBlockDelta", {"contentBlockIndex": number, "delta": {"toolUse": {"input": piece}}})
                   for piece in json.dumps(call.arguments)]
        frames.append(frame("contentBlockStop", {"contentBlockIndex": number}))
    frames.append(frame("messageStop", {"stopReason": STOPS[answer.finish]}))
    usage = {"inputTokens": answer.input_tokens, "outputTokens": answer.output_tokens, "totalTokens": 0}
    frames.append(frame("metadata", {"usage": usage, "metrics": {"latencyMs": 1}}))
    return 200, {"Content-Type": "application/vnd.amazon.eventstream"}, b"".join(frames)


def bedrock(url: str) -> BedrockModels:
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    client = boto3.client("bedrock-runtime", region_name="eu-central-1", endpoint_url=url, config=CONFIG, **keys)
    return BedrockModels(model="some.model-v1:0", client=client)


def openai(url: str) -> OpenAIModels:
    return OpenAIModels(url, "key", "m")


WIRES: dict[str, tuple[Callable[[str], Any], ...]] = {
    "openai": (openai, openai_whole, openai_streamed),
    "bedrock": (bedrock, bedrock_whole, bedrock_streamed),
}


def scripted(answer: ModelAnswer) -> dict[str, Any]:
    calls = [{"call": call.name, "args": call.arguments} for call in answer.calls]
    tokens = {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens}
    return {"text": answer.text, "calls": calls, "finish": answer.finish, **tokens}


Ask = Callable[..., tuple[ModelAnswer, list[str]]]


@pytest.fixture(params=["openai", "bedrock", "scripted"])
def ask(request: pytest.FixtureRequest, server: Server) -> Ask:
    """Asks a question that the server answers with `answer`. Returns the result, and the streamed pieces."""

    def asked(answer: ModelAnswer, question: Question = HELLO, *, streamed: bool = False) -> tuple[ModelAnswer, list[str]]:
        models: Models
        if request.param == "scripted":
            models = ScriptedModels([scripted(answer)])
        else:
            make, *writers = WIRES[request.param]
            server.replies.append(writers[streamed](answer))
            models = make(server.url)
        pieces: list[str] = []
        return put(models, question, pieces.append if streamed else None), pieces

    return asked


def put(models: Models, question: Question = HELLO, delta: Callable[[str], None] | None = None) -> ModelAnswer:
    async def go() -> ModelAnswer:
        try:
            return await models.ask(question, delta)
        finally:
            if isinstance(models, OpenAIModels):
                await models.close()

    return asyncio.run(go())


# -- what every adapter promises --------------------------------------------------------------------------------------

both_ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@both_ways
def test_text_comes_with_the_tokens_that_it_took(ask: Ask, streamed: bool) -> None:
    answer = ModelAnswer("Grüß dich, Welt", input_tokens=12, output_tokens=7)
    got, pieces = ask(answer, streamed=streamed)
    assert got == answer
    assert "".join(pieces) == (answer.text if streamed else "")
    assert len(pieces) > 1 or not streamed


@both_ways
def test_tool_calls_come_in_their_order_with_whole_arguments(ask: Ask, streamed: bool) -> None:
    question = Question((Turn("user", "Find tea"),), 10_000, tools=(FIND,))
    got, _ = ask(ModelAnswer("Let me see.", CALLED, "tools", 1, 1), question, streamed=streamed)
    assert [(call.name, call.arguments) for call in got.calls] == [(call.name, call.arguments) for call in CALLED]
    assert (got.finish, got.text, len({call.identity for call in got.calls})) == ("tools", "Let me see.", 2)


@both_ways
def test_an_answer_that_was_cut_off_says_so(ask: Ask, streamed: bool) -> None:
    assert ask(ModelAnswer("Once upon", finish="length"), streamed=streamed)[0].finish == "length"


# -- what those over a wire promise -----------------------------------------------------------------------------------

wires = pytest.mark.parametrize("wire", WIRES)


def failing(models: Models, question: Question = HELLO, delta: Callable[[str], None] | None = None) -> NodeFailure:
    with pytest.raises(NodeFailure) as failed:
        put(models, question, delta)
    return failed.value


@wires
@both_ways
def test_a_model_that_declines_is_a_matter_of_moderation(server: Server, wire: str, streamed: bool) -> None:
    make, *writers = WIRES[wire]
    server.replies.append(writers[streamed](ModelAnswer("I would rather", finish="content_filter")))
    failure = failing(make(server.url), delta=(lambda text: None) if streamed else None)
    assert (failure.cause, failure.code) == ("moderation", "model_declined")


OPENAI_ERROR = json.dumps({"error": {"message": "no", "code": "odd"}}).encode()
BEDROCK_ERROR = json.dumps({"message": "no"}).encode()


@pytest.mark.parametrize(("wire", "status", "headers", "cause", "retryable", "after_ms"), [
    ("openai", 429, {"Retry-After": "2"}, "rate_limit", True, 2_000),
    ("openai", 429, {"Retry-After-Ms": "350", "Retry-After": "1"}, "rate_limit", True, 350),
    ("openai", 503, {"Retry-After": "1"}, "rate_limit", True, 1_000),
    ("openai", 429, {"Retry-After": "Fri, 01 Jan 2100 00:00:00 GMT"}, "rate_limit", True, None),
    ("openai", 500, {}, "provider_error", True, None),
    ("openai", 504, {}, "timeout", True, None),
    ("openai", 401, {}, "http_error", True, None),
    ("openai", 307, {"Location": "http://127.0.0.1:9/"}, "http_error", True, None),
    ("bedrock", 429, {"x-amzn-ErrorType": "ThrottlingException", "Retry-After": "3"}, "rate_limit", True, 3_000),
    ("bedrock", 429, {"x-amzn-ErrorType": "ModelNotReadyException"}, "rate_limit", True, None),
    ("bedrock", 408, {"x-amzn-ErrorType": "ModelTimeoutException"}, "timeout", True, None),
    ("bedrock", 424, {"x-amzn-ErrorType": "ModelErrorException"}, "provider_error", True, None),
    ("bedrock", 503, {"x-amzn-ErrorType": "ServiceUnavailableException"}, "provider_error", True, None),
    ("bedrock", 400, {"x-amzn-ErrorType": "ValidationException"}, "http_error", True, None),
    ("bedrock", 403, {"x-amzn-ErrorType": "AccessDeniedException"}, "http_error", True, None),
])  # fmt: skip
def test_a_refusal_has_the_cause_that_retries_go_by_and_is_not_tried_again_here(
    server: Server, wire: str, status: int, headers: dict[str, str], cause: str, retryable: bool, after_ms: int | None
) -> None:
    server.replies.append((status, headers, OPENAI_ERROR if wire == "openai" else BEDROCK_ERROR))
    failure = failing(WIRES[wire][0](server.url))
    assert (failure.cause, failure.retryable, failure.retry_after_ms) == (cause, retryable, after_ms)
    assert len(server.asked) == 1


def test_an_account_without_money_is_not_a_matter_of_waiting(server: Server) -> None:
    body = json.dumps({"error": {"message": "You have run out.", "code": "insufficient_quota"}}).encode()
    server.replies.append((429, {}, body))
    failure = failing(openai(server.url))
    assert failure.cause == "http_error"


@wires
def test_an_answer_that_does_not_come_is_given_up_in_time(server: Server, wire: str) -> None:
    server.replies.append(None)
    question = Question(HELLO.turns, 50)

    async def go() -> str:
        models = WIRES[wire][0](server.url)
        with pytest.raises(NodeFailure) as failed:
            await models.ask(question)
        server.over.set()  # releases the handler threads
        if isinstance(models, OpenAIModels):
            await models.close()
        return failed.value.cause

    assert asyncio.run(go()) == "timeout"


@wires
def test_a_provider_out_of_reach_is_a_provider_error(wire: str) -> None:
    failure = failing(WIRES[wire][0]("http://127.0.0.1:1"))
    assert (failure.cause, failure.code) == ("provider_error", "model_unavailable")


@pytest.mark.parametrize("body", [
    b"<html>", b"{}", b"[]", b'{"choices": []}', b'{"choices": [{"message": {"content": "half"}}]}',
])  # fmt: skip
def test_an_answer_that_cannot_be_read_is_a_provider_error(server: Server, body: bytes) -> None:
    server.replies.append((200, {"Content-Type": "application/json"}, body))
    assert failing(openai(server.url)).cause == "provider_error"


def test_a_stream_that_breaks_off_is_a_provider_error(server: Server) -> None:
    half = openai_streamed(ModelAnswer("hello"))[2].split(b'"finish_reason": "stop"')[0].rpartition(b"data:")[0]
    server.replies.append((200, {"Content-Type": "text/event-stream"}, half))
    broken = frame("modelStreamErrorException", {"message": "no"}, message="exception")
    server.replies.append((200, {"Content-Type": "application/vnd.amazon.eventstream"}, frame("messageStart", {}) + broken))
    for make in (openai, bedrock):
        assert failing(make(server.url), delta=lambda text: None).cause == "provider_error"


# -- what is sent -----------------------------------------------------------------------------------------------------

CONVERSATION = Question(
    (Turn("user", "Find tea"), Turn("assistant", "", CALLED[:1]),
     Turn("user", results=(ToolResult("c1", "none left", failed=True),))),
    10_000, model="other", system="Be brief.", tools=(FIND,), schema=SCHEMA, max_tokens=9,
)  # fmt: skip


def test_openai_is_sent_the_whole_conversation(server: Server) -> None:
    server.replies.append(openai_whole(ModelAnswer("{}")))
    put(openai(server.url), CONVERSATION)
    path, headers, body = server.asked[0]
    assert (path, headers["authorization"]) == ("/chat/completions", "Bearer key")
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Find tea"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"what": "tea"}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "none left"},
    ]  # fmt: skip
    assert body["tools"][0]["function"] == {"name": "find", "description": "finds", "parameters": FIND.parameters}
    assert (body["model"], body["max_tokens"], body["response_format"]["json_schema"]["schema"]) == ("other", 9, SCHEMA)


def test_bedrock_is_sent_the_whole_conversation_and_asked_for_the_answer_as_a_tool(server: Server) -> None:
    use = ToolCall("x", "give_answer", {"n": 3})
    server.replies.append(bedrock_whole(ModelAnswer("", (use,), "tools", 1, 2)))
    assert put(bedrock(server.url), CONVERSATION) == ModelAnswer('{"n": 3}', (), "stop", 1, 2)
    path, _, body = server.asked[0]
    assert path == "/model/other/converse"
    assert body["messages"][1:] == [
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "find", "input": {"what": "tea"}}}]},
        {"role": "user", "content": [
            {"toolResult": {"toolUseId": "c1", "content": [{"text": "none left"}], "status": "error"}}]},
    ]  # fmt: skip
    assert [tool["toolSpec"]["name"] for tool in body["toolConfig"]["tools"]] == ["find", "give_answer"]
    assert (body["toolConfig"]["toolChoice"], body["inferenceConfig"]) == ({"any": {}}, {"maxTokens": 9})


def test_a_structured_answer_of_bedrock_is_streamed_too(server: Server) -> None:
    server.replies.append(bedrock_streamed(ModelAnswer("", (ToolCall("x", "give_answer", {"n": 3}),), "tools")))
    pieces: list[str] = []
    got = put(bedrock(server.url), Question(HELLO.turns, 10_000, schema=SCHEMA), pieces.append)
    assert (json.loads(got.text), json.loads("".join(pieces)), got.calls) == ({"n": 3}, {"n": 3}, ())


def test_no_model_is_no_question(server: Server) -> None:
    assert failing(OpenAIModels(server.url)).code == "model_missing"
    assert server.asked == []


def test_a_key_is_not_shown() -> None:
    assert "hush" not in repr(OpenAIModels("http://a.example", "hush"))
