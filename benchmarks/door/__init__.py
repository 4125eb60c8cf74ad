"""W11: what the HTTP interface of `stepless dev` costs, beside plain FastAPI that does the same work."""

from __future__ import annotations

CONNECTIONS = 50
CASES = tuple(f"W11 {what}, {many}" for what in ("wait", "start") for many in ("one connection", f"{CONNECTIONS} connections"))
