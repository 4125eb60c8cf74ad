"""Two people build the refund example in the console, from an empty canvas to a run that has ended.

    python tests/browser/demo_refund.py [FOLDER OF PICTURES]

`make console-demo` runs it, and writes the pictures of docs/run/console.md. `stepless dev` is a child process over a folder
that has the functions of the example and no workflow. Ada opens the address that it prints, Bo the one of Ada's invitation. The
exit status is 0 only if they saved the document of examples/refund-approval, and a run of it ended after an approval.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [*map(str, sorted((ROOT / "tests/tools").glob("[a-z]*"))), str(ROOT / "examples")]

import yaml  # noqa: E402
from chromium import chromium  # noqa: E402
from demo import ORDER, SECRET, signed  # noqa: E402
from draft_site import DraftSite  # noqa: E402
from refund_texts import (  # noqa: E402
    ABOUT,
    ALERT,
    DENY,
    EXITS,
    MANAGER,
    ORDER_OF_A_SHOP,
    PATIENCE,
    PAY,
    SCORE,
    TRIAGE,
    WORKFLOW,
)
from windows import Windows, block, blocks, canvas, choose, connect, field, saved, until  # noqa: E402

EXAMPLE = ROOT / "examples/refund-approval"
ID = "refund-approval"
LIMIT_MS = 30_000
MAX_PICTURE_BYTES = 160_000
MAX_LOOKS = 500
HOOK = "/hooks/refunds"
NAMES = ("order", "score", "triage", "manager", "pay", "deny", "alert")


class Broken(Exception):
    """A check that failed."""


def check(holds: bool, said: str) -> None:
    if not holds:
        raise Broken(said)
    print(f"  ✓ {said}")


# -- what a person does ------------------------------------------------------------------------------------------------


def at_once(*works: Iterator[None]) -> None:
    """Several people work: each goes on by one key in turn."""
    for _ in zip_longest(*works):
        pass


def keys(page: Any, area: Any, text: str) -> Iterator[None]:
    """Types YAML at the end of a field, whose lines are indented as the one before; a person takes back what is too much."""
    area.focus()
    page.keyboard.press("Control+End")
    for place, line in enumerate(text.split("\n")):
        if place > 0:
            page.keyboard.press("Enter")
            there = area.evaluate("one => one.selectionStart - one.value.lastIndexOf('\\n', one.selectionStart - 1) - 1")
            wanted = len(line) - len(line.lstrip())
            for _ in range(there - wanted):
                page.keyboard.press("Backspace")
            page.keyboard.type(" " * (wanted - there))
        for letter in line.lstrip():
            page.keyboard.type(letter)
            yield


def anew(page: Any, area: Any, text: str) -> Iterator[None]:
    """Types YAML in place of what a new node begins with."""
    area.focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    yield from keys(page, area, text)


def palette(page: Any, kind: str) -> None:
    page.locator(".palette").get_by_role("button", name=kind, exact=True).click()
    until(page, "kind => document.querySelector('#kind')?.value === kind", kind)


def rename(page: Any, name: str) -> None:
    """Names the selected block by keyboard."""
    canvas(page)
    page.keyboard.press("F2")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    block(page, name).wait_for()


def parameters_as(page: Any, way: str) -> None:
    """Shows the parameters of the selected block as a `Form` or as `YAML`, for every block from now on."""
    page.get_by_role("group", name="Parameters as").get_by_role("button", name=way).click()


def by_keyboard(page: Any, source: str, *typed: str) -> None:
    """Connects a block: each text chooses a row of the question that is shown, an exit or a node."""
    choose(page, source)
    canvas(page)
    page.keyboard.press("c")
    for text in typed:
        page.locator(".picker input").fill(text)
        page.keyboard.press("Enter")
    page.wait_for_selector(".picker", state="detached")


def until_edges(page: Any, count: int) -> None:
    until(page, "count => document.querySelectorAll('.react-flow__edge').length === count", count)


def blank(page: Any, names: Sequence[str] = NAMES) -> None:
    """Selects nothing, and fits all into the view, until these nodes are drawn and nothing else."""
    canvas(page)
    page.keyboard.press("Escape")
    for _ in range(MAX_LOOKS):
        page.keyboard.press("1")
        page.evaluate("() => new Promise((done) => { requestAnimationFrame(() => { requestAnimationFrame(done); }); })")
        if blocks(page) == sorted(names):
            return
    raise Broken(f"drawn are {blocks(page)}, not {names}")


class Story:
    """Two windows on one server. `picture` writes what a window shows, if there is a folder for it."""

    def __init__(self, site: DraftSite, windows: Windows, pictures: Path | None) -> None:
        self.site = site
        self.windows = windows
        self.pictures = pictures
        self.count = 0

    def picture(self, page: Any, name: str) -> None:
        self.count += 1
        if self.pictures is None:
            return
        page.evaluate("() => document.fonts.ready")
        page.evaluate("() => Promise.all(document.getAnimations().map(one => one.finished.catch(() => null)))")
        path = self.pictures / f"{self.count:02}-{name}.png"
        page.screenshot(path=path, animations="disabled")
        check(path.stat().st_size <= MAX_PICTURE_BYTES, f"{path.name}, {path.stat().st_size:,} bytes")

    def play(self) -> None:
        self.come()
        self.begin()
        self.connect()
        self.parameters()
        self.text()
        self.save()
        self.publish()
        self.run()

    def come(self) -> None:
        print("1. Ada opens the printed address, and invites Bo.")
        scope = self.windows.bare(permissions=["clipboard-read", "clipboard-write"])
        self.ada = self.windows.tab(scope, self.site.address, ".bar")
        self.ada.get_by_role("link", name="Workflows").click()
        self.ada.get_by_text("No workflows yet").wait_for()
        self.ada.get_by_role("button", name="Invite").click()
        self.ada.get_by_text("Copied.").wait_for()
        self.picture(self.ada, "invite")
        address = self.ada.evaluate("() => navigator.clipboard.readText()")
        self.bo = self.windows.tab(self.windows.bare(), address, "#own-name")
        self.bo.keyboard.type("Bo")
        self.picture(self.bo, "join")
        self.bo.keyboard.press("Enter")
        self.bo.get_by_role("link", name="Workflows").click()
        self.bo.get_by_text("No workflows yet").wait_for()

    def begin(self) -> None:
        print("2. Ada begins a workflow, Bo opens its draft, and both add nodes.")
        ada, bo = self.ada, self.bo
        ada.get_by_role("button", name="New workflow").click()
        ada.locator("#new-id").fill(ID)
        ada.keyboard.press("Enter")
        ada.wait_for_selector(".empty")
        bo.reload()
        bo.get_by_role("link", name="Edit").click()
        for page in (ada, bo):
            page.wait_for_selector(".head-people li")
        self.picture(ada, "empty")
        palette(ada, "webhook")
        rename(ada, "order")
        palette(ada, "function")  # after what is selected
        rename(ada, "score")
        block(bo, "score").wait_for()
        bo.get_by_text("Name, messages, variables and limits").click()
        bo.get_by_role("button", name="Edit as YAML").click()
        settings = bo.get_by_role("textbox", name="Settings")
        at_once(keys(bo, settings, WORKFLOW), self.adding(ada))
        bo.get_by_role("button", name="Edit in a form").click()
        blank(ada, NAMES[:4])
        until_edges(ada, 2)
        blank(bo, NAMES[:4])
        for name, kind in (("pay", "function"), ("deny", "set"), ("alert", "function")):
            bo.locator(".flow").focus()
            bo.keyboard.press("Escape")
            palette(bo, kind)
            rename(bo, name)
        for page in (ada, bo):
            blank(page)

    def adding(self, page: Any) -> Iterator[None]:
        """By keyboard, after the node that is selected."""
        for kind, name in (("condition", "triage"), ("approval", "manager")):
            canvas(page)
            page.keyboard.press("a")
            page.locator(".picker input").wait_for()
            for letter in kind:
                page.keyboard.type(letter)
                yield
            page.keyboard.press("Enter")
            page.wait_for_selector(".picker", state="detached")
            rename(page, name)
            page.locator(".flow").focus()
            page.keyboard.press("Escape")  # what comes next stands on its own: the cases of the condition are not written yet
            yield

    def connect(self) -> None:
        print("3. Ada writes the cases of the condition with a mistake in them; Bo and Ada connect the branches.")
        ada, bo = self.ada, self.bo
        choose(ada, "triage")
        parameters_as(ada, "YAML")
        at_once(anew(ada, field(ada), TRIAGE))
        block(ada, "triage").locator(".block-wrong.error").wait_for()
        parameters_as(ada, "Form")
        ada.locator(".parameters", has_text="<scor> is not known here").wait_for()
        choose(bo, "alert")
        parameters_as(bo, "YAML")
        block(ada, "alert").locator(".person-tag").wait_for()
        self.picture(ada, "finding")
        parameters_as(ada, "YAML")
        field(ada).fill(TRIAGE.replace("<scor.", "<score."))
        block(bo, "triage").get_by_text("review").wait_for()
        by_keyboard(ada, "triage", "review", "manager")
        blank(ada)
        by_keyboard(ada, "triage", "auto", "pay")
        until_edges(ada, 4)
        until_edges(bo, 4)
        blank(bo)
        connect(bo, "manager", "pay", "approved")
        choose(bo, "manager")
        canvas(bo)
        bo.keyboard.press("c")
        bo.locator(".picker input").wait_for()
        self.picture(bo, "connect")
        bo.keyboard.press("Escape")
        for source, exit_, target in EXITS:
            blank(bo)
            by_keyboard(bo, source, exit_, target)
        blank(ada)
        until_edges(ada, 8)

    def parameters(self) -> None:
        print("4. Both type parameters at once.")
        ada, bo = self.ada, self.bo
        blank(bo)
        choose(ada, "order")
        choose(bo, "manager")
        at_once(anew(ada, field(ada), ORDER_OF_A_SHOP), anew(bo, field(bo), MANAGER))
        block(ada, "manager").locator(".person-tag").wait_for()
        self.picture(ada, "together")
        choose(ada, "score")
        choose(bo, "pay")
        at_once(anew(ada, field(ada), SCORE), anew(bo, field(bo), PAY))
        ada.get_by_text("Retries, time limits and other settings").click()
        choose(bo, "deny")
        at_once(keys(ada, ada.get_by_label("Settings"), PATIENCE), anew(bo, field(bo), DENY))
        choose(bo, "alert")
        at_once(anew(bo, field(bo), ALERT))
        for page in (ada, bo):
            blank(page)
            saved(page)
        ada.get_by_text("No findings").wait_for()
        self.picture(ada, "canvas")
        bo.get_by_role("button", name="Dark").click()
        self.picture(bo, "canvas-dark")

    def text(self) -> None:
        print("5. Bo adds a comment in the text.")
        bo = self.bo
        bo.get_by_role("tab", name="YAML").click()
        bo.locator(".cm-line").first.click()
        bo.keyboard.press("Control+Home")
        bo.keyboard.type(f"{ABOUT}\n")
        bo.get_by_text("The draft has this text").wait_for()
        bo.get_by_role("button", name="Light").click()
        self.picture(bo, "yaml")

    def save(self) -> None:
        print("6. Ada saves the file.")
        ada = self.ada
        ada.get_by_role("button", name="Save", exact=True).click()
        ada.locator(".head-said", has_text=f"Saved to {ID}.yaml").wait_for(state="attached")
        written = (self.site.folder / f"{ID}.yaml").read_text("utf-8")
        print("\n".join(f"    {line}" for line in written.splitlines()))
        made, example = (yaml.safe_load(text) for text in (written, (EXAMPLE / "workflow.yaml").read_text("utf-8")))
        check(made == example, "the file has the document of examples/refund-approval")
        check(written.startswith(ABOUT), "the comment is in the file")

    def publish(self) -> None:
        print("7. Ada reads the history, and publishes.")
        ada = self.ada
        ada.get_by_role("tab", name="History").click()
        ada.get_by_role("button", name="Restore the draft as it was opened").wait_for()
        self.picture(ada, "history")
        ada.get_by_role("tab", name="Canvas").click()
        ada.get_by_role("button", name="Publish…").click()
        dialog = ada.get_by_role("dialog", name="Update v1")  # the server publishes a file as soon as it is saved
        dialog.get_by_label("Message").fill("Refunds, with a manager's approval")
        self.picture(ada, "publish")
        dialog.get_by_role("button", name="Update v1").click()
        ada.get_by_role("dialog", name="Published").get_by_text("v1").wait_for()
        ada.keyboard.press("Escape")

    def run(self) -> None:
        print("8. A shop asks for a refund, Ada approves it, and Bo reads the run.")
        body = json.dumps(ORDER).encode()
        run = self.asked("POST", HOOK, content=body, headers=dict(signed(body)))["run_id"]
        bo = self.bo
        bo.goto(f"{self.site.url}/console/runs/{run}")
        bo.get_by_text("Refund A-1042 for 900?").first.wait_for()
        ada = self.windows.tab(self.ada.context, self.asked("GET", f"/runs/{run}")["pauses"][0]["resume"], "[name=by]")
        ada.locator("[name=by]").fill("Ada")
        ada.get_by_role("button", name="Approve").click()
        block(bo, "pay").locator(".status.completed").first.wait_for()
        self.picture(bo, "run")
        ended = self.asked("GET", f"/runs/{run}")
        check(ended["status"] == "completed", f"the run has completed: {json.dumps(ended['outputs']['pay'])}")
        hashes = [self.asked("GET", f"/workflows/{ID}")["hash"]]
        example = yaml.safe_load((EXAMPLE / "workflow.yaml").read_text("utf-8"))
        hashes.append(self.asked("PUT", f"/workflows/{ID}", json=example)["hash"])
        check(len(set(hashes)) == 1, f"version 1 has the hash of the example: {hashes[0][:12]}")

    def asked(self, method: str, path: str, **more: Any) -> Any:
        answer = self.site.client.request(method, path, **more)
        if answer.is_error:
            raise Broken(f"{method} {path} was answered {answer.status_code}: {answer.text}")
        return answer.json()


def play(folder: Path, pictures: Path | None = None) -> None:
    """Plays the whole story over an empty folder. Raises `Broken` at the first check that fails."""
    shutil.copy(EXAMPLE / "refund.py", folder)
    os.environ.update(REFUND_WEBHOOK_SECRET=SECRET, LOGNAME="Ada")  # who starts it has the name of the login
    site = DraftSite(folder)
    try:
        with chromium() as browser:
            windows = Windows(browser, LIMIT_MS)
            try:
                Story(site, windows, pictures).play()
            finally:
                windows.close()
            check(windows.faults == [], "no page had an error")
    finally:
        site.close()


def main() -> int:
    pictures = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/images/console"
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="stepless-console-") as folder:
        try:
            play(Path(folder), pictures)
        except Broken as error:
            print(f"\n✗ {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
