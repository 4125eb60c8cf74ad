"""Examples for every field that a document may have, one for each form: a value other than the default, in a document where the
field applies.

`tests/unit/compile/test_every_field.py` walks the JSON Schema and looks each field up here.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final, NamedTuple


class Part(NamedTuple):
    """A definition of the schema: a document that has one, its place in the document, and its required fields."""

    document: Mapping[str, Any]
    path: tuple[str | int, ...]
    least: Mapping[str, Any] = {}


class Example(NamedTuple):
    """A field is `value` instead of `before` (None: omitted), both times with `beside` as the part's other fields. `script` is
    what the nodes do in a run that takes another path because of it."""

    value: Any
    beside: Mapping[str, Any] = {}
    before: Any = None
    script: Mapping[str, Any] | None = None

    def documents(self, part: Part, field: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """The document without the value, and with it."""
        least = {name: value for name, value in part.least.items() if name != field or self.before is None}
        without = {**least, **self.beside} | ({} if self.before is None else {field: self.before})
        return _placed(part, without), _placed(part, {**without, field: self.value})


def _placed(part: Part, value: Mapping[str, Any]) -> dict[str, Any]:
    document: Any = deepcopy(dict(part.document))
    if not part.path:
        return {**document, **value}
    at = document
    for step in part.path[:-1]:
        at = at[step]
    at[part.path[-1]] = dict(value)
    return dict(document)


def _alone(kind: str, *path: str | int, beside: Mapping[str, Any] | None = None, **least: Any) -> Part:
    """The parameters of a kind, or the value at a path inside them, in a document of one such node."""
    with_ = {name: [{}] if name in ("messages", "tools") else value for name, value in (beside or {}).items()}
    nodes = {"k": {"type": kind, "with": with_}, "t": CALL, "u": CALL}
    return Part({"id": "w", "env": ["S"], "variables": {"v": 0}, "nodes": nodes}, ("nodes", "k", "with", *path), least)


CALL: Final = {"type": "function", "with": {"call": "f.g"}}
JOIN: Final = {"type": "join", "after": ["a", "b"]}
FORK: Final = {"id": "w", "variables": {"v": 0}, "nodes": {"a": CALL, "b": CALL, "x": JOIN}}
MERGED: Final = {"id": "w", "variables": {"v": 0}, "nodes": {"a": CALL, "b": CALL, "x": {**JOIN, "join": {}}}}
LINE: Final = {"id": "w", "nodes": {"a": CALL, "y": {"type": "join"}, "z": {"type": "join"}}}
BODY: Final = {"nodes": {"i": {"type": "join"}}}
SENT: Final = {"webhook": {"path": "/a"}, "key": "<body.n>"}
RECEIVES: Final = {"id": "w", "messages": {"m": {}, "n": {}}, "nodes": {"a": CALL}}
OTHER_BODY: Final = {"nodes": {"i": {"type": "end"}}}
IN_LOOP: Final = {"id": "w", "nodes": {"l": {"type": "loop", "with": {"times": 2}}}}
WRITES: Final = {"a": {"ok": {"ms": 1, "set": {"v": 1}}}, "b": {"ok": {"ms": 50, "set": {"v": 2}}}}
FAILS: Final = {"a": {"fail": {"ms": 1, "cause": "config"}}, "b": {"ok": {"ms": 50}}}
TIMES_OUT: Final = {"x": {"fail": {"ms": 1, "cause": "timeout"}}}
PART_SOURCE: Final = {"file": "a.py", "function": "f", "first": 1, "source": "async def f(): ..."}
TWICE: Final = {"attempts": 2}

PARTS: Final[Mapping[str, Part]] = {
    "Document": Part(FORK, ()),
    "MadeByDocument": Part(FORK, ("made_by",), {"language": "python"}),
    "PartSourceDocument": Part({**FORK, "made_by": {"language": "python", "parts": [{}]}}, ("made_by", "parts", 0), PART_SOURCE),
    "NodeDocument": Part(FORK, ("nodes", "x"), {"type": "join", "after": ["a", "b"]}),
    "DisabledDocument": Part(
        {"id": "w", "nodes": {"x": {"type": "condition", "with": {"cases": {"r": "true", "s": "else"}}}}},
        ("nodes", "x", "enabled"), {"exit": "r"}),
    "RetryDocument": Part({"id": "w", "nodes": {"x": CALL}}, ("nodes", "x", "retry")),
    "JoinDocument": Part(FORK, ("nodes", "x", "join")),
    "CustomMerge": Part(MERGED, ("nodes", "x", "join", "vars")),
    "AfterDocument": Part(LINE, ("nodes", "y", "after"), {"from": "a"}),
    "EdgeDocument": Part({**LINE, "edges": [{}]}, ("edges", 0), {"source": "a", "target": "y"}),
    "ConditionDocument": Part({**LINE, "edges": [{"source": "a", "target": "y"}]}, ("edges", 0, "condition")),
    "ConcurrencyDocument": Part({"id": "w", "nodes": {"x": CALL}}, ("nodes", "x", "concurrency"), {"max": 3}),
    "NodeRateDocument": Part({"id": "w", "nodes": {"x": CALL}}, ("nodes", "x", "rate"), {"max": 3, "per": "1m"}),
    "StartRateDocument": Part(FORK, ("rate",), {"max": 1, "per": "1m"}),
    "RateLimitDocument": Part(FORK, ("rate_limit",), {"max": 1, "per": "1m"}),
    "BodyDocument": Part(IN_LOOP, ("nodes", "l", "with", "body"), BODY),
    "approval.with": _alone("approval", message="m"),
    "approval.DetailParams": _alone("approval", "details", 0, beside={"message": "m", "details": [{}]}, value=1),
    "aws.with": _alone("aws", service="s3", action="ListBuckets"),
    "callback.with": _alone("callback"),
    "receive.with": Part({**RECEIVES, "nodes": {"k": {"type": "receive"}}}, ("nodes", "k", "with"), {"message": "m"}),
    "MessageDocument": Part(RECEIVES, ("messages", "m")),
    "send.with": _alone("send", message="m"),
    "code.with": _alone("code", code="def main(args): return 1"),
    "condition.with": _alone("condition", cases={"yes": "1 < 2"}),
    "end.with": _alone("end"),
    "event.with": _alone("event", pattern={"source": ["a"]}),
    "function.with": _alone("function", call="f.g"),
    "http.with": _alone("http", url="https://example.com"),
    "lambda.with": _alone("lambda", function="f"),
    "llm.with": _alone("llm"),
    "llm.Message": _alone("llm", "messages", 0, beside={"messages": None}, role="user", content="c"),
    "llm.ToolParams": _alone("llm", "tools", 0, beside={"tools": None}),
    "loop.with": _alone("loop", body=BODY),
    "parallel.with": _alone("parallel", body=BODY),
    "distributed.with": _alone("distributed", items=[1], body=BODY),
    "distributed.SourceParams": _alone("distributed", "source", beside={"body": BODY}),
    "distributed.S3SourceParams": _alone("distributed", "source", "s3", beside={"source": {"s3": {}}, "body": BODY}, bucket="b"),
    "distributed.IntoParams": _alone("distributed", "into", beside={"items": [1], "body": BODY}),
    "distributed.S3SinkParams": _alone(
        "distributed", "into", "s3", beside={"items": [1], "into": {"s3": {}}, "body": BODY}, bucket="b", prefix="p"
    ),
    "distributed.ChunkParams": _alone("distributed", "commit", beside={"items": [1], "body": BODY}),
    "distributed.ToleranceParams": _alone("distributed", "tolerate", beside={"items": [1], "body": BODY}),
    "respond.with": _alone("respond"),
    "fail.with": _alone("fail"),
    "router.with": _alone("router", routes={"r": "one"}),
    "schedule.with": _alone("schedule"),
    "set.with": _alone("set", variables={"v": 1}),
    "transform.with": _alone("transform", value=1),
    "wait.with": _alone("wait"),
    "webhook.with": _alone("webhook", path="/a"),
    "webhook.Hmac": _alone("webhook", "auth", beside={"path": "/a"}, hmac="${S}"),
    "webhook.Bearer": _alone("webhook", "auth", beside={"path": "/a"}, bearer="${S}"),
    "webhook.Signed": _alone("webhook", "auth", beside={"path": "/a"}, scheme="hmac", secret="${S}"),
    "workflow.with": _alone("workflow", workflow="other"),
}

_CONTAINER: Final = {
    "body": Example(OTHER_BODY, {"items": [1]}),
    "max_iterations": Example(7, {"items": [1]}),
    "truncate": Example(True, {"items": [1]}),
    "on_error": Example("drop", {"items": [1]}),
    "max_consecutive_errors": Example(2, {"items": [1], "on_error": "continue"}),
    "items": Example([2], before=[1]),
}

_GENERAL_SCHEME: Final = {
    "algorithm": Example("sha1"), "encoding": Example("base64"), "header": Example("X-Other"),
    "prefix": Example("a=", {"template": "{body}"}), "template": Example("{body}"),
    "timestamp_header": Example("X-Time"), "id_header": Example("X-Id"), "tolerance_s": Example(9),
    "url": Example("https://a.example/b", {"template": "{url}{body}"}),
}  # fmt: skip
EXAMPLES: Final[Mapping[str, Mapping[str, Example | list[Example]]]] = {
    "Document": {
        "id": Example("other"), "name": Example("N"), "variables": Example({"v": 0, "u": 1}), "env": Example(["KEY"]),
        "nodes": Example({"a": CALL}), "edges": Example([{"source": "a", "target": "b"}]), "on_failure": Example("halt"),
        "max_steps": Example(9), "timeout": Example("2h"), "numbered": Example(True),
        "retention": Example("90d"),
        "concurrency": [Example(2), Example({"max": 2})], "rate": Example({"max": 1, "per": "1m"}),
        "on_failure_notify": [Example("mailto:a@b.example"), Example(["mailto:a@b.example", "slack:${KEY}"], {"env": ["KEY"]})],
        "rate_limit": Example({"max": 1, "per": "1m"}), "key": Example("<input.id>"),
        "on_conflict": Example("refuse", {"key": "<input.id>"}), "messages": Example({"m": {}}),
        "cancel_on": Example(["m"], {"messages": {"m": {}}}),
    },
    "NodeDocument": {
        "type": Example("end"), "label": Example("L"), "after": [Example(["a"]), Example("a"), Example({"from": "a"})],
        "with": Example({"call": "f.h"}, {"type": "function"}, {"call": "f.g"}),
        "enabled": [Example(False), Example({"exit": "source"})],
        "retry": Example({"attempts": 2}, CALL), "timeout_ms": Example(5, CALL), "delivery": Example("at_most_once", CALL),
        "join": Example({"mode": "any"}), "merge": Example("array"), "on_parent_failure": Example("propagate"),
        "default": Example("d", {"on_parent_failure": "substitute_default"}), "input_contract": Example({"type": "object"}),
        "output_contract": Example({"type": "object"}), "moderation": Example("both", CALL),
        "moderation_on_error": Example("allow", {**CALL, "moderation": "both"}),
        "inputs": Example({"type": "object"}, {"type": "manual", "after": []}),
        "concurrency": Example({"max": 2}, CALL), "rate": Example({"max": 2, "per": "1m"}, CALL),
    },
    "DisabledDocument": {"exit": Example("s", before="r")},
    "ConcurrencyDocument": {
        "max": Example(2, before=1), "by": Example("<input.k>"), "weight": [Example(2), Example("<input.w>")],
    },
    "NodeRateDocument": {
        "max": Example(2, before=1), "per": Example("2m", before="1m"), "by": Example("<input.k>"),
    },
    "StartRateDocument": {
        "max": Example(2, before=1), "per": Example("2m", before="1m"), "by": Example("<input.k>"),
    },
    "RetryDocument": {
        "attempts": Example(3, script=TIMES_OUT), "backoff_ms": Example(100, TWICE, script=TIMES_OUT),
        "max_backoff_ms": Example(100, TWICE, script=TIMES_OUT), "retry_on": Example(["config"], TWICE, script=TIMES_OUT),
    },
    "JoinDocument": {
        "mode": Example("any", script=WRITES), "count": Example(1, {"mode": "count"}, 2, WRITES),
        "timeout_ms": Example(10, script=WRITES), "on_timeout": Example("proceed", {"timeout_ms": 10}, script=WRITES),
        "errors": Example("collect-all", script=FAILS), "min_success": Example(2, {"errors": "best-effort"}, script=FAILS),
        "losers": Example("cancel", {"mode": "any"}, script=WRITES),
        "vars": [Example("first-write", script=WRITES), Example({"custom": "<input>"}, script=WRITES)],
        "on_conflict": Example("first", script=WRITES),
    },
    "CustomMerge": {"custom": Example("<input>[1]", before="<input>[0]", script=WRITES)},
    "AfterDocument": {
        "from": Example("a.error"), "param": Example("p"), "key": Example("k"), "condition": Example({"equals": 1}),
        "merge": Example("array"),
    },
    "EdgeDocument": {
        "source": Example("z"), "target": Example("z"), "handle": Example("error"), "param": Example("p"), "key": Example("k"),
        "condition": Example({"equals": 1}), "merge": Example("array"),
    },
    "ConditionDocument": {
        "equals": Example(2, before=1), "contains": Example(2, before=1), "present": Example(False, before=True),
        "truthy": Example(False, before=True),
    },
    "RateLimitDocument": {"max": Example(2), "per": Example("2m"), "by": Example("user.id")},
    "MadeByDocument": {},
    "PartSourceDocument": {},
    "BodyDocument": {
        "nodes": Example({"j": CALL}), "edges": Example([{"source": "i", "target": "j"}], {"nodes": {"i": CALL, "j": CALL}}),
    },
    "approval.with": {
        "message": Example("n"), "fields": Example({"n": {"type": "integer"}}), "approvers": Example(["ada"]),
        "notify": Example("mailto:ada@example.com"), "timeout": Example("1h"), "reminders": Example(["1m"]),
        "details": Example([{"label": "n", "value": 1}]), "asked_by": Example("ada"),
    },
    "approval.DetailParams": {
        "label": Example("n"), "value": Example(2), "format": Example("number"), "currency": Example("EUR"),
        "link": Example("https://example.com"),
    },
    "aws.with": {"service": Example("sqs"), "action": Example("GetObject"), "params": Example({"Bucket": "b"})},
    "callback.with": {
        "message": Example("n"), "fields": Example({"n": {"type": "integer"}}), "notify": Example("mailto:ada@example.com"),
        "timeout": Example("1h"),
    },
    "receive.with": {
        "message": Example("n"), "where": Example("<message.n> > 1"), "key": Example("a"), "timeout": Example("1h"),
    },
    "send.with": {
        "to": Example("run_2", before="run_1"), "workflow": Example("other", {"key": 1}, "o"),
        "key": Example(2, {"workflow": "o"}, 1), "message": Example("n", {"to": "r"}), "data": Example(1, {"to": "r"}),
        "start": Example(True, {"workflow": "o", "key": 1}), "inputs": Example({}, {"workflow": "o", "key": 1, "start": True}),
        "keep": Example("1h", {"workflow": "o", "key": 1}),
    },
    "MessageDocument": {
        "data": Example({"type": "object"}), "keep": Example("1h"),
        "webhook": Example({"path": "/b"}, {"key": "<body>"}, {"path": "/a"}),
        "event": Example({"source": ["b"]}, {"key": "<event.id>"}, {"source": ["a"]}),
        "where": Example("<body.n> > 1", SENT), "key": Example("<body.n>", {"webhook": {"path": "/a"}}, "<body.m>"),
        "map": Example({"n": "<body.n>"}, SENT),
    },
    "code.with": {"code": Example("def main(args): return 2"), "args": Example({"n": 1}), "memory_mb": Example(512)},
    "condition.with": {"cases": Example({"no": "else"})},
    "end.with": {"halt": Example(True), "break": Example(True)},
    "fail.with": {
        "code": Example("b", before="a"), "message": Example("no", {"code": "a"}),
        "error": Example({"code": "b"}, before={"code": "a"}),
    },
    "event.with": {"pattern": Example({"source": ["b"]})},
    "function.with": {"call": Example("f.h"), "args": Example({"n": 1})},
    "http.with": {
        "method": Example("POST"), "url": Example("https://example.org"), "headers": Example({"A": "b"}),
        "query": Example({"q": 1}), "body": Example({"n": 1}, {"method": "POST"}), "expect_status": Example([404]),
        "retry_statuses": Example([409]),
    },
    "lambda.with": {
        "function": Example("g"), "payload": Example({"n": 1}), "mode": Example("callback"),
        "timeout": Example("1m", {"mode": "callback"}),
    },
    "llm.with": {
        "provider": Example("openai"), "model": Example("m"), "system": Example("s"), "prompt": Example("p"),
        "messages": Example([{"role": "user", "content": "c"}]), "response_schema": Example({"type": "object"}),
        "tools": Example([{"call": "f.g"}]), "temperature": Example(0.5), "max_tokens": Example(9), "stream": Example(True),
    },
    "llm.Message": {"role": Example("assistant"), "content": Example("d")},
    "llm.ToolParams": {
        "call": Example("f.h", before="f.g"), "node": Example("t", before="u"),
        "description": Example("d", {"call": "f.g"}), "parameters": Example({"type": "object"}, {"call": "f.g"}),
        "args": Example({"n": 1}, {"call": "f.g"}),
    },
    "loop.with": {
        **_CONTAINER, "times": Example(3, before=2), "while": Example(True, before=False),
        "do_while": Example(True, before=False), "results": Example("none", {"times": 2}),
        "keep_writes": Example(True, {"times": 2}),
    },
    "parallel.with": {**_CONTAINER, "branches": Example(3, before=2), "window": Example(1, {"items": [1]})},
    "distributed.with": {
        "items": [Example([2]), Example({"a": 2}), Example("<input>")], "body": Example(OTHER_BODY), "concurrency": Example(7),
        "lanes": Example(7), "shard": Example(7), "commit": Example({"items": 7}), "tolerate": Example({"count": 7}),
        "on_error": Example("drop"), "results": Example("none"), "max_items": Example(7), "truncate": Example(True),
        "source": Example({"file": "a.csv"}, {"items": None}, {"file": "b.csv"}), "into": Example({"file": "a"}),
    },
    "distributed.SourceParams": {
        "s3": Example({"bucket": "b", "key": "a.csv"}, before={"bucket": "b", "key": "b.csv"}),
        "file": Example("a.csv", before="b.csv"), "format": Example("csv", {"file": "a.jsonl"}),
        "header": Example(False, {"file": "a.csv"}), "delimiter": Example(";", {"file": "a.csv"}),
    },
    "distributed.S3SourceParams": {
        "bucket": Example("c", {"key": "a.csv"}), "key": Example("a.csv", before="b.csv"), "prefix": Example("a/", before="b/"),
    },
    "distributed.IntoParams": {
        "s3": Example({"bucket": "b", "prefix": "a/"}, before={"bucket": "b", "prefix": "b/"}),
        "file": Example("a", before="b"), "format": Example("jsonl", {"file": "a"}),
    },
    "distributed.S3SinkParams": {"bucket": Example("c"), "prefix": Example("q")},
    "distributed.ChunkParams": {"items": Example(7), "ms": Example(700)},
    "distributed.ToleranceParams": {"count": Example(7), "percent": [Example(7), Example(0.5)]},
    "respond.with": {"status": Example(201), "headers": Example({"A": "b"}), "body": Example({"n": 1})},
    "router.with": {
        "routes": Example({"r": "two"}), "provider": Example("openai"), "model": Example("m"), "system": Example("s"),
        "prompt": Example("p"),
    },
    "schedule.with": {
        "cron": Example("0 3 * * *", before="0 2 * * *"), "rate": Example("2h", before="1h"),
        "timezone": Example("Europe/Berlin", {"cron": "0 2 * * *"}), "catch_up": Example("all", {"rate": "1h"}),
    },
    "set.with": {"variables": Example({"v": 2})},
    "transform.with": {"value": Example(2)},
    "wait.with": {"for": Example("2h", before="1h"), "until": Example(2_000, before=1_000)},
    "webhook.with": {
        "path": Example("/b"), "method": Example("PUT"), "auth": Example({"bearer": "${S}"}),
        "schema": Example({"type": "object"}), "response": Example("wait"),
    },
    "webhook.Hmac": {"hmac": [Example("${S}${S}"), Example(["${S}", "${S}${S}"])], **_GENERAL_SCHEME},
    "webhook.Bearer": {"bearer": Example("${S}${S}")},
    "webhook.Signed": {
        "scheme": Example("github"), "secret": [Example("${S}${S}"), Example(["${S}", "${S}${S}"])], **_GENERAL_SCHEME,
    },
    "workflow.with": {
        "workflow": Example("another"), "inputs": Example({"n": 1}), "wait": Example(False),
        "key": Example("a", {"wait": False}), "delay": Example("5m", {"wait": False}),
        "begin_at": Example("2026-01-31T12:00:00Z", {"wait": False}),
    },
}  # fmt: skip


def examples_of(part: str, field: str) -> list[Example]:
    found = EXAMPLES.get(part, {}).get(field, [])
    return [found] if isinstance(found, Example) else found


CHANGES_NOTHING: Final[Mapping[str, str]] = {
    "Document.description": "it is for people",
    "code.with.language": "there is one language",
    "Document.made_by": "it is for people, and no part of the version",
    **{f"MadeByDocument.{field}": "it is for people" for field in ("language", "file", "function", "source", "parts")},
    **{f"PartSourceDocument.{field}": "it is for people" for field in (*PART_SOURCE, "nodes")},
    "NodeDocument.at": "it is for people, and no part of the version",
}
"""Fields that no run depends on, with the reason."""
