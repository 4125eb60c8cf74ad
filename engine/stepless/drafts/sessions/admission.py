"""Decides who joins a draft session, what they may do now, and what becomes of an edit. The same for the server on one machine
and for the functions on AWS. Loads no web framework."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping
from time import monotonic

from stepless.drafts.log.entries import Answer
from stepless.drafts.sessions.bounds import Bounds
from stepless.drafts.sessions.closing import LOGIN_OVER, MALFORMED, ROLE_LOST, TOO_MUCH, Closing
from stepless.drafts.sessions.messages import Hello
from stepless.drafts.sessions.pace import Paces
from stepless.errors import InvalidRequest, TransientError
from stepless.limits import BUSY_RETRY_MS, MAX_PACED_CLIENTS, OTHERS_HEARD_S
from stepless.ports import Draft
from stepless.runtime.access.roles import Role
from stepless.runtime.access.tickets import Visitor


def check_entry(hello: Hello, person: str, held: str | None, people: int, bounds: Bounds) -> None:
    """Checks whether a client may take a seat: `held` is the person who has one under this client id, `people` are all who have
    one. Raises `Closing`."""
    if held is not None and held != person:
        raise Closing(ROLE_LOST, "another person has this client id")
    if held is None and people >= bounds.people:
        raise Closing(TOO_MUCH, f"{bounds.people} people are here already: follow the draft over HTTP")


def check_standing(visitor: Visitor, roles: Collection[Role], now_ms: int) -> None:
    """Checks whether a person may stay, with the roles that they have now. Raises `Closing`."""
    if visitor.until_ms is not None and now_ms >= visitor.until_ms:
        raise Closing(LOGIN_OVER, "the login has ended: sign in again")
    if Role.READ not in roles:
        raise Closing(ROLE_LOST, "the API key was removed")


def forbidden(roles: Collection[Role]) -> Answer | None:
    """Returns the answer to every request of a person who may only read."""
    return None if Role.EDIT in roles else Answer("forbidden")


def not_committed(error: Exception) -> Answer:
    """Returns the answer to a request that failed: `busy` where it may be sent again. Raises `Closing` for a malformed one, and
    every other error again."""
    if isinstance(error, InvalidRequest):
        raise Closing(MALFORMED, f"{error.place}: {error.message}") from error
    if isinstance(error, TransientError):
        return Answer("busy", error.facts.get("retry_after_ms", BUSY_RETRY_MS))
    raise error


class Intake:
    """How often people may edit, in one process. While others edit a draft too, one person leaves them a part of what all may do
    there, whatever number of clients that person has."""

    def __init__(self, bounds: Bounds) -> None:
        self._of_client = Paces(bounds.ops_per_s)
        self._of_person = Paces(max(bounds.ops_per_s, bounds.session_ops_per_s - bounds.ops_per_s))
        self._of_draft = Paces(bounds.session_ops_per_s)
        self._heard: OrderedDict[str, dict[str, float]] = OrderedDict()

    def too_soon(self, draft: Draft, by: str, message: Mapping[str, object]) -> Answer | None:
        """Returns the answer `rate` if the client, the person, or everyone in the draft, has sent too much in this second."""
        client, workflow_id = str(message.get("client")), draft.workflow_id
        others = self._others(workflow_id, by)
        wait_ms = (
            self._of_client.wait_ms(workflow_id, by, client)
            or (self._of_person.wait_ms(workflow_id, by) if others else 0)
            or self._of_draft.wait_ms(workflow_id)
        )
        return Answer("rate", wait_ms) if wait_ms else None

    def _others(self, workflow_id: str, by: str) -> bool:
        """Whether another person has edited lately. Of each draft the last two people are remembered."""
        heard = self._heard.setdefault(workflow_id, {})
        self._heard.move_to_end(workflow_id)
        if len(self._heard) > MAX_PACED_CLIENTS:
            self._heard.popitem(last=False)
        now = monotonic()
        heard.pop(by, None)
        others = any(now - at < OTHERS_HEARD_S for at in heard.values())
        heard[by] = now
        if len(heard) > 2:
            del heard[next(iter(heard))]
        return others
