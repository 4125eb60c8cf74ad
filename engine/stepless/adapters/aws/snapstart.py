"""Prepares the process for SnapStart, where an execution environment starts as a copy of another that has finished its
initialization.

What is made before the snapshot is the same in every copy. So no connection, no key and no instant is kept from the
initialization, ids come from the operating system, and the module `random`, which botocore and retries use for jitter, is seeded
again in each copy.
"""

from __future__ import annotations

import random
from collections.abc import Callable

_TYPE = "AWS_LAMBDA_INITIALIZATION_TYPE"


def reseed_after_restore(setting: Callable[[str], str | None]) -> None:
    """Registers the seeding with Lambda's runtime, if the function starts from snapshots; otherwise it imports nothing."""
    if setting(_TYPE) != "snap-start":
        return
    from snapshot_restore_py import register_after_restore  # type: ignore[import-untyped]  # a part of the managed runtime

    register_after_restore(random.seed)
