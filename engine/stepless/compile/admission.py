"""Links what a whole workflow says about its starts and messages: the key of its runs, how often it starts, how many of its runs
work at once, and what they may receive."""

from __future__ import annotations

from stepless.model.declaration.document import ConcurrencyView, DocumentView, MessageView
from stepless.model.graph import Incoming, RateLimit, Slots
from stepless.model.scope import Expression


def rate_limit(document: DocumentView) -> RateLimit | None:
    """The limit on starts, None without one."""
    if (rate := document.rate) is not None:
        from stepless.compile.input_expressions import of_inputs  # imported late: few workflows have limits

        return RateLimit(rate.max, rate.per, of_inputs(rate.by) if rate.by is not None else ())
    limit = document.rate_limit
    if limit is None:
        return None
    return RateLimit(limit.max, limit.per, tuple(limit.by.split(".")) if limit.by else ())


def key_of_runs(document: DocumentView) -> Expression | None:
    """The expression for the key of a run, None without one."""
    if document.key is None:
        return None
    from stepless.compile.input_expressions import of_inputs  # imported late: few workflows have keys

    return of_inputs(document.key)


def incoming(message: MessageView) -> Incoming:
    """A declared message."""
    from stepless.expressions import compile_contract  # imported late: few workflows declare messages

    return Incoming(compile_contract(message.data) if message.data is not None else None, message.keep_ms)


def slots(limit: ConcurrencyView) -> Slots:
    """The slots for runs with attempts in progress."""
    from stepless.compile.input_expressions import of_inputs  # imported late: few workflows have limits

    weight = limit.weight if isinstance(limit.weight, int) else of_inputs(limit.weight)
    return Slots(limit.max, of_inputs(limit.by) if limit.by is not None else None, weight)
