"""Makes docs/images/*.png: runs a refund, and takes screenshots of its pages with Debian's Chromium.

    .venv/bin/python tests/tools/documentation/screenshots.py [folder]

Needs the development dependencies and `apt-get install chromium`.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

import uvicorn
from playwright.async_api import async_playwright

from stepless.api.app import create_app
from stepless.runtime.access.tokens import Claims
from stepless.runtime.wiring.local import Local, local

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
KEY = "the-key-of-the-pictures"
REFUND: dict[str, Any] = {
    "id": "refund-approval",
    "name": "Refund approval",
    "variables": {"status": "pending"},
    "nodes": {
        "order": {"type": "manual", "label": "Order"},
        "score": {"type": "transform", "after": "order", "with": {"value": {"risk": 0.4, "amount": "<order.amount>"}}},
        "triage": {"type": "condition", "after": "score", "with": {"cases": {"auto": "<score.risk> < 0.2", "review": "else"}}},
        "lines": {
            "type": "loop",
            "after": "order",
            "with": {"items": "<order.lines>", "body": {"nodes": {
                "price": {"type": "transform", "with": {"value": "{{ <loop.item> * 2 }}"}},
                "settle": {"type": "wait", "after": "price", "with": {"for": "300ms"}},
            }}},
        },
        "ledger": {"type": "transform", "after": "lines", "with": {"value": "{{ <order.amount> / 0 }}"}},
        "alert": {"type": "transform", "after": "ledger.error", "with": {"value": "<ledger.error.code>"}},
        "manager": {
            "type": "approval",
            "after": "triage.review",
            "with": {
                "message": "Refund <order.order_id> for <order.amount>?",
                "fields": {
                    "comment": {"type": "string", "title": "Comment"},
                    "method": {"enum": ["card", "voucher"], "title": "How"},
                },
                "timeout": "2d",
            },
        },
        "pay": {"type": "transform", "after": ["triage.auto", "manager.approved"], "with": {"value": {"paid": True}}},
        "deny": {"type": "set", "after": ["manager.rejected", "manager.timeout"], "with": {"variables": {"status": "denied"}}},
    },
}  # fmt: skip


async def main(folder: Path) -> None:
    engine = local(None)
    engine.service.publish(REFUND)
    app = create_app(engine.service, api_keys=[KEY])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1))
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    runner, web = asyncio.create_task(engine.host.serve()), asyncio.create_task(server.serve([listener]))
    try:
        await _look(url, engine, folder)
    finally:
        server.should_exit = True
        await web
        await engine.host.stop()
        await runner


async def _look(url: str, engine: Local, folder: Path) -> None:
    run_id = engine.service.start("refund-approval", {"order_id": "A-1", "amount": 120, "lines": [20, 40, 60]}).run_id
    with tempfile.TemporaryDirectory() as profile:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch_persistent_context(profile, executable_path=CHROMIUM, args=FLAGS)
            for name, width, dark in (("run-page", 1280, False), ("run-page-dark", 1280, True), ("run-page-phone", 400, False)):
                page = await _opened(browser, width, dark)
                await page.goto(f"{url}/console/runs/{run_id}?node=ledger#token={KEY}")
                await page.wait_for_selector(".panel-body >> text=Input")
                await page.screenshot(path=folder / f"{name}.png", full_page=width < 1000)
                await page.close()
            await _look_at_question(url, engine, run_id, browser, folder)
            await browser.close()


async def _look_at_question(url: str, engine: Local, run_id: str, browser: Any, folder: Path) -> None:
    link = f"{url}/resume/{engine.service.run(run_id).pauses[0].token}"
    for name, width, dark in (("resume-page", 760, False), ("resume-page-dark", 760, True), ("resume-page-phone", 400, False)):
        page = await _opened(browser, width, dark)
        await page.goto(link)
        await page.screenshot(path=folder / f"{name}.png", full_page=True)
        await page.close()
    page = await _opened(browser, 760, dark=False)
    await page.goto(link)
    await page.fill("[name=by]", "ada@example.com")
    await page.get_by_role("button", name="Approve").click()
    await page.wait_for_load_state()
    await page.screenshot(path=folder / "resume-page-decided.png", full_page=True)
    await page.goto(f"{link[:-4]}AAAA")
    await page.screenshot(path=folder / "resume-page-refused.png", full_page=True)
    await page.goto(f"{url}/resume/{engine.service.signer.sign(Claims(run_id, 'manager', 1))}")
    await page.screenshot(path=folder / "resume-page-expired.png", full_page=True)


async def _opened(browser: Any, width: int, dark: bool) -> Any:
    page = await browser.new_page()
    await page.set_viewport_size({"width": width, "height": 800 if width > 1000 else 640})
    await page.emulate_media(color_scheme="dark" if dark else "light")
    return page


if __name__ == "__main__":
    images = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[3] / "docs/images"
    images.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(images))
