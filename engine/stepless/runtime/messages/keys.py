"""Says which run of a workflow has a key (docs/understand/durability.md#keys-and-messages).

The runs of a key follow one another and are numbered from 1. One claim of the key holds the number of the last one and is only
raised. The id of a run follows from the workflow, the key and the number, so two processes that create run 3 of a key create the
same run, and the store keeps the first. These two facts replace a transaction over the claim and the header:

* A process that raised the number and died has left a number without a run. The next start of the key creates that run.
* At most one run of a key is live, because nobody raises the number before it has seen the run of the last number ended.

The claim is named by a hash of the key, since a key may be personal data. It goes when the last run of the key is removed, at
least a day after its end. The numbers then begin again at 1; a start that finds an ended run under a number goes on to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from stepless.errors import Damaged, ExpressionError, InvalidRequest
from stepless.limits import MAX_KEY_BYTES
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.runs.keys import key_of
from stepless.model.runs.statuses import ENDED
from stepless.ports import ERASED, RunHead
from stepless.runtime.header_notes import notes_in
from stepless.runtime.world import World

KEY: Final = "key"  # in the meta of a run: its key, and its number among the runs of the key
KEY_NUMBER: Final = "key_number"
AFTER: Final = "after"  # the run that has to end before this one begins
BEGINS: Final = "begins_at"  # in milliseconds since 1970 UTC: not before
_FIX: Final = "restore the store from a backup; or release the claim, if no run of this key is live"


class RunKey(NamedTuple):
    """A key of the runs of one workflow."""

    workflow_id: str
    key: str

    @property
    def digest(self) -> str:
        return sha256(f"{self.workflow_id}\n{self.key}".encode()).hexdigest()

    @property
    def claim(self) -> str:
        return f"key:{self.workflow_id}:{self.digest}"

    def run_id(self, number: int) -> str:
        """Returns the id of a run of the key. Follows from the number alone."""
        return f"run_{sha256(f'{self.digest} {number}'.encode()).hexdigest()[:20]}"

    def number(self, world: World) -> int:
        """Returns the number of the last run, 0 if the key was never used. Raises `Damaged`."""
        return number_in(self.claim, world.store.get_claim(self.claim, world.clock.now_ms()))

    def raise_to(self, world: World, former: int, number: int) -> bool:
        """Raises the number, if it still is the former one."""
        held = str(former).encode() if former else None
        return world.store.replace_claim(self.claim, held, str(number).encode(), world.clock.now_ms())


def number_in(claim: str, value: bytes | None) -> int:
    """Returns the number that the claim of a key holds. Raises `Damaged`."""
    if value is None:
        return 0
    if not value.isdigit():
        raise Damaged("it is no number", place=f"claim.value of {claim}", mend=_FIX)
    return int(value)


def is_live(head: RunHead) -> bool:
    return head.status not in ENDED and head.status != ERASED


def last_run(world: World, run_key: RunKey, number: int) -> tuple[int, RunHead | None]:
    """Returns the last run of a key whose claim holds `number`: its number and its header, None if there is none. The number of
    the claim may have no run, because its process died, or had its run already. Then the run before counts, which may be live."""
    head = world.store.get_run(run_key.run_id(number)) if number else None
    if head is None and number > 1:
        number -= 1
        head = world.store.get_run(run_key.run_id(number))
    return number, head


def live_run(world: World, run_key: RunKey) -> RunHead | None:
    """Returns the header of the live run of a key, None if there is none."""
    _, head = last_run(world, run_key, run_key.number(world))
    return head if head is not None and is_live(head) else None


def key_of_start(graph: Graph, inputs: JSON, now_ms: int) -> str:
    """Returns the key of a run with these inputs. Raises `InvalidRequest` (key_missing, key_invalid)."""
    from stepless.core.limits.input_scope import OfInputs  # imported late: few workflows have keys

    assert graph.key is not None
    try:
        value = graph.key.evaluate(OfInputs(inputs, now_ms))
    except ExpressionError as error:
        raise InvalidRequest(f"the key of the run cannot be evaluated: {error.message}", code="key_invalid", status=422,
                             place="key", mend="correct the inputs, or the `key` of the workflow") from error
    if value in (None, ""):
        message, mend = f"the inputs have no key: `{graph.key.source}` is empty", "add the value that `key` of the workflow reads"
        raise InvalidRequest(message, code="key_missing", status=422, place="key", mend=mend)
    return checked_key(value)


def checked_key(value: JSON) -> str:
    """Returns a key as text. Raises `InvalidRequest` (key_invalid)."""
    key = key_of(value)
    if key is None:
        raise InvalidRequest(f"a key is a text or a number with 1 to {MAX_KEY_BYTES} bytes of UTF-8", code="key_invalid",
                             status=422, place="key", mend="use a short text, such as the number of an order")
    return key


def key_in(head: RunHead) -> str | None:
    """Returns the key of a run, None without one."""
    run_key = run_key_of(head)
    return run_key[0].key if run_key is not None else None


def run_key_of(head: RunHead) -> tuple[RunKey, int] | None:
    """Returns the key of a run, and the number of the run among those of the key; None for other runs."""
    notes: Mapping[str, JSON] = notes_in(head)
    key, number = notes.get(KEY), notes.get(KEY_NUMBER)
    return (RunKey(head.workflow_id, key), number) if isinstance(key, str) and type(number) is int else None
