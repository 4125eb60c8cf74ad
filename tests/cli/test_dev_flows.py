"""`stepless dev` over workflows in Python: an edit republishes, a refusal leaves the former version published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flow_files import BROKEN, PAY_LINE, REFUND, of

pytestmark = pytest.mark.check

Write = Callable[[str, str], str]
Serve = Callable[..., Any]

INPUTS = {"inputs": {"id": "A-1", "amount": 4}}


def outcome(dev: Any, workflow: str, inputs: Any = INPUTS) -> Any:
    run_id = dev.client.post(f"/workflows/{workflow}/runs", json=inputs).json()["run_id"]
    dev.watch(run_id)
    return dev.client.get(f"/runs/{run_id}").json()


def test_an_edit_of_the_source_is_a_new_version(serve: Serve, write: Write) -> None:
    write("dev_flow.py", of(REFUND, "dev_flow"))
    dev = serve()
    assert outcome(dev, "dev-flow")["outputs"] == {"status": "paid", "receipt": "R-A-1"}
    write("dev_flow.py", of(REFUND, "dev_flow").replace('"paid"', '"refunded"').replace("R-{", "N-{"))
    dev.child.until("dev_flow.py: loaded again")
    assert dev.child.until("published as") == "dev_flow.py: dev-flow published as version 2\n"
    assert outcome(dev, "dev-flow")["outputs"] == {"status": "refunded", "receipt": "N-A-1"}
    write("dev_flow.py", "# a comment\n" + of(REFUND, "dev_flow").replace('"paid"', '"refunded"').replace("R-{", "N-{"))
    assert dev.child.until("still") == "dev_flow.py: dev-flow still version 2\n"


def test_a_refusal_is_shown_at_its_line_and_the_former_version_stays(serve: Serve, write: Write) -> None:
    sound = of(REFUND, "dev_refused")
    write("dev_refused.py", sound)
    dev = serve()
    write("dev_refused.py", sound.replace("    receipt = await pay(", "    await order\n    receipt = pay("))
    dev.child.until(f"dev_refused.py:{PAY_LINE}: unknown_await: ")
    dev.child.until(f"dev_refused.py:{PAY_LINE + 1}: not_awaited: ")
    assert dev.child.until("not published") == "dev_refused.py: not published, 2 errors; version 1 stays published\n"
    assert outcome(dev, "dev-refused")["outputs"] == {"status": "paid", "receipt": "R-A-1"}
    write("dev_refused.py", sound + "\ndef half(:\n")
    dev.child.until(f"dev_refused.py:{len(sound.splitlines()) + 2}: error: the file cannot be imported: SyntaxError")
    dev.child.until("The functions loaded before stay in use.")
    assert dev.child.until("not published") == (
        "dev_refused.py: not published, a module cannot be loaded; version 1 stays published\n"
    )
    assert outcome(dev, "dev-refused")["outputs"] == {"status": "paid", "receipt": "R-A-1"}
    write("dev_refused.py", sound)
    assert dev.child.until("still") == "dev_refused.py: dev-refused still version 1\n"


def test_a_new_file_is_published_and_a_failure_names_its_line(serve: Serve, write: Write) -> None:
    dev = serve()
    write("dev_new.py", of(REFUND, "dev_new"))
    dev.child.until("dev-new published as version 1")
    failed = outcome(dev, "dev-new", {"inputs": {"id": "bad", "amount": 4}})
    line = f"dev_new.py:{PAY_LINE}: receipt = await pay(order.id)"
    assert (failed["status"], failed["error"]["source"]) == ("failed", line)
    nodes = {node["instance"]: node for node in dev.client.get(f"/runs/{failed['id']}/nodes").json()["nodes"]}
    assert nodes["receipt"]["error"]["source"] == line and nodes["order"]["error"] is None


def test_a_file_with_faults_from_the_start_is_published_when_it_is_mended(serve: Serve, write: Write) -> None:
    write("dev_start.py", of(BROKEN, "dev_start"))
    dev = serve()
    assert [line for line in dev.child.said if "dev_start.py:11: no_such_construct" in line]
    assert "dev_start.py: not published, 4 errors\n" in dev.child.said
    write("dev_start.py", of(REFUND, "dev_start"))
    dev.child.until("dev-start published as version 1")


def test_a_file_that_is_gone_leaves_its_workflow_published(serve: Serve, write: Write) -> None:
    path = write("dev_deleted.py", of(REFUND, "dev_deleted"))
    dev = serve()
    Path(path).unlink()
    assert dev.child.until("deleted;") == "dev_deleted.py: deleted; dev-deleted stays published as version 1\n"


def test_a_workflow_that_leaves_its_file_stays_published(serve: Serve, write: Write) -> None:
    write("dev_gone.py", of(REFUND, "dev_gone"))
    dev = serve()
    write("dev_gone.py", of(REFUND, "dev_gone").replace('workflow("dev-gone")', 'workflow("dev-came")'))
    dev.child.until("dev-came published as version 1")
    assert dev.child.until("dev-gone") == "dev_gone.py: dev-gone is not in the file any more; it stays published as version 1\n"
    assert outcome(dev, "dev-gone")["outputs"] == {"status": "paid", "receipt": "R-A-1"}
