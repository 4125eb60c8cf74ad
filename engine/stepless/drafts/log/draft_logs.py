"""Opens, edits and reads the logs of drafts in one process.

Any process may commit to any draft, and none owns one. What keeps them consistent is the condition of the append alone: an entry
is stored only if its number is free (`sequencing`). Everything that this object holds is therefore a cache. It keeps the drafts
that it used last in memory (`WarmDraft`), each with the state after the last entry that it has read, and trusts that no further
than the log: a commit that it did not know of takes the number that it was going to use, so its append fails, it reads the rest
and decides again.

* *An entry* may be decided over a state that is behind, because a wrong decision cannot be appended.
* *An answer* (`stale`, `forked`, …) is not appended, so nothing would catch a wrong one: before one is given, the end of the log
  is read (`known_end`).
* *An epoch* is fenced in the same way: to replace or discard a draft appends a last entry that closes its log. A process that has
  not heard of it fails at its next append and finds the closing entry there.
* *Locks* (`_gates`, the lock of a warm draft) only save work. Two processes share none, so correctness must not depend on them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Final, Generic

from stepless.drafts.log import checkpoints, sequencing
from stepless.drafts.log.editing import Editing, S
from stepless.drafts.log.entries import Answer, LogEntry
from stepless.drafts.log.heads import each_head, move, new_head, settle, successor
from stepless.drafts.log.opening import Opening
from stepless.drafts.log.records import Records, Storage, encoded
from stepless.drafts.log.warm_draft import WarmDraft
from stepless.drafts.rules.requests import EditRequest
from stepless.errors import Conflict, InvalidRequest, NotFound, Refused, StoreUnusable
from stepless.limits import DRAFT_READ_ITEMS, MAX_DRAFTS, MAX_WARM_DRAFTS, SEQUENCING_TRIES, SWEPT_CHECKPOINT_IDLE_MS
from stepless.model.json import JSON
from stepless.ports import Draft, DraftHead

_GATES: Final = 16  # locks under which drafts are opened: few wait for the opening of another draft


class DraftLogs(Generic[S]):
    """Safe to use from several threads. Every method may raise `StoreUnavailable`."""

    def __init__(self, storage: Storage, editing: Editing[S], opening: Opening[S] | None = None) -> None:
        self._storage = storage
        self._editing = editing
        self._opening = opening or Opening(storage, editing)
        self._drafts: OrderedDict[str, WarmDraft[S]] = OrderedDict()
        self._lock = Lock()
        self._gates = [Lock() for _ in range(_GATES)]

    # -- drafts -----------------------------------------------------------------------------------------------------

    def head(self, workflow_id: str) -> DraftHead:
        """Returns the head of an open draft. Raises `NotFound` (unknown_draft)."""
        head = self._storage.drafts.get_head(workflow_id)
        if head is None or not head.is_open:
            raise NotFound(f"there is no draft of {workflow_id}", code="unknown_draft", mend="open one, or look at the list")
        return head

    def open(self, workflow_id: str, origin: JSON, by: str, base: JSON = None) -> DraftHead:
        """Opens a draft, whose base is its origin unless another one is given; replaces one that is open. Of several that open
        a first draft at once, one succeeds, and all receive its head. Raises `Refused` (too_many_drafts), `Conflict`
        (draft_replaced, draft_busy)."""
        head, now_ms = self._storage.drafts.get_head(workflow_id), self._storage.clock.now_ms()
        if head is not None and head.is_open:
            return self._leave(head, new_head(workflow_id, head.epoch + 1, origin, by, now_ms, base))
        if sum(other.is_open for other in each_head(self._storage.drafts)) >= MAX_DRAFTS:
            raise Refused(f"{MAX_DRAFTS:,} drafts are open", code="too_many_drafts", mend="discard some")
        if head is not None:
            settle(self._storage, head)
        made = new_head(workflow_id, head.epoch + 1 if head else 1, origin, by, now_ms, base)
        stored = self._storage.drafts.put_head(made, head.epoch if head else None)
        return stored if stored is not None and stored.is_open else self.head(workflow_id)

    def discard(self, workflow_id: str, by: str) -> Draft:
        """Returns the discarded draft. Raises `NotFound` (unknown_draft), `Conflict` (draft_replaced, draft_busy)."""
        head = self.head(workflow_id)
        gone = new_head(workflow_id, head.epoch + 1, None, by, self._storage.clock.now_ms(), is_open=False)
        self._leave(head, gone)
        return head.draft

    def _leave(self, head: DraftHead, following: DraftHead) -> DraftHead:
        settle(self._storage, head)
        records, wanted, place = Records(self._storage, head.draft), successor(following), f"draft of {head.workflow_id}"
        closed = sequencing.close(records, head.checked, wanted, following.created_by, self._storage.clock)
        if isinstance(closed, Answer):
            raise Conflict("others keep changing the draft", code="draft_busy", place=place, mend="try again")
        moved = move(self._storage.drafts, head.draft, closed.closes)
        if closed.closes != wanted:
            message = "another request has discarded or replaced the draft first"
            raise Conflict(message, code="draft_replaced", place=place, mend="look at it, then try again")
        return moved or following

    # -- editing ----------------------------------------------------------------------------------------------------

    def commit(self, draft: Draft, request: EditRequest, by: str) -> LogEntry | Answer:
        """Returns the entry of a request: committed now, or before if this is a repeat. Otherwise why there is none:

        * `forked`: the client has sent another request with this `n`, or a later one, or it is another person's; it goes on as a
          new client. This is known for as long as the client is remembered, and beyond that from the entries behind its base;
        * `stale`: requests before this one are missing, or its base is out of the window, or more was typed since into the same
          texts than is transformed here; the client pulls and rebases;
        * `too_large`: to decide its operations together takes too long; the client sends fewer at once;
        * `replaced`: the epoch is closed, or is not the draft's;
        * `busy`: other processes committed first, SEQUENCING_TRIES times.

        After it, and after the entry was passed on to others, call `after`. Raises `NotFound` (unknown_draft).
        """
        if not request.client or request.n < 1 or request.base < 0:
            raise InvalidRequest("a request has a client, an `n` from 1 on and a `base` from 0 on", place="intent")
        warm = self._of_epoch(draft)
        if warm is None:
            return sequencing.REPLACED
        made: LogEntry | Answer = sequencing.BUSY
        with warm.lock:
            known_end = False
            for _ in range(SEQUENCING_TRIES):
                made = sequencing.entry_for(warm, request, by, self._storage.clock)
                if isinstance(made, Answer) and not known_end:
                    warm.catch_up()
                    known_end = True
                    made = sequencing.entry_for(warm, request, by, self._storage.clock)
                if isinstance(made, Answer) or made.seq <= warm.seq:
                    break
                if warm.records.append(made):
                    warm.take(made)
                    break
                warm.catch_up()
                known_end = True
            else:
                made = sequencing.BUSY
        if warm.closes is not None:
            self._move(warm)
        return made

    def after(self, draft: Draft, seq: int) -> None:
        """Does what is due after an entry that this process has committed: a checkpoint, a state. It never fails because of what
        others do at the same time, and to skip it costs only time."""
        with self._lock:
            warm = self._drafts.get(draft.workflow_id)
        if warm is None or warm.draft != draft:
            return
        if checkpoints.is_milestone(seq):
            checkpoints.keep_state(warm)
        if checkpoints.is_due(warm):
            checkpoints.checkpoint(warm, self._storage)

    def current(self, workflow_id: str) -> WarmDraft[S]:
        """Returns the draft at the end of its log. Raises `NotFound` (unknown_draft)."""
        for _ in range(SEQUENCING_TRIES):
            warm = self._warm(workflow_id) or self._warmed(self.head(workflow_id))
            warm.catch_up()
            if warm.closes is None:
                return warm
            self._move(warm)
        raise Conflict("others keep replacing the draft", code="draft_busy", place=f"draft of {workflow_id}", mend="try again")

    def opened(self, head: DraftHead) -> WarmDraft[S]:
        """Returns the warm draft of an epoch, for a reader who changes nothing. Raises `Damaged` (draft_damaged)."""
        return self._opening.open(head)

    def entries(self, draft: Draft, after: int, limit: int) -> Sequence[LogEntry]:
        """Returns the first entries above `after`, whether the epoch is open or not. Those that have expired are missing."""
        return Records(self._storage, draft).some_entries(after, limit)

    def state_at(self, head: DraftHead, seq: int) -> S:
        """Returns the state after an entry, folded from the nearest kept one. Raises `NotFound` (unknown_item) if the log does
        not reach from there to it."""
        records = Records(self._storage, head.draft)
        kept = records.nearest_state(seq)
        at, entities = kept or (0, dict(self._opening.origin(head)))
        state = self._editing.begin(entities.items())
        while at < seq:
            entries = records.some_entries(at, min(seq - at, DRAFT_READ_ITEMS))
            if [entry.seq for entry in entries] != [*range(at + 1, at + 1 + len(entries))] or not entries:
                raise NotFound(f"the log has no item {at + 1:,}", code="unknown_item", place=f"draft of {head.workflow_id}")
            for entry in entries:
                with records.folding(entry.seq):
                    self._editing.fold(state, entry.effects)
            at = entries[-1].seq
        return state

    def keep_state(self, workflow_id: str) -> int:
        """Keeps the whole state as of the end of the log; returns the entry."""
        return checkpoints.keep_state(self.current(workflow_id))

    def keep_state_at(self, draft: Draft, seq: int, state: S) -> None:
        """Keeps a state that `state_at` has made, as at publication."""
        Records(self._storage, draft).put_state(seq, self._editing.entities(state))

    def move_base(self, head: DraftHead, base: JSON) -> bool:
        """Replaces the base that the head has. False, and no change, if it is another one by now, or of another epoch."""
        return self._storage.drafts.move_base(head.draft, head.base, encoded(base))

    def begin(self, entities: Iterable[tuple[str, JSON]]) -> S:
        """Returns a state of these entities."""
        return self._editing.begin(entities)

    # -- upkeep -----------------------------------------------------------------------------------------------------

    def checkpoint(self, workflow_id: str) -> None:
        """Checks a draft to the end of its log, as when the last person leaves. Raises `NotFound` (unknown_draft)."""
        checkpoints.checkpoint(self.current(workflow_id), self._storage)

    def sweep(self, idle_ms: int = SWEPT_CHECKPOINT_IDLE_MS, until_ms: int | None = None) -> None:
        """Checks every draft whose last entry is unchecked for `idle_ms`, and completes what was interrupted: heads that a closed
        log names, expiries of epochs that were left. Stops between two drafts when the clock shows `until_ms`. Raises the error
        of the first draft that cannot be read, after all others."""
        failed: StoreUnusable | None = None
        for head in each_head(self._storage.drafts):
            if until_ms is not None and self._storage.clock.now_ms() >= until_ms:
                break
            try:
                settle(self._storage, head)
                if head.is_open:
                    self._complete(head, self._storage.clock.now_ms() - idle_ms)
            except StoreUnusable as error:
                failed = failed or error
        self._storage.drafts.forget_expired(self._storage.clock.now_ms())
        if failed is not None:
            raise failed

    def _complete(self, head: DraftHead, idle_since_ms: int) -> None:
        last = Records(self._storage, head.draft).last_entry()
        if last is None:
            return
        if last.closes is not None:
            move(self._storage.drafts, head.draft, last.closes)
        elif last.seq > head.checked and last.at_ms <= idle_since_ms:
            warm = self._warmed(head)
            warm.catch_up()
            checkpoints.checkpoint(warm, self._storage)

    # -- warm drafts ------------------------------------------------------------------------------------------------------

    def _of_epoch(self, draft: Draft) -> WarmDraft[S] | None:
        """The warm draft of this epoch; None if the draft is of another. Reads nothing for a draft that is in memory."""
        warm = self._warm(draft.workflow_id)
        if warm is not None and warm.draft == draft:
            return warm
        head = self.head(draft.workflow_id)
        return self._warmed(head) if head.draft == draft else None

    def _warm(self, workflow_id: str) -> WarmDraft[S] | None:
        with self._lock:
            warm = self._drafts.get(workflow_id)
            if warm is not None:
                self._drafts.move_to_end(workflow_id)
            return warm

    def _warmed(self, head: DraftHead) -> WarmDraft[S]:
        """The warm draft of this epoch. Many who come at once after a start open it once."""
        with self._gates[hash(head.workflow_id) % _GATES]:
            warm = self._warm(head.workflow_id)
            if warm is not None and warm.draft == head.draft:
                return warm
            warm = self._opening.open(head)
            with self._lock:
                self._drafts[head.workflow_id] = warm
                self._drafts.move_to_end(head.workflow_id)
                if len(self._drafts) > MAX_WARM_DRAFTS:
                    self._drafts.popitem(last=False)
            return warm

    def _move(self, warm: WarmDraft[S]) -> None:
        """Forgets a closed draft, and puts the head that its last entry names."""
        with self._lock:
            if self._drafts.get(warm.draft.workflow_id) is warm:
                del self._drafts[warm.draft.workflow_id]
        move(self._storage.drafts, warm.draft, warm.closes)
