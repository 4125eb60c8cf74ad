"""Builds and reads the keys of the table's items; the table in `store` lists them."""

from __future__ import annotations

from hashlib import sha256
from typing import Final
from urllib.parse import quote
from zlib import crc32

from stepless.errors import LimitExceeded

HEAD: Final = "HEAD"
SNAPSHOT: Final = "SNAP"
ONLY: Final = "-"  # the sort key where a partition has one item
PUBLISHED: Final = "PUBLISHED"  # the partition that names every published workflow
SHARDS: Final = "SHARDS"  # the partition of the number of shards
DRAFTS: Final = "DRAFTS"  # the partition that names every workflow that has had a draft
AFTER_OPS: Final = "OP$"  # sorts after every item of a draft
STARTED: Final = "STARTED"  # the partition that names every workflow with a run
EXPIRY: Final = "EXPIRY"  # the partition that names every workflow whose runs expire
NEVER_DUE: Final = 10**18  # later than every instant: the sweep skips the run
LAST: Final = "~"  # sorts after every age
_DIGITS: Final = 15  # of an instant in milliseconds: until the year 33658
_LONGEST: Final = 900  # bytes of a text inside a key; DynamoDB's limit is 1,024 for a sort key


def run(run_id: str) -> str:
    return f"RUN#{fitting(run_id)}"


def audit(period: int, shard: str) -> str:
    return f"AUDIT#{period:06d}#{shard}"


def expiry(retention_ms: int, workflow_id: str) -> str:
    """Names the runs of a workflow that expire this long after their end."""
    return f"{retention_ms:0{_DIGITS}d}#{workflow_id}"


def workflow_of_expiry(sort: str) -> str:
    return sort[_DIGITS + 1 :]


def retention_of_expiry(sort: str) -> int:
    return int(sort[:_DIGITS])


def log(first: int) -> str:
    return f"LOG#{first:010d}"


def signal(kind: str, identity: str) -> str:
    return f"IN#{quote(kind, safe='')}#{fitting(identity)}"


def taken_signal(kind: str, identity: str) -> str:
    """Of a signal that was taken, and is not kept among those that wait."""
    return f"TAKEN#{quote(kind, safe='')}#{fitting(identity)}"


def snapshot_part(sequence: int, digest: str, part: int) -> str:
    return f"{SNAPSHOT}#{sequence:010d}#{digest}#{part:04d}"


def inputs(digest: str) -> str:
    return f"VAL#{digest}"


def workflow(workflow_id: str) -> str:
    return f"WF#{fitting(workflow_id)}"


def version(number: int) -> str:
    return f"V#{number:010d}"


def with_entry(kind: str) -> str:
    """Returns the partition that names every workflow published with an entry of this kind."""
    return f"ENTRY#{kind}"


def document(digest: str) -> str:
    return f"HASH#{digest}"


def claim(key: str) -> str:
    return f"CLAIM#{fitting(key)}"


def line(name: str) -> str:
    """Returns the partition of a line; its sort keys are the places."""
    return f"LINE#{fitting(name)}"


def draft(workflow_id: str) -> str:
    """Returns the partition of a draft's head."""
    return f"DRAFT#{workflow_id}"


def draft_epoch(workflow_id: str, epoch: int) -> str:
    """Returns the partition of one epoch of a draft."""
    return f"DRAFT#{workflow_id}#{epoch}"


def draft_session(workflow_id: str) -> str:
    """Returns the partition of the connections in the session of a draft; their sort keys are those of the connections."""
    return f"ROOM#{workflow_id}"


def connection(connection_id: str) -> str:
    return f"CONN#{connection_id}"


def op(seq: int) -> str:
    return f"OP#{seq:010d}"


def state(seq: int) -> str:
    return f"AT#{seq:010d}"


def seq_of(sort: str) -> int:
    """Returns the number in the key of an item or a state."""
    return int(sort.partition("#")[2])


def entity(key: str) -> str:
    """`BLOCK#b1` for `block/b1`, `DOC` for `doc`."""
    kind, slash, name = key.partition("/")
    return f"{kind.upper()}#{name}" if slash else kind.upper()


def entity_of(sort: str) -> str:
    kind, mark, name = sort.partition("#")
    return f"{kind.lower()}/{name}" if mark else kind.lower()


def age(created_ms: int, run_id: str = "") -> str:
    """Sorts by creation, then by run id."""
    return f"{created_ms:0{_DIGITS}d}#{run_id}"


def created_of(age: str) -> int:
    return int(age[:_DIGITS])


def run_of(age: str) -> str:
    return age[_DIGITS + 1 :]


def shard(run_id: str, shards: int) -> str:
    return str(crc32(run_id.encode()) % shards)


def by_workflow(workflow_id: str, shard: str) -> str:
    return f"{workflow_id}#{shard}"


def check_length(*texts: str) -> None:
    """Keys hold ids unhashed where listings sort by them. Raises `LimitExceeded` for an id that is too long for a key."""
    for text in texts:
        if len(text.encode()) > _LONGEST:
            message = f"the id is longer than {_LONGEST} bytes"
            raise LimitExceeded(message, place=ascii(text[:100]), mend="use a shorter id")


def fitting(text: str) -> str:
    """Returns the text, or its hash if it is too long for a key. A text that looks like such a hash is hashed as well, so that no
    text can collide with the hash of another."""
    if len(text) <= _LONGEST // 4 and not text.startswith("~"):
        return text
    encoded = text.encode()
    return text if len(encoded) <= _LONGEST and not text.startswith("~") else f"~{sha256(encoded).hexdigest()}"
