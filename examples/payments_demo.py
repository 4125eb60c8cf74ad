"""The order example: payments over signed webhooks, early, doubled and too small, with the server killed in the middle.

`make demo-payments` runs it. It needs only this project: the server is a child process on a free port over a temporary file, and
every step is an HTTP request. The exit status is 0 only if every check below passes.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from driving import STEP_S, Broken, Server, asked, chapter, check, played, signed_by

SECRET, HEADER = "whsec_of_the_demo", "Stripe-Signature"
PAID, OPENED = "payment_intent.succeeded", "payment_intent.created"


def settings(folder: Path) -> Mapping[str, str]:
    return {"STRIPE_SECRET": SECRET, "SHOP_JOURNAL": str(folder / "journal")}


class Shop:
    """A shop and its payment provider, as a server sees them: HTTP requests."""

    def __init__(self, client: httpx.Client, url: str) -> None:
        self._client, self._url = client, url

    def order(self, id: str, amount: int) -> Any:
        inputs = {"inputs": {"id": id, "amount": amount}}
        return asked(self._client, "POST", f"{self._url}/workflows/order-payments/runs", json=inputs)

    def deliver(self, event: str, order: str, amount: int, kind: str = PAID, secret: str = SECRET) -> httpx.Response:
        """One delivery of the provider: a signed event, in the form of Stripe."""
        intent = {"id": f"pi_{event}", "amount_received": amount, "metadata": {"order_id": order}}
        body = json.dumps({"id": event, "type": kind, "data": {"object": intent}}).encode()
        return self._client.post(f"{self._url}/hooks/stripe", content=body, headers=signed_by(secret, HEADER, body))

    def cancel(self, order: str) -> Any:
        url = f"{self._url}/workflows/order-payments/messages/cancelled"
        return asked(self._client, "POST", url, params={"key": order}, json={})

    def skip(self, run: str) -> None:
        """Moves the time of one run to the end of its wait; a server for development can."""
        asked(self._client, "POST", f"{self._url}/runs/{run}/skip")

    def run(self, run: str) -> Any:
        return asked(self._client, "GET", f"{self._url}/runs/{run}")

    def events(self, run: str) -> list[Mapping[str, Any]]:
        events: list[Mapping[str, Any]] = asked(self._client, "GET", f"{self._url}/runs/{run}/events")["events"]
        return events

    def until(self, run: str, type: str, instance: str = "") -> None:
        """Waits for an event of a run."""
        deadline = time.monotonic() + STEP_S
        while not any(e["type"] == type and e["payload"].get("instance", "") == instance for e in self.events(run)):
            if time.monotonic() > deadline:
                raise Broken(f"{run} has no {type} {instance} after {STEP_S} seconds")
            time.sleep(0.05)


def show(response: httpx.Response) -> None:
    answer = response.json()
    reached = ", ".join(answer["delivered"]) or "no run yet"
    print(f"  {response.status_code}  {answer['id'][:17]}…  delivered to {reached}, kept until {answer['kept_until'][11:19]}")


def play(server: Server, client: httpx.Client) -> None:
    chapter("1. Start the server on a free port; it publishes examples/order-payments.")
    shop = Shop(client, url := server.start())
    print(f"  {url}, process {server.pid}")

    chapter("2. The provider is faster than the shop: it reports the payment of the order A-2, which does not exist yet.")
    check(shop.deliver("evt_0", "A-2", 9_900, secret="whsec_of_a_stranger").status_code == 401, "a forged signature is refused")
    check(shop.deliver("evt_1", "A-2", 9_900, OPENED).status_code == 200, "an event of another type is answered 200, and ignored")
    early = shop.deliver("evt_2", "A-2", 9_900)
    show(early)
    check(early.status_code == 202 and early.json()["delivered"] == [], "the payment is kept for an hour")

    chapter("3. The shop takes three orders.")
    paid_early = shop.order("A-2", 9_900)["run_id"]
    shop.until(paid_early, "run.completed")
    check(True, "A-2 takes its payment at once, and is shipped")
    first, doubted = shop.order("A-1", 4_200)["run_id"], shop.order("A-3", 500)["run_id"]
    shop.until(first, "node.waiting", "paid")
    again = shop.order("A-1", 4_200)
    check(again["run_id"] == first and again["joined"], "a second start of A-1 joins its run: one order, one run")

    chapter("4. A payment of 42.00 is expected for A-1, and 1.00 arrives.")
    show(shop.deliver("evt_3", "A-1", 100))
    shop.until(first, "message.received")
    check([mail["name"] for mail in shop.run(first)["unread"]] == ["payment"], "the run has it, unread, and goes on waiting")

    chapter("5. Three days pass.")
    shop.skip(first)
    shop.until(first, "node.waiting", "late")
    check(True, "the customer is reminded, and the order waits for four days more")

    chapter("6. The payment of A-1 arrives. Kill the server with SIGKILL as soon as it has answered, and start it again.")
    paid = shop.deliver("evt_4", "A-1", 4_200)
    killed = server.pid
    server.kill()
    server.start()
    show(paid)
    print(f"  process {killed} is dead, process {server.pid} took over the file")
    doubled = shop.deliver("evt_4", "A-1", 4_200)
    check(doubled.status_code == 202, "the provider delivers the same event once more, and is answered 202")
    shop.until(first, "run.completed")

    chapter("7. The customer of A-3 cancels.")
    shop.cancel("A-3")
    shop.until(doubted, "run.cancelled")
    late = shop.deliver("evt_5", "A-3", 500)
    check(late.status_code == 202 and late.json()["delivered"] == [], "a payment that comes too late reaches no run")

    chapter("8. Read the logs and the journal of the shop.")
    verify(shop, {"A-1": first, "A-2": paid_early, "A-3": doubted}, server.folder / "journal")


def verify(shop: Shop, runs: Mapping[str, str], journal: Path) -> None:
    for order, run in runs.items():
        events = shop.events(run)
        if [event["eventId"] for event in events] != list(range(1, len(events) + 1)):
            raise Broken(f"the log of {order} has a gap")
        received = [event["payload"]["id"] for event in events if event["type"] == "message.received"]
        if len(set(received)) != len(received):
            raise Broken(f"a message is twice in the log of {order}")
        print(f"  {order}  {shop.run(run)['status']:<10} {len(events)} events, {len(received)} messages")
    check(True, "every log is without a gap, and has each message once")
    status = {order: shop.run(run)["status"] for order, run in runs.items()}
    check(status == {"A-1": "completed", "A-2": "completed", "A-3": "cancelled"}, "A-1 and A-2 completed, A-3 is cancelled")
    told = sorted({line.rpartition(" ")[0] for line in journal.read_text().splitlines()})
    tokens = {line.rpartition(" ")[2] for line in journal.read_text().splitlines()}
    check(told == ["remind A-1", "ship A-1", "ship A-2"], f"the shop did three things: {', '.join(told)}")
    check(len(tokens) == len(told), "each of them under one token, so that none was done twice")


if __name__ == "__main__":
    sys.exit(played("order-payments", settings, play))
