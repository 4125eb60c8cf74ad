"""The slowest evaluation that one node permits: every function and operator on its most expensive values, as often as the
steps of a node allow. `make bench-evaluation` prints the slowest, and fails above the bar.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from time import process_time
from typing import Any, Final, NamedTuple

from stepless.errors import ExpressionError
from stepless.expressions.templates import compile_template
from stepless.limits import MAX_EVALUATION_STEPS
from stepless.model.json import read_path
from stepless.model.scope import Reference
from stepless.model.steps import Steps

BAR_MS: Final = 250
_MOST_TIMES: Final = 200_000  # of one expression in one template

VALUES: Final[dict[str, Any]] = {
    "a": "a" * 499_990, "same": "".join(["a"] * 499_990), "b": "b" * 90, "emoji": "\U0001f600" * 499_990, "greek": "ΐ" * 330_000,
    "sigma": "Σ" * 490_000, "words": "a " * 90_000, "commas": "," * 99_000, "needle": "a" * 49 + "b" + "a" * 49,
    "hay": "a" * 29_000, "small": "a" * 2_400, "half": "a" * 250 + "b" + "a" * 249, "long": "a" * 600 + "b" + "a" * 600,
    "numbers": list(range(100_000)), "others": list(range(100_000)), "floats": [i * 1.1 for i in range(55_000)],
    "texts": ["a" * 40 + str(i) for i in range(90_000)], "big": [2**1000 + i for i in range(3_000)],
    "mixed": [float(i) if i % 2 else 2**1000 for i in range(50_000)], "nested": [[i] for i in range(50_000)],
    "alike": [[i] for i in range(50_000)], "rows": [{"a": i, "b": "x"} for i in range(30_000)],
    "lines": [{"a": i, "b": "x"} for i in range(30_000)], "wide": {str(i): i for i in range(90_000)},
    "broad": {str(i): i for i in range(90_000)}, "zeros": [0] * 100_000, "empty": [[]] * 50_000,
    "lists": [list(range(1_000))] * 1_000, "prefixed": ["a" * 1_000 + str(i) for i in range(3_000)],
    "huge": ["a" * 999_000] * 40 + ["a" * 998_999 + "b"] * 40,
    "shuffled": [(i * 7_919.5) % 100_003 for i in range(100_000)], "controls": "\x01\U0010ffff" * 240_000,
    "ab": "".join("ab"[(i * i * 31 + i * 7) % 97 % 2] for i in range(300_000)),
    "all": "".join(chr((97, 98, 0xE9, 0x1F600, 0x4E00)[i * 7919 % 5]) for i in range(200_000)), "x": 1.5, "integer": 2**1000,
    "digits": "9" * 400, "pattern": r"(\pL|\pN){37}", "chain": "|".join(["@"] * 990), "select": "[" + ",".join(["@"] * 900) + "]",
    "brackets": "[" + "[]," * 200_000 + "[]]", "list": "[" + "1," * 330_000 + "1]", "objects": "[" + '{"a":1},' * 90_000 + "{}]",
    "decimals": "[" + "1.25e7," * 140_000 + "1]", "integers": "[" + ("9" * 300 + ",") * 3_000 + "1]",
}  # fmt: skip

EXPRESSIONS: Final = (
    "upper(<a>)", "upper(<greek>)", "lower(<sigma>)", "lower(<emoji>)", "trim(<words>)", "split(<words>)", "split(<commas>, ',')",
    "split(<a>, <needle>)", "split(<a>, <long>)", "join(<texts>[0:20000], '-')", "join(<numbers>, ',')", "join(<floats>, ',')",
    "join(<empty>, ',')", "<needle> in <a>", "<needle> in <hay>", "<half> in <small>", "<long> in <a>", "'x' in <texts>",
    "contains(<emoji>, <needle>)", "1.5 in <numbers>", "null in <numbers>", "[1, 2] in <nested>", "[0.5] in <nested>",
    "{'a': 1, 'b': 'y'} in <rows>", "'zz' in <wide>", "<numbers> == <others>", "<nested> == <alike>", "<rows> == <lines>",
    "<wide> == <broad>", "<a> == <same>", "<a> <= <same>", "<emoji> + 'x'", "<a> + <b>", "<zeros>[1:] + [1]", "<a>[1:]",
    "<numbers>[1:]", "<emoji>[1:]", "<wide>[<a> + 'k']", "min(<numbers>)", "max(<texts>)", "min(<mixed>)", "max(<prefixed>)",
    "min(<huge>)", "sum(<numbers>)", "sum(<big>)", "sum(<floats>)", "keys(<wide>)", "values(<wide>)", "items(<wide>)",
    "any(<zeros>)", "all(<texts>)", "str(<numbers>)", "str(<floats>)", "str(<nested>)", "str(<rows>)", "str(<wide>)",
    "str([<emoji>])", "json(<brackets>)", "json(<list>)", "json(<objects>)", "json(<decimals>)", "json(<integers>)", "len(<a>)",
    "int(<digits>)", "str(<x>)", "str(<integer>)", "round(<x>, 7)", "date('2026-01-31T09:30:00+01:00')",
    "startswith(<a>, <same>)",
    "endswith(<emoji>, <emoji>)", "matches(<a>, '^a*$')", "matches(<ab>, '[ab]*a[ab]{20}c')", "matches(<small>, '(a?){1000}b')",
    "matches(<all>, '(?s).{5}c')", "matches(<emoji>, '(x+x+)+z')", "matches('a', <pattern>)", "matches('a', 'x' + <pattern>)",
    "query(<numbers>, 'sum(@)')", "query(<numbers>, 'sort(@)')", "query(<texts>, 'sort(@)|[0]')", "query(<huge>, 'sort(@)')",
    "query(<rows>, 'sort_by(@, &a)[0]')", "query(<rows>, '[?a==`3`]')", "query(<rows>, '[?a>`3`].b')",
    "query(<rows>, '[*].{x:a,y:b}')", "query(<rows>, 'max_by(@, &a)')", "query(<numbers>, '[@,@][]|[@,@][]|[0]')",
    "query(<lists>, '[]|[0]')", "query(<lists>, '[].[@]|[0]')", "query(<numbers>, 'to_string(@)')",
    "query(<rows>, 'to_string(@)')", "query(<emoji>, 'to_string([@])|length(@)')", "query(<texts>, 'join(`\"-\"`, @)|length(@)')",
    "query(<numbers>, 'contains(@, `-1`)')", "query(<nested>, 'contains(@, `[-1]`)')", "query(<a>, 'contains(@, `\"ab\"`)')",
    "query(<a>, 'reverse(@)|length(@)')", "query(<numbers>, 'reverse(@)|[0]')", "query(<numbers>, '" + "[:]|" * 300 + "[0]')",
    "query(<wide>, 'keys(@)|[0]')", "query(<wide>, '*|[0]')", "query(<wide>, 'merge(@,@)|keys(@)|[0]')",
    "query(<numbers>, '@==@')", "query(<rows>, '@==@')", "query(<numbers>, 'map(&@,@)|[0]')", "query(<rows>, '[*].a|[0]')",
    "query(1, <chain>)", "query(<x>, <select>)", "query(<numbers>, 'avg(@)')", "query(<texts>, 'max(@)')",
    "query(<rows>, 'min_by(@, &to_string(@))')", "query(<prefixed>, 'sort_by(@, &@)|[0]')",
    "query(<rows>, '[?contains(b, `\"x\"`)]|[0]')",
    "merge(<wide>, <broad>)", "merge(<wide>, {'k': 1})", "put(<wide>, 'k', 1)", "put(<numbers>, 0, 1)", "sort(<numbers>)",
    "sort(<floats>, true)", "sort(<mixed>)", "sort(<big>)", "sort(<shuffled>)", "sort(<texts>)", "sort(<prefixed>)",
    "sort(<huge>)", "range(100000)", "zip(<numbers>, <others>)", "zip(<numbers>)", "repeat('a', 1000000)", "repeat(<zeros>, 1)",
    "repeat([1], 100000)", "text(<numbers>)", "text(<floats>)", "text(<rows>)", "text([<emoji>])", "text([<controls>])",
    "text(<x>)", "'<numbers>'", "'<rows>'", "'<emoji>x'", "<x>", "[<x>, <x>]",
)  # fmt: skip


class Taken(NamedTuple):
    """How long `times` evaluations of one expression in one template took, and how they ended."""

    ms: float
    expression: str
    times: int
    steps: int
    ended: str


class _Values(Steps):
    """A scope with the steps of one node."""

    now_ms = 0

    def read(self, reference: Reference) -> Any:
        return read_path(VALUES.get(reference.root), reference.path)


def evaluated(expression: str, times: int) -> Taken:
    """Evaluates one template that contains an expression `times` times; measures CPU time of this process."""
    template = compile_template(["{{ " + expression + " }}"] * times, VALUES.__contains__)
    scope, ended = _Values(), "ok"
    gc.collect()
    began = process_time()
    try:
        template.render(scope)
    except ExpressionError as error:
        ended = error.code
    return Taken((process_time() - began) * 1000, expression, times, MAX_EVALUATION_STEPS - scope.left, ended)


def worst(expressions: Sequence[str] = EXPRESSIONS) -> Iterator[Taken]:
    """Each expression once, and as often as is needed to use up the steps."""
    for expression in expressions:
        once = evaluated(expression, 1)
        yield once
        if once.ended == "ok":
            yield evaluated(expression, min(_MOST_TIMES, 2 + MAX_EVALUATION_STEPS // max(1, once.steps)))


def main() -> int:
    """Prints the slowest; returns 1 if one of them takes longer than the bar."""
    slowest = sorted(worst(), reverse=True)[:30]
    for taken in slowest:
        print(f"{taken.ms:7.1f} ms  {taken.times:6} times  {taken.ended:16}  {taken.expression[:80]}")
    return 1 if slowest[0].ms > BAR_MS else 0


if __name__ == "__main__":
    sys.exit(main())
