"""Describes each call of the API: what it sends, what repeats it, and what its answer means.

Nothing here does I/O. Each method is a generator of the steps of `exchange`; `clients` makes a method of each client from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import inf
from secrets import token_hex
from typing import Any, Final, Literal, Unpack, cast

from stepless.client.contract import (
    DecisionOut,
    DeliveredOut,
    EventOut,
    EventsOut,
    RunFilters,
    RunHeadOut,
    RunOut,
    RunsOut,
    StartedOut,
)
from stepless.client.errors import Conflict, InvalidSetting, StillRunning, no_stepless
from stepless.client.exchange import Emit, Items, Lost, Open, Opened, Pause, Read, Reply, Request, Send, Steps
from stepless.client.retrying import Effect, Terms, Tries
from stepless.client.streaming import MEDIA_TYPE, Feed
from stepless.limits import (
    DEFAULT_PAGE_ITEMS,
    MAX_IDEMPOTENCY_KEY_CHARACTERS,
    MAX_LONG_POLL_MS,
    MAX_PAGE_ITEMS,
    POLL_FIRST_MS,
    POLL_LAST_MS,
)

RUN_ENDS: Final = frozenset({"run.completed", "run.failed", "run.cancelled", "run.timed_out"})  # nothing follows them in a log
_CHANGES: Final = frozenset({"run.status.changed", "node.waiting"})  # a run that waits for a time may go on to an answer


class Calls:
    """The calls of one client, under its terms."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    # -- runs ---------------------------------------------------------------------------------------------------------

    def start(
        self, workflow: str, inputs: Any = None, *, key: str | float | None = None, delay: str | None = None,
        at: str | None = None, idempotency_key: str | None = None, entry: str | Sequence[str] | None = None,
        keywords: Sequence[str] = (), check: bool = False, wait_s: float = 0,
    ) -> Steps[StartedOut]:  # fmt: skip
        """Starts a run of the newest version of a workflow. `key` is the key of the run, in place of the value of the
        workflow's own `key`: a live run of the key is joined, kept or replaced, as its `on_conflict` says. The run begins after
        `delay`, like `5m`, or `at` an instant like `2026-01-31T12:00:00Z`. For 24 hours, a start with the same
        `idempotency_key` returns the same run, and says `replay`. Without it, the client makes one for this call, so that it
        starts one run however often it is tried. `entry` names the entries to start at instead of all. `keywords` are words to
        search the run by. With `check`, inputs that do not fit are refused; without it, the run fails. With `wait_s`, up to 20,
        the answer may have the `outcome`, or the `pauses` that the run waits in."""
        once = _checked_key(idempotency_key) if idempotency_key is not None else token_hex(16)
        entries = entry if isinstance(entry, str | None) else [*entry]
        body = _given(inputs=inputs, key=key, delay=delay, at=at, entry=entries, keywords=[*keywords] or None)
        headers = {"idempotency-key": once, **(_preferring(wait_s) if wait_s else {})}
        query = {"check": "inputs"} if check else None
        request = Request("POST", ("workflows", workflow, "runs"), query, body, headers, wait_s)
        started: StartedOut = yield from self._json(request, Tries(self._terms, Effect.ONE, key=once))
        return started

    def send(
        self, workflow: str, message: str, data: Any = None, *, key: str | float, keep: str | None = None, start: bool = False,
        inputs: Any = None, id: str | None = None,
    ) -> Steps[DeliveredOut]:  # fmt: skip
        """Sends a message to the runs of a workflow that answer to a key. `id` is the id of the message, which each run receives
        once; without it, the client makes one for this call. With `keep`, like `1h`, the message waits for runs that begin to
        answer to the key. With `start`, exactly one run of the key receives it: the live one, or a new one, which starts with
        `inputs`, or with the data. Raises `NotFound` (no_receiver) if nobody is to have it."""
        begins = _given(start="true" if start else None, inputs=None if inputs is None else json.dumps(inputs))
        query = {"key": str(key), **_given(keep=keep), **begins}
        return (yield from self._message(("workflows", workflow), message, data, query, id))

    def send_to_run(self, run_id: str, message: str, data: Any = None, *, id: str | None = None) -> Steps[DeliveredOut]:
        """Sends a message to one run; `id` as in `send`. Raises `Gone` (run_ended) if the run has ended."""
        return (yield from self._message(("runs", run_id), message, data, None, id))

    def _message(
        self, of: tuple[str, str], message: str, data: Any, query: Mapping[str, str] | None, id: str | None
    ) -> Steps[DeliveredOut]:
        once = _checked_key(id) if id is not None else token_hex(16)
        request = Request("POST", (*of, "messages", message), query, data, {"idempotency-key": once})
        sent: DeliveredOut = yield from self._json(request, Tries(self._terms, Effect.ONE, key=once))
        return sent

    def get(self, run_id: str) -> Steps[RunOut]:
        """Returns the current state of a run. With the role `approve`, its `pauses` have the links that answer them."""
        run: RunOut = yield from self._json(Request("GET", ("runs", run_id)), Tries(self._terms))
        return run

    def wait(
        self, run_id: str, *, until: Literal["paused", "ended"] = "paused", timeout_s: float | None = None
    ) -> Steps[RunOut]:
        """Waits until the run has ended, or is paused and waits for an answer; with `until="ended"`, only for the end. Timers,
        retries, child runs and limits need nobody, so it waits through them, and through an operator's hold. Raises
        `StillRunning` after `timeout_s`."""
        end = inf if timeout_s is None else self._terms.now() + timeout_s
        pause_s = POLL_FIRST_MS / 1000
        run = yield from self._run(run_id, end)
        after = run["sequence"]
        while not _is_over(run, until):
            began = self._terms.now()
            if began >= end:
                raise StillRunning(run, timeout_s or 0)
            page = yield from self._page(run_id, after, end)
            if page["ended"] or any(event["type"] in _CHANGES for event in page["events"]):
                run = yield from self._run(run_id, end)
            after = max(page["cursor"], run["sequence"])
            if self._terms.now() - began >= POLL_LAST_MS / 1000:
                pause_s = POLL_FIRST_MS / 1000
            elif not _is_over(run, until):  # a busy run has a new event at once: it is asked about less and less often
                yield Pause(max(0.0, min(pause_s, end - self._terms.now())))
                pause_s = min(2 * pause_s, POLL_LAST_MS / 1000)
        return run

    def runs(self, *, limit: int | None = None, **filters: Unpack[RunFilters]) -> Items[RunHeadOut]:
        """Lists the runs that match all filters, newest first, at most `limit`. Pages are read as they are needed."""
        left, cursor = limit if limit is not None else inf, None
        given = _given(**filters)
        while left > 0:
            query = {**given, "limit": int(min(left, DEFAULT_PAGE_ITEMS if limit is None else MAX_PAGE_ITEMS))}
            request = Request("GET", ("runs",), {**query, **_given(cursor=cursor)})
            page: RunsOut = yield from self._json(request, Tries(self._terms))
            for run in page["runs"]:
                yield Emit(run)
            left, cursor = left - len(page["runs"]), page["cursor"]
            if cursor is None:
                return

    def events(self, run_id: str, *, after: int = 0) -> Items[EventOut]:
        """Follows the events of a run until its end: those after the event `after`, each once and in order, and then each as it
        happens. After a lost connection it continues behind the last event that it had."""
        tries, feed = Tries(self._terms), Feed(after)
        while True:
            outcome = yield Open(_following(run_id, feed.after))
            if isinstance(outcome, Reply) and outcome.status == 204:
                return
            if isinstance(outcome, Reply) and outcome.status < 300:
                raise no_stepless(outcome.status, outcome.headers)
            feed.reopen()
            while isinstance(outcome, Opened | bytes):
                outcome = yield Read()
                for event in feed.events(outcome) if isinstance(outcome, bytes) else ():
                    yield Emit(event)
                    if event["type"] in RUN_ENDS:
                        return
                if feed.has_brought:
                    tries.renew()
            if outcome is None and not feed.has_brought:
                outcome = Lost("the stream ended before it brought anything", True)
            yield Pause(feed.retry_s if outcome is None else tries.delay_after(outcome))

    # -- changing runs ------------------------------------------------------------------------------------------------

    def answer(
        self, run_id: str, pause: str, decision: str | None = None, answer: Mapping[str, Any] | None = None, *,
        by: str | None = None, comment: str | None = None,
    ) -> Steps[DecisionOut]:  # fmt: skip
        """Answers a question of a run, once. Needs a key with the role `approve`. `decision` is one of the exits of the pause;
        without it, the only one. `answer` has its fields, and `by` names the person who decided. Raises `Conflict` if the pause
        was already answered; its `first` is that decision."""
        body = _given(decision=decision, answer=answer, by=by, comment=comment)
        tries = Tries(self._terms, Effect.ONE)
        try:
            decided: DecisionOut = yield from self._json(
                Request("POST", ("runs", run_id, "pauses", pause, "answer"), body=body), tries
            )
        except Conflict as error:
            first = error.first
            if first is None or not tries.maybe_received or not _is_same(first, decision, answer):
                raise
            return first
        return decided

    def cancel(self, run_id: str, *, by: str | None = None, reason: str | None = None) -> Steps[None]:
        """Requests the cancellation of a run. It returns when the request is stored; the run ends within about a second. A
        repeated request has no further effect. Raises `Conflict` if the run had ended."""
        tries = Tries(self._terms, Effect.ONE)
        try:
            yield from self._sent(Request("POST", ("runs", run_id, "cancel"), body=_given(by=by, reason=reason)), tries)
        except Conflict as error:
            if not tries.maybe_received or error.problem.get("run_status") != "cancelled":
                raise

    def rerun(
        self, run_id: str, *, from_: str | None = None, inputs: Any = None, again: bool = True, by: str | None = None,
        reason: str | None = None, items: Literal["failed"] | Sequence[int] | None = None,
    ) -> Steps[StartedOut]:  # fmt: skip
        """Starts a new run of the same version that takes over outcomes of this one. `from_` is where it begins: `failed`, a
        node, or an instance; without it, at the start. Of a `distributed` node in `from_`, only `items` run again. `inputs`
        replace the former ones. With `again=False`, a run that was rerun already is refused: `Conflict` (rerun_already). A rerun
        has no idempotency key, so a call that the server may have received is not tried again: `OutcomeUnknown`."""
        body = {**_given(inputs=inputs, by=by, reason=reason, items=items, **{"from": from_}), "again": again}
        request = Request("POST", ("runs", run_id, "rerun"), body=body)
        started: StartedOut = yield from self._json(request, Tries(self._terms, Effect.EACH))
        return started

    # -- sending ------------------------------------------------------------------------------------------------------

    def _run(self, run_id: str, end: float) -> Steps[RunOut]:
        run: RunOut = yield from self._json(Request("GET", ("runs", run_id)), self._until(end))
        return run

    def _page(self, run_id: str, after: int, end: float) -> Steps[EventsOut]:
        """The events after `after`, as soon as there is one; none at `end`."""
        wait_s = int(min(MAX_LONG_POLL_MS / 1000, end - self._terms.now()))
        query, headers = {"afterEventId": after}, _preferring(wait_s)
        page: EventsOut = yield from self._json(
            Request("GET", ("runs", run_id, "events"), query, None, headers, wait_s), self._until(end)
        )
        return page

    def _until(self, end: float) -> Tries:
        return Tries(self._terms, within_s=end - self._terms.now())

    def _json(self, request: Request, tries: Tries) -> Steps[Any]:
        """The JSON of the response."""
        reply = yield from self._sent(request, tries)
        if not reply.headers.get("content-type", "").startswith("application/json"):
            raise no_stepless(reply.status, reply.headers)
        try:
            return json.loads(reply.body)
        except ValueError as error:
            raise no_stepless(reply.status, reply.headers) from error

    def _sent(self, request: Request, tries: Tries) -> Steps[Reply]:
        """The response, after as many tries as it takes. Raises a `ClientError`."""
        while True:
            outcome = cast("Reply | Lost", (yield Send(request)))
            if isinstance(outcome, Reply) and outcome.status < 300:
                return outcome
            yield Pause(tries.delay_after(outcome))


def _following(run_id: str, after: int) -> Request:
    return Request("GET", ("runs", run_id, "events"), headers={"accept": MEDIA_TYPE, "last-event-id": str(after)})


def _is_over(run: RunOut, until: str) -> bool:
    waits = run["status"] == "paused" and run["held"] is None and "answer" in run["waiting"]
    return run["ended_at"] is not None or (until == "paused" and waits)


def _is_same(first: DecisionOut, decision: str | None, answer: Mapping[str, Any] | None) -> bool:
    """Whether the first decision of a pause is the one that this call has sent."""
    stored = first["answer"] if isinstance(first["answer"], dict) else {}
    return decision in (None, first["decision"]) and all(stored.get(name) == value for name, value in (answer or {}).items())


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _preferring(wait_s: float) -> dict[str, str]:
    return {"prefer": f"wait={int(wait_s)}"}


def _checked_key(key: str) -> str:
    if not (0 < len(key) <= MAX_IDEMPOTENCY_KEY_CHARACTERS and key.isascii() and key.isprintable() and key.strip() == key):
        mend = f"use 1 to {MAX_IDEMPOTENCY_KEY_CHARACTERS} printable ASCII characters, for example a hash of what is longer"
        raise InvalidSetting("this cannot be an idempotency key", code="invalid_idempotency_key", place="key", mend=mend)
    return key
