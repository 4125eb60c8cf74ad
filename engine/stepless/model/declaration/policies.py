"""Declares the settings of a document that a compiled graph contains unchanged. `document` declares the rest, and describes
how these declarations are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:  # pydantic types: a run needs only their names
    from stepless.model.declaration.field_types import Attempts, Count, Milliseconds, PositiveMilliseconds

RETRIED: Final = ("timeout", "provider_error", "rate_limit")

Delivery: TypeAlias = Literal["at_least_once", "at_most_once"]
Moderation: TypeAlias = Literal["off", "input", "output", "both"]
OnModerationError: TypeAlias = Literal["block", "allow"]
Causes: TypeAlias = Sequence[str]
VariableMerge: TypeAlias = str | Mapping[str, str]  # merge-all, last-write, first-write, or an expression under `custom`


class Merge(StrEnum):
    LAST = "last"
    CONCAT = "concat"
    ARRAY = "array"
    OBJECT = "object"


class OnParentFailure(StrEnum):
    SKIP = "skip"
    PROPAGATE = "propagate"
    SUBSTITUTE = "substitute_default"


class OnConflict(StrEnum):
    """What a start does whose key a live run has."""

    JOIN = "join"
    REFUSE = "refuse"
    REPLACE = "replace"


class OnFailure(StrEnum):
    """The effect of the document's first bad leaf on the run."""

    ISOLATE = "isolate"
    HALT = "halt"
    CANCEL = "cancel"


class JoinRule(NamedTuple):
    """When a node with several branches runs."""

    mode: Literal["all", "every", "any", "count", "timeout"] = "all"
    """How many branches must arrive: `all` that were not pruned, `every` one (after a prune the node is skipped), `any` (one),
    `count`. `timeout` is short for `all` with `on_timeout: proceed`."""
    count: Count | None = None  # type: ignore[assignment]  # hides the method of tuples
    """With `mode: count`: how many."""
    timeout_ms: PositiveMilliseconds | None = None
    """How long to wait for the branches, from the fork where they begin, or from the run's start."""
    on_timeout: Literal["fail", "proceed"] = "fail"
    """After the timeout: `fail` with `join_timeout`, or `proceed` if at least `min_success` branches have arrived."""
    errors: Literal["fail-fast", "collect-all", "best-effort"] = "fail-fast"
    """When failed branches make the join impossible: `fail-fast` fails as soon as that is certain, `collect-all` once all
    branches have settled. `best-effort` also waits for all branches, and runs if `min_success` arrived."""
    min_success: Count = 1
    """How many branches must have arrived for `best-effort` and for `proceed`."""
    losers: Literal["continue", "cancel"] = "continue"
    """What happens to nodes that lead only to this join once it runs, or can no longer run: they `continue`, or are cancelled
    (`cancel`, with the reason `join_satisfied` or `join_unsatisfied`)."""
    vars: VariableMerge = "merge-all"
    """How conflicting writes of a variable by several branches are merged: `merge-all` with `on_conflict`, `last-write`,
    `first-write`, or an expression."""
    on_conflict: Literal["warn", "error", "first"] = "warn"
    """With `merge-all`: `warn` takes the last in edge order and logs it, `first` takes the first, `error` fails the node."""

    @property
    def proceeds(self) -> bool:
        """Whether the join may run with the arrived branches after its timeout."""
        return self.mode == "timeout" or self.on_timeout == "proceed"


class Retry(NamedTuple):
    """How often a failed node is tried again, and when."""

    attempts: Attempts = 1
    """The number of attempts, including the first."""
    backoff_ms: Milliseconds = 500
    """The delay before the second attempt. It doubles with each further attempt, up to `max_backoff_ms`. The actual delay is
    random, between half of that and all of it."""
    max_backoff_ms: Milliseconds = 8_000
    """The maximum delay, unless the service asks for a longer one (`Retry-After`). That is kept if it is at most a day, or this
    maximum; otherwise the node fails with the code `rate_limit`."""
    retry_on: Causes = RETRIED
    """The causes of failure that are retried. Any other failure is final."""


DEFAULT_JOIN: Final = JoinRule()  # shared: most nodes have no settings of their own
DEFAULT_RETRY: Final = Retry()
