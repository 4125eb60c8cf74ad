"""`distributed` nodes over files and objects, and their results in them (docs/write/fan-out.md)."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from aws_services import moto, or_skip

from stepless.adapters.aws.effects.objects import S3Objects
from stepless.adapters.folder_objects import FolderObjects
from stepless.model.work import NodeFailure, Result
from stepless.ports import Call
from stepless.runtime.session.pauses.distributing import distributor
from stepless.runtime.shards.plans import DISTRIBUTION, Board, shard_id
from stepless.runtime.verbs.reads import items

BODY = {"nodes": {"one": {"type": "function", "with": {"call": "test.echo", "args": {"item": "<item>"}}}}}
SOURCE = {"file": "in.csv"}


class Work:
    """A machine whose function returns the item, over a folder and a bucket."""

    def __init__(self, machine: Any, folder: Path, **objects: Callable[[], Any]) -> None:
        self.machine, self.folder = machine, folder
        self.items: list[Any] = []
        self.special: Callable[[], Any] | None = None
        places = {"file": partial(FolderObjects, folder), **objects}
        machine.world = replace(machine.world, objects=places)
        kinds = {**machine.world.kind_code, "function": self._work, "distributed": distributor(machine.world)}
        machine.world = replace(machine.world, kind_code=kinds)
        machine.runner = machine.process()

    async def _work(self, call: Call) -> Result:
        args: Any = call.params["args"]
        self.items.append(args["item"])
        if self.special is not None:
            special, self.special = self.special, None
            await special()
        return Result(args["item"])

    def start(self, source: Any = SOURCE, inputs: Any = None, **with_: Any) -> str:
        given = {"source": source, "shard": 10, "lanes": 3, "commit": {"items": 5}, "body": BODY, **with_}
        nodes = {"go": {"type": "manual"}, "each": {"type": "distributed", "after": "go", "with": given}}
        run_id: str = self.machine.start(nodes, inputs or {})
        return run_id

    def run(self, source: Any = SOURCE, inputs: Any = None, **with_: Any) -> Any:
        """The output of the node, or its error."""
        self.run_id = self.start(source, inputs, **with_)
        self.machine.drain()
        node = self.machine.view(self.run_id).nodes["each"]
        return node.error if node.output is None else node.output

    def table(self, rows: int, bad: int = 0, name: str = "in.csv") -> list[dict[str, str]]:
        """Writes a table whose first `bad` rows have a field too many; returns the others."""
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(["id", "note"])
        for number in range(rows):
            writer.writerow([number, f'line 1,\n"line 2" of {number}', *(["more"] if number < bad else [])])
        (self.folder / name).write_text(text.getvalue(), newline="")
        return [{"id": str(number), "note": f'line 1,\n"line 2" of {number}'} for number in range(bad, rows)]


@pytest.fixture
def work(stored_machine: Any, tmp_path: Path) -> Work:
    return Work(stored_machine, tmp_path)


@pytest.fixture
def bucket() -> Iterator[Any]:
    for service in or_skip(moto):
        client = service("s3")
        client.create_bucket(Bucket="rows")
        yield client


# -- rows --------------------------------------------------------------------------------------------------------------


def test_rows_of_a_table_are_items(work: Work) -> None:
    rows = work.table(37)
    output = work.run()
    assert output["results"] == rows and (output["total"], output["failed"]) == (37, 0)
    assert sorted(work.items, key=lambda item: int(item["id"])) == rows


def test_rows_without_a_header_are_lists(work: Work) -> None:
    (work.folder / "in.txt").write_bytes(b"\xef\xbb\xbfa;b\r\n\r\nc;\"d\r\n;\"\r\n")
    output = work.run({"file": "in.txt", "format": "csv", "header": False, "delimiter": ";"})
    assert output["results"] == [["a", "b"], ["c", "d\r\n;"]]


def test_a_column_may_have_the_name_of_the_number(work: Work) -> None:
    (work.folder / "in.csv").write_text("index,n\na,1\nb,2\n")
    value = ["<item.index>", '{{ <item>["index"] }}', "<item.n>"]
    body = {"nodes": {"one": {"type": "transform", "with": {"value": value}}}}
    assert work.run(body=body)["results"] == [[0, "a", "1"], [1, "b", "2"]]


def test_lines_of_json_are_items(work: Work) -> None:
    values = [{"n": number, "long": 2**70 + number, "é": None} for number in range(25)]
    (work.folder / "in.jsonl").write_text("\n".join(map(json.dumps, values)))
    assert work.run({"file": "in.jsonl"})["results"] == values


@pytest.mark.parametrize("members", [1, 3])
def test_a_compressed_source_is_unpacked(work: Work, members: int) -> None:
    rows = work.table(60)
    data = (work.folder / "in.csv").read_bytes()
    cut = [data[at * len(data) // members : (at + 1) * len(data) // members] for at in range(members)]
    (work.folder / "in.csv.gz").write_bytes(b"".join(map(gzip.compress, cut)))
    assert work.run({"file": "in.csv.gz"})["results"] == rows


def test_a_damaged_compressed_source_is_refused(work: Work) -> None:
    work.table(60)
    (work.folder / "in.csv.gz").write_bytes(gzip.compress((work.folder / "in.csv").read_bytes())[:-9])
    assert work.run({"file": "in.csv.gz"})["code"] == "source_unreadable"


BAD = {
    "in.csv": (b"a,b\n1,2\n3\n4,5,6\n\xff,7\n", {}, [3, 4, 5]),
    "in.jsonl": (b'{"a": 1}\n{"a": \n\nNaN\n"\\ud800"\n' + b"[" * 500 + b"]" * 500 + b"\n\xff\n", {}, [2, 4, 5, 6, 7]),
}


@pytest.mark.parametrize("name", BAD)
def test_rows_that_cannot_be_read_are_failed_items_with_their_line(work: Work, name: str) -> None:
    data, more, lines = BAD[name]
    (work.folder / name).write_bytes(data)
    output = work.run({"file": name, **more}, tolerate={"percent": 100})
    assert (output["total"], output["completed"]) == (1 + len(lines), 1)
    errors = [row["error"] for row in output["failures"]]
    assert [error["code"] for error in errors] == ["bad_row"] * len(lines)
    assert [error["message"].partition(":")[0] for error in errors] == [f"line {line}" for line in lines]
    assert len(work.items) == 1


def test_bad_rows_count_against_what_is_tolerated(work: Work) -> None:
    work.table(50, bad=3)
    assert work.run(tolerate={"count": 2})["code"] == "too_many_failures"
    assert work.run(tolerate={"count": 3})["failed"] == 3


def test_a_row_that_is_too_large_fails_alone(work: Work) -> None:
    (work.folder / "in.jsonl").write_bytes(b'1\n"' + b"x" * 300_000 + b'"\n3\n')
    output = work.run({"file": "in.jsonl"}, tolerate={"count": 1}, on_error="drop")
    assert output["results"] == [1, 3] and output["failures"][0]["error"]["code"] == "item_too_large"


@pytest.mark.parametrize("data", [b"", b"\n\r\n", b"a,b\n", b"\xef\xbb\xbf"])
def test_an_empty_source_completes(work: Work, data: bytes) -> None:
    (work.folder / "in.csv").write_bytes(data)
    output = work.run(into={"file": "out"})
    assert (output["total"], output["results"]) == (0, [])
    manifest = json.loads((work.folder / "out" / "manifest.json").read_bytes())
    counts = {"total": 0, "completed": 0, "failed": 0}
    assert manifest == {"run": work.run_id, "node": "each", **counts, "parts": [], "failures": None}


# -- what cannot be read -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "told"), [
    ({"file": "none.csv"}, "there is no none.csv"), ({"file": "<go.path>", "format": "csv"}, "not below the served folder"),
    ({"s3": {"bucket": "b", "key": "a.csv"}}, "cannot reach `s3`"), ({"file": "twice.csv"}, "has one name twice"),
])  # fmt: skip
def test_what_cannot_be_read_fails_the_node_before_the_first_item(work: Work, source: Any, told: str) -> None:
    (work.folder / "twice.csv").write_text("a,a\n1,2\n")
    (work.folder / "link").symlink_to(work.folder.parent)
    error = work.run(source, {"path": "link/in.csv"})
    assert error["code"] == "source_unreadable" and told in error["message"] and not work.items


def test_a_path_of_a_run_is_checked_as_one_of_the_document(work: Work) -> None:
    error = work.run({"file": "<go.path>", "format": "csv"}, {"path": "../a.csv"})
    assert error["code"] == "out_of_range" and "below the served folder" in error["message"]


def test_more_rows_than_allowed_fail_the_node_or_are_left_out(work: Work) -> None:
    rows = work.table(30)
    assert work.run(max_items=29)["code"] == "too_many_items"
    assert work.run(max_items=29, truncate=True)["results"] == rows[:29]
    assert work.run(max_items=30)["total"] == 30


# -- changes -----------------------------------------------------------------------------------------------------------


def test_a_source_that_changes_on_the_way_fails_the_node(work: Work) -> None:
    work.table(300)

    async def change() -> None:
        work.table(299)

    work.special = change
    error = work.run(concurrency=3)
    assert error["code"] == "source_changed" and error["message"] and len(work.items) < 50


@pytest.mark.parametrize("rows", [30, 0])
def test_an_erased_run_leaves_nothing_of_its_plan(work: Work, rows: int) -> None:
    if rows:  # else it has no plan
        work.table(rows)
    work.run()
    distribution = shard_id(f"{work.run_id}:each", DISTRIBUTION)
    assert work.machine.service.erase(work.run_id) == ((), (), False)
    assert work.machine.store.get_claim(f"shards-plan:{distribution}", work.machine.clock.now_ms()) is None
    assert work.machine.store.get_run(distribution) is None and not Board(work.machine.store, distribution).live(9)


# -- reruns ------------------------------------------------------------------------------------------------------------


async def refuse() -> None:
    raise NodeFailure("http_error", "http_error", "no", retryable=False)


def again(work: Work) -> Any:
    """The output of the node, or its error, after a rerun of the failed items."""
    work.items.clear()
    work.run_id = work.machine.service.rerun(work.run_id, node="each", items="failed").run_id
    work.machine.drain()
    node = work.machine.view(work.run_id).nodes["each"]
    return node.error if node.output is None else node.output


@pytest.mark.parametrize("name", ["in.csv", "in.csv.gz"])
def test_a_rerun_reads_only_what_has_failed(work: Work, name: str) -> None:
    rows = work.table(45)
    (work.folder / "in.csv.gz").write_bytes(gzip.compress((work.folder / "in.csv").read_bytes()))
    work.special = refuse
    given = {"into": {"file": "out/<run.id>"}, "tolerate": {"count": 1}}
    assert work.run({"file": name}, **given)["failed"] == 1
    former = work.run_id
    output = again(work)
    assert (output["completed"], output["failed"]) == (45, 0) and len(work.items) == 1
    (manifest,) = files(work.folder / "out" / work.run_id)["manifest.json"]
    assert (manifest["run"], manifest["rerun_of"], manifest["failures"]) == (work.run_id, former, None)
    found = [row for part in manifest["parts"] for row in rows_of(work.folder / part["key"])]
    assert [row["result"] for row in found] == rows
    assert {str(Path(part["key"]).parent) for part in manifest["parts"]} == {f"out/{work.run_id}"}


def test_a_rerun_reads_no_other_source(work: Work) -> None:
    work.table(45)
    work.special = refuse
    work.run(tolerate={"count": 1})
    work.table(45)
    assert again(work)["code"] == "source_changed" and not work.items


def test_a_rerun_does_not_replace_the_results_of_the_former_run(work: Work) -> None:
    work.table(45)
    work.special = refuse
    work.run(into={"file": "out"}, tolerate={"count": 1})
    former = work.run_id
    error = again(work)
    assert error["code"] == "sink_taken" and former in error["message"] and not work.items


def test_a_rerun_plans_what_could_not_be_read(work: Work) -> None:
    assert work.run()["code"] == "source_unreadable"
    rows = work.table(25)
    run_id = work.machine.service.rerun(work.run_id, node="failed").run_id
    work.machine.drain()
    assert work.machine.view(run_id).nodes["each"].output["results"] == rows


# -- S3 ----------------------------------------------------------------------------------------------------------------


def test_an_object_of_s3_is_a_source(stored_machine: Any, tmp_path: Path, bucket: Any) -> None:
    work = Work(stored_machine, tmp_path, s3=lambda: S3Objects(bucket))
    rows = work.table(45)
    bucket.put_object(Bucket="rows", Key="a/in.csv", Body=(tmp_path / "in.csv").read_bytes())
    assert work.run({"s3": {"bucket": "rows", "key": "a/in.csv"}})["results"] == rows


def test_a_changed_object_of_s3_is_not_read(stored_machine: Any, tmp_path: Path, bucket: Any) -> None:
    work = Work(stored_machine, tmp_path, s3=lambda: S3Objects(bucket))
    bucket.put_object(Bucket="rows", Key="in.jsonl", Body=b"1\n" * 300)

    async def change() -> None:
        bucket.put_object(Bucket="rows", Key="in.jsonl", Body=b"2\n" * 300)

    work.special = change
    assert work.run({"s3": {"bucket": "rows", "key": "in.jsonl"}}, concurrency=3)["code"] == "source_changed"
    assert 2 not in work.items


def test_objects_below_a_prefix_are_items(stored_machine: Any, tmp_path: Path, bucket: Any) -> None:
    work = Work(stored_machine, tmp_path, s3=lambda: S3Objects(bucket))
    for number in range(1_203):
        bucket.put_object(Bucket="rows", Key=f"a/{number:05}", Body=b"x" * (number % 3))
    bucket.put_object(Bucket="rows", Key="b", Body=b"")

    async def remove() -> None:
        bucket.delete_object(Bucket="rows", Key="a/01202")

    work.special = remove
    output = work.run({"s3": {"bucket": "rows", "prefix": "a/"}}, shard=100)
    assert output["total"] == 1_203 and output["failed"] == 0
    assert sorted((item["key"], item["size"]) for item in work.items) == [(f"a/{n:05}", n % 3) for n in range(1_203)]
    assert all(item["etag"] for item in work.items)


# -- sinks -------------------------------------------------------------------------------------------------------------


def rows_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def files(folder: Path) -> dict[str, Any]:
    return {path.name: rows_of(path) for path in sorted(folder.iterdir())}


def test_results_are_written_below_the_folder(work: Work) -> None:
    rows = work.table(25, bad=1)
    output = work.run(into={"file": "out/<run.id>"}, tolerate={"count": 1})
    found = files(work.folder / "out" / work.run_id)
    assert list(found) == ["failures.jsonl", "manifest.json", "part-00000.jsonl", "part-00001.jsonl", "part-00002.jsonl"]
    parts = [row for number in range(3) for row in found[f"part-0000{number}.jsonl"]]
    assert [row["index"] for row in parts] == list(range(25))
    assert [row["result"] for row in parts[1:]] == rows and found["failures.jsonl"] == [parts[0]]
    (manifest,) = found["manifest.json"]
    assert manifest["failures"] == f"out/{work.run_id}/failures.jsonl" and output["manifest"].endswith("/manifest.json")
    for part in manifest["parts"]:
        data = (work.folder / part["key"]).read_bytes()
        assert (len(data), data.count(b"\n"), sha256(data).hexdigest()) == (part["bytes"], part["rows"], part["sha256"])
    assert output["results"][1:] == rows


@pytest.mark.parametrize(("results", "names"), [
    ("failed", ["failures.jsonl", "manifest.json", "part-00000.jsonl"]), ("none", ["failures.jsonl", "manifest.json"]),
])  # fmt: skip
def test_results_that_are_not_kept_are_not_written(work: Work, results: str, names: list[str]) -> None:
    work.table(25, bad=1)
    output = work.run(into={"file": "out"}, tolerate={"count": 1}, results=results)
    assert list(files(work.folder / "out")) == names and output["completed"] == 24


def test_results_are_put_below_a_prefix(stored_machine: Any, tmp_path: Path, bucket: Any) -> None:
    work = Work(stored_machine, tmp_path, s3=lambda: S3Objects(bucket))
    work.table(1_200)
    output = work.run(into={"s3": {"bucket": "rows", "prefix": "out/"}}, shard=500)
    keys = [each["Key"] for each in bucket.list_objects_v2(Bucket="rows")["Contents"]]
    assert keys == ["out/manifest.json", "out/part-00000.jsonl", "out/part-00001.jsonl", "out/part-00002.jsonl"]
    assert [part["key"] for part in output["results"]] == keys[1:] and output["manifest"] == "out/manifest.json"
    lines = bucket.get_object(Bucket="rows", Key=keys[2])["Body"].read().splitlines()
    assert json.loads(lines[0])["index"] == 500


def test_another_runs_results_are_never_replaced(work: Work) -> None:
    work.table(25)
    work.run(into={"file": "out"})
    first, before = work.run_id, files(work.folder / "out")
    work.items.clear()
    error = work.run(into={"file": "out"})
    assert error["code"] == "sink_taken" and first in error["message"] and not work.items
    assert files(work.folder / "out") == before


def test_two_runs_at_once_do_not_share_a_prefix(work: Work) -> None:
    work.table(200)
    first = work.start(into={"file": "out"})
    while not (work.folder / "out" / "_claim.json").exists():
        work.machine.step()
    second = work.start(into={"file": "out"})
    work.machine.drain()
    nodes = [work.machine.view(run_id).nodes["each"] for run_id in (first, second)]
    assert nodes[0].output is not None and nodes[1].error["code"] == "sink_taken" and first in nodes[1].error["message"]
    found = files(work.folder / "out")
    assert found["manifest.json"][0]["run"] == first and "_claim.json" not in found


def test_a_failed_run_leaves_the_place_to_another(work: Work) -> None:
    rows = work.table(25, bad=2)
    assert work.run(into={"file": "out"})["code"] == "too_many_failures"
    assert "manifest.json" not in files(work.folder / "out") and "_claim.json" not in files(work.folder / "out")
    assert work.run(into={"file": "out"}, tolerate={"count": 2}, on_error="drop")["results"] == rows


def test_another_attempt_of_the_node_takes_the_place_over(work: Work) -> None:
    work.table(25)
    (work.folder / "out").mkdir()
    nodes = {"run": "", "node": "each", "token": "a former attempt"}

    work.special = refuse
    given = {"source": SOURCE, "into": {"file": "out"}, "shard": 10, "body": BODY}
    each = {"type": "distributed", "after": "go", "with": given, "retry": {"attempts": 2, "backoff_ms": 60_000}}
    run_id = work.machine.start({"go": {"type": "manual"}, "each": each}, {})
    (work.folder / "out" / "_claim.json").write_text(json.dumps({**nodes, "run": run_id}))
    work.machine.drain()
    assert work.machine.view(run_id).nodes["each"].output["completed"] == 25
    assert "_claim.json" not in files(work.folder / "out") and "failures.jsonl" not in files(work.folder / "out")


def test_a_place_without_the_right_to_write_fails_before_the_first_item(work: Work) -> None:
    work.table(25)
    (work.folder / "out").write_text("a file")
    error = work.run(into={"file": "out"})
    assert error["code"] == "sink_unwritable" and not work.items


def test_a_place_that_cannot_be_written_any_more_fails_the_node(work: Work) -> None:
    work.table(40)

    async def block() -> None:
        for path in (work.folder / "out").iterdir():
            path.unlink()
        (work.folder / "out").rmdir()
        (work.folder / "out").write_text("a file")

    work.special = block
    assert work.run(into={"file": "out"})["code"] == "sink_unwritable"


def test_a_claim_of_another_program_is_kept(work: Work) -> None:
    work.table(5)
    (work.folder / "out").mkdir()
    (work.folder / "out" / "manifest.json").write_text("{}")
    error = work.run(into={"file": "out"})
    assert error["code"] == "sink_taken" and "another program" in error["message"]
    assert (work.folder / "out" / "manifest.json").read_text() == "{}"


def test_an_item_of_a_source_is_shown(machine: Any, tmp_path: Path) -> None:
    work = Work(machine, tmp_path)
    (tmp_path / "in.csv").write_text("id,n\n" + "".join(f"{number},x\n" for number in range(25)))
    work.run()
    assert items.item(machine.world, work.run_id, "each", 17)["item"] == {"id": "17", "n": "x"}
    assert items.progress(machine.world, work.run_id, "each")["completed"] == 25
    (tmp_path / "in.csv").write_text("id,n\n")
    assert items.item(machine.world, work.run_id, "each", 17)["item"] is None
