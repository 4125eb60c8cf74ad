"""Implements the store in one DynamoDB table.

| item | pk | sk | GSI 1 | GSI 2 |
|---|---|---|---|---|
| header, lease | `RUN#{run}` | `HEAD` | `{workflow}#{shard}`, `{created}#{run}` | while due: `{shard}`, `d2` |
| log batch | `RUN#{run}` | `LOG#{first, 10 digits}` | | |
| snapshot, its pieces above 380 KB | `RUN#{run}` | `SNAP`, `SNAP#{seq}#{hash}#{piece}` | | |
| signal | `RUN#{run}` | `IN#{kind}#{identity}`, once it is taken among many `TAKEN#…` | | |
| inputs above 0.5 KB | `RUN#{run}` | `VAL#{hash}` | | |
| version | `WF#{workflow}` | `V#{number, 10 digits}` | | |
| document | `HASH#{hash}` | `{piece}` | | |
| claim, counter (TTL) | `CLAIM#{key}` | `-` | | |
| place in a line | `LINE#{line}` | `{place}` | | |
| number of shards | `SHARDS` | `-` | | |
| names of workflows | `PUBLISHED`, `STARTED`, `ENTRY#{kind}` | `{workflow}` | | |
| entry of the audit log (TTL) | `AUDIT#{30 days}#{shard}` | `{at}#{id}` | | |
| head of a draft | `DRAFT#{workflow}` | `HEAD` | | |
| item of its log (TTL) | `DRAFT#{workflow}#{epoch}` | `OP#{seq, 10 digits}` | | |
| entity (tombstones, clients: TTL) | `DRAFT#{workflow}#{epoch}` | `BLOCK#b`, `EDGE#e`, …, `DOC`, `TEXT`, `LAST#{client}` | | |
| state after an item (TTL) | `DRAFT#{workflow}#{epoch}` | `AT#{seq, 10 digits}` | | |
| connection of a person (TTL) | `CONN#{id}` | `-` | | |
| who is in the session of a draft (TTL) | `ROOM#{workflow}` | `CONN#{id}` | | |
| names of workflows with drafts | `DRAFTS` | `{workflow}` | | |
| which runs expire | `EXPIRY` | `{retention, 15 digits}#{workflow}` | | |

A commit is one conditional put of one item; no verb uses a transaction. In addition to its log, a run writes these units: create
3 (header and two index rows; the first lease is part of it), each further lease 1, the end 3 (header, status in GSI 1, removal
from GSI 2). A pause takes 2, and the write that ends it 2 (removal from GSI 2, insertion again); each takes 3 if the pause has a
deadline (GSI 2's key changes). An answer takes the next lease in that write. GSI 1's keys never change, and the only statuses in
it are ends; `runs` says when GSI 2's keys change. `removal` says what it costs to remove a run.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from stepless.adapters.aws.dynamo.audit import Audit
from stepless.adapters.aws.dynamo.claims import Claims
from stepless.adapters.aws.dynamo.inbox import Allowance, Inbox
from stepless.adapters.aws.dynamo.listings import Listings
from stepless.adapters.aws.dynamo.logs import Ends, Logs
from stepless.adapters.aws.dynamo.removal import Removal
from stepless.adapters.aws.dynamo.runs import Runs
from stepless.adapters.aws.dynamo.table.shards import Shards
from stepless.adapters.aws.dynamo.table.wire import Wire
from stepless.adapters.aws.dynamo.versions import Versions


class DynamoStore(Versions, Claims, Runs, Listings, Removal, Audit, Logs, Inbox):
    """`client` is a DynamoDB client, safe to use from several threads. `table` was created with the keys in the module `table`.
    `shards` fixes the number of partitions of an index, which is otherwise an item of the table, raised to `wanted_shards`; it
    must never shrink. `at_once` requests of one listing are sent in parallel (the clients keep 32 connections); 1 uses no thread.

    Reads are strongly consistent; listings lag behind the table by a moment. Every verb raises `StoreUnavailable` when a retry
    may help (fact `unsure`: the write may have happened), and `StoreUnusable` when it will not.
    """

    def __init__(self, client: Any, table: str, *, shards: int | None = None, wanted_shards: int = 0, at_once: int = 16) -> None:
        self._wire = Wire(client, table)
        self.shards = self._shards = Shards(self._wire, fixed=shards, wanted=wanted_shards)
        self._at_once = at_once
        self._ends, self._allowance = Ends(), Allowance()
        self._started, self._crowded = set(), OrderedDict()
        self._expected, self._looked = set(), {}

    def check(self) -> None:
        self.list_workflows(limit=1)
