"""The workloads do what they claim, on the engine and on the floor. No test here checks a time."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import answers, bars, cases, door, floor, footprint, growth, reload, report, round_trips, shapes, svg, talking
from benchmarks.engine import Engine
from benchmarks.floor import Journal
from benchmarks.peers import servers
from benchmarks.peers.environments import PEERS, chosen
from benchmarks.sample import Sample, paired_ratio, ratio, read
from stepless.core.events import EventType
from stepless.runtime.runlog import RunLog

SIZES = {"W1": 5, "W2": 4, "W3": 3, "W4": 9, "W5": 2, "W6 latency": 3}
NODES = {"W1": 5, "W2": 6, "W3": 5, "W4": 9, "W5": 6, "W6 latency": 3}


@pytest.mark.parametrize("case", SIZES)
def test_every_node_of_a_workload_runs_once_on_our_engine(case: str) -> None:
    engine = Engine(cases.CASES[case](SIZES[case]).document)
    run_id = asyncio.run(engine.run())
    done = [
        event.instance
        for event in RunLog(engine.local.world.store, engine.local.world.blobs, run_id).read()
        if event.type is EventType.NODE_COMPLETED and event.instance != "l"
    ]
    assert len(done) == len(set(done)) == NODES[case]


@pytest.mark.parametrize("case", SIZES)
def test_the_floor_commits_every_node_once(case: str, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "floor.db", "NORMAL")
    asyncio.run(cases.CASES[case](SIZES[case]).bare(journal, "run"))
    assert sorted(journal.outputs("run")) == list(range(NODES[case]))
    journal.close()


def test_the_floor_runs_no_node_before_its_parents() -> None:
    began: list[int] = []

    async def task(node: int) -> str:
        began.append(node)
        return ""

    parents = shapes.layered(100)
    asyncio.run(floor.run(parents, inner=task))
    inner = set(began)
    assert all(began.index(p) < began.index(node) for node in began for p in parents[node] if p in inner)
    assert len(inner) > 50


@pytest.mark.parametrize("case", ["W6 throughput", "W7"])
def test_every_variant_of_a_case_is_measured_as_often(case: str) -> None:
    samples = cases.measure(case, 3, repeat=1, seconds=0)
    assert {sample.variant for sample in samples} == {
        "floor", "memory", "floor, SQLite NORMAL", "SQLite NORMAL", "floor, SQLite FULL", "SQLite FULL",
    }  # fmt: skip
    assert all(len(sample.wall) == 1 and sample.wall[0] > 0 for sample in samples)
    assert [asdict(sample) for sample in read("\n".join(sample.line() for sample in samples))] == list(map(asdict, samples))


def test_growth_counts_what_a_run_leaves_behind(tmp_path: Path) -> None:
    growth.publish("W1", 200, tmp_path / "runs.db")
    sample = growth.measure("W1", 200, tmp_path / "runs.db", repeat=2)
    assert len(sample.wall) == 2
    assert sample.facts["events"] >= 2 * 200
    assert sample.facts["file_bytes"] >= sample.facts["log_bytes"] > 200
    assert min(sample.facts["memory_bytes"], sample.facts["graph_memory_bytes"]) > 10_000_000  # the engine's code, at least


def test_a_paused_run_is_read_back_and_ends() -> None:
    sample = reload.reload(3_000)  # a log that is clearly worth a snapshot at the first question
    assert sample.facts["tail_events"] > 0
    assert sample.facts["step_s"] > 0


def test_a_replay_reads_both_ends_of_the_log() -> None:
    sample = reload.replay(800)
    assert sample.n > 700
    assert sample.facts["late_s"] > 0


def test_an_entity_takes_every_message_and_ends() -> None:
    sample = talking.measure_entity(20)
    assert len(sample.wall) == 1 and len(sample.facts["grown_bytes"]) == 2
    assert sample.facts["file_bytes"] >= sample.facts["log_bytes"] > 20 * 100


def test_as_many_runs_are_told_by_key_as_by_link() -> None:
    keyed, linked = asyncio.run(talking.measure_keyed(6, in_turn=2))
    assert (keyed.case, linked.case) == (talking.KEYED, talking.LINKED)
    assert min(*keyed.wall, *linked.wall) > 0


def test_the_bars_of_messages_tell_growth_and_times() -> None:
    sizes = [sample(talking.ENTITY, "SQLite NORMAL", 10.0 * n**0.1, n, grown_bytes=[0, 2_000_000]) for n in talking.MESSAGES]
    answered = [sample(talking.KEYED, "SQLite NORMAL", 15.0), sample(talking.LINKED, "SQLite NORMAL", 10.0)]
    measured = {bar.what: bar for bar in bars.bars([*sizes, *answered], ()) if bar.measured is not None}
    assert [(round(bar.measured or 0, 2), bar.met) for bar in measured.values()] == [(1.1, False), (2, True), (1.5, True)]


def test_stored_bytes_hold_the_results_at_least_packed() -> None:
    facts = footprint.bytes_per_node(50).facts
    assert facts["file_bytes"] > facts["log_bytes"] > 0.75 * footprint.RESULT_BYTES  # six bits of chance per byte


def sample(case: str, variant: str, us: float, n: int = 1_000, **facts: Any) -> Sample:
    return Sample(case, variant, n, n, [us * n / 1e6] * 3, [us * n / 1e6] * 3, facts)


def test_a_floor_that_was_slow_for_a_while_slows_the_engine_of_the_same_pair() -> None:
    """The medians alone are those of different pairs."""
    ours = Sample("W1", "SQLite NORMAL", 1_000, 1_000, [2.0, 20.0, 2.0, 2.0, 20.0])
    bare = Sample("W1", "floor, SQLite NORMAL", 1_000, 1_000, [1.0, 10.0, 1.0, 10.0, 10.0])
    assert paired_ratio(ours, bare) == pytest.approx(2)
    found = [replace(ours, cpu=ours.wall), replace(bare, cpu=bare.wall)]
    (bar,) = [bar for bar in bars.bars(found, ()) if bar.measured is not None]
    assert bar.measured == pytest.approx(2) and "of the medians 0.20" in bar.note


@pytest.mark.parametrize(("us", "met"), [(23.0, True), (25.0, False)])
def test_a_bar_is_met_by_the_ratio_of_the_pairs(us: float, met: bool) -> None:
    found = [sample("W1", "SQLite NORMAL", us), sample("W1", "floor, SQLite NORMAL", 10.0)]
    assert ratio(*found) == pytest.approx(us / 10)
    assert [bar.met for bar in bars.bars(found, ()) if bar.measured is not None] == [met]


@pytest.mark.parametrize(("us", "met"), [(49.0, [True, False]), (51.0, [False, False]), (24.0, [True, True])])
def test_the_bars_over_http_are_times_on_one_connection_and_a_share_on_fifty(us: float, met: list[bool]) -> None:
    cases = door.CASES[:2]
    found = [sample(case, variant, time) for case in cases for variant, time in ((bars.NORMAL, us), (bars.FLOOR, 10.0))]
    measured = [bar for bar in bars.bars(found, ()) if bar.measured is not None]
    assert [bar.met for bar in measured] == met
    assert [bar.measured for bar in measured] == pytest.approx([us / 10, 10 / us])
    assert f"| {door.CASES[0]} | 10.0 (1.00–1.00) | {us:.1f} (1.00–1.00) | {us / 10:.1f}x |" in report._over_http(found)


def test_the_fastest_durable_peer_is_what_we_are_held_against() -> None:
    peers = [sample("W1", "SQLite NORMAL", 100.0), sample("W1", "dbos", 3_000.0), sample("W1", "langgraph, sync", 900.0)]
    peers.append(sample("W1", "pydantic-graph", 50.0))  # keeps nothing
    (bar,) = [bar for bar in bars.bars((), peers) if bar.measured is not None]
    assert (round(bar.measured or 0), bar.met) == (9, False)


def test_an_exponent_tells_linear_from_quadratic() -> None:
    assert bars.exponent((100, 5.0), (10_000, 500.0)) == pytest.approx(1)
    assert bars.exponent((100, 5.0), (10_000, 50_000.0)) == pytest.approx(2)


def test_a_report_names_what_was_missed_and_what_did_not_run(tmp_path: Path) -> None:
    samples = [sample("W1", "SQLite NORMAL", 90.0), sample("W1", "floor, SQLite NORMAL", 10.0)]
    samples.append(Sample("W2", "SQLite NORMAL", 1, 1, error="took more than 90 s"))
    facts = {"date": "today", "machine": "m", "load": "0", "versions": {"Python": "3"}, "seconds": 1, "samples": samples}
    report.write(facts, None, tmp_path)
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert "**missed** (3.75 of the target)" in text
    assert "| Missed targets | 1 of 1: W1, SQLite NORMAL, n = 1,000: times the floor, SQLite NORMAL (9.00x) |" in text
    assert "* took more than 90 s: W2, SQLite NORMAL, n = 1" in text
    assert (tmp_path / "benchmarks" / "W1.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_first_screen_compares_with_every_peer_that_was_measured() -> None:
    peers = [sample("W1", "SQLite NORMAL", 100.0), sample("W1", "dbos", 3_000.0), sample("W1", "pydantic-graph", 50.0)]
    text = list(answers.answers((), peers, bars.bars((), peers)))
    assert "| dbos | every step, SQLite | 30x | – | – | – | – |" in text
    assert "| pydantic-graph | nothing | 0.5x | – | – | – | – |" in text
    assert not any(line.startswith("| langgraph") for line in text)
    assert "| Missed targets | 0 of 1 |" in text and "| A million runs of ten nodes on AWS | not measured |" in text


def test_every_peer_has_what_it_keeps() -> None:
    labels = {peer.label(variant) for peer in PEERS for variant in peer.variants}
    assert labels == answers.KEEPS.keys() and set(bars.DURABLE) == {name for name in labels if "every" in answers.KEEPS[name]}


def test_peers_with_servers_are_measured_only_on_request() -> None:
    assert {peer.name for peer in PEERS} - {peer.name for peer in chosen("")} == {"restate", "temporal"}
    assert chosen("all") == PEERS and [peer.name for peer in chosen("restate, dbos")] == ["dbos", "restate"]
    with pytest.raises(ValueError, match="unknown peers: conductor; known: all, langgraph"):
        chosen("conductor,dbos")


def test_a_peer_with_a_server_counts_among_the_durable_ones() -> None:
    peers = [sample("W4", "SQLite NORMAL", 100.0), sample("W4", "dbos", 3_000.0), sample("W4", "restate", 700.0)]
    found = {bar.what.rpartition(" over ")[2]: bar.measured for bar in bars.bars((), peers) if bar.measured is not None}
    assert found == {"the fastest durable peer without a server": pytest.approx(30), "Restate": pytest.approx(7)}


def test_a_server_of_a_peer_ends_with_its_block(tmp_path: Path) -> None:
    stubborn = "from signal import *; signal(SIGTERM, SIG_IGN); print('up', flush=True); sigwait([SIGUSR1])"
    command = [sys.executable, "-c", stubborn]
    log = tmp_path / "server.log"

    async def ready() -> None:
        if not log.read_text(encoding="utf-8"):
            raise ConnectionError("not yet")

    with servers.server(command, log, os.environ) as process:
        asyncio.run(servers.answered(process, log, ready))
        assert process.poll() is None
    assert process.returncode == -signal.SIGKILL
    with servers.server([sys.executable, "-c", "print('no such option')"], log, os.environ) as process:
        process.wait()
        with pytest.raises(RuntimeError, match=r"did not start.*no such option"):
            asyncio.run(servers.answered(process, log, ready_never))


async def ready_never() -> None:
    raise ConnectionError


def test_a_commit_on_aws_is_one_request_and_what_comes_before_it_is_counted() -> None:
    sample = round_trips.measured("W12 chain", round_trips.chain(10), 10, answer_ms=0)
    assert sample.facts["requests"] == 14 and sample.facts["before_first"] == 3
    handed = round_trips.handed_over(answer_ms=0)
    assert handed.facts["invocations"] == 2 and handed.facts["requests"] == 6
    # the lease and its successor, the message, the header, the log, the inbox, the commit of `run.continued`


def test_a_request_is_not_shorter_than_the_table_takes() -> None:
    sample = round_trips.measured("W12 chain", round_trips.chain(2), 2, answer_ms=1)
    assert sample.facts["request_s"] >= 0.001 and min(sample.wall) >= sample.facts["requests"] * 0.001


def test_a_picture_escapes_its_labels() -> None:
    assert "a &lt; b" in svg.chart("a < b", "µs", [svg.Bar("x", "ours", 1.0, 1.0, 2.0)])


def test_a_sample_survives_its_line_of_json() -> None:
    assert json.loads(sample("W1", "memory", 1.0).line())["case"] == "W1"
