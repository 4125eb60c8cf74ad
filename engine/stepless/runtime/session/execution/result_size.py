"""Refuses results that are larger than a run may store."""

from __future__ import annotations

import json
from typing import Final

from stepless.limits import MAX_RESULT_BYTES
from stepless.model.work import NodeFailure, Result
from stepless.runtime.runlog import may_be_large

SMALL: Final = MAX_RESULT_BYTES // 6  # characters that a run can store, however many bytes each takes


def check_size(result: Result) -> None:
    """Raises `NodeFailure` for a result that is larger than a run may store."""
    if may_be_large(result.value, SMALL):
        size = len(json.dumps(result.value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
        if size > MAX_RESULT_BYTES:
            message = f"the result takes {size:,} bytes; {MAX_RESULT_BYTES:,} is the limit"
            mend = "store it in a file or a bucket and return its location"
            raise NodeFailure("execution", "result_too_large", message, retryable=False, mend=mend)
