"""Links the limits of a whole workflow: how often it starts, and how many of its runs work at once."""

from __future__ import annotations

from stepless.model.declaration.document import ConcurrencyView, DocumentView
from stepless.model.graph import RateLimit, Slots


def rate_limit(document: DocumentView) -> RateLimit | None:
    """Returns the limit on starts, None without one."""
    if (rate := document.rate) is not None:
        from stepless.compile.values.input_expressions import of_inputs  # imported late: few workflows have limits

        return RateLimit(rate.max, rate.per, of_inputs(rate.by) if rate.by is not None else ())
    limit = document.rate_limit
    if limit is None:
        return None
    return RateLimit(limit.max, limit.per, tuple(limit.by.split(".")) if limit.by else ())


def slots(limit: ConcurrencyView) -> Slots:
    """Returns the slots for runs with attempts in progress."""
    from stepless.compile.values.input_expressions import of_inputs  # imported late: few workflows have limits

    weight = limit.weight if isinstance(limit.weight, int) else of_inputs(limit.weight)
    return Slots(limit.max, of_inputs(limit.by) if limit.by is not None else None, weight)
