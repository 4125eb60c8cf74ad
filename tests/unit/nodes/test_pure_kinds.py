from typing import Any

import pytest

from stepless.errors import ConfigError, ExpressionError
from stepless.model.kind import Case, Failing, Outcome
from stepless.nodes import KINDS


def evaluated(kind: str, work: Any) -> Outcome:
    evaluate = KINDS[kind].evaluate
    assert evaluate is not None
    return evaluate(work)


def never() -> bool:
    raise AssertionError("a case after the first that holds was evaluated")


def broken() -> bool:
    raise ExpressionError("`<` does not compare text and numbers", source="<s.n> < 'a'", offset=6)


@pytest.mark.parametrize(("cases", "taken"), [
    ((("a", lambda: False), ("b", lambda: True), ("c", never)), "b"),
    ((("a", lambda: False), ("rest", None)), "rest"),
    ((("rest", None), ("a", never)), "rest"),
    ((("a", lambda: 0), ("b", lambda: ""), ("c", lambda: None)), None),
])
def test_a_condition_takes_the_first_case_that_holds_and_passes_its_input_on(cases: Any, taken: str | None, work: Any) -> None:
    outcome = evaluated("condition", work(cases=tuple(Case(*case) for case in cases), inputs={"input": 7}))
    assert (outcome.handle, outcome.value) == (taken, 7)


def test_a_case_that_raises_names_itself_and_the_position(work: Any) -> None:
    with pytest.raises(ExpressionError, match=r"case `small`: `<` does not compare .* at character 7 of") as raised:
        evaluated("condition", work(cases=(Case("small", broken), Case("rest", None))))
    assert (raised.value.offset, raised.value.source) == (6, "<s.n> < 'a'")


@pytest.mark.parametrize(("cases", "found"), [
    ({"a": "1 == 1", "rest": "else"}, []),
    ({"rest": " else ", "a": "1 == 1", "b": "else"}, [("unreachable_case", ".cases.a", "warning"),
    ("unreachable_case", ".cases.b", "warning")]),
    ({"error": "1 == 1"}, [("reserved_exit", ".cases.error", "error")]),
])
def test_cases_that_cannot_be_taken_are_found_at_publish(cases: Any, found: list[Any], findings: Any) -> None:
    assert findings("condition", cases=cases) == found


def test_a_route_cannot_be_called_error(findings: Any) -> None:
    assert findings("router", routes={"onError": "when it fails"}) == [("reserved_exit", ".routes.onError", "error")]


@pytest.mark.parametrize(("inputs", "value"), [
    ({"input": [1]}, [1]), ({"input": None}, None), ({"a": 1, "input": 2}, {"a": 1, "input": 2}), ({"a": 1}, {"a": 1}),
    ({}, None),
])
def test_a_join_passes_on_what_came_in(inputs: Any, value: Any, work: Any) -> None:
    assert evaluated("join", work(inputs=inputs)) == Outcome(value)


def test_set_writes_and_puts_out_the_same_mapping(work: Any) -> None:
    outcome = evaluated("set", work(params={"variables": {"status": "denied", "n": None}}))
    assert outcome.value == outcome.variables == {"status": "denied", "n": None}


@pytest.mark.parametrize("rubbish", [{"variables": "denied"}, {"variables": {}}, {"variables": [1]}, {}])
def test_set_refuses_what_is_no_mapping_once_rendered(rubbish: Any, work: Any) -> None:
    with pytest.raises(ConfigError, match=r"with\.variables") as refused:
        evaluated("set", work(params=rubbish))
    assert refused.value.mend


def test_transform_puts_out_its_value(work: Any) -> None:
    assert evaluated("transform", work(params={"value": {"a": [1, None]}})).value == {"a": [1, None]}


def test_respond_answers_with_its_body_and_fires_no_exit(work: Any) -> None:
    outcome = evaluated("respond", work(params={"body": {"a": 1}, "headers": {"X-N": 3}}))
    assert outcome == Outcome({"a": 1}, handle=None, respond={"status": 200, "headers": {"X-N": 3}, "body": {"a": 1}})


@pytest.mark.parametrize("rubbish", [{"status": 99}, {"status": 600}, {"status": None}, {"headers": {"a": [1]}}])
def test_respond_refuses_an_answer_that_http_does_not_know(rubbish: Any, work: Any) -> None:
    with pytest.raises(ConfigError, match="with"):
        evaluated("respond", work(params=rubbish))


@pytest.mark.parametrize(("params", "halt", "break_loop"), [
    ({}, False, False), ({"halt": True}, True, False), ({"break": True}, False, True),
])
def test_end_says_what_it_ends(params: Any, halt: bool, break_loop: bool, work: Any) -> None:
    assert evaluated("end", work(params=params)) == Outcome(handle=None, halt=halt, break_loop=break_loop)


OF_PAY = {"class": "execution", "code": "declined", "message": "no", "node": "pay"}


@pytest.mark.parametrize(("params", "failure"), [
    ({"code": "no_card"}, Failing("no_card")),
    ({"code": "no_card", "message": "none"}, Failing("no_card", "none")),
    ({"code": "long", "message": "m" * 20_000}, Failing("long", "m" * 2_000)),
    ({"error": OF_PAY}, Failing("declined", "no", OF_PAY)),
    ({"error": {**OF_PAY, "code": "iteration_failed", "causes": [OF_PAY, OF_PAY]}}, Failing("iteration_failed", "no", OF_PAY)),
    ({"error": {**OF_PAY, "causes": [{"code": "odd"}, 7]}}, Failing("declined", "no", OF_PAY)),
    ({"error": {**OF_PAY, "causes": "odd"}}, Failing("declined", "no", OF_PAY)),
    ({"error": {"code": "own", "message": 7}}, Failing("own")),
])
def test_fail_says_what_the_failure_is(params: Any, failure: Failing, work: Any) -> None:
    assert evaluated("fail", work(params=params)) == Outcome(failure=failure)


@pytest.mark.parametrize(("rubbish", "place"), [
    ({}, "with"), ({"code": ""}, "with.code"), ({"code": 7}, "with.code"), ({"code": "c" * 65}, "with.code"),
    ({"code": None}, "with"), ({"error": None}, "with"), ({"error": "text"}, "with.error"), ({"error": {}}, "with.error"),
    ({"error": {"code": 7}}, "with.error"), ({"code": "a", "error": OF_PAY}, "with"),
    ({"error": OF_PAY, "message": "m"}, "with.message"),
])
def test_fail_refuses_what_is_no_failure_once_rendered(rubbish: Any, place: str, work: Any) -> None:
    with pytest.raises(ConfigError) as refused:
        evaluated("fail", work(params=rubbish))
    assert refused.value.place == place
    assert refused.value.mend


@pytest.mark.parametrize(("params", "found"), [
    ({"code": "a", "message": "m"}, []),
    ({}, [("exactly_one", "", "error")]),
    ({"code": "a", "error": {"code": "b"}}, [("exactly_one", "", "error")]),
    ({"error": {"code": "b"}, "message": "m"}, [("contradiction", ".message", "error")]),
])
def test_fail_has_a_code_or_an_error(params: Any, found: list[Any], findings: Any) -> None:
    assert findings("fail", **params) == found


@pytest.mark.parametrize(("kind", "params", "found"), [
    ("loop", {"times": 2}, []),
    ("loop", {"items": []}, []),
    ("loop", {"while": "<loop.index> < 3"}, []),
    ("loop", {}, [("exactly_one", "", "error")]),
    ("loop", {"times": 2, "do_while": "1 < 2"}, [("exactly_one", "", "error")]),
    ("loop", {"times": -1}, [("out_of_range", ".times", "error")]),
    ("loop", {"times": 1, "max_consecutive_errors": 2}, [("unused_parameter", ".max_consecutive_errors", "warning")]),
    ("loop", {"times": 1, "max_consecutive_errors": 2, "on_error": "continue"}, []),
    ("parallel", {"branches": 0}, []),
    ("parallel", {"branches": 2, "items": [1]}, [("exactly_one", "", "error")]),
    ("parallel", {"branches": -2}, [("out_of_range", ".branches", "error")]),
])
def test_a_container_has_exactly_one_mode(kind: str, params: Any, found: list[Any], findings: Any) -> None:
    assert findings(kind, body={}, **params) == found


def test_a_container_with_two_modes_is_told_which(findings: Any) -> None:
    loop = KINDS["loop"]
    [finding] = loop.check(loop.params.model_validate({"times": 2, "while": "1", "body": {}}), "nodes.l.with")
    assert "exactly one of `times`, `items`, `while`, `do_while`" in finding.message
    assert finding.message.endswith("found `times`, `while`")


@pytest.mark.parametrize("params", [
    {"max_iterations": 0}, {"max_iterations": 1_000_001}, {"window": 0}, {"on_error": "ignore"}, {"max_consecutive_errors": 0},
    {"body": []},
])
def test_a_container_bound_that_is_none_is_refused(params: Any) -> None:
    with pytest.raises(ValueError, match="validation error"):
        KINDS["parallel"].params.model_validate({"branches": 1, "body": {}, **params})
