"""Removes the mentions of a run in other records: the idempotency key of its start, its entry among the test runs of a draft, and
the people in the audit log who answered it. What stays is listed in docs/run/security.md#erased-runs."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Final

from stepless.errors import Damaged
from stepless.limits import IDEMPOTENCY_KEY_LIFE_MS, MAX_PAGE_ITEMS, MAX_REDACTED_AUDIT
from stepless.model.json import JSON
from stepless.model.stored.damage import json_object
from stepless.ports import AuditEntry, RunHead
from stepless.runtime.access.audit import kept_until_ms
from stepless.runtime.draft_runs import forget_run
from stepless.runtime.header_notes import notes_in
from stepless.runtime.headers import CLAIM, draft_of
from stepless.runtime.messages.keys import RunKey, run_key_of
from stepless.runtime.world import World

_KEPT_DETAILS: Final = ("pause", "decision", "redacted")
_NOTHING: Final = json.dumps({"details": {"redacted": True}}).encode()  # of a damaged entry that names the run
_OVER: Final = b"{}"  # of a claim that expires at once
_ERASURE: Final = "erase_run"


def forget_mentions(world: World, head: RunHead) -> None:
    """Removes what claims say of a run, while its header still names them. May be repeated."""
    claim = notes_in(head).get(CLAIM)
    if isinstance(claim, str):
        hide_key(world, claim, head.run_id)
    if (placed := run_key_of(head)) is not None:
        _forget_key(world, *placed)
    if draft_of(head) is not None:
        forget_run(world, head.workflow_id, head.run_id)


def _forget_key(world: World, run_key: RunKey, number: int) -> None:
    """Lets the claim of a key expire, if the run is the last one of the key. It is named by a hash, and outlives the run for as
    long as a start can be repeated."""
    now_ms, held = world.clock.now_ms(), str(number).encode()
    if world.store.get_claim(run_key.claim, now_ms) == held:
        world.store.replace_claim(run_key.claim, held, held, now_ms, now_ms + IDEMPOTENCY_KEY_LIFE_MS)


def hashed_claim(claim: str) -> str:
    """Returns the name that a claim of a caller's key has after its run was erased."""
    return f"erased-start:{sha256(claim.encode('utf-8', 'surrogatepass')).hexdigest()}"


def hide_key(world: World, claim: str, run_id: str) -> None:
    """Replaces the claim of a run that is erased by one that has a hash in place of the key, which may be personal data. May be
    repeated. A claim that a later run holds stays."""
    now_ms = world.clock.now_ms()
    kept = world.store.get_claim(claim, now_ms)
    if kept is None:
        if not world.store.replace_claim(claim, None, _OVER, now_ms, now_ms):  # an expired one may still be stored
            return  # a later start has just used the key
        kept = _OVER
    elif _run_of(kept) not in (run_id, None):
        return
    else:
        world.store.claim(hashed_claim(claim), kept, now_ms, now_ms + IDEMPOTENCY_KEY_LIFE_MS)
    world.store.release_claim(claim, kept)


def _run_of(claim: bytes) -> JSON:
    """The run that a claim names; None for a damaged one."""
    try:
        return json_object(claim, "claim.value", "").get("run")
    except Damaged:
        return None


def redact_audit(world: World, head: RunHead) -> None:
    """Replaces the people in the audit entries of a run by hashes, and drops comments and addresses. The entry of the erasure
    itself stays. Reads the audit log from the creation of the run on, MAX_REDACTED_AUDIT entries at most. May be repeated."""
    now_ms, cursor, read = world.clock.now_ms(), None, 0
    name = head.run_id.encode()
    while read < MAX_REDACTED_AUDIT:
        page = world.store.list_audit(now_ms, head.created_ms, now_ms + 1, limit=MAX_PAGE_ITEMS, cursor=cursor)
        for entry in page.items:
            if name in entry.body and (body := _redacted(entry, head.run_id)) is not None:
                world.store.put_audit(entry._replace(body=body), kept_until_ms(entry))
        cursor, read = page.cursor, read + len(page.items)
        if cursor is None:
            return


def _redacted(entry: AuditEntry, run_id: str) -> bytes | None:
    """The entry without people; None where there is nothing to change."""
    try:
        body: dict[str, JSON] = json_object(entry.body, "audit.body", "")
    except Damaged:
        return _NOTHING
    details = body.get("details")
    facts = details if isinstance(details, dict) else {}
    if body.get("target") != run_id or body.get("verb") == _ERASURE or "redacted" in facts:
        return None
    who = sha256(f"{run_id}\0{body.get('who', '')}".encode("utf-8", "surrogatepass")).hexdigest()
    kept = {fact: value for fact, value in facts.items() if fact in _KEPT_DETAILS}
    made = {name: value for name, value in body.items() if name != "source"}
    made |= {"who": f"erased:{who[:32]}", "details": {**kept, "redacted": True}}
    return json.dumps(made, separators=(",", ":")).encode()
