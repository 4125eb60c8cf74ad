"""Implements `query`: JMESPath over a JSON value, with a limit of steps. The library is loaded at the first query.

JMESPath has no loops, but each link of a chain like `[@,@][]|[@,@][]|…` doubles its value. So the interpreter charges steps for
its visits, and weighs every list and object that it builds before the next link processes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import Any, Final, TypeAlias

from stepless.errors import ExpressionError
from stepless.expressions.faults import Misfit
from stepless.expressions.values import kind, pay_for_text, weigh
from stepless.limits import MAX_EXPRESSION_CHARACTERS, MAX_RESULT_BYTES
from stepless.model.json import JSON
from stepless.model.scope import Payer

Finder: TypeAlias = Callable[[JSON, Payer], JSON]

_KEPT_QUERIES: Final = 256
_QUERY: Final = 2_000  # steps before the first visit
_COMPILING: Final = 2_500  # steps for each character of a query that is computed at run time
_VISIT: Final = 120
_EVERYTHING: Final = 60  # steps for each value in the arguments of a function
_NOTHING: Final = frozenset({"abs", "ceil", "floor", "length", "not_null", "to_array", "type"})
_ITEMS: Final[Mapping[str, int]] = {  # steps per item, for functions that read the items of their arguments
    "avg": 40, "ends_with": 1, "keys": 3, "map": 10, "merge": 20, "reverse": 3, "starts_with": 1, "sum": 40, "to_number": 1,
    "values": 3,
}  # fmt: skip


def query(text: JSON) -> Finder:
    """Compiles the JMESPath expression `text` to a function of a value. Raises `Misfit` for an invalid expression; the function
    raises `Misfit` when the query does not fit the value."""
    return _compiled(_checked(text))


def queried(value: JSON, text: JSON, payer: Payer) -> JSON:
    """Runs a query that is computed at run time. Each call charges for the compilation, even of a cached query, so that a
    process's cache does not change where an evaluation ends."""
    payer.spend(_COMPILING * len(_checked(text)))
    return _compiled(text)(value, payer)


def _checked(text: JSON) -> str:
    if type(text) is not str:
        raise Misfit(f"a query is a text, not {kind(text)}")
    if len(text) > MAX_EXPRESSION_CHARACTERS:
        raise Misfit(f"a query has at most {MAX_EXPRESSION_CHARACTERS} characters")
    return text


@lru_cache(maxsize=_KEPT_QUERIES)
def _compiled(text: str) -> Finder:
    import jmespath

    try:
        tree = jmespath.compile(text).parsed
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Misfit("this is not a JMESPath expression") from None
    interpreter = _paying_interpreter()

    def find(value: JSON, payer: Payer) -> JSON:
        payer.spend(_QUERY)
        try:
            found = interpreter(payer).visit(tree, value)
        except (Misfit, ExpressionError):
            raise
        except Exception as error:  # the library promises no closed set of errors
            raise Misfit(f"the query does not fit the value: {type(error).__name__}") from None
        weigh(found, MAX_RESULT_BYTES, payer)
        return found

    return find


@lru_cache(maxsize=1)
def _paying_functions() -> Callable[[Payer], Any]:
    from jmespath.functions import Functions

    class PayingFunctions(Functions):
        """JMESPath's functions. Each call charges its steps before it begins."""

        def __init__(self, payer: Payer) -> None:
            self.payer = payer

        def call_function(self, function_name: str, resolved_args: Iterable[Any]) -> Any:
            arguments = list(resolved_args)
            if function_name in _ITEMS:
                self.payer.spend(_ITEMS[function_name] * sum(len(one) for one in arguments if isinstance(one, str | list | dict)))
            elif function_name not in _NOTHING:
                values = [one for one in arguments if isinstance(one, str | list | dict)]
                self.payer.spend(weigh(values, MAX_RESULT_BYTES, self.payer, _EVERYTHING))
            if function_name == "join" and len(arguments) == 2 and type(arguments[0]) is str and type(arguments[1]) is list:
                self.payer.spend(len(arguments[0]) * len(arguments[1]))
            return super().call_function(function_name, arguments)

    return PayingFunctions


@lru_cache(maxsize=1)
def _paying_interpreter() -> Callable[[Payer], Any]:
    from jmespath.visitor import Options, TreeInterpreter

    functions = _paying_functions()

    class PayingInterpreter(TreeInterpreter):
        """JMESPath's interpreter, which charges steps for visits, comparisons, slices, selections and flattened lists."""

        def __init__(self, payer: Payer) -> None:
            self.payer = payer
            tests = TreeInterpreter.COMPARATOR_FUNC
            self.COMPARATOR_FUNC = {sign: partial(self._compared, test) for sign, test in tests.items()}  # type: ignore[misc]
            super().__init__(Options(custom_functions=functions(payer)))

        def visit(self, node: Any, *args: Any, **more: Any) -> Any:
            self.payer.spend(_VISIT)
            return super().visit(node, *args, **more)

        def visit_slice(self, node: Any, value: Any) -> Any:
            self.payer.spend(3 * len(value) if isinstance(value, list) else 0)
            return super().visit_slice(node, value)

        def visit_multi_select_list(self, node: Any, value: Any) -> Any:
            return self._weighed(super().visit_multi_select_list(node, value))

        def visit_multi_select_dict(self, node: Any, value: Any) -> Any:
            return self._weighed(super().visit_multi_select_dict(node, value))

        def visit_flatten(self, node: Any, value: Any) -> Any:
            base = self.visit(node["children"][0], value)
            if isinstance(base, list):
                self.payer.spend(5 * len(base))
                self.payer.spend(3 * sum(len(inner) for inner in base if isinstance(inner, list)))
            looked_up: Any = {**node, "children": [{"type": "literal", "value": base, "children": []}]}
            return super().visit_flatten(looked_up, value)

        def _compared(self, test: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
            if isinstance(left, str) and isinstance(right, str):
                pay_for_text(min(len(left), len(right)), self.payer)
            elif isinstance(left, list | dict) and isinstance(right, list | dict):
                self.payer.spend(weigh(left, MAX_RESULT_BYTES, self.payer))
            return test(left, right)

        def _weighed(self, built: Any) -> Any:
            weigh(built, MAX_RESULT_BYTES, self.payer)
            return built

    return PayingInterpreter
