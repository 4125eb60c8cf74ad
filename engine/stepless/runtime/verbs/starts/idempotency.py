"""Makes starts idempotent: by the caller's key, by the inputs themselves, or by a signature
(docs/understand/semantics.md#idempotent-starts).

A claim stores two digests of the compared value: one by RFC 8785, for which `1.0` and `1` are equal, and the one that former
releases compare.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Final, NamedTuple

import rfc8785

from stepless.errors import Conflict, Damaged, InvalidRequest
from stepless.limits import IDEMPOTENCY_KEY_LIFE_MS, MAX_IDEMPOTENCY_KEY_CHARACTERS
from stepless.model.json import JSON
from stepless.model.stored.damage import json_object, told_by
from stepless.runtime.mentions import hashed_claim
from stepless.runtime.world import World

_FIX: Final = "use another idempotency key, or restore the store from a backup; the record expires within two days"
_MAX_EXACT: Final = 2**53 - 1  # some JSON parsers round larger integers


class Signature(NamedTuple):
    """A verified signed request: the claim under which its run is found again, and the lifetime of the claim."""

    claim: str
    life_ms: int


def canonical(value: JSON) -> bytes:
    """Returns `value` in the form of RFC 8785. Integers that RFC 8785 cannot represent become decimal text."""
    return rfc8785.dumps(_exact(value))


def _exact(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {name: _exact(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_exact(inner) for inner in value]
    return str(value) if isinstance(value, int) and abs(value) > _MAX_EXACT else value


def key_of_inputs(workflow_id: str, inputs: JSON) -> str:
    """Returns the idempotency key derived from a workflow and its inputs."""
    return sha256(workflow_id.encode() + b"\0" + canonical(inputs)).hexdigest()


def claim_of(workflow_id: str, key: str) -> str:
    """Returns the name of the claim for a caller's key. Raises `InvalidRequest` (invalid_idempotency_key)."""
    if not 0 < len(key) <= MAX_IDEMPOTENCY_KEY_CHARACTERS:
        message = f"an idempotency key has 1 to {MAX_IDEMPOTENCY_KEY_CHARACTERS} characters"
        raise InvalidRequest(message, code="invalid_idempotency_key")
    return f"start:{workflow_id}:{key}"


def kept_claim(world: World, claim: str) -> bytes | None:
    """Returns the value of a claim, also where its run was erased since."""
    now_ms = world.clock.now_ms()
    return world.store.get_claim(claim, now_ms) or world.store.get_claim(hashed_claim(claim), now_ms)


def claim_key(
    world: World, claim: str, same: JSON, run_id: str, known: bytes | None = None, instead_of: str | None = None
) -> str:
    """Returns the run id that holds the key: `run_id` if the key was free, or held by `instead_of`. `known` is what `kept_claim`
    has found. Raises `Conflict` if it was used with other inputs."""
    now_ms = world.clock.now_ms()
    former = sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()
    digest = sha256(canonical(same)).hexdigest()
    mine = json.dumps({"run": run_id, "inputs": former, "canonical": digest}).encode()
    until_ms = now_ms + IDEMPOTENCY_KEY_LIFE_MS
    stored = (known if instead_of is None else None) or world.store.claim(claim, mine, now_ms, until_ms)
    existing = json_object(stored, f"claim.value of {claim}", _FIX)
    if not isinstance(existing.get("run"), str) or not isinstance(existing.get("inputs"), str):
        raise Damaged("it names no run", place=f"claim.value of {claim}", mend=_FIX)
    if existing.get("canonical", digest) != digest or ("canonical" not in existing and existing["inputs"] != former):
        message = "this idempotency key was used with other inputs"
        raise Conflict(message, code="idempotency_key_reused", mend="use another key", run_id=existing["run"])
    if existing["run"] == instead_of and world.store.replace_claim(claim, stored, mine, now_ms, until_ms):
        return run_id
    return str(existing["run"])


def signed_run(world: World, signature: Signature) -> str | None:
    """Returns the run that was accepted with this signature, if any. Raises `Conflict` (signature_replayed) if that run is
    unknown."""
    existing = world.store.get_claim(signature.claim, world.clock.now_ms())
    return None if existing is None else _run_of(existing, signature.claim)


def claim_signature(world: World, signature: Signature, run_id: str) -> str:
    """Returns the run id that a signature belongs to: `run_id` if the signature was not used before. Raises as `signed_run`
    does."""
    now_ms = world.clock.now_ms()
    mine = json.dumps({"run": run_id}).encode()
    return _run_of(world.store.claim(signature.claim, mine, now_ms, now_ms + signature.life_ms), signature.claim)


def _run_of(existing: bytes, claim: str) -> str:
    if told_by(existing) is None and not existing.startswith(b"{"):  # stored by a release that did not record the run
        mend = "sign every request again"
        raise Conflict("this signed request was already accepted", code="signature_replayed", mend=mend)
    run = json_object(existing, f"claim.value of {claim}", _FIX).get("run")
    if not isinstance(run, str):
        raise Damaged("it names no run", place=f"claim.value of {claim}", mend=_FIX)
    return run
