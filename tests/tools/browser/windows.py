"""Windows of a browser on the console, and what a person does in them."""

from __future__ import annotations

import re
from typing import Any

from draft_site import Frames, Person

SIZE = {"width": 1440, "height": 900}  # the example stands in it whole: a block that is cut off cannot be clicked
SHOWN = ".react-flow__node, .empty, .outline, .far"
WITH_TOKEN = "if (location.protocol === 'http:') sessionStorage.setItem('stepless.token', {!r})"
AS_YAML = "if (location.protocol === 'http:') localStorage.setItem('stepless.parameters', 'yaml')"
AS_FORM = "if (location.protocol === 'http:') localStorage.removeItem('stepless.parameters')"

# sets `window.isWelcome` once the room has let the page in: until then, the page sends its edits by requests
TELLS_WELCOME = """window.WebSocket = class extends WebSocket {
    constructor(...given) {
        super(...given);
        this.addEventListener("message", ({data}) => { window.isWelcome ||= String(data).includes('"welcome"'); });
    }
}"""


class Windows:
    """Windows, each in a context of its own: storage, locks and connections of one person's browser. `faults` are errors of
    pages, and what their content security policy refused."""

    def __init__(self, browser: Any, limit_ms: float) -> None:
        self.faults: list[str] = []
        self._browser = browser
        self._limit_ms = limit_ms
        self._scopes: list[Any] = []

    def open(self, person: Person, address: str, wait: str = SHOWN, script: str = "", **options: Any) -> Any:
        """A window of a new browser of this person, whose pages run `script` first. Parameters are shown as YAML, unless `script`
        has `AS_FORM`. Returns the page; its frames are `frames_of(page)`."""
        scope = self._browser.new_context(**{"viewport": SIZE, **options})
        scope.add_init_script(";".join((WITH_TOKEN.format(person.token), AS_YAML, script)))
        self._scopes.append(scope)
        return self.tab(scope, address, wait)

    def bare(self, **options: Any) -> Any:
        """A context without anyone's token."""
        scope = self._browser.new_context(**{"viewport": SIZE, **options})
        self._scopes.append(scope)
        return scope

    def tab(self, scope: Any, address: str, wait: str = SHOWN) -> Any:
        """One more tab of a browser."""
        page = scope.new_page()
        self.watch(page)
        page.goto(address)
        page.wait_for_selector(wait)
        return page

    def watch(self, page: Any) -> None:
        page.set_default_timeout(self._limit_ms)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda said: self.faults.append(said.text) if "Content Security Policy" in said.text else None)
        page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}") or dialog.dismiss())
        page.frames_on_the_wire = Frames(page)

    def close(self) -> None:
        for scope in self._scopes:
            scope.close()
        self._scopes.clear()


def frames_of(page: Any) -> Frames:
    frames: Frames = page.frames_on_the_wire
    return frames


# -- what is seen ------------------------------------------------------------------------------------------------------


def block(page: Any, name: str) -> Any:
    return page.locator(".react-flow__node").filter(has=page.locator(".block-name", has_text=re.compile(f"^{re.escape(name)}$")))


def field(page: Any) -> Any:
    """The parameters of the selected block, as YAML text."""
    return page.locator(".yaml textarea").first


def saved(page: Any) -> None:
    page.wait_for_selector(".head-saved.saved")


def blocks(page: Any) -> list[str]:
    """The names of the blocks that are mounted."""
    return sorted(page.locator(".react-flow__node .block-name").all_inner_texts())


def wires(page: Any) -> list[str]:
    """The edges that are mounted, as `from.handle to target`."""
    labels = page.eval_on_selector_all(".react-flow__edge", "edges => edges.map(edge => edge.getAttribute('aria-label') ?? '')")
    return sorted(labels)


def until(page: Any, expression: str, argument: Any = None) -> None:
    page.wait_for_function(expression, arg=argument)


def until_blocks(page: Any, names: list[str]) -> None:
    """Waits until exactly these blocks are mounted."""
    script = """names => JSON.stringify(
        [...document.querySelectorAll('.react-flow__node .block-name')].map(one => one.textContent).sort()) === names"""
    until(page, script, compact(sorted(names)))


def until_wires(page: Any, labels: list[str]) -> None:
    """Waits until exactly these edges are mounted."""
    script = """labels => JSON.stringify(
        [...document.querySelectorAll('.react-flow__edge')].map(one => one.getAttribute('aria-label')).sort()) === labels"""
    until(page, script, compact(sorted(labels)))


def compact(names: list[str]) -> str:
    return "[" + ",".join(f'"{name}"' for name in names) + "]"


# -- what is done ------------------------------------------------------------------------------------------------------


def canvas(page: Any) -> None:
    page.locator(".flow").focus()


def pick(page: Any, key: str, typed: str) -> None:
    """Presses a key that asks, types into the list, and takes the first row."""
    page.keyboard.press(key)
    page.locator(".picker input").fill(typed)
    page.keyboard.press("Enter")
    page.wait_for_selector(".picker", state="detached")


def choose(page: Any, name: str) -> None:
    """Selects a block by a click on its head."""
    chosen = block(page, name)
    head = chosen.locator(".frame-head")
    (head if head.count() else chosen).click()
    page.wait_for_function("name => document.querySelector('#name')?.value === name", arg=name)


def drag(page: Any, name: str, x: float, y: float, steps: int = 6) -> None:
    """Drags a block by its head."""
    box = block(page, name).bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + 60 + x, box["y"] + 12 + y, steps=steps)
    page.mouse.up()


def connect(page: Any, source: str, target: str, handle: str | None = None) -> None:
    """Draws an edge from a block's exit to another block by mouse."""
    exit_ = f".react-flow__handle.source[data-handleid={handle}]" if handle else ".react-flow__handle.source"
    port = block(page, source).locator(exit_).first.bounding_box()  # less than a pixel when the canvas is zoomed out
    page.mouse.move(port["x"], port["y"])
    page.mouse.down()
    box = block(page, target).locator(".react-flow__handle.target").first.bounding_box()
    page.mouse.move(box["x"] - 20, box["y"] + 4, steps=4)
    page.mouse.move(box["x"] + 3, box["y"] + 4, steps=4)
    page.mouse.up()


def unfolded(question: Any) -> Any:
    """Returns an open question once its form is shown: the first one of a list is unfolded, the others are lines."""
    question.wait_for()
    if (folded := question.locator(".question-open[aria-expanded=false]")).count():
        folded.click()
    return question
