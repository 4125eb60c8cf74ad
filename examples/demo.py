"""The refund example from the webhook to the payment, with the server killed in the middle.

`make demo` runs it. It needs only this project: the server is a child process on a free port over a temporary file, and every
step is an HTTP request. The exit status is 0 only if every check below passes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

HERE = Path(__file__).resolve().parent
SECRET, API_KEY = "a-secret-of-the-demo", "a-key-of-the-demo"
ORDER = {"order_id": "A-1042", "amount": 900}
START_S, STEP_S = 30, 20
ENDS = {"completed", "failed", "timed_out", "blocked", "invalidated", "skipped", "cancelled"}


class Broken(Exception):
    """A check that failed."""


def check(holds: bool, said: str) -> None:
    if not holds:
        raise Broken(said)
    print(f"  ✓ {said}")


def chapter(text: str) -> None:
    print(f"\n{text}")


# -- the server -------------------------------------------------------------------------------------------------------


class Server:
    """`stepless dev` as a child process, over one file; stopped only by SIGKILL."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = "0"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> str:
        """Its URL, once it listens. Later starts use the same port again, so that links stay valid."""
        port_file = self.folder / "url"
        port_file.unlink(missing_ok=True)
        command = [
            sys.executable, "-m", "stepless", "dev", str(HERE / "refund-approval"), "--db", str(self.folder / "demo.db"),
            "--port", self.port, "--port-file", str(port_file),
        ]  # fmt: skip
        secrets = {"REFUND_WEBHOOK_SECRET": SECRET, "STEPLESS_API_KEY": API_KEY, "REFUND_JOURNAL": str(self.folder / "journal")}
        environment = {**os.environ, **secrets}
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment)
        deadline = time.monotonic() + START_S
        while not port_file.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Broken(f"the server did not start:\n{(self.folder / 'server.log').read_text()}")
            time.sleep(0.02)
        url = port_file.read_text()
        self.port = url.rpartition(":")[2]
        return url

    @property
    def pid(self) -> int:
        return self.process.pid if self.process is not None else 0

    def kill(self) -> None:
        """SIGKILL: the process cannot flush or close anything."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(START_S)
            self.process = None


# -- HTTP -------------------------------------------------------------------------------------------------------------


def signed(body: bytes) -> Mapping[str, str]:
    """The headers of a signed webhook."""
    seconds = int(time.time())
    mac = hmac.new(SECRET.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return {"Content-Type": "application/json", "X-Signature": f"t={seconds},v1={mac}"}


def asked(client: httpx.Client, method: str, url: str, **more: Any) -> Any:
    response = client.request(method, url, **more)
    if response.is_error:
        raise Broken(f"{method} {url} was answered {response.status_code}: {response.text}")
    return response.json()


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
    forged = client.post(f"{url}/hooks/refunds", content=body, headers={**signed(body), "X-Signature": "t=1,v1=00"})
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


def main() -> int:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="stepless-demo-") as folder:
        server = Server(Path(folder))
        try:
            with httpx.Client(headers={"Authorization": f"Bearer {API_KEY}"}, timeout=STEP_S, trust_env=False) as client:
                play(server, client)
        except (Broken, httpx.HTTPError) as error:
            print(f"\n✗ {error}", file=sys.stderr)
            return 1
        finally:
            server.kill()
    print(f"\nAll checks passed, in {time.monotonic() - began:.1f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
