"""The grounds of worlds: the adapters of the engine, and the places of faults in them.

In memory, every call of a port may fail. On the cloud, every request below the adapters of AWS may fail; in files (`embedded`),
every statement below those of SQLite.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cloud import BUCKET, Cloud
from dynamo_table import DirectClient
from faults import FaultyBlobs, FaultyQueue, FaultyTimers, Line, OpenLine
from watched import AcknowledgingStore, WatchedStore

from stepless.adapters.aws.blobs import S3Blobs
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.aws.queue import SqsQueue
from stepless.adapters.aws.timers import SchedulerTimers
from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.store import MemoryStore
from stepless.ports import Batch, Blobs, Clock, Queue, RunHead, Store, Timers
from stepless.runtime.commits import Commits
from stepless.runtime.inbox import ENDED, OVER

if TYPE_CHECKING:
    from episode import Episode
    from virtual_time import Actor


@dataclass
class Ports:
    """The ports as one process sees them."""

    store: Store
    queue: Queue
    timers: Timers
    blobs: Blobs
    commits: Commits = field(default_factory=Commits)


class Ground(ABC):
    """`truth` is the store without faults; `names` are those of the runs, in the story."""

    name = "memory"
    starts = 1  # runs that one world begins with
    is_cloud = False  # batches of messages, processes with a hard budget, dead letters
    is_shared = False  # one process runs several runs at once
    truth: Store

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.names: dict[str, str] = {}
        self.created: dict[str, RunHead] = {}

    @abstractmethod
    def ports(self, actor: Actor, clock: Clock) -> Ports:
        """The ports of one process on this ground, with faults."""

    def over(self, run_ids: Collection[str]) -> bool:
        """Whether all of these have ended, and nothing is left to do for them: a run with a key that has ended is due until its
        inbox was read once more, which a missing object can delay."""
        return all(self._is_over(run_id) for run_id in run_ids)

    def _is_over(self, run_id: str) -> bool:
        head = self.truth.get_run(run_id)
        if head is None:
            return self.episode.erasures.removed(run_id)
        waits = head.due_ms is not None and head.due_ms != head.expires_ms and not self.episode.parts.erases
        return head.status in OVER and head.owner is None and not waits

    @abstractmethod
    def kept(self, run_id: str) -> Sequence[str]:
        """What the store has of a run besides its header, as it is, without the content."""

    @abstractmethod
    def blob_keys(self) -> Collection[str]:
        """The keys of all values beside the logs."""

    def close(self) -> None:
        """Releases resources outside of this process."""
        return

    def named(self, run_id: str, workflow_id: str) -> None:
        """Notes that the header of a run was written."""
        if run_id not in self.names:
            self.names[run_id] = f"run {len(self.names)} ({workflow_id})"
            head = self.truth.get_run(run_id)
            assert head is not None
            self.created[run_id] = head


class OnMemory(Ground):
    def __init__(self, episode: Episode) -> None:
        super().__init__(episode)
        self.truth = (episode.parts.store or MemoryStore)()
        self._watched = WatchedStore(self.truth, episode.journal, self.named, episode.erasures)
        self._blobs = MemoryBlobs()

    def kept(self, run_id: str) -> Sequence[str]:
        records = self.truth._records.get(run_id)  # type: ignore[attr-defined]
        if records is None:
            return []
        batches = [f"batch {batch.first}{'' if batch.data else ' (empty)'}" for batch in records.log]
        signals = [f"signal {kind} {name}" for kind, name in records.inbox]
        return [*batches, *["snapshot"] * (records.snapshot is not None), *signals]

    def blob_keys(self) -> Collection[str]:
        return self._blobs._values.keys()

    def ports(self, actor: Actor, clock: Clock) -> Ports:
        line = Line(actor, self.episode.chance)
        store = AcknowledgingStore(line, self._watched, self.episode.journal)
        queue, timers = FaultyQueue(line, self.episode.send), FaultyTimers(line, self.episode.arm, self.episode.disarm)
        return Ports(store, queue, timers, FaultyBlobs(line, self._blobs))  # type: ignore[arg-type]


class OnCloud(Ground):
    """The real adapters of AWS over boto3, with separate clients per process."""

    name = "cloud"
    is_cloud = True

    def __init__(self, episode: Episode) -> None:
        super().__init__(episode)
        self.cloud = Cloud(episode.schedule, episode.chance, episode.send, self._wrote, self._deleted)
        episode.journal.keeps = self.cloud.keeps
        self.truth = DynamoStore(DirectClient(self.cloud.table), "table", shards=1, at_once=1)

    def ports(self, actor: Actor, clock: Clock) -> Ports:
        reach, parts = self.cloud.reach(actor), self.episode.parts
        store = (parts.store or DynamoStore)(reach.client("dynamodb"), "table", shards=1, at_once=1)
        store.most_beside = 2  # so that messages that are taken move in small worlds as well
        queue = SqsQueue(reach.client("sqs"), "http://world.invalid/queue")
        timers = SchedulerTimers(
            reach.client("scheduler"), queue, group="runs", role_arn="arn:aws:iam::000000000000:role/timers",
            queue_arn="arn:queue", dlq_arn="arn:dlq", clock=clock,
        )  # fmt: skip
        blobs = (parts.blobs or S3Blobs)(reach.client("s3"), BUCKET)
        watched = AcknowledgingStore(OpenLine(actor, self.episode.chance), store, self.episode.journal, self._check_taken)
        return Ports(watched, queue, timers, blobs)  # type: ignore[arg-type]

    def _is_over(self, run_id: str) -> bool:
        head = self.cloud.table.item((f"RUN#{run_id}", "HEAD"))
        if head is None:
            return self.episode.erasures.removed(run_id)
        waits = "d" in head and head["d"] != head.get("p") and not self.episode.parts.erases
        return head["st"]["S"] in ENDED and "o" not in head and not waits

    def kept(self, run_id: str) -> Sequence[str]:
        items = self.cloud.table.partition(f"RUN#{run_id}")
        return [f"{item['sk']['S']}{' (empty)' if 'z' in item else ''}" for item in items if item["sk"]["S"] != "HEAD"]

    def blob_keys(self) -> Collection[str]:
        return self.cloud.blob_keys()

    def _wrote(self, item: Any) -> None:
        """Records every write, whether or not its writer receives the response."""
        kind, _, rest = item["sk"]["S"].partition("#")
        run_id = item["pk"]["S"].removeprefix("RUN#")
        if kind == "LOG":
            batch = Batch(int(rest), int(item["l"]["N"]), item["b"]["B"], int(item["n"]["N"]))
            self.episode.journal.wrote(run_id, batch, emptied="z" in item)
        elif kind == "HEAD":
            self.named(run_id, (item.get("g1") or item["w1"])["S"].rpartition("#")[0])
            self.episode.erasures.header(run_id, erased="er" in item)

    def _deleted(self, key: tuple[str, str]) -> None:
        if key[1] == "HEAD":
            self.episode.erasures.header(key[0].removeprefix("RUN#"), erased=None)

    def _check_taken(self, run_id: str, signals: Sequence[Any]) -> Sequence[str]:
        waiting = {(signal.kind, signal.identity) for signal in self.truth.read_inbox(run_id)}
        return [signal.identity for signal in signals if (signal.kind, signal.identity) in waiting]
