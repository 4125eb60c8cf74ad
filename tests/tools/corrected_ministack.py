"""Starts ministack with two corrections of what it checks permissions against, in its own interpreter.

* AWS checks a request about a schedule against `schedule/{group}/{name}`, ministack against `schedule/default/{name}`, whatever
  its group. Roles that permit one group would be refused, and roles for the group `default` would be permitted.
* AWS checks a batch of messages as the action for one: there is `sqs:SendMessage`, and no `sqs:SendMessageBatch`, for which
  ministack asks.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from ministack import app
from ministack.core import iam_actions

WRONG = ":schedule/default/"
_uncorrected = iam_actions.extract_resource_arn
_uncorrected_action = iam_actions.extract_iam_action


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


if __name__ == "__main__":
    iam_actions.extract_iam_action = _action
    iam_actions.extract_resource_arn = _resource
    sys.exit(app.main())
