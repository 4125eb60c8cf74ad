"""Checks the inputs and the output of a node. Fails closed if the moderator is unavailable, unless the author configures
otherwise."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from typing import Final

from stepless.errors import SteplessError
from stepless.limits import MAX_REVIEWS
from stepless.model.graph import Node
from stepless.model.json import JSON
from stepless.model.work import NodeFailure
from stepless.ports import Moderator
from stepless.thread_calls import CountedPool

_THREADS: Final = CountedPool(MAX_REVIEWS, thread_name_prefix="stepless-moderation")


class FunctionModerator:
    """A registered function as the moderator. It is called with `phase` and `value`, and returns a reason or None."""

    def __init__(self, name: str) -> None:
        self._name = name

    def review(self, phase: str, value: JSON) -> str | None:
        """See `Moderator.review`. An exception of the function means that the value could not be reviewed."""
        from stepless.nodes.function.registry import find

        try:
            reason = find(self._name).callable(phase=phase, value=value)
        except Exception as error:
            raise SteplessError(f"{self._name} raised {type(error).__name__}: {error}", mend="fix this function") from error
        if reason is not None and not isinstance(reason, str):
            raise SteplessError(f"{self._name} returned neither a text nor None", mend="return a text or None")
        return reason


class Gate:
    """Calls the moderator, if one is configured, in a separate thread."""

    def __init__(self, moderator: Moderator | None) -> None:
        self._moderator = moderator

    async def pass_through(self, node: Node, phase: str, value: JSON) -> None:
        """Returns if `value` is allowed. Raises `NodeFailure` (cause moderation) if it is flagged, or if the moderator is
        unavailable and the node does not set `moderation_on_error: allow`."""
        try:
            if self._moderator is None:
                raise SteplessError("no moderator is configured", mend="configure one, or set moderation: off")
            run, review = copy_context().run, self._moderator.review
            reason = await asyncio.get_running_loop().run_in_executor(_THREADS, run, review, phase, value)
        except SteplessError as error:
            if node.moderation_on_error == "block":
                message = f"the {phase} could not be moderated: {error}"
                raise NodeFailure("moderation", "moderation_unavailable", message, retryable=False, phase=phase) from error
            return
        if reason is not None:
            message = f"the {phase} was flagged: {reason}"
            raise NodeFailure("moderation", "moderation_flagged", message, retryable=False, phase=phase)
