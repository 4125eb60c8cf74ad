"""Takes `match` apart where its cases await or leave: patterns that compare are tests of an `if`; any other `match` is a block
that chooses the case and binds its names, and the statements of the case stand behind it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from stepless.flow.compiler.expressions.hoisting import has_await
from stepless.flow.compiler.facts.block_nodes import Leave

Suite = Callable[[Sequence[ast.stmt]], list[ast.stmt]]


def is_taken_apart(statement: ast.Match, *, leaves: bool) -> bool:
    """Returns whether a `match` is not lifted as it is. `leaves`: a case returns, breaks or continues."""
    if any(case.guard is not None and has_await(case.guard) for case in statement.cases):
        return False
    return has_await(statement) or (leaves and is_compared(statement))


def is_compared(statement: ast.Match) -> bool:
    """Returns whether each pattern compares the subject with values, and binds nothing."""
    return all(case.guard is None and _tests(case.pattern) is not None for case in statement.cases)


def as_if(statement: ast.Match, subject: ast.expr, suite: Suite) -> list[ast.stmt]:
    """Returns the `if` that does what a `match` of values does."""
    rest: list[ast.stmt] = []
    for case in reversed(statement.cases):
        tests = _tests(case.pattern)
        assert tests is not None
        body = suite(case.body)
        if not tests:
            rest = body
            continue
        compared = [_compared(subject, one) for one in tests]
        test = compared[0] if len(compared) == 1 else ast.BoolOp(ast.Or(), list[ast.expr](compared))
        rest = [ast.copy_location(ast.If(ast.copy_location(test, case.pattern), body, rest), case.pattern)]
    return rest


def chooser(statement: ast.Match, subject: ast.expr, suite: Suite) -> ast.Match:
    """Returns a `match` that leaves by one exit for each case."""
    cases = []
    for number, case in enumerate(statement.cases):
        leave = ast.copy_location(Leave(f"case_{number}", suite(case.body)), case.pattern)
        cases.append(ast.match_case(case.pattern, case.guard, [leave]))
    return ast.copy_location(ast.Match(subject, cases), statement)


def _compared(subject: ast.expr, value: ast.expr) -> ast.Compare:
    operator = ast.Is() if isinstance(value, ast.Constant) and value.value is None else ast.Eq()
    made = ast.Compare(ast.copy_location(subject, value), [operator], [value])
    return ast.copy_location(made, value)


def _tests(pattern: ast.pattern) -> list[ast.expr] | None:
    """The values with which a pattern compares, each enough; none for `_`, which compares with nothing. None for any other."""
    match pattern:
        case ast.MatchAs(pattern=None, name=None):
            return []
        case ast.MatchValue(value=value):
            return [value]
        case ast.MatchSingleton(value=None):
            return [ast.copy_location(ast.Constant(None), pattern)]
        case ast.MatchOr(patterns=patterns):
            found = [_tests(one) for one in patterns]
            return [test for one in found for test in one or ()] if all(found) else None
    return None
