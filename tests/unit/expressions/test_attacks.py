"""What a hostile author, or a hostile value, could try. Each is refused at compile time or raises, soon and with the right
error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.errors import ExpressionError
from stepless.expressions.language import compile_expression
from stepless.expressions.references import find_references
from stepless.expressions.templates import compile_template
from stepless.limits import MAX_EXPRESSION_CHARACTERS, MAX_EXPRESSION_DEPTH

KNOWN = {"s"}.__contains__

ESCAPES = [
    "().__class__.__bases__[0].__subclasses__()", "<s>.__class__", "'x'.format(<s>)", "'{0.__class__}'.format(1)",
    "''.join(['a'])", "len.__globals__", "__import__('os').system('id')", "eval('1')", "exec('1')", "open('/etc/passwd')",
    "getattr(<s>, '__class__')", "globals()", "vars()", "type(1)", "compile('1', '', 'eval')", "breakpoint()", "print(1)",
    "(lambda: 1)()", "[len][0](<s>)", "{'a': len}['a'](1)", "len(len)", "(len)", "<s>()", "'len'('a')",
    "(len if true else max)([1])", "len(<s>)()", "len(<s>)[0]()", "[x for x in <s>]", "{x for x in <s>}", "{x: 1 for x in <s>}",
    "(x for x in <s>)", "any(x for x in <s>)", "(x := 1)", "[y := 1, y]", "{1, 2}", "(1, 2)", "1,", "()", "[*<s>]", "{**<s>}",
    "len(*<s>)", "len(**<s>)", "len(x=1)", "round(1, ndigits=1)", "lambda: 1", "lambda x: x", "await <s>", "yield", "(yield 1)",
    "(yield from <s>)", "f'{1}'", "F'{__import__}'", "rb'x'", "b'x'", "r'x'", "u'x'", "'''x'''", '"""x"""', "'a' 'b'", "1j",
    "0x10", "0b1", "1_000", "012", "1if true else 2", "...", "Ellipsis", "__debug__", "NotImplemented", "print", "_", "__",
    "_____", "___________", "self", "import os", "1; 2", "x = 1", "1 # comment", "1 \\\n + 1", "`id`", "$(id)", "${a b}", "$KEY",
    "<s>[::2]", "<s>[1, 2]", "<s>[1:2, 3]", "<s>[...]", "1 << 1000000", "1 >> 1", "1 & 1", "1 | 1", "1 ^ 1", "~1", "2 @ 2",
    "2 ** 2", "<s> is null", "<s> is not null", "not", "in", "if", "else", "None()", "true()", "True = 1", "del x", "return 1",
    "assert 1", "1 <> 2", "<s><s>", "<s>s", "s<s>", "5<s>5", "'a'<s>", "<s>'a'", "'a'b", "<s>(1)", "len<s>", "len'abc'",
]  # fmt: skip

ODD_CHARACTERS = [
    "\x00", "1\x00", "'\x00' + x\x00", "\x0c1", "\u00a01", "1\u2028+ 1", "\ufeff1", "\u202e1", "ｌｅｎ('a')", "ℓen('a')",
    "𝓵𝓮𝓷('a')", "ﬁ", "１ + １", "٣",
    "x²", "\ud800", "'a' \udc00", "<\ud800.x>", "e\u0301", "‘a’", "“a”", "1 − 1", "a\u200db", "ªlen(1)",
    "\x7f", "\x1b[0m",
]  # fmt: skip

OVERSIZED = [
    "(" * 5_000, "(" * 900 + "1" + ")" * 900, "[" * 900 + "]" * 900, "{'a':" * 300 + "1" + "}" * 300,
    "<s>" + "[0" * 500 + "]" * 500, "-" * 1_999 + "1", "not " * 490 + "1", "len(" * 400 + "1" + ")" * 400, "1" + "+1" * 990,
    "1" + " if 1 else 1" * 150, "1 if " * 200 + "1" + " else 1" * 200, "[" + "1," * 900 + "1]", "1" + "<1" * 900, "9" * 400,
    "9" * 1_900, "1e400", "1e999999999", "." * 1_900, "lambda:" * 280 + "1", "'" + "a" * 3_000 + "'", "1 + " * 1_000 + "1",
    " " * 1_000_000 + "1", "'" * 1_000_001, "<s" * 1_000_000, "<s.a" + ".a" * 900 + ">", "<s" + ".a" * 500_000 + ">",
]  # fmt: skip

BOMBS = [
    "<s.text> + <s.text>", "'<s.text><s.text>'", "<s.list> + <s.list>", "join(<s.list>, <s.text>)",
    "join([<s.text>, <s.text>], '')", "str([<s.text>, <s.text>])", "str([" + "<s.list>," * 200 + "1])",
    "'" + "<s.list>" * 200 + "'", "upper(<s.growing>)", "split(<s.commas>, ',')", "split(<s.words>)", "keys(<s.wide>)",
    "items(<s.wide>)", "<s.commas>[:] + <s.commas>", "<s.int> * <s.int>", "<s.int> * 1e10", "sum([<s.int>, <s.int>])",
    "1e200 * 1e200", "-1e308 - 1e308", "int('1' * 9)", "'a' * 1000000000", "[0] * 1000000000", "int(<s.digits>)",
    "float(<s.int>) * 4", "round(1.5, -400)", "date(1e308)", "json(<s.brackets>)", "json(<s.digits>)", "json(<s.objects>)",
    "str(<s.deep>)", "<s.deep> == <s.deeper>", "<s.deep> in [<s.deeper>]", "'<s.deep>'", "query(<s.deep>, '[[0]]')",
    "matches(<s.text>, '(a?){1000}b')", "matches('a', '(a{1000}){1000}')", "matches('a', <s.brackets>)",
    "matches('a', '(a+)+\\1')", "matches(<s.text>, '" + "(.*)" * 100 + "b')", "matches('\\ud800', 'a')",
    "matches('a', '\\ud800')", "query(<s.list>, '" + "[@,@][]|" * 100 + "[0]')", "query(<s.list>, '" + "[@,@]|" * 100 + "[0]')",
    "query(<s.list>, '" + "{a:@,b:@}|" * 60 + "a')", "query('a', '" + "join(`\"\"`,[@,@])|" * 50 + "@')",
    "query(<s.text>, '[" + "to_string([@])," * 60 + "@]')", "query(<s.list>, 'join(`\"" + "x" * 900 + "\"`, [].to_string(@))')",
    "query(<s.text>, '" + "to_string([@])|" * 60 + "@')", "query(1, '" + "(" * 900 + "@" + ")" * 900 + "')",
    "query(1, <s.brackets>)", "query(1, '" + "!" * 1_500 + "@')", "query('9', 'to_number(`\"1e999\"`)')",
    "query('nan', 'to_number(@)')", "query(<s.list>, '" + "map(&[@,@],@)|" * 100 + "[0]')", "query(1, '&@')",
    "query([1], '[&@]')",
]  # fmt: skip


def nested(levels: int, value: Any = None) -> Any:
    for _ in range(levels):
        value = [value]
    return value


@pytest.fixture(scope="module")
def hostile(values: Callable[..., Any]) -> Any:
    return values(
        s={
            "text": "a" * 999_999, "growing": "ΐ" * 999_999, "commas": "," * 999_999, "words": "a " * 499_999,
            "list": list(range(90_000)), "wide": dict.fromkeys(map(str, range(150_000))),
            "int": 2**1023, "digits": "9" * 5_000, "brackets": "[" * 400_000, "objects": '{"a":' * 5_000, "deep": nested(100_000),
            "deeper": nested(100_000),
        }
    )  # fmt: skip


@pytest.mark.parametrize("source", ESCAPES + ODD_CHARACTERS + OVERSIZED, ids=lambda source: ascii(source[:40]))
def test_a_hostile_source_is_refused_at_compile(source: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(source, KNOWN)
    assert caught.value.code in {
        "expression_syntax", "expression_forbidden", "expression_too_large", "unknown_function", "unknown_reference",
    }  # fmt: skip
    assert 0 <= caught.value.offset <= len(caught.value.source) <= MAX_EXPRESSION_CHARACTERS


@pytest.mark.parametrize("source", BOMBS, ids=lambda source: ascii(source[:40]))
def test_a_bomb_raises_before_it_goes_off(source: str, hostile: Any) -> None:
    with pytest.raises(ExpressionError):
        compile_expression(source, KNOWN).evaluate(hostile)


@pytest.mark.parametrize("text", ["{{ " + source + " }}" for source in (*ESCAPES, *ODD_CHARACTERS) if source.strip()],
ids=lambda text: ascii(text[:40]))
def test_a_template_is_no_way_around_the_refusals(text: str) -> None:
    with pytest.raises(ExpressionError):
        compile_template(text, KNOWN)


@pytest.mark.parametrize("piece",
["<", "<s", "<s.", "<s.a", "<s[", "<s[0]", "<s[1", "${", "${A", "{", "}", "<s.a-", "'", "\\", "< s.n >"])
def test_reading_references_takes_linear_time(piece: str) -> None:
    assert find_references(piece * 200_000, KNOWN) == ()


@pytest.mark.parametrize(
    "value",
    ["' or true or '", "\" or true or \"", "\\", "\\'", "'", "\n", "<s.v>", "${KEY}", "{{ 1 }}", "x') == len('x", "\x00",
    "\ud800", "]", "__import__('os')"],
)
def test_a_value_stays_a_value(value: str, evaluate: Callable[..., Any]) -> None:
    assert evaluate("['<s.v>', \"<s.v>\", <s.v>, 'a<s.v>b'] == [<s.v>, <s.v>, <s.v>, 'a' + <s.v> + 'b']", s={"v": value}) is True
    assert evaluate("'<s.v>' == 'x'", s={"v": value}) is False


def test_nesting_up_to_the_limit_is_fine(evaluate: Callable[..., Any]) -> None:
    levels = MAX_EXPRESSION_DEPTH - 1
    assert evaluate("[" * levels + "7" + "]" * levels) == nested(levels, 7)
    assert evaluate("(" * levels + "7" + ")" * levels) == 7
    assert evaluate(" + ".join("1" * MAX_EXPRESSION_DEPTH)) == MAX_EXPRESSION_DEPTH
