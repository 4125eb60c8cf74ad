"""Starts that are one start: by the caller's key, by the inputs themselves, by a signature (docs/semantics.md#idempotent-starts).

A claim keeps two digests of what is compared: the one of RFC 8785, by which `1.0` and `1` are one input, and the former one,
by which a release before this one compares.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Final, NamedTuple

import rfc8785

from stepless.errors import Conflict, InvalidRequest
from stepless.limits import IDEMPOTENCY_KEY_LIFE_MS, MAX_IDEMPOTENCY_KEY_CHARACTERS
from stepless.model.json import JSON
from stepless.runtime.world import World

_MAX_EXACT: Final = 2**53 - 1  # integers beyond it are others to some readers of JSON


class Signature(NamedTuple):
    """A signed request that was found genuine: the claim by which its run is found again, and for how long."""

    claim: str
    life_ms: int


def canonical(value: JSON) -> bytes:
    """`value` by RFC 8785. Integers that it has no form for stand as decimal text."""
    return rfc8785.dumps(_exact(value))


def _exact(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {name: _exact(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_exact(inner) for inner in value]
    return str(value) if isinstance(value, int) and abs(value) > _MAX_EXACT else value


def key_of_inputs(workflow_id: str, inputs: JSON) -> str:
    """The key that stands for a workflow and its inputs."""
    return sha256(workflow_id.encode() + b"\0" + canonical(inputs)).hexdigest()


def claim_of(workflow_id: str, key: str) -> str:
    """The claim behind a caller's key. Raises `InvalidRequest` (invalid_idempotency_key)."""
    if not 0 < len(key) <= MAX_IDEMPOTENCY_KEY_CHARACTERS:
        message = f"an idempotency key has 1 to {MAX_IDEMPOTENCY_KEY_CHARACTERS} characters"
        raise InvalidRequest(message, code="invalid_idempotency_key")
    return f"start:{workflow_id}:{key}"


def claim_key(world: World, claim: str, same: JSON, run_id: str) -> str:
    """The run id that holds the key: `run_id` when the key was free. Raises `Conflict` when it was used with other inputs."""
    now_ms = world.clock.now_ms()
    former = sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()
    digest = sha256(canonical(same)).hexdigest()
    mine = json.dumps({"run": run_id, "inputs": former, "canonical": digest}).encode()
    standing = json.loads(world.store.claim(claim, mine, now_ms, now_ms + IDEMPOTENCY_KEY_LIFE_MS))
    if standing.get("canonical", digest) != digest or ("canonical" not in standing and standing["inputs"] != former):
        message = "this idempotency key was used with other inputs"
        raise Conflict(message, code="idempotency_key_reused", mend="use another key", run_id=standing["run"])
    return str(standing["run"])


def signed_run(world: World, signature: Signature) -> str | None:
    """The run that was accepted with this signature. Raises `Conflict` (signature_replayed) where that is not known."""
    standing = world.store.get_claim(signature.claim, world.clock.now_ms())
    return None if standing is None else _run_of(standing)


def claim_signature(world: World, signature: Signature, run_id: str) -> str:
    """The run id that a signature belongs to: `run_id` when it was not spent. Raises as `signed_run` does."""
    now_ms = world.clock.now_ms()
    mine = json.dumps({"run": run_id}).encode()
    return _run_of(world.store.claim(signature.claim, mine, now_ms, now_ms + signature.life_ms))


def _run_of(standing: bytes) -> str:
    if not standing.startswith(b"{"):  # spent under a release that kept no run with it
        mend = "sign every request anew"
        raise Conflict("this signed request was accepted before", code="signature_replayed", mend=mend)
    return str(json.loads(standing)["run"])
