"""Runs what is due after an entry, or when the last person has left: checkpoints. Loads no web framework."""

from __future__ import annotations

import logging
from collections.abc import Callable

from stepless.errors import Conflict, NotFound, Refused, TransientError

_log = logging.getLogger(__name__)


def attempted(workflow_id: str, upkeep: Callable[[], None]) -> None:
    """Never lets an edit fail because of its upkeep: the next entry, or the sweep, does what was not done."""
    try:
        upkeep()
    except (NotFound, Conflict) as error:
        _log.info("the draft of %s was discarded or replaced before it was checked: %s", workflow_id, error)
    except Refused as error:
        _log.info("no draft is checked: %s", error)
    except TransientError as error:
        _log.warning("the draft of %s will be checked later: %s", workflow_id, error)
    except Exception:
        _log.exception("the draft of %s could not be checked", workflow_id)
