"""`query`: JMESPath over a JSON value, with a bound on the work and on what is built. The library is loaded at the first query.

JMESPath has no loops, yet a chain like `[@,@][]|[@,@][]|…` doubles its value with every link. So the interpreter counts
its visits, and weighs every list and object that it builds, before the next link sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final

from stepless.expressions.faults import Misfit
from stepless.expressions.values import kind, weigh
from stepless.limits import MAX_EXPRESSION_CHARACTERS, MAX_QUERY_STEPS, MAX_RESULT_BYTES
from stepless.model.json import JSON

_KEPT_QUERIES: Final = 256
_VISIT_STEPS: Final = 10  # a visit takes at least as long as weighing ten values


def query(text: JSON) -> Callable[[JSON], JSON]:
    """What finds the JMESPath expression `text` in a value. Raises `Misfit` for a text that is no such expression; what
    it answers raises `Misfit` when the query does not fit the value or takes too much."""
    if type(text) is not str:
        raise Misfit(f"a query is a text, not {kind(text)}")
    if len(text) > MAX_EXPRESSION_CHARACTERS:
        raise Misfit(f"a query has at most {MAX_EXPRESSION_CHARACTERS} characters")
    return _compiled(text)


@lru_cache(maxsize=_KEPT_QUERIES)
def _compiled(text: str) -> Callable[[JSON], JSON]:
    import jmespath

    try:
        tree = jmespath.compile(text).parsed
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Misfit("this is not a JMESPath expression") from None
    interpreter = _bounded_interpreter()

    def find(value: JSON) -> JSON:
        try:
            found = interpreter().visit(tree, value)
        except Misfit:
            raise
        except Exception as error:  # the library promises no closed set of errors
            raise Misfit(f"the query does not fit the value: {type(error).__name__}") from None
        weigh(found, MAX_RESULT_BYTES)
        return found

    return find


class _Budget:
    """What one evaluation may still spend, in values and characters looked at."""

    def __init__(self) -> None:
        self.left = MAX_QUERY_STEPS

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise Misfit(f"the query takes more than {MAX_QUERY_STEPS} steps")

    def weigh(self, built: Any) -> Any:
        self.spend(weigh(built, max(0, self.left)))
        return built


@lru_cache(maxsize=1)
def _bounded_interpreter() -> Callable[[], Any]:
    from jmespath.functions import Functions
    from jmespath.visitor import Options, TreeInterpreter

    class BoundedFunctions(Functions):
        """JMESPath's functions; the two that build texts pay before they build."""

        def __init__(self, budget: _Budget) -> None:
            self.budget = budget

        def call_function(self, function_name: str, resolved_args: Iterable[Any]) -> Any:
            arguments = list(resolved_args)
            if function_name == "to_string":
                self.budget.weigh(arguments)
            if function_name == "join" and len(arguments) == 2 and type(arguments[0]) is str and type(arguments[1]) is list:
                self.budget.spend(len(arguments[0]) * len(arguments[1]))
            return super().call_function(function_name, arguments)

    class BoundedInterpreter(TreeInterpreter):
        """JMESPath's interpreter; visits, selections and flattened lists are paid for."""

        def __init__(self) -> None:
            self.budget = _Budget()
            super().__init__(Options(custom_functions=BoundedFunctions(self.budget)))

        def visit(self, node: Any, *args: Any, **more: Any) -> Any:
            self.budget.spend(_VISIT_STEPS)
            return super().visit(node, *args, **more)

        def visit_multi_select_list(self, node: Any, value: Any) -> Any:
            return self.budget.weigh(super().visit_multi_select_list(node, value))

        def visit_multi_select_dict(self, node: Any, value: Any) -> Any:
            return self.budget.weigh(super().visit_multi_select_dict(node, value))

        def visit_flatten(self, node: Any, value: Any) -> Any:
            flat = super().visit_flatten(node, value)
            self.budget.spend(len(flat or ()))
            return flat

    return BoundedInterpreter
