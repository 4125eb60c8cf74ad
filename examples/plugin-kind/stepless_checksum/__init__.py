"""`checksum`: returns the digest of a value. A plug-in needs only `KIND`, and `run` because the kind is effectful."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from stepless.model.kind import Kind, Nature
from stepless.model.work import NodeFailure, Result
from stepless.ports import Call


class ChecksumParams(BaseModel):
    """`value` is any JSON; the order of an object's keys does not matter."""

    model_config = ConfigDict(extra="forbid")

    value: Any
    algorithm: Literal["sha256", "blake2b"] = "sha256"


KIND = Kind("checksum", Nature.EFFECT, ChecksumParams, "computes the checksum of a value")


async def run(call: Call) -> Result:
    """Returns {algorithm, digest}."""
    algorithm = call.params.get("algorithm", "sha256")
    if algorithm not in ("sha256", "blake2b"):  # a reference may have been filled in with anything
        raise NodeFailure("config", "unknown_algorithm", f"there is no {algorithm}", retryable=False, mend="use sha256")
    data = json.dumps(call.params["value"], sort_keys=True, separators=(",", ":")).encode()
    return Result({"algorithm": algorithm, "digest": hashlib.new(algorithm, data).hexdigest()})
