"""An exception in a function, as the terminal, `--json`, the dev log and the verbs over a file show it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepless.cli import main

Write = Callable[[str, str], str]
Spawn = Callable[..., Any]
Said = pytest.CaptureFixture[str]

PRICING = """\
from stepless import function

PRICES = {"apple": 2}

@function("pricing.price")
def price(item: str) -> int:
    return PRICES[item]
"""
ORDERS = """
id: orders
nodes:
  start: {type: manual}
  price: {type: function, after: start, with: {call: pricing.price, args: {item: <start.item>}}}
"""
HANDLED = """
  otherwise: {type: transform, after: price.error, with: {value: "sold out"}}
"""
TRACEBACK = """\
    Traceback (most recent call last):
      File "functions.py", line 7, in price
        return PRICES[item]
    KeyError: 'carrot'
"""


@pytest.fixture
def orders(write: Write) -> str:
    write("functions.py", PRICING)
    return write("orders.yaml", ORDERS)


def test_a_run_in_the_terminal_ends_with_the_traceback(orders: str, spawn: Spawn) -> None:
    child = spawn("run", "orders.yaml", "-i", '{"item": "carrot"}')
    assert child.ended() == 1
    said = "".join(child.said)
    assert "failed: 'carrot' [key_error] at functions.py:7" in said
    assert said.endswith(f"price: 'carrot' [key_error]\n{TRACEBACK}")


def test_a_handled_exception_is_shown_as_well(orders: str, write: Write, spawn: Spawn) -> None:
    write("orders.yaml", ORDERS + HANDLED)
    child = spawn("run", "orders.yaml", "-i", '{"item": "carrot"}')
    assert child.ended() == 0
    assert TRACEBACK in "".join(child.said)


def test_json_holds_it_for_the_run_and_the_node(orders: str, spawn: Spawn) -> None:
    child = spawn("run", "orders.yaml", "--json", "-i", '{"item": "carrot"}')
    assert child.ended() == 1
    told = json.loads("".join(child.said))
    assert told["exception"] == told["nodes"]["price"]["exception"]
    assert (told["exception"]["type"], told["exception"]["file"], told["exception"]["line"]) == ("KeyError", "functions.py", 7)


def test_the_dev_log_tells_message_and_traceback(orders: str, serve: Any) -> None:
    dev = serve()
    run_id = dev.client.post("/workflows/orders/runs", json={"inputs": {"item": "carrot"}}).json()["run_id"]
    told = dev.child.until("orders failed")
    assert ", price: 'carrot' [key_error] at functions.py:7: " in told and run_id in told
    assert "".join(dev.child.until(line) for line in TRACEBACK.splitlines()) == TRACEBACK
    run = dev.client.get(f"/runs/{run_id}").json()
    assert run["exception"]["traceback"].splitlines() == [line.strip("\n")[4:] for line in TRACEBACK.splitlines()]
    (_, node) = dev.client.get(f"/runs/{run_id}/nodes").json()["nodes"]
    assert node["exception"] == run["exception"]
    failed = [event["payload"] for event in dev.client.get(f"/runs/{run_id}/events").json()["events"]][-2]
    assert failed["exception"] == run["exception"]


def test_runs_show_and_events_tell_it_over_a_file(orders: str, spawn: Spawn, tmp_path: Path, capsys: Said) -> None:
    child = spawn("run", "orders.yaml", "--json", "--db", "runs.db", "-i", '{"item": "carrot"}')
    child.ended()
    run_id = json.loads("".join(child.said))["run_id"]
    db = ["--db", str(tmp_path / "runs.db")]
    assert main(["runs", "show", run_id, *db]) == 0
    assert TRACEBACK in capsys.readouterr().out
    assert main(["runs", "events", run_id, *db, "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["payload"]["exception"]["line"] for event in events if "exception" in event["payload"]] == [7]


def test_nothing_in_a_traceback_moves_the_cursor(orders: str, spawn: Spawn) -> None:
    child = spawn("run", "orders.yaml", "-i", json.dumps({"item": "\x1b[2J"}))
    assert child.ended() == 1
    assert "\x1b" not in "".join(child.said)


def test_a_node_tells_what_it_was_called_with_and_why_it_failed(
    orders: str, spawn: Spawn, tmp_path: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    child = spawn("run", "orders.yaml", "--json", "--db", "runs.db", "-i", '{"item": "carrot"}')
    child.ended()
    run_id = json.loads("".join(child.said))["run_id"]
    show = ["runs", "show", run_id, "--db", str(tmp_path / "runs.db"), "--node"]
    assert main([*show, "price"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("price  function  failed\n") and said.endswith(TRACEBACK)
    assert "called with\n  args  {\"item\": \"carrot\"}\n  call  \"pricing.price\"\n" in said
    assert main([*show, "price", "--json"]) == 0
    (call,) = json.loads(capsys.readouterr().out)["calls"]
    assert (call["attempt"], call["params"], call["previews"]) == (1, {"args": {"item": "carrot"}, "call": "pricing.price"}, {})
    assert main([*show, "prise"]) == 2
    assert "unknown_node" in capsys.readouterr().err


def test_of_several_instances_each_is_named(write: Write, spawn: Spawn, tmp_path: Path, capsys: Said) -> None:
    write("functions.py", PRICING)
    body = "{nodes: {price: {type: function, with: {call: pricing.price, args: {item: <loop.item>}}}}}"
    write("turns.yaml", f"id: turns\nnodes:\n  each: {{type: loop, with: {{items: [apple, apple], body: {body}}}}}\n")
    child = spawn("run", "turns.yaml", "--json", "--db", "runs.db")
    child.ended()
    run_id = json.loads("".join(child.said))["run_id"]
    show = ["runs", "show", run_id, "--db", str(tmp_path / "runs.db"), "--node"]
    assert main([*show, "price"]) == 0
    said = capsys.readouterr().out
    assert "price@each[0]" in said and "price@each[1]" in said and "--node 'price@each[0]'" in said
    assert main([*show, "price@each[1]"]) == 0
    assert '"item": "apple"' in capsys.readouterr().out


INTERRUPTED = """
import sys
from importlib.abc import MetaPathFinder

class CtrlC(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "stepless.cli.command.main":
            raise KeyboardInterrupt

sys.meta_path.insert(0, CtrlC())
from stepless.cli import main
sys.exit(main(["schema"]))
"""


def test_an_interrupt_while_modules_load_has_its_exit_code() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
