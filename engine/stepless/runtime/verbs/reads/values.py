"""Returns a large value of a run by its hash: from the blob that holds it, or computed from the log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256

from stepless.errors import NotFound
from stepless.model.json import JSON
from stepless.runtime.access.tokens import Signer
from stepless.runtime.runlog import RunLog
from stepless.runtime.verbs.reads import inspecting
from stepless.runtime.world import World


def value_bytes(value: JSON) -> bytes:
    """Returns a value in the form in which blobs store it: compact JSON. Lone surrogates are kept."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def hash_of(data: bytes) -> str:
    """Returns the hash of a value: the SHA-256 of its bytes, in hexadecimal."""
    return sha256(data).hexdigest()


def find(world: World, signer: Signer, run_id: str, wanted: str) -> bytes:
    """Returns the JSON of the run's value with this hash, as given in a response about the run. Linear in the log. Values that
    the log does not store (outputs of containers, inputs of nodes) are computed by folding it.

    Raises `NotFound` (unknown_run; unknown_value, also for a value of another run) and `LogUnreadable`.
    """
    head = inspecting.head_of(world, run_id)
    log = RunLog(world.store, world.blobs, run_id)
    with inspecting.read_or_reported(world, head):
        key = log.blob_of(wanted, last=head.sequence)
        kept = world.blobs.get(key) if key is not None else None
    if kept is not None:
        return kept
    for values in (_of_run, _of_nodes):
        for value in values(world, signer, run_id):
            data = value_bytes(value)
            if hash_of(data) == wanted:
                return data
    raise NotFound(f"the run {run_id} has no value {wanted[:80]}", code="unknown_value", mend="use a hash from a response")


def _of_run(world: World, signer: Signer, run_id: str) -> Iterator[JSON]:
    view = inspecting.overview(world, signer, run_id)
    yield from _each(view.inputs)
    yield from _each(view.outputs)
    yield from _each(dict(view.variables))
    yield from _each(dict(view.error) if view.error is not None else None)
    for pause in view.pauses:
        yield dict(pause.details)


def _of_nodes(world: World, signer: Signer, run_id: str) -> Iterator[JSON]:
    for record in inspecting.view(world, signer, run_id).nodes.values():
        yield from _each(dict(record.inputs))
        yield from _each(record.output)
        for details in (record.error, record.waiting):
            yield from _each(dict(details) if details is not None else None)


def _each(value: JSON) -> Iterator[JSON]:
    """A value and its direct members: the values that a response may replace by their hash."""
    yield value
    if isinstance(value, dict):
        yield from value.values()
