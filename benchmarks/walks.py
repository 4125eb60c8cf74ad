"""Counts how much of the engine a request passes through: files, functions and crossings, as Markdown. Nothing is timed, so the
figures are the same on every machine. See docs/understand/measurements/performance-http-aws.md.

    python -m benchmarks.walks            every walk
    python -m benchmarks.walks --modules  and the modules of each, with the number of their functions

A walk is done several times without being counted: what is loaded or built at the first request is not part of it. A *file* is a
module of stepless of which a function was called. A *function* is counted once, however often it was called. A *crossing* is a
call of a function of another module of stepless than the caller's; code of other packages between the two does not count.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple, TypeAlias

import stepless
from stepless.api.app import create_app
from stepless.cli.dev.folder import Folder
from stepless.cli.dev.modules import Modules
from stepless.nodes.function import function
from stepless.runtime.session.budget import Budget
from stepless.runtime.wiring.local import Local, local

Document: TypeAlias = dict[str, Any]

_ROOT: Final = str(Path(stepless.__file__).parent) + "/"
_SUSPENDS: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_COMPREHENSIONS: Final = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_NUMBERS: Final = itertools.count(1)
_WARM: Final = 3  # times that a walk is done before it is counted
_FLOW: Final = '''
from stepless.flow import approval, step, workflow

@step("walks_NUMBER.pay")
def pay(order_id: str, amount: float) -> dict[str, str]:
    return {"refund": f"R-{order_id}"}

@workflow("refund-flow", name="Refund NUMBER")
async def refund(order_id: str, amount: float) -> dict[str, str]:
    if amount > 100:
        answer = await approval(f"Refund {amount} for {order_id}?", timeout="2d")
        if not answer.approved:
            return {"status": "denied"}
    receipt = await pay(order_id, amount)
    return {"status": "paid", "refund": receipt["refund"]}
'''


class Counted(NamedTuple):
    """`functions` by module of stepless, and the number of `crossings`."""

    functions: dict[str, int]
    crossings: int

    def row(self, name: str) -> str:
        return f"| {name} | {len(self.functions)} | {sum(self.functions.values()):,} | {self.crossings:,} |"


# -- counting -----------------------------------------------------------------------------------------------------------


class CallCounter:
    """Sees every call of Python code in all threads that were started after it was made, and counts those while it is on."""

    def __init__(self) -> None:
        self._on = False
        self._functions: set[CodeType] = set()
        self._crossings = 0
        self._modules: dict[CodeType, str] = {}
        threading.setprofile(self._see)
        sys.setprofile(self._see)

    def close(self) -> None:
        threading.setprofile(None)
        sys.setprofile(None)

    @contextmanager
    def on(self) -> Iterator[None]:
        self._functions, self._crossings, self._on = set(), 0, True
        try:
            yield
        finally:
            self._on = False

    def counted(self) -> Counted:
        return Counted(dict(sorted(Counter(self._module(code) for code in self._functions).items())), self._crossings)

    def _module(self, code: CodeType) -> str:
        """The module of stepless to which code belongs, empty for all other code."""
        known = self._modules.get(code)
        if known is None:
            path = code.co_filename
            known = self._modules[code] = path.removeprefix(_ROOT) if path.startswith(_ROOT) else ""
        return known

    def _see(self, frame: FrameType, event: str, argument: object) -> None:
        if not self._on or event != "call" or not (module := self._module(frame.f_code)) or _is_part(frame):
            return
        self._functions.add(frame.f_code)
        caller = frame.f_back
        while caller is not None and not self._module(caller.f_code):
            caller = caller.f_back
        self._crossings += caller is not None and self._module(caller.f_code) != module


def _is_part(frame: FrameType) -> bool:
    """Whether the interpreter reports what is no call in the source: a comprehension, or a generator or a coroutine that goes on
    after a wait."""
    code = frame.f_code
    if code.co_name in _COMPREHENSIONS:
        return True
    return bool(code.co_flags & _SUSPENDS) and frame.f_lasti > 0 and code.co_code[frame.f_lasti + 1] & 3 != 0


# -- what the walks need --------------------------------------------------------------------------------------------------


def _workflow(number: int = 0) -> Document:
    nodes: Document = {
        "order": {"type": "webhook", "with": {"path": "/walk", "method": "POST", "auth": "none"}},
        "risk": {"type": "function", "after": "order", "with": {"call": "walks.risk", "args": {"amount": "<order.body.amount>"}}},
        "ask": {"type": "approval", "after": "risk", "with": {"message": "Refund <order.body.amount>?"}},
        "pay": {"type": "function", "after": "ask.approved", "with": {"call": "walks.risk", "args": {"amount": 1}}},
        "deny": {"type": "set", "after": "ask.rejected", "with": {"variables": {"status": "denied"}}},
    }
    return {"id": "walk", "name": f"Walk {number}", "variables": {"status": "paid"}, "nodes": nodes}


@function("walks.risk")
async def risk(amount: float) -> float:
    return amount / 1000


class Site:
    """A server over memory, without a network, whose runs go on only when a walk says so. `place` is for workflows in Python."""

    def __init__(self, built: Local, place: Path) -> None:
        self.built = built
        self._place = place
        self.app: Any = create_app(built.service, api_keys=None, development=True, docs=False)

    async def request(self, method: str, path: str, body: object = None) -> Any:
        data, answer = json.dumps(body).encode(), bytearray()
        given = iter([{"type": "http.request", "body": data, "more_body": False}])
        status = 0

        async def receive() -> dict[str, Any]:
            return next(given, {"type": "http.disconnect"})

        async def send(message: dict[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            answer.extend(message.get("body", b""))

        await self.app(_scope("http", path) | {"method": method}, receive, send)
        assert status < 400, answer
        return json.loads(answer or b"null")

    def folder(self, module: str) -> Folder:
        """A folder with one module, which is loaded."""
        name = f"walk{next(_NUMBERS)}"
        place = self._place / name
        place.mkdir()
        (place / f"{name}.py").write_text(module, encoding="utf-8")
        modules = Modules(place, None)
        modules.load()
        return Folder(place, modules, self.built.service, 900)

    async def advance(self) -> None:
        """Executes the runs for which there are hints, until they wait or end."""
        queue: Any = self.built.world.queue
        while (message := queue.receive(sys.maxsize)) is not None:
            await self.built.runner.run(message, Budget(60_000))


def _scope(type_: str, path: str, query: str = "") -> dict[str, Any]:
    return {
        "type": type_, "asgi": {"version": "3.0", "spec_version": "2.4"}, "http_version": "1.1", "path": path,
        "raw_path": path.encode(), "query_string": query.encode(), "root_path": "", "client": ("walk", 1), "state": {},
        "server": ("localhost", 8400), "headers": [(b"host", b"localhost:8400"), (b"content-type", b"application/json")],
    }  # fmt: skip


class Editor:
    """A person who edits the draft over a WebSocket. `type` ends when the edit has come back and its upkeep is done."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._typed = 0

    async def __aenter__(self) -> Editor:
        ticket = (await self._site.request("POST", "/drafts/edited/ticket"))["ticket"]
        scope = _scope("websocket", "/drafts/edited/room", f"ticket={ticket}") | {"scheme": "ws", "subprotocols": []}
        self._said.put_nowait({"type": "websocket.connect"})
        self._serving = asyncio.create_task(self._site.app(scope, self._said.get, self._heard.put))
        self._say("hello", client=f"walk{next(_NUMBERS)}", tab="t", after=0, epoch=1)
        self._head = (await self._hear("welcome"))["head"]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._said.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await self._serving

    async def type(self, text: str) -> None:
        self._typed += 1
        gesture = {"writes": [["set", "doc", ["name"], text]]}
        self._say("op", n=self._typed, tag=f"walk-{self._typed}", base=self._head, gestures=[gesture])
        self._head = (await self._hear("item"))["item"]["seq"]
        while upkeep := self._site.app.state.draft_editing._tasks:
            await asyncio.wait(upkeep)

    def _say(self, type_: str, **message: Any) -> None:
        self._said.put_nowait({"type": "websocket.receive", "text": json.dumps({"v": 1, "t": type_, **message})})

    async def _hear(self, type_: str) -> dict[str, Any]:
        while True:
            message = json.loads((await self._heard.get()).get("text", "{}"))
            if message.get("t") == type_:
                return dict(message)


# -- the walks ------------------------------------------------------------------------------------------------------------


async def _webhook_to_pause(site: Site, counter: CallCounter) -> None:
    with counter.on():
        run = await site.request("POST", "/hooks/walk", {"amount": 120})
        await site.advance()
    assert site.built.service.run(run["run_id"]).status == "paused"


async def _link_to_end(site: Site, counter: CallCounter) -> None:
    run = await site.request("POST", "/hooks/walk", {"amount": 120})
    await site.advance()
    [pause] = site.built.service.run(run["run_id"]).pauses
    with counter.on():
        await site.request("POST", f"/resume/{pause.token}", {"decision": "approved"})
        await site.advance()
    assert site.built.service.run(run["run_id"]).status == "completed"


async def _keystroke(site: Site, counter: CallCounter) -> None:
    async with Editor(site) as editor:
        await editor.type("A")
        with counter.on():
            await editor.type("B")


async def _publish(site: Site, counter: CallCounter) -> None:
    document = _workflow(next(_NUMBERS))
    with counter.on():
        published = await site.request("PUT", "/workflows/walk", document)
    assert published["version"] > 1


async def _publish_flow(site: Site, counter: CallCounter) -> None:
    folder = site.folder(_FLOW.replace("NUMBER", str(next(_NUMBERS))))
    with counter.on(), redirect_stdout(StringIO()):
        folder.publish_all()
    assert [served.workflow_id for served in folder.served] == ["refund-flow"]


_WALKS: Final[Mapping[str, Callable[[Site, CallCounter], Awaitable[None]]]] = {
    "webhook to pause": _webhook_to_pause,
    "link to end": _link_to_end,
    "keystroke": _keystroke,
    "publish a document": _publish,
    "publish a flow": _publish_flow,
}


async def walked() -> dict[str, Counted]:
    """Each walk, counted after it was done some times."""
    counter, found, imported_from = CallCounter(), dict[str, Counted](), list(sys.path)
    try:
        with tempfile.TemporaryDirectory() as place:
            site = Site(local(None), Path(place))
            await site.request("PUT", "/workflows/walk", _workflow())
            await site.request("POST", "/drafts/edited", {"from": "empty"})
            for name, walk in _WALKS.items():
                for _ in range(_WARM + 1):
                    await walk(site, counter)
                found[name] = counter.counted()
            await site.app.state.draft_editing.close()
            site.built.close()
    finally:
        counter.close()
        sys.path[:] = imported_from
    return found


def main() -> int:
    found = asyncio.run(walked())
    print("| walk | files | functions | crossings |\n|---|---|---|---|")
    for name, counted in found.items():
        print(counted.row(name))
    if "--modules" in sys.argv[1:]:
        for name, counted in found.items():
            print(f"\n{name}\n")
            print("\n".join(f"{number:4} {module}" for module, number in counted.functions.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
