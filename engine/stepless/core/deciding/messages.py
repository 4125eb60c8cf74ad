"""Delivers messages to the nodes that wait for them (docs/understand/semantics.md#messages).

The rule has two halves, one for each order in which a message and its receiver may come:

* A message that arrives goes to the receiver that has waited longest, of those that wait for its name and whose `where` holds.
* A receiver that begins takes the oldest unread message of its name for which its `where` holds, and does not wait.

Both read the same two queues in the same order, and both run inside one decision, so no message is delivered twice, and no
receiver misses one that it could take. `where` is evaluated here and nowhere else. The log names the message that a node got,
and `fold` takes it from there: a later release that evaluates an expression differently reads an old log the same way.

A message that no node takes stays in the mailbox. It is not an error: a later node, or a later iteration of a loop, may take it.
"""

from __future__ import annotations

from collections.abc import Mapping

from stepless.core.deciding.ending import request_cancel
from stepless.core.deciding.settle import fail, processing
from stepless.core.decision import Decision
from stepless.core.events import EventType
from stepless.core.facts import Received
from stepless.core.mailbox import Mail
from stepless.core.state import MESSAGE, Instance
from stepless.core.values.inputs import merged_inputs
from stepless.core.values.reference_values import Reading, with_nulls
from stepless.errors import ExpressionError, SteplessError
from stepless.model.json import JSON
from stepless.model.kind import SOURCE


def take_message(decision: Decision, fact: Received) -> None:
    """Takes a message into the log, once. Delivers it to a node that waits for it, or cancels the run if the document says so. A
    run that is ending takes it and leaves it unread."""
    state = decision.state
    if state.mailbox.knows(fact.id):
        return
    data: dict[str, JSON] = {"id": fact.id, "name": fact.name, "data": fact.data, "at": fact.at_ms}
    if fact.key is not None:
        data["key"] = fact.key
    if fact.by is not None:
        data["by"] = fact.by
    decision.emit_run(EventType.MESSAGE_RECEIVED, data)
    if state.ending or state.halting:
        return
    if fact.name in state.graph.cancel_on:
        request_cancel(decision, fact.by, f"the message {fact.name} ({fact.id}) arrived")
        return
    mail = state.mailbox.unread[fact.name][fact.id]
    for instance in list(state.receivers.get(fact.name, {}).values()):
        try:
            fits = is_wanted(decision, instance, mail)
        except SteplessError as error:
            fail(decision, instance, processing(error.code, str(error)))
            continue
        if fits:
            deliver(decision, instance, mail)
            return


def wanted_by(decision: Decision, instance: Instance, name: str) -> Mail | None:
    """Returns the oldest unread message of this name that a receiver takes. Raises `SteplessError` if its `where` fails."""
    return next((mail for mail in decision.state.mailbox.of(name) if is_wanted(decision, instance, mail)), None)


def is_wanted(decision: Decision, instance: Instance, mail: Mail) -> bool:
    """Returns whether the `where` of a receiver holds for a message. Raises `SteplessError` if it cannot be evaluated."""
    where = instance.node.config.expressions.get("where")
    if where is None:
        return True
    state = decision.state
    reading = Reading(state, instance, merged_inputs(state, instance), decision.now_ms, decision.env, message=mail.data)
    try:
        return bool(where.evaluate(reading))
    except ExpressionError as error:
        message = f"`where` of {instance.id}: {with_nulls(error.message, reading.nulls)}"
        raise ExpressionError(message, source=error.source, offset=error.offset, code=error.code) from error
    finally:
        decision.spent += reading.spent


def deliver(decision: Decision, instance: Instance, mail: Mail) -> None:
    """Delivers a message to a receiver, which completes with it."""
    data: dict[str, JSON] = {"handle": SOURCE, "reason": MESSAGE, "name": mail.name, "message": mail.id}
    decision.emit(EventType.NODE_RESUMED, instance, data)


def output_of(mail: Mapping[str, JSON]) -> JSON:
    """Returns the output of a node that received a message, from its answer: the fields of the data, and the facts of the message
    as `message`. Data that is no object, or has a field `message` of its own, is whole under `data`."""
    data, facts = mail["data"], mail["facts"]
    if not isinstance(data, dict):
        return {"data": data, "message": facts}
    whole = {"data": data} if "message" in data else {}
    return {**data, **whole, "message": facts}
