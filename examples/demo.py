"""The refund example from the webhook to the payment, with the server killed in the middle.

`make demo` runs it. It needs only this project: the server is a child process on a free port over a temporary file, and every
step is an HTTP request. The exit status is 0 only if every check below passes.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
from driving import Broken, Server, asked, chapter, check, played, signed_by

SECRET, HEADER = "a-secret-of-the-demo", "X-Signature"
ORDER = {"order_id": "A-1042", "amount": 900}
ENDS = {"completed", "failed", "timed_out", "blocked", "invalidated", "skipped", "cancelled"}


def settings(folder: Path) -> Mapping[str, str]:
    return {"REFUND_WEBHOOK_SECRET": SECRET, "REFUND_JOURNAL": str(folder / "journal")}


def signed(body: bytes) -> Mapping[str, str]:
    """The headers of a signed webhook."""
    return signed_by(SECRET, HEADER, body)


def stream(client: httpx.Client, url: str, after: int) -> Iterator[Mapping[str, Any]]:
    """A run's events above `after` as the server sends them, until it closes the stream."""
    with client.stream("GET", url, params={"afterEventId": after}, headers={"Accept": "text/event-stream"}) as response:
        for line in response.iter_lines():
            if line.startswith("data: ") and line != "data: {}":
                yield json.loads(line.removeprefix("data: "))


def show(event: Mapping[str, Any]) -> None:
    payload = event["payload"]
    said = payload.get("handle") or payload.get("text") or payload.get("reason") or ""
    print(f"  {event['eventId']:>3}  {event['type']:<20} {payload.get('instance', ''):<10} {said}".rstrip())


# -- the story --------------------------------------------------------------------------------------------------------


def play(server: Server, client: httpx.Client) -> None:
    chapter("1. Start the server on a free port; it publishes examples/refund-approval.")
    url = server.start()
    print(f"  {url}, process {server.pid}")
    asked(client, "GET", f"{url}/workflows/refund-approval")
    check(True, "the workflow is published")

    chapter(f"2. A shop asks for a refund: a signed webhook, {json.dumps(ORDER)}.")
    body = json.dumps(ORDER).encode()
    forged = client.post(f"{url}/hooks/refunds", content=body, headers={**signed(body), HEADER: "t=1,v1=00"})
    check(forged.status_code == 401, "a forged signature is refused")
    run = asked(client, "POST", f"{url}/hooks/refunds", content=body, headers=signed(body))
    events_url = f"{url}/runs/{run['run_id']}/events"
    print(f"  run {run['run_id']} has begun; its events, as they happen:")
    seen = watch_until_it_asks(client, events_url)

    chapter("3. 900 is too much to pay without approval: the run waits for a manager, and nothing is running.")
    pause = asked(client, "GET", f"{url}/runs/{run['run_id']}")["pauses"][0]
    print(f"  {pause['details']['message']}\n  {pause['resume'][:70]}…")
    before = asked(client, "GET", events_url)["events"]

    chapter("4. Kill the server with SIGKILL, and start it again.")
    killed = server.pid
    server.kill()
    server.start()
    print(f"  process {killed} is dead, process {server.pid} took over the file")

    chapter("5. The manager opens the link that was sent before the crash, and approves.")
    yes = {"decision": "approved", "answer": {"comment": "known customer"}, "by": "Ada"}
    decided = asked(client, "POST", pause["resume"], json=yes)
    check(decided["decision"] == "approved", "the link is still valid, and the answer counts")
    again = client.post(pause["resume"], json={"decision": "rejected", "by": "Eve"})
    check(again.status_code == 409, "a second answer is refused with the first: 409")
    for event in stream(client, events_url, after=seen):
        show(event)

    chapter("6. Read the whole log again.")
    verify(client, f"{url}/runs/{run['run_id']}", before, server.folder / "journal")


def watch_until_it_asks(client: httpx.Client, events_url: str) -> int:
    """Shows events until the run waits for a person; the id of the last one shown."""
    for event in stream(client, events_url, after=0):
        show(event)
        if event["type"] == "run.status.changed" and event["payload"].get("status") == "paused":
            return int(event["eventId"])
    raise Broken("the run ended without a question to a person")


def verify(client: httpx.Client, run_url: str, before: list[Mapping[str, Any]], journal: Path) -> None:
    run = asked(client, "GET", run_url)
    events = asked(client, "GET", f"{run_url}/events")["events"]
    ids = [event["eventId"] for event in events]
    check(run["status"] == "completed", f"the run completed: {json.dumps(run['outputs']['pay'])}")
    check(ids == list(range(1, len(ids) + 1)), f"one log, {len(ids)} events, ids without a gap")
    check(events[: len(before)] == before, f"the {len(before)} events from before the crash are the same, byte for byte")
    ends = Counter(e["payload"]["instance"] for e in events if e["type"].startswith("node.") and e["type"][5:] in ENDS)
    starts = Counter(e["payload"]["instance"] for e in events if e["type"] == "node.started")
    check(set(ends.values()) == {1} and set(starts.values()) == {1}, "every node that started ended once, none ran twice")
    calls = Counter(line.split()[0] for line in journal.read_text().splitlines())
    check(calls == {"risk.score": 1, "payments.refund": 1}, "the money moved once: payments.refund was called 1 time in total")


if __name__ == "__main__":
    sys.exit(played("refund-approval", settings, play))
