"""Worlds in which runs have `distributed` nodes: what their processes do, and what must hold of shards, chunks and results.

`make simulate-shards SEEDS=1000`: 1,000 seeds from 0 on memory, every tenth also on the adapters of AWS and of SQLite.
`make simulate-shards SEEDS=1 FROM=123 GROUND=cloud`: seed 123 again on one ground, in full.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path
from random import Random
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Final

from embedded import OnFile
from episode import SWEEP_MS, Episode, Failed, Parts
from faults import EPOCH_MS, Crash, draw_weather
from grounds import OnCloud
from journal import Violation
from people import Person, _start, _sweep
from virtual_time import Actor, passing
from weathers import draw_cloud_weather
from workflows import Scenario

from stepless.adapters.folder_objects import FolderObjects
from stepless.core.shards.progress import Progress
from stepless.core.shards.sizes import workers_for
from stepless.model.stored.packing import dump
from stepless.model.work import NodeFailure, Result
from stepless.ports import SHARD, Batch, Call, RunHead
from stepless.runtime.session.pauses.distributing import distributor
from stepless.runtime.session.shards import planning, shard_session
from stepless.runtime.shards.plans import DISTRIBUTION, shard_id
from stepless.runtime.shards.records import read_records
from stepless.runtime.world import World

OF_FAULTS: Final = frozenset({"timeout", "item_poisoned"})  # how faults alone may end an item: a freeze, deaths again and again
EVERY: Final = 10
MOST_STEPS: Final = 30_000  # of the schedule: a world of these sizes takes a tenth
USUAL: Final = Parts()
SHARED: Final = Path("/dev/shm")  # a folder in memory
planning.USUAL = planning.Sizes(in_turn=3, at_once=6)  # so that some plans need several records
shard_session.CHUNK_INLINE_BYTES = 20  # so that some chunks of these few items have their results beside the log


@dataclass(frozen=True)
class Fan:
    """The `distributed` node of a world. `failing` items fail, `deadly` ones kill their process at each attempt."""

    total: int
    shard: int
    commit: int
    lanes: int
    concurrency: int
    effects: int
    failing: frozenset[int]
    deadly: frozenset[int]
    on_error: str
    results: str
    tolerate: Mapping[str, int]
    source: str = ""  # the format of a file that has the items, instead of the document
    into: bool = False  # whether the results are written into files

    @property
    def workers(self) -> int:
        return workers_for(self.concurrency, self.lanes, -(-self.total // self.shard))

    @property
    def node(self) -> dict[str, Any]:
        item = "{{ int(<item.n>) }}" if self.source == "csv" else "<item>"
        body: dict[str, Any] = {
            f"e{number}": {
                "type": "function", "timeout_ms": 30_000, "with": {"call": "test.echo", "args": {"n": item}},
                "retry": {"attempts": 3, "backoff_ms": 200, "max_backoff_ms": 800, "retry_on": ["timeout", "provider_error"]},
                **({"after": f"e{number - 1}"} if number else {}),
            }
            for number in range(self.effects)
        }  # fmt: skip
        value = ["<item.index>", f"{{{{ {item.strip('{} ')} * 2 }}}}"]
        body["out"] = {"type": "transform", "after": f"e{self.effects - 1}", "with": {"value": value}}
        given: dict[str, Any] = {"into": {"file": "out/<run.id>"}} if self.into else {}
        given |= {"source": {"file": f"in.{self.source}"}} if self.source else {"items": self.items}
        return {
            "type": "distributed", "after": "go",
            "with": {
                **given, "shard": self.shard, "commit": {"items": self.commit},
                "lanes": self.lanes, "concurrency": self.concurrency, "tolerate": dict(self.tolerate), "on_error": self.on_error,
                "results": self.results, "body": {"nodes": body},
            },
        }  # fmt: skip

    @property
    def items(self) -> list[int]:
        return list(range(100, 100 + self.total))

    def write(self, folder: Path) -> None:
        """Writes the source. A row of the table ends one line later than it begins."""
        rows = "".join(f'{item},"a\n""b"\n' for item in self.items)
        (folder / "in.csv").write_text(f"n,text\n{rows}")
        (folder / "in.jsonl").write_text("".join(f"{item}\n\n" for item in self.items))

    def error(self, index: int) -> dict[str, str] | None:
        if index in self.deadly:
            return {"code": "item_poisoned", "message": "the process ended again while it executed only this item"}
        return {"code": "http_error", "message": "no"} if index in self.failing else None


def draw(dice: Random) -> Fan:
    total = dice.choice([0, 1, 7, 30, 60])
    some = range(total)
    return Fan(
        total, dice.choice([1, 4, 10, 25]) if total < 30 else dice.choice([10, 25, 60]), dice.choice([1, 3, 8]),
        dice.choice([1, 3, 5]), dice.choice([1, 6, 20]), dice.choice([1, 1, 3]),
        frozenset(index for index in some if dice.random() < dice.choice([0, 0.2])),
        frozenset(dice.sample(some, 1)) if total and dice.random() < 0.15 else frozenset(),
        dice.choice(["mark", "drop"]), dice.choice(["all", "all", "failed", "none"]),
        dice.choice([{"percent": 100}, {"percent": 100}, {"percent": 100}, {"count": 2}]),
        dice.choice(["", "csv", "jsonl"]), dice.random() < 0.5,
    )  # fmt: skip


@dataclass
class Begun:
    """The items that a process has begun in one session of a shard, without those whose end is committed."""

    epoch: int
    items: set[int] = field(default_factory=set)


class ShardsEpisode(Episode):
    """An episode of one workflow with a `distributed` node."""

    def __init__(self, number: int, parts: Parts = USUAL, fan: Fan | None = None) -> None:
        self.fan = fan or draw(Random(f"fan {number}"))
        self.folder = Path(mkdtemp(dir=SHARED if SHARED.is_dir() else None))
        self.fan.write(self.folder)
        self.begun: dict[tuple[Actor, str], Begun] = {}
        self.ran: dict[int, int] = defaultdict(int)
        super().__init__(number, replace(parts, operators=False))
        self.draft = None
        self.ballast = ""
        self.budget_ms = 120_000 if self.hard_budget else self.budget_ms  # a node has 60 s
        self.timings = Random(f"timings {number}")
        named, wrote, acknowledged = self.ground.named, self.journal.wrote, self.journal.acknowledged
        self.ground.named = lambda run_id, workflow: None if run_id.startswith(SHARD) else named(run_id, workflow)  # type: ignore[method-assign]
        if hasattr(self.ground, "_watched"):
            self.ground._watched._named = self.ground.named

        def of_runs(record: Any) -> Any:
            def noted(run_id: str, batch: Batch, **given: Any) -> None:
                if not run_id.startswith(SHARD):
                    record(run_id, batch, **given)

            return noted

        self.journal.wrote, self.journal.acknowledged = of_runs(wrote), of_runs(acknowledged)  # type: ignore[method-assign]

    def _scenario(self) -> Scenario:
        return Scenario({"id": "fan", "nodes": {"go": {"type": "manual"}, "each": self.fan.node}}, timed=True)

    def world(self, actor: Actor) -> World:
        world = replace(super().world(actor), objects={"file": partial(FolderObjects, self.folder)})
        world.kind_code["distributed"] = distributor(world)  # type: ignore[index]
        return world

    def _people(self) -> Iterable[Person]:
        self.busy_people += 1
        yield "starter", 0.0, lambda actor: _start(self, actor, Random(0))
        yield "sweeper", SWEEP_MS, lambda actor: _sweep(self, actor)

    def go(self) -> Episode:
        try:
            return super().go()
        finally:
            rmtree(self.folder)

    def over(self) -> bool:
        return super().over() or self.schedule.steps > MOST_STEPS

    # -- one attempt ----------------------------------------------------------------------------------------------------

    async def _attempt(self, actor: Actor, call: Call) -> Result:  # type: ignore[override]
        """The work of a node of the body. Checks what must hold before an item has an effect."""
        index = int(call.instance.rpartition("[")[2].removesuffix("]"))
        self._check_start(actor, call, index)
        self.ran[index] += 1
        await passing(self.timings.choice([0, 1, 5, 40, 700]))
        if index in self.fan.deadly or self.chance.happens(self.chance.weather.killed):
            self.chance.record(actor.name, f"is killed by {call.instance}")
            raise Crash
        if index in self.fan.failing and call.node == f"e{self.fan.effects - 1}":
            raise NodeFailure("http_error", "http_error", "no", retryable=False)
        return Result(call.params["args"])

    def _check_start(self, actor: Actor, call: Call, index: int) -> None:
        if call.token != f"{call.run_id}:{call.instance}":
            self._refuse(f"the token of {call.instance} is {call.token}")
        number, place = divmod(index, self.fan.shard)
        token = f"{call.run_id}:each"
        run_id = shard_id(token, number)
        progress = self._progress(run_id, number)
        head = self.truth.get_run(run_id)
        if place >= progress.started_to:
            self._refuse(f"no item at or behind the mark begins: {place} of shard {number}, whose mark is {progress.started_to}")
        if head is None:
            self._refuse(f"shard {number} has no header")
            return
        if progress.ended[place] and self.journal.fenced and head.owner is not None and not self._is_stale(actor, head):
            self._refuse(f"an item whose end is committed never begins again: {place} of shard {number}")
        begun = self.begun.get((actor, head.run_id))
        if begun is None or begun.epoch != head.epoch:
            begun = self.begun[actor, head.run_id] = Begun(head.epoch)
        begun.items = {one for one in begun.items if not progress.ended[one]} | {place}
        if len(begun.items) > self.fan.commit + self.fan.lanes:
            self._refuse(f"at most commit + lanes items are at risk: {len(begun.items)} of shard {number}")
        self._check_concurrency(token)

    def _is_stale(self, actor: Actor, head: RunHead) -> bool:
        """Whether another process has taken the shard since this one began in it."""
        begun = self.begun.get((actor, head.run_id))
        return begun is None or begun.epoch != head.epoch

    def _check_concurrency(self, token: str) -> None:
        now_ms = EPOCH_MS + self.schedule.now_ms
        shards = range(-(-self.fan.total // self.fan.shard))
        heads = [self.truth.get_run(shard_id(token, number)) for number in shards]
        live = [head for head in heads if head is not None and head.owner is not None and head.lease_until_ms > now_ms]
        if len(live) > self.fan.workers:
            self._refuse(f"{len(live)} shards run at once, and {self.fan.workers} workers are allowed")

    def _progress(self, run_id: str, number: int) -> Progress:
        first = number * self.fan.shard
        progress = Progress(min(self.fan.total, first + self.fan.shard) - first)
        for _, record in read_records(self.truth, run_id):
            progress.fold(record)
        return progress

    def _refuse(self, reason: str) -> None:
        violation = Violation(reason)
        self.schedule.failure = self.schedule.failure or violation
        raise violation

    # -- afterwards -----------------------------------------------------------------------------------------------------

    def _judge(self) -> None:
        super()._judge()
        for runs in self.started.values():
            self._check_run(runs[0])

    def _check_run(self, run_id: str) -> None:
        fan, story = self.fan, self.journal.runs[run_id]
        end = next((event for event in reversed(story.events) if event.instance == "each" and "error" in event.data), None)
        outputs = (event.data["output"] for event in story.events if event.instance == "each" and "output" in event.data)
        output = next(outputs, None)
        failing = {index for index in range(fan.total) if fan.error(index)}
        limit = fan.tolerate.get("count", fan.total)
        if fan.into and list(self.folder.glob("out/*/_claim.json")):
            raise Violation("a node that has ended leaves the place of its results")
        if output is None:
            code = end.data["error"]["code"] if end is not None else None
            if code != "too_many_failures":
                raise Violation(f"the node ends with its results: {code}")
            if len(failing) <= limit and not self._odd():
                raise Violation(f"{len(failing)} items fail, {limit} may")
            return
        if len(failing) > limit:
            raise Violation(f"{len(failing)} items fail, and only {limit} may")
        wanted = self._expected(run_id, {})
        if fan.into:
            self._check_files(output, Path(f"out/{run_id}"))
        if output == wanted:
            return
        odd = {row["index"]: row["error"] for row in output["failures"] if row["error"]["code"] in OF_FAULTS}
        if not odd or not self._odd() or output != self._expected(run_id, odd):
            raise Violation(f"the results are those of an undisturbed run: {output}, not {wanted}")

    def _check_files(self, output: Mapping[str, Any], folder: Path) -> None:
        """The files are those of the manifest, with the results of the output."""
        manifest = json.loads((self.folder / folder / "manifest.json").read_bytes())
        names = {part["key"] for part in manifest["parts"]} | {manifest["failures"], str(folder / "manifest.json")} - {None}
        found = {str(path.relative_to(self.folder)) for path in (self.folder / folder).iterdir()}
        parts = [(self.folder / part["key"]).read_bytes() for part in manifest["parts"]]
        rows = [json.loads(line) for part in parts for line in part.splitlines()]
        results = [row["result"] if "result" in row else {"error": row["error"], "index": row["index"]} for row in rows]
        digests = [sha256(part).hexdigest() for part in parts]
        if found != names or results != output["results"] or digests != [part["sha256"] for part in manifest["parts"]]:
            raise Violation(f"the files are those of the manifest: {found}, not {names}; {results}, not {output['results']}")

    def _odd(self) -> bool:
        """Whether the faults of this world can end an item: freezes, by its timeout, and deaths."""
        return bool(self.chance.story)

    def _expected(self, run_id: str, odd: Mapping[int, Any]) -> dict[str, Any]:
        """The output of an undisturbed run, in which the faults have ended the items in `odd`."""
        fan = self.fan
        rows: list[dict[str, Any]] = []
        for index in range(fan.total):
            error = odd.get(index) or fan.error(index)
            rows.append({"index": index, **({"error": error} if error else {"result": [index, 2 * (100 + index)]})})
        kept = {"all": rows, "none": [], "failed": [row for row in rows if "error" in row]}[fan.results]
        kept = kept if fan.on_error == "mark" else [row for row in kept if "result" in row]
        failures = [row for row in rows if "error" in row]
        distribution = shard_id(f"{run_id}:each", DISTRIBUTION)
        parts = []
        for first in range(0, fan.total, fan.shard):
            lines = [dump(row) + b"\n" for row in kept if first <= row["index"] < first + fan.shard]
            if lines:
                digest = sha256(b"".join(lines)).hexdigest()
                size = sum(map(len, lines))
                key = f"out/{run_id}/part-{first // fan.shard:05}.jsonl" if fan.into else f"{distribution}/{digest}"
                parts.append({"key": key, "rows": len(lines), "bytes": size, "sha256": digest})
        lost = b"".join(dump(row) + b"\n" for row in failures)
        counts = {"total": fan.total, "completed": fan.total - len(failures), "failed": len(failures)}
        lost_key = f"out/{run_id}/failures.jsonl" if fan.into else f"{distribution}/{sha256(lost).hexdigest()}"
        manifest = {"run": run_id, "node": "each", **counts, "parts": parts, "failures": lost_key if lost else None}
        results = [row["result"] if "result" in row else {"error": row["error"], "index": row["index"]} for row in kept]
        key = f"out/{run_id}/manifest.json" if fan.into else f"{distribution}/{sha256(dump(manifest)).hexdigest()}"
        return {**counts, "manifest": key, "results": results, "failures": failures}


GROUNDS: Final = {
    "memory": Parts(weather=draw_weather),
    "cloud": Parts(OnCloud, weather=draw_cloud_weather),
    "file": Parts(OnFile),
}


def one(job: tuple[str, int]) -> tuple[int, str | None]:
    ground, number = job
    try:
        ShardsEpisode(number, GROUNDS[ground]).go()
    except Failed as failure:
        return number, f"{failure} (simulate-shards)"
    return number, None


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("seeds", type=int, nargs="?", default=500, help="how many")
    arguments.add_argument("--from", type=int, default=0, dest="first", help="the first seed")
    arguments.add_argument("--ground", choices=["", *GROUNDS], default="", help="only on this one")
    arguments.add_argument("--workers", type=int, default=cpu_count() or 1)
    given = arguments.parse_args()
    numbers, began = range(given.first, given.first + given.seeds), time.monotonic()
    jobs = [(given.ground or "memory", number) for number in numbers]
    if not given.ground:
        jobs += [(ground, number) for ground in ("cloud", "file") for number in numbers if number % EVERY == 0]
    with ProcessPoolExecutor(given.workers, get_context("fork")) as pool:  # others would look for `one` in a module
        for done, (number, failure) in enumerate(pool.map(one, jobs, chunksize=2), 1):
            if failure is not None:
                sys.stdout.write(f"{failure}\n\nseed {number} fails, after {done} worlds\n")
                pool.shutdown(cancel_futures=True)
                return 1
    sys.stdout.write(f"{len(jobs):,} worlds, {time.monotonic() - began:.0f} s: everything holds\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
