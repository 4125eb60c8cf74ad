"""Creates the header of a run, then sends the message. So the sweep finds the run even if the message is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from secrets import token_hex

from stepless.compile.canonical import json_findings
from stepless.core.values.inputs import with_defaults
from stepless.errors import InvalidRequest, LimitExceeded, StoreUnavailable
from stepless.limits import MAX_INPUT_BYTES, MAX_SHOWN_IDS
from stepless.model.declaration.policies import OnConflict
from stepless.model.json import JSON
from stepless.ports import RunHead, Version
from stepless.runtime.billing import spending
from stepless.runtime.header_notes import meta_of, notes_in
from stepless.runtime.headers import CLAIM, create_run, create_run_once, not_erased, numbers_in
from stepless.runtime.id_suggestions import unknown_workflow
from stepless.runtime.messages.keys import BEGINS, KEY, RunKey, checked_key, key_of_start, live_run
from stepless.runtime.messages.starts import NewRun, former_start, is_own, start_under_key
from stepless.runtime.verbs.starts.admission import admit
from stepless.runtime.verbs.starts.idempotency import (
    Signature,
    claim_key,
    claim_of,
    claim_signature,
    kept_claim,
    key_of_inputs,
    signed_run,
)
from stepless.runtime.world import World


@dataclass(frozen=True, slots=True)
class Started:
    """`version` is the number of the version that the run started with. `number` is the run's own number, if its workflow numbers
    its runs. `replay` is true if an earlier start with the same idempotency key created the run. `joined` is true if the start
    found a live run with its key, which is this run. `key` is the key of the run."""

    run_id: str
    workflow_id: str
    version: int
    replay: bool = False
    number: int | None = None
    joined: bool = False
    key: str | None = None


def start(
    world: World,
    workflow_id: str,
    inputs: JSON,
    *,
    key: str | None = None,
    by_inputs: bool = False,
    signature: Signature | None = None,
    entry: Sequence[str] | None = None,
    anywhere: bool = False,
    meta: Mapping[str, JSON] | None = None,
    same: JSON = None,
    run_id: str | None = None,
    begins_ms: int | None = None,
    run_key: JSON = None,
) -> Started:
    """Creates a run of the newest version and sends the message that starts it, or with `begins_ms` at that instant. `entry`
    chooses among the workflow's entries. `anywhere` allows any node, and the run records which of them are not entries.

    A workflow has at most one live run of each key: `run_key`, or the value of its own `key`. Its `on_conflict` says what a
    further start does, and `run_id` is ignored. `key` makes the start idempotent for 24 hours: the same key and inputs return
    the same run, also under concurrent requests. `by_inputs` derives the key from the workflow and the inputs, in canonical
    form (RFC 8785). `same`, if given, is compared instead of the inputs. A `signature` is used up by the run that is accepted
    with it, and returns that run again. A new run gets the id `run_id`, which `new_run_id` has made, so that a caller can
    follow it from its beginning. Raises `Refused` beyond the workflow's rate limit or concurrency, `NotFound` for an unknown
    workflow, `InvalidRequest` for an unknown entry or inputs without a key (key_missing, key_invalid), `Conflict` for an
    idempotency key that was used with other inputs or whose run was erased, and for a key that a live run has (key_taken), and
    `LimitExceeded` for inputs that are too large. Raises `StoreUnavailable` with the run id if the run exists but the message
    could not be sent: the run starts later. """
    return _announced(world, _accepted(
        world, workflow_id, inputs, key=key, by_inputs=by_inputs, signature=signature, entry=entry, anywhere=anywhere, meta=meta,
        same=same, run_id=run_id, begins_ms=begins_ms, run_key=run_key,
    ))


async def start_shared(
    world: World,
    workflow_id: str,
    inputs: JSON,
    *,
    key: str | None = None,
    by_inputs: bool = False,
    signature: Signature | None = None,
    entry: Sequence[str] | None = None,
    anywhere: bool = False,
    meta: Mapping[str, JSON] | None = None,
    same: JSON = None,
    run_id: str | None = None,
    begins_ms: int | None = None,
    run_key: JSON = None,
) -> Started:
    """Starts a run like `start`, in the event loop that also executes the runs: its writes share a transaction with the commits
    of the same turn. Returns after that transaction, and sends the message then."""
    accept = partial(
        _accepted, world, workflow_id, inputs, key=key, by_inputs=by_inputs, signature=signature, entry=entry, anywhere=anywhere,
        meta=meta, same=same, run_id=run_id, begins_ms=begins_ms, run_key=run_key,
    )
    with world.commits.writer():
        return _announced(world, await world.commits.make(accept))


@dataclass(frozen=True, slots=True)
class _Accepted:
    """A start whose run is stored. `newest` is the newest version of the workflow, `created` whether this start created the
    run, `replay` and `joined` as in `Started`."""

    head: RunHead
    newest: Version
    created: bool
    replay: bool = False
    joined: bool = False


def _accepted(
    world: World, workflow_id: str, inputs: JSON, *, key: str | None, by_inputs: bool, signature: Signature | None,
    entry: Sequence[str] | None, anywhere: bool, meta: Mapping[str, JSON] | None, same: JSON,
    run_id: str | None, begins_ms: int | None, run_key: JSON,
) -> _Accepted:  # fmt: skip
    """Everything that `start` reads and writes. Sends nothing: other changes may have to become durable with these."""
    version = latest(world, workflow_id)
    graph = world.versions.graph(workflow_id, version.hash, entry)
    data = encoded_inputs(inputs)
    facts = {**(meta or {}), **({"entry": list(entry)} if entry is not None else {})}
    facts |= checked_entries(world, version, entry or (), anywhere=anywhere)
    if by_inputs:
        key = key_of_inputs(workflow_id, inputs)
    claim = claim_of(workflow_id, key) if key is not None else None
    if signature is not None and (accepted := signed_run(world, signature)) is not None:
        return _replayed(world, accepted, version, data, facts, graph.numbered)
    known = kept_claim(world, claim) if claim is not None else None
    if claim is not None and not by_inputs:
        facts |= {CLAIM: claim}  # an erasure finds the claim by it
    if graph.key is not None or run_key is not None:
        key_text = checked_key(run_key) if run_key is not None else key_of_start(graph, inputs, world.clock.now_ms())
        new, reserve = NewRun(version, graph, data, facts, begins_ms), _reserving(world, claim, data, same, signature, known)
        return _under_key(world, RunKey(workflow_id, key_text), new, inputs, known, reserve)
    if known is None:
        admit(world, graph, inputs)
    run_id = run_id or new_run_id()
    if claim is not None or signature is not None:
        existing = _reserving(world, claim, data, same, signature, known)(run_id)
        if existing != run_id:
            return _replayed(world, existing, version, data, facts, graph.numbered)
    if begins_ms is not None:
        facts[BEGINS] = begins_ms
    head = create_run_once(world, run_id, version, data, facts, numbered=graph.numbered, begins_ms=begins_ms)[0]
    return _Accepted(head, version, True)


def _reserving(
    world: World, claim: str | None, data: bytes, same: JSON, signature: Signature | None, known: bytes | None
) -> Callable[..., str]:
    """Returns a function that records the run of a start under its idempotency key and its signature, as
    `messages.starts.start_under_key` needs it."""

    def reserve(run_id: str, instead_of: str | None = None) -> str:
        nonlocal known
        existing, known = run_id, known if instead_of is None else None
        if claim is not None:
            existing = claim_key(world, claim, json.loads(data) if same is None else same, run_id, known, instead_of)
        return existing if signature is None else claim_signature(world, signature, existing)

    return reserve


def _under_key(
    world: World, run_key: RunKey, new: NewRun, inputs: JSON, known: bytes | None, reserve: Callable[..., str]
) -> _Accepted:
    """The run of a start under a key."""
    rule, placed = new.graph.on_conflict, None
    if known is not None:
        placed = former_start(world, run_key, new, reserve(run_key.run_id(max(1, run_key.number(world)))), rule)
    if placed is None:
        if rule is not OnConflict.JOIN or live_run(world, run_key) is None:
            admit(world, new.graph, inputs)
        placed = start_under_key(world, run_key, new, reserve)
    is_own_run = is_own(new, placed.head) if CLAIM in new.facts else known is not None
    head, is_repeated = not_erased(placed.head), not placed.created and is_own_run
    return _Accepted(head, new.version, placed.created, replay=is_repeated, joined=not placed.created and not is_repeated)


def new_run_id() -> str:
    return f"run_{token_hex(10)}"


def start_version(
    world: World, run_id: str, version: Version, data: bytes, facts: Mapping[str, JSON], *, numbered: bool
) -> Started:
    """Creates a run of any version with encoded inputs, without admission."""
    return _announced(world, _Accepted(create_run(world, run_id, version, data, facts, numbered=numbered), version, True))


def start_under_former_key(
    world: World, run_key: RunKey, new: NewRun, reserve: Callable[..., str], rule: OnConflict = OnConflict.REFUSE,
    known: str | None = None,
) -> Started:  # fmt: skip
    """Creates a run that repeats another one, under the key of that run. While a run with the key is live, `rule` says whether
    this joins it or raises `Conflict` (key_taken). `known` is the run that an earlier start of the same request has reserved."""
    placed = former_start(world, run_key, new, known, rule) if known is not None else None
    if placed is None:
        placed = start_under_key(world, run_key, new, reserve, rule)
    head, is_own_run = not_erased(placed.head), is_own(new, placed.head)
    replay, joined = not placed.created and is_own_run, not placed.created and not is_own_run
    return _announced(world, _Accepted(head, new.version, placed.created, replay, joined))


def checked_entries(
    world: World, version: Version, nodes: Sequence[str], *, anywhere: bool, place: str = "entry"
) -> Mapping[str, JSON]:
    """Returns the record of a start at `nodes`: which of them are not entries of the workflow. Such a start skips the nodes
    before them, for example an approval. Raises `InvalidRequest` (unknown_entry) unless `anywhere` is true.
    """
    if not nodes:
        return {}
    root = world.versions.graph(version.workflow_id, version.hash).root
    others: list[JSON] = [name for name in nodes if name not in root.positions or root.nodes[root.positions[name]].incoming]
    if others and not anywhere:
        known = [root.nodes[position].id for position in root.entries[:MAX_SHOWN_IDS]]
        raise InvalidRequest(
            f"{others[0]} is not an entry: edges lead into it", code="unknown_entry", status=422, place=place,
            mend=f"start at {' or '.join(known)}, or use a key with the role admin",
        )  # fmt: skip
    return {"non_entries": others} if others else {}


def check_inputs(world: World, workflow_id: str, inputs: JSON, entry: Sequence[str] | None = None) -> None:
    """Raises `InvalidRequest` (schema_violated) if the inputs, with the defaults of what is missing, do not fit the `inputs` of
    an entry at which a run would start now. Raises `NotFound` and `InvalidRequest` for a workflow and an entry as `start`
    does."""
    version = latest(world, workflow_id)
    checked_entries(world, version, entry or (), anywhere=True)
    root = world.versions.graph(workflow_id, version.hash, entry).root
    for position in root.entries:
        contract = root.nodes[position].entry_contract
        violations = contract.violations(with_defaults(contract.schema, inputs)) if contract is not None else ()
        if violations:
            name = root.nodes[position].id
            message = f"the inputs do not fit `inputs` of {name}: {violations[0]}"
            raise InvalidRequest(message, code="schema_violated", status=422, place="inputs", violations=list(violations))


def non_entries_of(head: RunHead) -> Sequence[str]:
    """Returns the nodes that a run started at although they are not entries."""
    kept: Sequence[str] = meta_of(head).get("non_entries", ())
    return kept


def latest(world: World, workflow_id: str) -> Version:
    version = world.store.newest_version(workflow_id)
    if version is None:
        raise unknown_workflow(world.store, workflow_id)
    return version


def encoded_inputs(inputs: JSON) -> bytes:
    """Inputs in the form in which a header stores them. Raises `InvalidRequest` (invalid_json) and `LimitExceeded`
    (inputs_too_large)."""
    for finding in json_findings(inputs):
        message = f"the inputs are not JSON: {finding.message}"
        raise InvalidRequest(message, code="invalid_json", place=finding.path, mend=finding.mend)
    data = json.dumps(inputs, ensure_ascii=False, separators=(",", ":")).encode()
    if len(data) > MAX_INPUT_BYTES:
        raise LimitExceeded(f"the inputs take {len(data):,} bytes; {MAX_INPUT_BYTES:,} is the limit", code="inputs_too_large")
    return data


def _replayed(
    world: World, run_id: str, version: Version, data: bytes, facts: Mapping[str, JSON], numbered: bool
) -> _Accepted:
    """The run of an earlier start. If the process that claimed the key died before it created the run, creates it now."""
    head = world.store.get_run(run_id)
    if head is None:
        return _Accepted(create_run(world, run_id, version, data, facts, numbered=numbered), version, True, True)
    return _Accepted(not_erased(head), version, False, True)


def _announced(world: World, accepted: _Accepted) -> Started:
    """Sends the message of a run that was created, after it is durable."""
    head, run_id = accepted.head, accepted.head.run_id
    notes = notes_in(head)
    version, number = numbers_in(notes)
    if accepted.created:
        try:
            if BEGINS in notes:
                world.timers.arm(run_id, notes[BEGINS])
            else:
                world.queue.send(spending.hint(world, run_id, "start"))
        except StoreUnavailable as error:
            message = f"the run {run_id} exists and will start later"
            raise StoreUnavailable(message, code="start_delayed", mend="do not start it again", run_id=run_id) from error
    return Started(
        run_id, head.workflow_id, accepted.newest.number if version is None else version, accepted.replay, number,
        accepted.joined, notes.get(KEY),
    )  # fmt: skip
