"""Traces from Lambda's own runtime: the API takes the caller's trace, the runner exports to a collector with headers that are a
secret of the stack."""

from __future__ import annotations

import json
from typing import Any

from collector import collector, pairs
from lambda_stack import Stack, sample

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def test_a_webhooks_trace_goes_on_in_the_runner(stack: Stack) -> None:
    stack.service("ssm").put_parameter(
        Name="/tests/OTEL_EXPORTER_OTLP_HEADERS", Value="x-key=k%201", Type="SecureString", Overwrite=True
    )
    with collector() as target:
        traced = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": target.url, "OTEL_SERVICE_NAME": "stack", "AWS_LAMBDA_FUNCTION_NAME": "stack-runner",
        }  # fmt: skip
        api, runner = stack.function("api", traced), stack.function("runner", traced)
        assert api.invoke(sample("api-publish")).value["statusCode"] in (200, 201)
        stack.messages()
        hook = sample("api-hook")
        hook["headers"]["traceparent"] = f"00-{TRACE}-{SPAN}-01"
        run_id = json.loads(api.invoke(hook).value["body"])["run_id"]
        assert target.requests == []
        event: dict[str, Any] = sample("runner-start")
        event["Records"] = [dict(event["Records"][0], body=json.dumps({"run": run_id, "reason": "start", "hops": 0}))]
        assert runner.invoke(event).value == {"batchItemFailures": []}
        spans = {span.name: span for span in target.spans}
        assert {span.trace_id.hex() for span in target.spans} == {TRACE}
        (run,) = (span for name, span in spans.items() if name.startswith("run "))
        assert (run.parent_span_id.hex(), pairs(run.attributes)["stepless.run.status"]) == (SPAN, "completed")
        assert {request.headers["x-key"] for request in target.requests} == {"k 1"}
        assert target.resources[0]["service.name"] == "stack"
        assert target.resources[0]["cloud.platform"] == "aws_lambda"
        assert target.metrics
