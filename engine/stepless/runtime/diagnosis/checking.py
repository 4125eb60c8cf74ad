"""Checks a whole store: each record by itself, then each workflow, run and draft as a whole. Linear in what is stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from stepless.compile.stored import compile_stored, is_intact
from stepless.core.limits.slots import intact_positions
from stepless.core.state import State
from stepless.core.stored.snapshot import decode_state
from stepless.errors import Damaged, DamagedLog, LogUnreadable, NewerLog, SteplessError
from stepless.limits import MAX_DIAGNOSES
from stepless.model.runs.tally import is_tally
from stepless.model.stored.damage import FAULTS, Damage, damage_in, told_by, why_of
from stepless.model.stored.packing import unpack
from stepless.model.stored.version_metadata import attached_damage
from stepless.model.texts.ids import is_slug
from stepless.ports import ERASED, SHARD, AuditEntry, Inspection, Record, RunHead, Signal, StoredVersion
from stepless.runtime.access.audit import read_entry
from stepless.runtime.diagnosis.claims import claim_fault, newest_keys
from stepless.runtime.diagnosis.findings import OTHER, RESTORE, RULES, Diagnosis
from stepless.runtime.exporting.cursors import decode as decode_cursors
from stepless.runtime.header_notes import damage_of, inputs_of
from stepless.runtime.inbox import check_signal_body
from stepless.runtime.runlog import RunLog
from stepless.runtime.shards.records import check_records
from stepless.runtime.verbs.reads.inspecting import graph_of
from stepless.runtime.world import World

_WAITS: Final = re.compile(r"(failed:.+|([a-z]+( [a-z]+)*)?)")
_OWNER: Final = re.compile(r"[-+]|[A-Za-z0-9-]{8,}")
_EPOCH_KEY: Final = re.compile(r"[a-z0-9-]+#\d+")
_OF_RUN: Final = frozenset({"inbox", "snapshot", "log_number"})  # records that belong to a run
DraftCheck = Callable[[World], Iterator[Diagnosis]]


@dataclass
class Seen:
    """What the records name, for what they say of each other."""

    runs: set[str] = field(default_factory=set)
    workflows: set[str] = field(default_factory=set)
    versions: set[tuple[str, int]] = field(default_factory=set)
    logs: set[int] = field(default_factory=set)
    keys: dict[str, bytes] = field(default_factory=dict)  # the claims with API keys
    named: list[tuple[str, str, str]] = field(default_factory=list)  # table, key, the run or workflow that it names


def diagnose(world: World, inspection: Inspection, check_drafts: DraftCheck) -> Iterator[Diagnosis]:
    """Yields everything that is damaged, at most MAX_DIAGNOSES, each place once. `check_drafts` yields what is damaged in the
    drafts."""
    told = set[str]()
    for found in _all(world, inspection, check_drafts):
        if found.place not in told:
            told.add(found.place)
            yield found
            if len(told) == MAX_DIAGNOSES:
                return


def _all(world: World, inspection: Inspection, check_drafts: DraftCheck) -> Iterator[Diagnosis]:
    seen = Seen()
    for damage in inspection.faults():
        yield Diagnosis(damage.place, damage.why, "whatever is stored there", damage.mend or RESTORE)
    for record in inspection.records():
        rule = RULES.get(record.table, OTHER)
        yield from (rule.of(damage, record.key) for damage in record.faults)
        _note(record, seen)
        if not record.faults:
            yield from (rule.of(damage, record.key) for damage in _content(record))
            if record.table == "claim" and not record.key.startswith("api-keys:"):
                found = claim_fault(record.key, record.parts["value"])
                yield from () if found is None else (found,)
    yield from _keys(seen)
    yield from _names(seen)
    for number, workflow_id in sorted((number, workflow_id) for workflow_id, number in seen.versions):
        yield from _version(world, workflow_id, number)
    for run_id in sorted(seen.runs):
        yield from _run(world, run_id)
    yield from check_drafts(world)


def _note(record: Record, seen: Seen) -> None:
    parts, table = record.parts, record.table
    if table == "run" and isinstance(parts.get("run_id"), str):
        seen.runs.add(parts["run_id"])
    elif table == "version" and isinstance(parts.get("workflow_id"), str) and isinstance(parts.get("number"), int):
        seen.versions.add((parts["workflow_id"], parts["number"]))
        seen.workflows.add(parts["workflow_id"])
    elif table in _OF_RUN and isinstance(parts.get("run_id"), str):
        seen.named.append((table, record.key, parts["run_id"]))
        if table == "log_number":
            seen.logs.add(parts["number"])
    elif table == "batch" and isinstance(parts.get("key"), int):
        seen.named.append((table, record.key, str(parts["key"] >> 32)))
    elif table in ("workflow", "entry") and isinstance(parts.get("workflow_id"), str):
        seen.named.append((table, record.key, parts["workflow_id"]))
    elif table == "claim" and record.key.startswith("api-keys:"):
        seen.keys[record.key] = parts["value"] if isinstance(parts.get("value"), bytes) else b""


# -- one record by itself ------------------------------------------------------------------------------------------------


def _content(record: Record) -> Iterator[Damage]:
    """What is damaged in a record whose parts have the right types."""
    check = _CHECKS.get(record.table)
    if check is None:
        return
    try:
        found = check(record.parts)
    except Damaged as error:
        found = damage_in(error, record.table)
    except FAULTS as error:
        found = Damage(f"{record.table}.{_CONTENT.get(record.table, '')} of {record.key}", why_of(error))
    if found is not None:
        yield found


def _audit(parts: Mapping[str, Any]) -> Damage | None:
    return read_entry(AuditEntry(parts["at_ms"], parts["id"], parts["body"])).damage


def _signal(parts: Mapping[str, Any]) -> Damage | None:
    check_signal_body(Signal(parts["kind"], parts["identity"], parts["body"], parts["created_ms"]))
    return None


def _packed(parts: Mapping[str, Any]) -> Damage | None:
    if not _EPOCH_KEY.fullmatch(parts["room"]):
        raise Damaged("it names no draft", place=f"the room {parts['room']!r}", mend=RESTORE)
    data = parts["data"] if "data" in parts else parts["value"]
    if data is not None and data[:1] != b"@":  # else it is the key of a blob
        found = unpack(data)
        wanted = (dict, list) if str(parts.get("key", "")).startswith("last/") else dict
        if not isinstance(found, wanted):
            raise ValueError(f"it is a {type(found).__name__}")
    return None


def _blob(parts: Mapping[str, Any]) -> Damage | None:
    if sha256(parts["data"]).hexdigest() != parts["hash"].rpartition("/")[2]:
        raise ValueError("its bytes are not those with this hash")
    return None


def _place(parts: Mapping[str, Any]) -> Damage | None:
    if not intact_positions([parts["place"]]):
        raise ValueError("it is no place in a line")
    return None


def _workflow_id(parts: Mapping[str, Any]) -> Damage | None:
    if not is_slug(parts["workflow_id"]):
        raise ValueError("it is no id of a workflow")
    return None


_CHECKS: Final[Mapping[str, Callable[[Mapping[str, Any]], Damage | None]]] = {
    "audit": _audit, "inbox": _signal, "op": _packed, "entity": _packed, "state": _packed, "blob": _blob, "line": _place,
    "workflow": _workflow_id, "entry": _workflow_id,
}  # fmt: skip
_CONTENT: Final = {"op": "data", "entity": "value", "state": "data", "blob": "data", "line": "place", "inbox": "body",
                   "workflow": "workflow_id", "entry": "workflow_id"}  # fmt: skip


# -- what they say of each other -----------------------------------------------------------------------------------------


def _keys(seen: Seen) -> Iterator[Diagnosis]:
    if seen.keys:
        for one in newest_keys(seen.keys):
            yield Diagnosis(one.place, one.why, "API keys of this value: they are refused", one.mend)


def _names(seen: Seen) -> Iterator[Diagnosis]:
    """Records of runs and workflows that do not exist: the key of one of the two is damaged."""
    for table, key, name in seen.named:
        if table == "batch":
            known = int(name) in seen.logs
        else:
            known = name in (seen.runs if table in _OF_RUN else seen.workflows)
        if not known:
            what = "log" if table == "batch" else "run" if table in _OF_RUN else "workflow"
            yield RULES[table].of(Damage(f"{table} of {key}", f"it belongs to a {what} that does not exist: {name:.80}"), key)


def _version(world: World, workflow_id: str, number: int) -> Iterator[Diagnosis]:
    rule, key = RULES["version"], f"{workflow_id}/{number}"
    version = world.store.get_version(workflow_id, number)
    if version is None:
        return
    damage = _document_fault(world, version)
    if damage is not None:
        yield rule.of(damage, key)
    attached = attached_damage(world.store.get_attached(workflow_id, number), f"version.attached of {key}")
    if attached is not None:
        yield Diagnosis(attached.place, attached.why, f"the text of {key}; its runs do not need it", attached.mend)


def _document_fault(world: World, version: StoredVersion) -> Damage | None:
    place = f"version.document of {version.workflow_id}/{version.number}"
    try:
        compile_stored(version.document, version.hash, world.kinds)
    except NewerLog:
        return None
    except DamagedLog as error:
        told = told_by(version.document)
        return Damage(told.place if told else place, error.why)
    if is_intact(version.document, version.hash):
        return None
    return Damage(place, "it is not the document with this hash, or the hash is damaged")


def _run(world: World, run_id: str) -> Iterator[Diagnosis]:
    head = world.store.get_run(run_id)
    if head is None:
        return
    rule = RULES["run"]
    damage = damage_of(head)
    if damage is not None:
        yield rule.of(damage, run_id)
    if head.status == ERASED:
        return
    yield from (rule.of(Damage(f"run.{name} of {run_id}", why), run_id) for name, why in _words(head))
    try:
        inputs_of(head)
    except DamagedLog as error:
        yield rule.of(Damage(error.place, error.why), run_id)
    if damage is None:
        yield from _log(world, head)


def _words(head: RunHead) -> Iterator[tuple[str, str]]:
    """The columns of a header whose damage stops no run: what it costs, what it waits for, what was exported."""
    if head.spent and told_by(head.meta) is None and not is_tally(head.spent):
        yield "spent", "it is no tally"
    if not _WAITS.fullmatch(head.waits):
        yield "waits", "it is no list of words"
    if len(decode_cursors(head.exported)) != len(head.exported.split()):
        yield "exported", "it is no list of cursors"
    if head.owner is not None and not _OWNER.fullmatch(head.owner):
        yield "owner", "it is no owner of a lease"


def _log(world: World, head: RunHead) -> Iterator[Diagnosis]:
    """Folds the whole log, with its values, and compares its end with the header and the snapshot."""
    log = RunLog(world.store, world.blobs, head.run_id)
    try:
        if head.run_id.startswith(SHARD):
            check_records(world, head)
            return
        state = State(graph_of(world, head), head.run_id)
        log.catch_up(state)
        log.check_end(state.sequence, head.sequence)
    except NewerLog:
        return
    except LogUnreadable as error:
        place = error.place if error.code == "damaged" else f"log of {error.place}"
        yield Diagnosis(place, error.why, RULES["log"].affects.format(key=head.run_id), error.mend)
        return
    snapshot = world.store.get_snapshot(head.run_id)
    if snapshot is None:
        return
    fault = ""
    try:
        found = decode_state(snapshot[1], state.graph, head.run_id)
        if found is None:
            told = told_by(snapshot[1])
            fault = told.why if told else "it cannot be decoded"
        elif snapshot[0] > state.sequence or found.sequence != snapshot[0]:
            fault = f"it is of event {snapshot[0]:,}, its state of {found.sequence:,}, and the log ends at {state.sequence:,}"
    except (SteplessError, *FAULTS) as error:
        fault = why_of(error)
    if fault:
        yield RULES["snapshot"].of(Damage(f"snapshot of {head.run_id}", fault), head.run_id)
