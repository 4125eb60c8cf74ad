"""`stepless dev` while an author works: saved files are served, waits can be skipped, requests can be sent again."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepless.cli import main

pytestmark = pytest.mark.check

Write = Callable[[str, str], str]
Serve = Callable[..., Any]

ORDERS = """
id: orders
nodes:
  order: {type: webhook, with: {path: /orders, auth: none}}
  said: {type: transform, after: order, with: {value: "%s <order.body.id>"}}
"""
NAP = """
id: nap
nodes:
  start: {type: manual}
  nap: {type: wait, after: start, with: {for: 2d}}
  then: {type: function, after: nap, with: {call: dev_watch.word}}
"""
FUNCTIONS = """
from stepless import function
from dev_watch_words import WORD

@function("dev_watch.word")
def word() -> str:
    return WORD
"""


def outputs(dev: Any, run_id: str) -> Any:
    dev.watch(run_id)
    return dev.client.get(f"/runs/{run_id}").json()["outputs"]


def test_a_saved_workflow_is_served_and_told_of(serve: Serve, write: Write) -> None:
    write("orders.yaml", ORDERS % "old")
    dev = serve()
    write("orders.yaml", ORDERS % "new")
    assert dev.child.until("published as") == "orders.yaml: orders published as version 2\n"
    run_id = dev.client.post("/hooks/orders", json={"id": 7}).json()["run_id"]
    assert outputs(dev, run_id) == {"said": "new 7"}
    write("rival.yaml", ORDERS % "rival")
    assert dev.child.until("warning") == "rival.yaml: warning: orders.yaml also has the id orders; the file saved last is used\n"
    write("more.yaml", NAP.replace("id: nap", "id: more").replace("dev_watch.word", "nothing.there"))
    assert "nothing.there" in dev.child.until("more.yaml:6: error:")
    assert dev.child.until("not published") == "more.yaml: not published, 1 error\n"


def test_a_fault_is_shown_at_its_line_and_the_last_good_version_stays(
    serve: Serve, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write("orders.yaml", ORDERS % "old")
    dev = serve()
    write("orders.yaml", (ORDERS % "new").replace("type: transform", "type: transfrom"))
    told = [dev.child.until("orders.yaml:5: error:"), dev.child.until("transform")]
    assert main(["validate", path]) == 2
    assert [line.replace(path, "orders.yaml") for line in capsys.readouterr().err.splitlines(keepends=True)][:2] == told
    assert dev.child.until("not published") == "orders.yaml: not published, 1 error; version 1 stays published\n"
    run_id = dev.client.post("/hooks/orders", json={"id": 7}).json()["run_id"]
    assert outputs(dev, run_id) == {"said": "old 7"}
    write("orders.yaml", ORDERS % "old")
    assert dev.child.until("still") == "orders.yaml: orders still version 1\n"


def test_a_file_that_is_gone_leaves_its_workflow_published(serve: Serve, write: Write) -> None:
    path = write("orders.yaml", ORDERS % "old")
    dev = serve()
    Path(path).unlink()
    assert dev.child.until("deleted") == "orders.yaml: deleted; orders stays published as version 1\n"
    assert dev.client.get("/workflows/orders").status_code == 200


def test_a_saved_module_is_loaded_again_with_what_it_imports(serve: Serve, write: Write) -> None:
    write("nap.yaml", NAP.replace("2d", "1ms"))
    write("dev_watch_words.py", "WORD = 'old'\n")
    write("dev_watch_functions.py", FUNCTIONS)
    dev = serve()
    assert outputs(dev, dev.start("nap")) == {"then": "old"}
    write("dev_watch_words.py", "WORD = 'new'\n")
    dev.child.until("dev_watch_words.py: loaded again")
    assert outputs(dev, dev.start("nap")) == {"then": "new"}
    write("dev_watch_functions.py", FUNCTIONS + "\ndef broken(:\n")
    dev.child.until("dev_watch_functions.py:9: error: the file cannot be imported: SyntaxError")
    dev.child.until("The functions loaded before stay in use.")
    assert outputs(dev, dev.start("nap")) == {"then": "new"}
    write("dev_watch_functions.py", FUNCTIONS.replace("dev_watch.word", "dev_watch.other"))
    dev.child.until("dev_watch_functions.py: loaded again")
    dev.child.until("nap.yaml: not published, 1 error; version 1 stays published")


def test_a_module_that_is_broken_from_the_start_loads_when_it_is_mended(serve: Serve, write: Write) -> None:
    write("nap.yaml", NAP.replace("2d", "1ms"))
    write("dev_watch_words.py", "WORD = 'word'\n")
    write("dev_watch_functions.py", FUNCTIONS + "\ndef broken(:\n")
    dev = serve()
    assert any("SyntaxError" in line for line in dev.child.said)
    write("dev_watch_functions.py", FUNCTIONS)
    dev.child.until("nap.yaml: nap published as version 1")
    assert outputs(dev, dev.start("nap")) == {"then": "word"}


def test_a_module_in_a_package_is_watched_from_when_it_was_loaded(serve: Serve, write: Write, tmp_path: Path) -> None:
    (tmp_path / "dev_watch_shop").mkdir()
    write("dev_watch_shop/words.py", "WORD = 'old'\n")
    write("dev_watch_functions.py", FUNCTIONS.replace("from dev_watch_words", "from dev_watch_shop.words"))
    write("nap.yaml", NAP.replace("2d", "1ms"))
    dev = serve()
    write("nap.yaml", NAP.replace("2d", "2ms"))
    dev.child.until("nap published as version 2")
    assert not any("loaded again" in line for line in dev.child.said)
    write("dev_watch_shop/words.py", "WORD = 'new'\n")
    dev.child.until("words.py: loaded again")
    assert outputs(dev, dev.start("nap")) == {"then": "new"}


def test_what_was_wrong_may_be_in_another_file(serve: Serve, write: Write) -> None:
    write("nap.yaml", NAP.replace("2d", "1ms"))
    write("dev_watch_words.py", "WORD =\n")
    write("dev_watch_functions.py", FUNCTIONS)
    dev = serve()
    write("dev_watch_words.py", "WORD = 'word'\n")
    assert dev.child.until("loaded again").startswith("dev_watch_words.py: loaded again")
    dev.child.until("nap.yaml: nap published as version 1")
    assert outputs(dev, dev.start("nap")) == {"then": "word"}


def test_each_run_is_told_of_as_it_begins_waits_and_ends(serve: Serve, write: Write) -> None:
    write("nap.yaml", NAP)
    write("dev_watch_functions.py", FUNCTIONS.replace("return WORD", "raise ValueError"))
    write("dev_watch_words.py", "WORD = 'word'\n")
    dev = serve()
    run_id = dev.start("nap")
    assert dev.child.until("started") == f"nap started: {dev.client.base_url}/runs/{run_id}/view\n".replace("//runs", "/runs")
    assert re.fullmatch(rf"nap is waiting until [-0-9T:.]+Z \(nap\): {run_id}\n", dev.child.until("waiting"))
    assert dev.client.post(f"/runs/{run_id}/skip").json()["skipped_ms"] > 47 * 3_600_000
    assert dev.child.until("failed").startswith("nap failed in 2 d 0 h, then: ValueError [value_error] at dev_watch")
    assert dev.watch(run_id)[-1] == "run.failed"


def test_a_wait_is_skipped_from_another_terminal(
    serve: Serve, write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("nap.yaml", NAP)
    write("dev_watch_words.py", "WORD = 'word'\n")
    write("dev_watch_functions.py", FUNCTIONS)
    dev = serve()
    run_id = dev.start("nap")
    dev.child.until("nap is waiting until")
    assert main(["runs", "skip", run_id, "--db", str(tmp_path / "kept/dev.db")]) == 0
    assert f"{run_id}  skips 47 h 59 m and continues" in capsys.readouterr().out
    assert outputs(dev, run_id) == {"then": "word"}
    assert main(["runs", "skip", run_id, "--db", str(tmp_path / "kept/dev.db")]) == 2
    assert "has ended: completed [run_ended]" in capsys.readouterr().err


def test_a_request_comes_again_to_the_changed_workflow(
    serve: Serve, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("orders.yaml", ORDERS % "old")
    dev = serve()
    run_id = dev.client.post("/hooks/orders", json={"id": 7}).json()["run_id"]
    assert outputs(dev, run_id) == {"said": "old 7"}
    write("orders.yaml", ORDERS % "new")
    dev.child.until("published as")
    url = str(dev.client.base_url).rstrip("/")
    assert main(["runs", "redeliver", run_id, "--url", url, "--api-key", "k", "--json"]) == 0
    again = capsys.readouterr().out.partition('"run_id": "')[2].partition('"')[0]
    assert again != run_id and outputs(dev, again) == {"said": "new 7"}
    dev.child.signal(signal.SIGTERM)
    assert dev.child.ended() == 0
