"""Takes pictures of every page of the console, in each width and theme, and says what a glance at numbers can find.

    python tests/browser/looks.py FOLDER [--site empty] [--only run,editor] [--widths 1440,390] [--themes light]
    python tests/browser/looks.py FOLDER --kept

One tab visits every page after the other, without loading the console again: the stylesheets of all pages it was at are there,
as they are for a person. FOLDER gets SITE/SCENE-WIDTH-THEME.png, and SITE/faults.txt. `make console-looks` runs it. With --kept,
FOLDER gets the few pictures that docs/run/console.md shows: `make console-pictures`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [*map(str, sorted((ROOT / "tests/tools").glob("[a-z]*"))), str(ROOT / "examples")]

from chromium import chromium  # noqa: E402
from draft_site import DraftSite  # noqa: E402
from glance import FAULTS  # noqa: E402
from look_sites import LONG, SITES, newest  # noqa: E402
from windows import AS_FORM, WITH_TOKEN, Windows  # noqa: E402

LIMIT_MS = 20_000
MAX_LOOKS = 200
SIZES: Final = {1440: 900, 1280: 720, 1024: 768, 390: 844}
WIDTHS: Final = (1440, 1024, 390)
WIDE: Final = (1440, 1024)
MAX_PICTURE_BYTES: Final = 150_000
# of docs/run/console.md: what is shown, at which width
KEPT: Final = {
    "workflows": 1280, "workflow": 1280, "workflow-changes": 1280, "workflow-start": 1280, "workflow-schedules": 1280,
    "webhook-webhooks": 1280, "runs": 1280, "runs-bulk": 1280, "approvals": 390, "errors": 1280, "version-python": 1280,
    "editor-test": 1280, "editor-conflict": 1280,
}  # fmt: skip
THEMES: Final = ("light", "dark")
CHECKED: Final = ".findings > span:text('No findings'), .findings > span:text('An empty draft'), .findings-sum"
GO: Final = "path => { history.pushState(null, '', '/console' + path); dispatchEvent(new PopStateEvent('popstate')); }"
REST: Final = """async () => {
  await document.fonts.ready;
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  await Promise.all(document.getAnimations().map(one => one.finished.catch(() => null)));
}"""


@dataclass(frozen=True, slots=True)
class Scene:
    """A page, or what is open over it. `ready` is seen once it is there; `act` opens a dialog or the like, and is done again
    wherever the width changes."""

    name: str
    address: str
    ready: str
    act: Callable[[Any], None] | None = None
    sizes: tuple[int, ...] = WIDTHS


def press(*keys: str, wait: str) -> Callable[[Any], None]:
    def act(page: Any) -> None:
        page.locator(".flow, .outline").first.focus()
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_selector(wait)

    return act


def button(name: str, wait: str) -> Callable[[Any], None]:
    def act(page: Any) -> None:
        page.get_by_role("button", name=name).first.click()
        page.wait_for_selector(wait)

    return act


def lists(more: bool) -> Iterator[Scene]:
    some = ".rows-space .row" if more else ".runs-empty"
    yield Scene("workflows", "/workflows", "table" if more else ".welcome")
    yield Scene("workflows-new", "/workflows", ".page-title", button("New workflow", "dialog[open]"))
    yield Scene("workflows-invited", "/workflows", ".page-title", button("Invite", ".bar-said:not(:empty)"), WIDE)
    yield Scene("runs", "/", some)
    yield Scene("runs-filtered", "/?status=failed&since=7d", ".rows-space .row, .runs-empty")
    yield Scene("runs-none", "/?search=there-is-no-such-run&status=failed", ".runs-empty")
    yield Scene("approvals", "/approvals", ".question, .empty-page")
    yield Scene("approvals-decided", "/approvals?show=decided", ".decisions, .empty-page")
    yield Scene("errors", "/errors?since=30d", ".group, .empty-page")
    yield Scene("nowhere", "/there-is-no-such-page", ".notice")
    yield Scene("run-none", "/runs/run_none", ".notice")
    if more:
        yield Scene("runs-chosen", "/", some, chosen)
        yield Scene("runs-bulk", "/?status=failed", some, button("Rerun…", "dialog[open] .button.first"))
        yield Scene("errors-runs", "/errors?since=30d", ".group", opened_group)


def chosen(page: Any) -> None:
    for _ in range(3):
        page.keyboard.press("j")
        page.keyboard.press("x")


def opened_group(page: Any) -> None:
    page.locator(".group-count").first.click()


def workflow(id_: str, version: int, name: str = "workflow") -> Iterator[Scene]:
    at = f"/workflows/{id_}"
    yield Scene(name, at, ".figures, .empty-page")
    yield Scene(f"{name}-versions", f"{at}/versions", ".versions")
    if version > 1:
        yield Scene(f"{name}-changes", f"{at}/versions?from={version - 1}&to={version}", ".compared")
    yield Scene(f"{name}-start", f"{at}/start", ".start")
    yield Scene(f"{name}-schedules", f"{at}/schedules", "#workflow-view > *, .schedules, .empty-page")
    yield Scene(f"{name}-webhooks", f"{at}/webhooks", ".hooks, .empty-page")


def run(id_: str, name: str, node: str, other: str) -> Iterator[Scene]:
    at = f"/runs/{id_}"
    yield Scene(name, f"{at}?tab=graph", ".react-flow__node, .far, .run-outline")
    yield Scene(f"{name}-node", f"{at}?tab=graph&node={node}", ".panel-body")
    yield Scene(f"{name}-timeline", f"{at}?tab=timeline", ".run-view > *")
    yield Scene(f"{name}-events", f"{at}?tab=events", ".event-row")
    yield Scene(f"{name}-values", f"{at}?tab=values", ".json")
    yield Scene(f"{name}-cost", f"{at}?tab=cost", ".run-view > *")
    yield Scene(f"{name}-compare", f"{at}?tab=compare&with={other}", ".run-view > *")
    yield Scene(f"{name}-rerun", f"{at}?tab=timeline", ".run-title", button("Rerun…", "dialog[open]"))


def editor(id_: str, name: str, node: str | None) -> Iterator[Scene]:
    at = f"/drafts/{id_}"
    shown = ".react-flow__node, .outline, .far, .empty"
    yield Scene(name, at, shown)
    if node is not None:
        yield Scene(f"{name}-node", f"{at}?node={node}", shown, lambda page: page.wait_for_selector(".inspector-body"), WIDE)
    yield Scene(f"{name}-outline", f"{at}?view=outline", ".outline")
    yield Scene(f"{name}-yaml", f"{at}?view=yaml", ".cm-line")
    yield Scene(f"{name}-diff", f"{at}?view=diff", ".pane-body")
    yield Scene(f"{name}-history", f"{at}?view=history", ".pane-body")
    yield Scene(f"{name}-keys", at, shown, press("?", wait="dialog[open]"))
    yield Scene(f"{name}-add", at, shown, press("Escape", "a", wait=".picker"))
    yield Scene(f"{name}-commands", at, shown, press("Control+k", wait=".picker"))
    yield Scene(f"{name}-publish", at, shown, button("Publish…", "dialog[open] .dialog-foot"))
    yield Scene(f"{name}-test", at, shown, button("Test run", "dialog[open] .dialog-foot"))
    yield Scene(f"{name}-findings", at, shown, findings)


def added(page: Any) -> None:
    """A node that is not whole: a finding, an entry of the history, a difference."""
    page.wait_for_selector(CHECKED)
    if page.locator(".findings-sum").count() == 0:
        press("Escape", "a", wait=".picker")(page)
        page.keyboard.type("http")
        page.keyboard.press("Enter")
        page.wait_for_selector(".picker", state="detached")
        page.wait_for_selector(".findings-sum")


def on_canvas(id_: str) -> Iterator[Scene]:
    """What is shown of several nodes at once, of one by its menu, and of a note."""
    at, shown = f"/drafts/{id_}", ".react-flow__node"
    yield Scene("editor-menu", f"{at}?node=score", shown, press("Shift+F10", wait="[role=menuitem]"), WIDE)
    yield Scene("editor-many", at, shown, press("Control+a", wait=".inspector-body >> text=Delete"), WIDE)
    yield Scene("editor-kinds", at, shown, lambda page: page.locator(".palette").evaluate("one => one.scrollTo(0, 10_000)"), WIDE)
    yield Scene("editor-note", at, shown, noted, (1440,))


def noted(page: Any) -> None:
    press("Escape", "n", wait=".note textarea:focus")(page)
    page.keyboard.type("Large refunds wait for a manager, small ones are paid at once.")


def ran(page: Any) -> None:
    """Runs the draft once; its node `price` divides by zero."""
    if not page.locator(".testbar").count():
        page.get_by_role("button", name="Test run").first.click()
        page.locator("dialog[open] textarea").first.fill('{"count": 0, "customer": "c-1"}')
        page.get_by_role("button", name="Start the test run").click()
        page.wait_for_selector(".testbar >> text=failed")


def conflicting(file: Path) -> Callable[[Any], None]:
    """Changes a value in the draft and in its file, and opens the dialog of conflicts."""

    def act(page: Any) -> None:
        conflict = page.get_by_role("button", name="1 conflict")
        if not conflict.count():
            page.get_by_role("group", name="Parameters as").get_by_role("button", name="YAML").click()
            page.locator(".yaml textarea").first.fill("value: {left: 7}")
            page.locator(".flow").focus()
            page.wait_for_selector(".head-saved.saved")
            file.write_text(file.read_text().replace("5 - <begin.count>", "9 - <begin.count>"))
        for _ in range(MAX_LOOKS):
            if conflict.count():
                break
            with page.expect_response("**/drafts/*"):
                page.evaluate("() => { dispatchEvent(new Event('focus')); }")
        conflict.click()
        page.wait_for_selector(".conflicts")

    return act


def findings(page: Any) -> None:
    page.wait_for_selector(CHECKED)
    line = page.locator(".findings-sum")
    if line.count() and line.get_attribute("aria-expanded") == "false":
        line.click()


def scenes(kind: str, site: DraftSite) -> Iterator[Scene]:
    yield from lists(kind != "empty")
    if kind == "usual":
        yield from workflow("split-invoices", 2)
        at = "/workflows/split-invoices"
        yield Scene("workflow-start-refused", f"{at}/start", ".start form", button("Start the run", ".start .fault"))
        yield Scene("workflow-schedules-pause", f"{at}/schedules", ".schedules", button("Pause…", "dialog[open]"))
        yield from workflow("refund-approval", 1, "webhook")
        yield Scene("webhook-webhooks-try", "/workflows/refund-approval/webhooks", ".hooks", button("Try it", ".try"))
        yield Scene("version-python", "/workflows/payout/versions/2", ".source-text .cm-line")
        yield Scene("version", "/workflows/refund-approval/versions/1", ".source-text .cm-line")
        failed = newest(site, "split-invoices", "failed")
        yield from run(failed, "run-failed", "price", newest(site, "split-invoices", "completed"))
        paused = newest(site, "refund-approval", "paused")
        yield from run(newest(site, "refund-approval"), "run", "score", paused)
        yield from run(paused, "run-paused", "manager", failed)
        yield Scene("run-paused-cancel", f"/runs/{paused}?tab=timeline", ".run-title", button("Cancel…", "dialog[open]"))
        yield from run(newest(site, "each-line"), "run-turns", "settle@each", failed)
        yield Scene("editor-added", "/drafts/refund-approval", ".react-flow__node", added, (1440,))
        yield from editor("refund-approval", "editor", "score")
        yield from on_canvas("refund-approval")
        nodes = ".react-flow__node, .outline"
        yield Scene("editor-python", "/drafts/payout", nodes, lambda page: page.wait_for_selector(".tied .cm-line"))
        yield Scene("editor-running", "/drafts/split-invoices", nodes, ran, (1440, 390))
        file = site.folder / "split-invoices.json"
        yield Scene("editor-conflict", "/drafts/split-invoices?node=stock", ".inspector-body, .outline", conflicting(file))
        yield from editor("new-onboarding", "editor-empty", None)
    if kind == "huge":
        yield from workflow(f"{LONG}-00", 1)
        yield from run(newest(site, "each-line"), "run-turns", "settle@each", newest(site, "wide"))
        yield from run(newest(site, "wide"), "run-wide", "n80", newest(site, "wide"))
        yield from run(newest(site, f"{LONG}-00", "failed"), "run-failed", "price", newest(site, f"{LONG}-00"))
        yield from editor("wide", "editor-wide", "n80")
        yield from editor(f"{LONG}-05", "editor-long", "price")


class Tour:
    """One tab that goes from scene to scene."""

    def __init__(self, page: Any, site: DraftSite, folder: Path, widths: list[int], themes: list[str], kept: bool) -> None:
        self.page, self.site, self.folder = page, site, folder
        self.widths, self.themes, self.kept = widths, themes, kept
        self.faults: dict[str, list[str]] = {}

    def visit(self, scene: Scene) -> None:
        try:
            self._visit(scene)
        except Exception as error:
            self.faults.setdefault(f"not shown: {str(error).splitlines()[0][:200]}", []).append(scene.name)

    def _visit(self, scene: Scene) -> None:
        for width in [one for one in self.widths if one in scene.sizes]:
            self.page.set_viewport_size({"width": width, "height": SIZES[width]})
            for one in self.page.locator("dialog[open]").all():
                one.evaluate("one => one.close()")
            self.page.evaluate(GO, "/there-is-no-such-page")
            self.page.evaluate(GO, scene.address)
            self.page.wait_for_selector(scene.ready)
            self.page.evaluate(REST)
            if scene.act is not None:
                scene.act(self.page)
            for theme in self.themes:
                self.page.emulate_media(color_scheme=theme)
                self.page.evaluate(REST)
                path = self.folder / (f"{scene.name}.png" if self.kept else f"{scene.name}-{width}-{theme}.png")
                self.page.screenshot(path=path, animations="disabled")
            for fault in self.page.evaluate(FAULTS):
                self.faults.setdefault(fault, []).append(f"{scene.name}-{width}")


def signed_out(windows: Windows, site: DraftSite, folder: Path) -> None:
    """The pages of those who are not signed in, each in a tab of its own."""
    code = site.client.post("/console/invitations").raise_for_status().json()["code"]
    for width, height in ((width, SIZES[width]) for width in WIDTHS):
        for theme in THEMES:
            scope = windows.bare(viewport={"width": width, "height": height}, color_scheme=theme)
            for name, fragment in (("sign-in", ""), ("joining", f"#code={code}&invited"), ("code-spent", "#code=spent")):
                page = windows.tab(scope, f"{site.url}/console/{fragment}", ".gate, .notice")
                page.screenshot(path=folder / f"{name}-{width}-{theme}.png")


def others(windows: Windows, site: DraftSite, folder: Path) -> None:
    """Of one draft: what a person sees who may only read, and one whose network is gone. And a sign-in at an issuer."""
    address = f"{site.url}/console/drafts/refund-approval"
    login = {"issuer": "https://id.example.com", "client_id": "console", "scope": "openid", "audiences": ["console"]}
    login |= {"authorize": "https://id.example.com/authorize", "token": "https://id.example.com/token"}
    for width in WIDTHS:
        for theme in THEMES:
            size = {"width": width, "height": SIZES[width]}
            for name, person in (("reader", site.person("Reader", "read")), ("offline", site.person("Ada"))):
                page = windows.open(person, address, ".findings", viewport=size, color_scheme=theme)
                if name == "offline":
                    page.context.set_offline(True)
                    press("a", wait=".picker")(page)
                    page.keyboard.type("wait")
                    page.keyboard.press("Enter")
                    page.wait_for_selector(".head-saved.retrying")
                page.screenshot(path=folder / f"editor-{name}-{width}-{theme}.png", animations="disabled")
            scope = windows.bare(viewport=size, color_scheme=theme)
            settings = {"drafts": True, "invitations": False, "socket": None, "login": login}
            scope.route("**/console/settings", lambda route, found=settings: route.fulfill(json=found))
            page = windows.tab(scope, f"{site.url}/console/", ".gate")
            page.screenshot(path=folder / f"sign-in-issuer-{width}-{theme}.png")


def look(kind: str, folder: Path, only: list[str], widths: list[int], themes: list[str], kept: bool = False) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="stepless-looks-") as place:
        site = SITES[kind](Path(place))
        try:
            with chromium() as browser:
                windows = Windows(browser, LIMIT_MS)
                scope = windows.bare()
                scope.add_init_script(";".join((WITH_TOKEN.format(site.administrator().token), AS_FORM)))
                page = windows.tab(scope, f"{site.url}/console/", ".bar")
                tour = Tour(page, site, folder, widths, themes, kept)
                for scene in scenes(kind, site):
                    if kept and scene.name in KEPT:
                        tour.visit(replace(scene, sizes=(KEPT[scene.name],)))
                    elif kept:
                        continue
                    elif not only or any(scene.name == one or scene.name.startswith(f"{one}-") for one in only):
                        tour.visit(scene)
                if kind == "empty" and not only:
                    signed_out(windows, site, folder)
                if kind == "usual" and not kept and (not only or "others" in only):
                    others(windows, site, folder)
                windows.close()
            lines = [f"{fault}  [{', '.join(at)}]" for fault, at in tour.faults.items()] + windows.faults
            sys.stdout.write("\n".join([f"{kind}:", *lines, ""]))
            return lines
        finally:
            site.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--site", choices=list(SITES), action="append")
    parser.add_argument("--only", default="")
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--widths", default="1440,1024,390")
    parser.add_argument("--themes", default="light,dark")
    given = parser.parse_args()
    only = [one for one in given.only.split(",") if one]
    if given.kept:
        faults = look("usual", given.folder, [], sorted(set(KEPT.values())), ["light"], kept=True)
        faults += [f"{path.name} is too large" for path in given.folder.glob("*.png") if path.stat().st_size > MAX_PICTURE_BYTES]
        sys.exit("\n".join(faults) or 0)
    for kind in given.site or list(SITES):
        lines = look(kind, given.folder / kind, only, [int(one) for one in given.widths.split(",")], given.themes.split(","))
        (given.folder / kind / "faults.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
