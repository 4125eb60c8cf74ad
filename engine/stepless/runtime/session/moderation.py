"""Moderation: a gate before and after a node's work. Closed when it cannot be asked, unless the author says otherwise."""

from __future__ import annotations

import asyncio

from stepless.errors import SteplessError
from stepless.model.graph import Node
from stepless.model.json import JSON
from stepless.model.work import NodeFailure
from stepless.ports import Moderator


class FunctionModerator:
    """A registered function as the moderator: it is given `phase` and `value`, and answers a reason or None."""

    def __init__(self, name: str) -> None:
        self._name = name

    def review(self, phase: str, value: JSON) -> str | None:
        """See `Moderator.review`. Whatever the function raises means that nobody could tell."""
        from stepless.nodes.function.registry import find

        try:
            reason = find(self._name).callable(phase=phase, value=value)
        except Exception as error:
            raise SteplessError(f"{self._name} raised {type(error).__name__}: {error}", mend="mend the moderator") from error
        if reason is not None and not isinstance(reason, str):
            raise SteplessError(f"{self._name} answered neither a reason nor nothing", mend="return text or None")
        return reason


def configured_moderator(name: str | None) -> FunctionModerator | None:
    """`name` is what STEPLESS_MODERATOR says: a function of one of the modules that are loaded."""
    return FunctionModerator(name) if name else None


class Gate:
    """Asks the moderator, where there is one, in a thread of its own."""

    def __init__(self, moderator: Moderator | None) -> None:
        self._moderator = moderator

    async def pass_through(self, node: Node, phase: str, value: JSON) -> None:
        """Returns when `value` may pass. Raises `NodeFailure` (cause moderation) when it was flagged, and when nobody could be
        asked and the node does not say `moderation_on_error: allow`."""
        try:
            if self._moderator is None:
                raise SteplessError("no moderator is configured", mend="configure one, or set moderation: off")
            reason = await asyncio.to_thread(self._moderator.review, phase, value)
        except SteplessError as error:
            if node.moderation_on_error == "block":
                message = f"the {phase} could not be moderated: {error}"
                raise NodeFailure("moderation", "moderation_unavailable", message, retryable=False, phase=phase) from error
            return
        if reason is not None:
            message = f"the {phase} was flagged: {reason}"
            raise NodeFailure("moderation", "moderation_flagged", message, retryable=False, phase=phase)
