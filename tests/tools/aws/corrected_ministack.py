"""Starts ministack with five corrections, in its own interpreter.

* AWS checks a request about a schedule against `schedule/{group}/{name}`, ministack against `schedule/default/{name}`, whatever
  its group. Roles that permit one group would be refused, and roles for the group `default` would be permitted.
* AWS checks a batch of messages as the action for one: there is `sqs:SendMessage`, and no `sqs:SendMessageBatch`, for which
  ministack asks.
* A function whose invocations are forwarded (MINISTACK_LAMBDA_PROXY_…) is also invoked so for a WebSocket API. ministack runs its
  code itself there, without the role and the layers.
* On AWS, `GET /console/{path+}` of an HTTP API gets `/console/` too. ministack asks for a segment.
* The address of a WebSocket API begins with `ws:`, since ministack serves no TLS.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from ministack import app
from ministack.core import iam_actions, lambda_runtime
from ministack.services import apigateway, lambda_svc

WRONG = ":schedule/default/"
_uncorrected = iam_actions.extract_resource_arn
_uncorrected_action = iam_actions.extract_iam_action
_uncorrected_worker = lambda_runtime.get_or_create_worker
_uncorrected_params = apigateway._extract_path_params


def _resource(service: str, method: str, path: str, headers: Any, body: bytes, query: Any, *rest: str) -> str:
    found = str(_uncorrected(service, method, path, headers, body, query, *rest))
    if service != "scheduler" or WRONG not in found:
        return found
    sent = json.loads(body) if body else {}
    asked = query.get("groupName", sent.get("GroupName", "default"))
    group = asked[0] if isinstance(asked, list) else asked
    return found.replace(WRONG, f":schedule/{group}/")


def _action(service: str, *rest: Any) -> str | None:
    found: str | None = _uncorrected_action(service, *rest)
    return found.removesuffix("Batch") if found and service == "sqs" else found


class _Forwarded:
    """A worker as the WebSocket APIs use one."""

    def __init__(self, config: Any) -> None:
        self._config = config

    def invoke(self, event: Any, request_id: str) -> dict[str, Any]:
        done = lambda_svc._execute_function({"config": self._config}, event)
        return {"status": "ok", "result": lambda_svc.lambda_execute_result_to_api_proxy_response(done)[0]}


def _worker(name: str, config: Any, *rest: Any, **more: Any) -> Any:
    return _Forwarded(config) if lambda_svc._proxy_url_for(config) else _uncorrected_worker(name, config, *rest, **more)


def _params(route: str, path: str) -> Any:
    parent, greedy, name = route.rpartition("/{")
    if greedy and name.endswith("+}") and path == f"{parent}/":
        return {name.removesuffix("+}"): ""}
    return _uncorrected_params(route, path)


def _scheme(protocol: str) -> str:
    return "ws" if protocol == "WEBSOCKET" else "https"


if __name__ == "__main__":
    iam_actions.extract_iam_action = _action
    iam_actions.extract_resource_arn = _resource
    lambda_runtime.get_or_create_worker = _worker
    apigateway._api_endpoint_scheme = _scheme
    apigateway._extract_path_params = _params
    sys.exit(app.main())
