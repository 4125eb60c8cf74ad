"""Starts ministack with one correction, in its own interpreter: permissions for schedules are checked in their group.

AWS checks a request about a schedule against `schedule/{group}/{name}`, ministack against `schedule/default/{name}`, whatever its
group. Roles that permit one group would be refused, and roles for the group `default` would be permitted.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from ministack import app
from ministack.core import iam_actions

WRONG = ":schedule/default/"
_uncorrected = iam_actions.extract_resource_arn


def _resource(service: str, method: str, path: str, headers: Any, body: bytes, query: Any, *rest: str) -> str:
    found = str(_uncorrected(service, method, path, headers, body, query, *rest))
    if service != "scheduler" or WRONG not in found:
        return found
    sent = json.loads(body) if body else {}
    asked = query.get("groupName", sent.get("GroupName", "default"))
    group = asked[0] if isinstance(asked, list) else asked
    return found.replace(WRONG, f":schedule/{group}/")


if __name__ == "__main__":
    iam_actions.extract_resource_arn = _resource
    sys.exit(app.main())
