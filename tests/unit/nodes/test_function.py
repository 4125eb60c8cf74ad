import asyncio
import contextvars
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from stepless.errors import ConfigError
from stepless.model.work import NodeFailure
from stepless.nodes.function import FunctionCall, function, load_modules, run
from stepless.nodes.function.threads import Threads

if TYPE_CHECKING:
    from decimal import Decimal


class Order(BaseModel):
    id: str
    amount: float


@dataclass
class Receipt:
    id: str


def refund(order_id: str, amount: float = 1.0) -> Any:
    return {"order_id": order_id, "amount": amount}


async def refund_async(order_id: str, amount: float = 1.0) -> Any:
    await asyncio.sleep(0)
    return {"order_id": order_id, "amount": amount}


def typed(order: Order, at: datetime, kind: Literal["a", "b"], count: Annotated[int, Field(gt=0)] = 1) -> Any:
    assert isinstance(order, Order)
    return [Receipt(order.id), at.year, kind, count]


def anything(a: object, b, **rest: Any):  # type: ignore[no-untyped-def]
    return [a, b, rest]


def unreadable(price: "Decimal") -> None: ...


def unfit(engine: threading.Thread) -> None: ...


def by_place(a: int, /) -> None: ...


class Callee:
    async def __call__(self, a: int) -> int:
        return a + 1


@pytest.fixture
def invoke(call: Any, request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Registers a callable and runs a node that calls it."""
    def do(callable: Callable[..., Any], args: Any = None, **more: Any) -> Any:
        name = f"test.f{abs(hash(request.node.nodeid))}"
        function(name)(callable)
        return asyncio.run(run(call("function", {} if args is None else {"args": args}, {"call": name}, **more))).value

    return do


def failure(of: Coroutine[Any, Any, Any] | Callable[[], Any]) -> NodeFailure:
    with pytest.raises(NodeFailure) as raised:
        asyncio.run(of) if isinstance(of, Coroutine) else of()
    return raised.value


@pytest.mark.parametrize("callable", [refund, refund_async, partial(refund, amount=1.0)])
def test_arguments_are_given_by_name_and_the_result_put_out(callable: Any, invoke: Any) -> None:
    assert invoke(callable, {"order_id": "o1"}) == {"order_id": "o1", "amount": 1.0}


def test_an_object_with_an_async_call_is_awaited(invoke: Any) -> None:
    assert invoke(Callee(), {"a": 1}) == 2


def test_type_hints_turn_json_into_what_the_function_asks_for(invoke: Any) -> None:
    args = {"order": {"id": "o1", "amount": 3}, "at": "2026-01-01T00:00:00Z", "kind": "b"}
    assert invoke(typed, args) == [{"id": "o1"}, 2026, "b", 1]


def test_parameters_without_hints_take_anything_and_keywords_take_the_rest(invoke: Any) -> None:
    assert invoke(anything, {"a": None, "b": [1], "c": 2}) == [None, [1], {"c": 2}]


@pytest.mark.parametrize(("callable", "args", "told"), [
    (refund, {}, "missing `order_id`"),
    (refund, {"order_id": "o", "x": 1, "y": 2}, "unexpected `x`, `y`"),
    (refund, {"orderid": "o"}, "missing `order_id`; unexpected `orderid`"),
    (refund, {"order_id": 7}, "`order_id` should be text, not a number"),
    (refund, {"order_id": "o", "amount": "much"}, "`amount` should be a number, not text"),
    (typed, {"order": {"id": "o1"}, "at": 0, "kind": "a"}, r"`order\.amount` is missing"),
    (typed, {"order": {"id": "o1", "amount": 1}, "at": 0, "kind": "c"}, "`kind` should be 'a' or 'b' "),
    (refund, ["o1"], "`args` is list"),
    (refund, "o1", "`args` is str"),
])
def test_arguments_that_do_not_fit_are_named(callable: Any, args: Any, told: str, invoke: Any) -> None:
    failed = failure(lambda: invoke(callable, args))
    assert (failed.cause, failed.code, failed.retryable) == ("config", "invalid_arguments", False)
    with pytest.raises(NodeFailure, match=told):
        raise failed


@pytest.mark.parametrize(("callable", "told"), [
    (unreadable, "Decimal"), (unfit, "`engine`"), (by_place, "`a` cannot be passed by name"),
])
def test_a_function_that_cannot_be_called_by_name_says_why(callable: Any, told: str, invoke: Any) -> None:
    failed = failure(lambda: invoke(callable, {"price": 1, "engine": 1, "a": 1}))
    assert (failed.cause, failed.code) == ("config", "invalid_function")
    assert told in failed.message
    assert failed.mend


def test_an_unknown_function_says_where_to_register_it(call: Any) -> None:
    failed = failure(run(call("function", {}, {"call": "no.such"})))
    assert (failed.cause, failed.code) == ("config", "unknown_function")
    assert "'no.such'" in failed.message
    assert "STEPLESS_MODULES" in failed.mend


def test_a_parameter_annotated_with_the_call_is_given_it(invoke: Any) -> None:
    told: list[str] = []

    def work(a: int, me: FunctionCall) -> Any:
        me.log("half way")
        me.delta("text")
        return [a, me.run_id, me.instance, me.attempt, me.token, me.deadline_ms]

    assert invoke(work, {"a": 1}, log=told.append, delta=told.append, deadline_ms=99) == [1, "r1", "n@l[2]", 1, "r1:n@l[2]", 99]
    assert told == ["half way", "text"]
    assert "`me`" in failure(lambda: invoke(work, {"a": 1, "me": 2})).message


def test_a_function_may_change_its_arguments_without_changing_the_run(invoke: Any) -> None:
    args: Any = {"order": {"lines": [1]}}

    def spoil(order: Any) -> Any:
        order["lines"].append(2)
        return order

    assert invoke(spoil, args) == {"lines": [1, 2]}
    assert args == {"order": {"lines": [1]}}


def test_a_result_that_is_not_json_is_named_with_its_place(invoke: Any) -> None:
    failed = failure(lambda: invoke(lambda: {"items": [{"when": datetime(2026, 1, 1)}]}))  # noqa: DTZ001
    assert (failed.cause, failed.code, failed.retryable) == ("execution", "result_not_json", False)
    assert "$.items[0].when: datetime" in failed.message
    assert "isoformat" in failed.mend


class HTTPStatusError(Exception): ...


@pytest.mark.parametrize("wrap", ["sync", "async"])
@pytest.mark.parametrize(("error", "cause", "code", "message"), [
    (ValueError("no such order"), "provider_error", "value_error", "no such order"),
    (HTTPStatusError(), "provider_error", "http_status_error", "HTTPStatusError"),
    (RuntimeError("x" * 9_000), "provider_error", "runtime_error", "x" * 2_000),
    (TimeoutError("slow"), "timeout", "timeout", "slow"),
    (StopIteration(), "provider_error", "stop_iteration", "StopIteration"),
    (NodeFailure("rate_limit", "busy", "later", retry_after_ms=5), "rate_limit", "busy", "later"),
])
def test_what_a_function_raises_becomes_a_failure_with_a_cause(
    wrap: str, error: Any, cause: str, code: str, message: str, invoke: Any,
) -> None:
    def sync() -> None:
        raise error

    async def by_await() -> None:
        raise error

    failed = failure(lambda: invoke(sync if wrap == "sync" else by_await))
    if isinstance(error, StopIteration) and wrap == "async":
        code, message = "runtime_error", "coroutine raised StopIteration"  # so says Python itself
    assert (failed.cause, failed.code, failed.message) == (cause, code, message)
    assert failed.retry_after_ms == getattr(error, "retry_after_ms", None)


@pytest.mark.parametrize(("error", "code"), [(SystemExit(3), "system_exit"), (KeyboardInterrupt(), "keyboard_interrupt")])
def test_a_sync_function_ends_its_attempt_and_never_the_process(error: BaseException, code: str, invoke: Any) -> None:
    def leave() -> None:
        raise error

    assert failure(lambda: invoke(leave)).code == code


def test_a_function_that_cancels_itself_fails_and_one_that_is_cancelled_is_let_go(call: Any) -> None:
    async def gives_up() -> None:
        raise asyncio.CancelledError

    async def for_ever() -> None:
        await asyncio.Event().wait()

    async def cancelled() -> None:
        async with asyncio.timeout(0.001):
            await run(call("function", {}, {"call": "test.for_ever"}))

    function("test.gives_up")(gives_up)
    function("test.for_ever")(for_ever)
    assert failure(run(call("function", {}, {"call": "test.gives_up"}))).code == "cancelled_error"
    with pytest.raises(TimeoutError):
        asyncio.run(cancelled())


def test_sync_functions_run_beside_each_other_and_see_the_callers_context(call: Any) -> None:
    meeting, place = threading.Barrier(3, timeout=10), contextvars.ContextVar("place", default="nowhere")

    def meet() -> str:
        meeting.wait()
        return place.get()

    async def three() -> list[Any]:
        place.set("here")
        attempts = [run(call("function", {}, {"call": "test.meet"})) for _ in range(3)]
        return [result.value for result in await asyncio.gather(*attempts)]

    function("test.meet")(meet)
    assert asyncio.run(three()) == ["here"] * 3


def test_a_call_that_is_given_up_on_keeps_its_thread_and_others_get_new_ones_up_to_the_bound() -> None:
    threads, gate = Threads(most=2), threading.Event()

    async def story() -> None:
        for _ in range(2):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.001):
                    await threads.run(gate.wait)
        with pytest.raises(NodeFailure, match="all 2 threads") as refused:
            await threads.run(int)
        assert (refused.value.cause, refused.value.code) == ("rate_limit", "too_many_threads")
        gate.set()
        deadline = time.monotonic() + 10
        while True:  # the threads come back when their calls return
            try:
                assert await threads.run(lambda: 7) == (7, None)
                return
            except NodeFailure:
                assert time.monotonic() < deadline
                await asyncio.sleep(0)

    asyncio.run(story())


def test_idle_threads_are_used_again_and_go_away_at_last() -> None:
    threads = Threads(most=1, idle_s=0.001)

    async def several() -> list[Any]:
        return [await threads.run(threading.current_thread) for _ in range(20)]

    for thread, _ in asyncio.run(several()):
        thread.join(10)
        assert not thread.is_alive()
    assert asyncio.run(several())


def test_a_name_belongs_to_one_callable() -> None:
    function("test.taken")(refund)
    function("test.taken")(refund)  # a module that is imported again
    with pytest.raises(ConfigError, match=r"refund.*choose another name"):
        function("test.taken")(typed)


@pytest.mark.parametrize("name", ["", "a b", ".a", "a.", "a..b", "1a", "a" * 201, "os;system"])
def test_a_malformed_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="not a valid name for a function"):
        function(name)


def test_modules_are_loaded_by_name_by_variable_and_by_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Any,
) -> None:
    source = "import stepless.nodes.function as f\n@f.function('loaded.{0}')\ndef {0}():\n    return '{0}'\n"
    for name in ("mod_one", "mod_two", "mod_three"):
        (tmp_path / f"{name}.py").write_text(source.format(name))
    info = tmp_path / "plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[stepless.functions]\nthree = mod_three\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("STEPLESS_MODULES", " mod_two, ")
    load_modules(["mod_one"])
    load_modules()
    for name in ("mod_one", "mod_two", "mod_three"):
        assert asyncio.run(run(call("function", {}, {"call": f"loaded.{name}"}))).value == name


def test_a_module_that_cannot_be_loaded_is_named_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_module.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="broken_module cannot be imported: ZeroDivisionError") as refused:
        load_modules(["broken_module"])
    assert refused.value.code == "module_not_loaded"
    with pytest.raises(ConfigError, match="no_such_module_anywhere"):
        load_modules(["no_such_module_anywhere"])


def test_the_hot_path_stays_light(call: Any) -> None:
    """Binding and checking a small call takes microseconds; the bound is generous, for slow machines."""
    from stepless.nodes.function.registry import find
    from stepless.nodes.json_value import to_json

    function("test.light")(anything)
    binding, one_call = find("test.light").binding, call("function", {})
    started = time.perf_counter()
    for _ in range(1_000):
        to_json(anything(**binding.bind({"a": 1, "b": {"c": [1, 2, 3]}}, one_call)))
    assert time.perf_counter() - started < 0.2
