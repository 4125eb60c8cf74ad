"""Small programs with awaits that Python may skip, each around one thing that a compiler can get wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PARTS: Final = """\
async def twice(n: int, m: int = 5) -> int:
    for i in range(2):
        if i > n:
            return 0
        n = await inc(n)
    return n + m

async def again(fn, *args, times: int = 3, **words):
    for i in range(times):
        try:
            return await fn(*args, **words)
        except NodeError:
            if i == times - 1:
                raise
            await sleep("1ms")

async def named(fs, n: int):
    out = []
    for f in fs:
        out.append(await f(n))
    return out

"""
CASES: Final[Mapping[str, str]] = {
    "a coroutine without a decorator": "return [await twice(4), await twice(n=5, m=1), await gather(twice(6), inc(7))]",
    "a nested coroutine": "async def one(n: int) -> int:\n    return await inc(n) + a\nreturn [await one(4), await one(b + 40)]",
    "a nested coroutine that reads what changes": "k = 1\nasync def one(n):\n    return [k, await inc(n)]\nx = await one(4)\nk = 2\nreturn [x, await one(5)]",
    "nested in a loop": "out = []\nfor i in [4, 5]:\n    async def one(n: int):\n        if n > 4:\n            return n\n        return await inc(n + i)\n    out.append(await one(i))\nreturn out",
    "nested in nested": "async def one(n: int):\n    async def two(m: int):\n        return await inc(m + n + b * 0)\n    return await two(4) + await two(5)\nreturn await one(1)",
    "nested and gathered": "async def one(n: int):\n    x = await inc(n)\n    return await say(str(x) + sa)\nreturn await gather(*[one(n) for n in [4, 5]])",
    "handlers by name": "h = {'inc': inc, 'mul': mul, 't': twice}\nout = []\nfor k in ['inc', 't', 'mul']:\n    out.append(await h[k](4))\nreturn out",
    "a handler that is missing": "h = {'inc': inc}\ntry:\n    return await h[sa](4)\nexcept KeyError:\n    return 'key'",
    "a handler by get": "h = {'inc': inc, 'Abc': mul}\nf = h.get(sa, inc)\ng = h.get('zz')\nif g is None:\n    return await f(4)\nreturn await g(4)",
    "a handler for what is not known": "h = {'x': inc, '0': mul}\nv = await raw(a)\nf = h.get(v)\nif f is None:\n    return 'none'\nreturn await f(4)",
    "a handler that does not take it": "h = {'inc': inc, 'mul': mul}\ntry:\n    return await h['inc'](4, m=5)\nexcept TypeError:\n    return 'type'",
    "a name for one of two": "f = inc if a > 3 else mul\ng = f\nreturn [await g(4), await (mul if a > 3 else inc)(5)]",
    "compensations": "undo = []\ntry:\n    for x in [4, 5, 3, 6]:\n        await inc(x)\n        undo.append((mul, x))\nexcept NodeError as e:\n    for f, x in reversed(undo):\n        await f(x)\n    return [e.code, len(undo)]",
    "bound arguments": "todo = [functools.partial(inc, 4)]\ntodo.append(functools.partial(mul, m=b + 40))\ntodo.append(functools.partial(mul, 7, m=5))\nout = [await todo[0](), await todo[1](5), await todo[2](m=6)]\nfor t in todo[::-1][:1]:\n    out.append(await t())\nreturn out",
    "functions in a tuple": "out = []\nfor f in (inc, twice, mul):\n    out.append(await f(4))\nreturn out",
    "functions as arguments": "return await named([inc, mul], 4)",
    "a chain of functions": "x = 4\nfor f in [inc, mul, twice]:\n    x = await f(x)\nreturn x",
    "functions side by side": "return await gather(*[f(4) for f in [inc, mul]])",
    "a function fails": "h = {'x': inc}\ntry:\n    return await h['x'](3)\nexcept Third as e:\n    return e.code",
    "a part that passes arguments on": "return [await again(inc, 4), await again(mul, 4, m=5), await again(mul, 4, 6, times=1)]",
    "a part that tries again": "try:\n    return await again(inc, 3, times=2)\nexcept Third as e:\n    return e.code",
    "spread arguments": "k = {'m': 5}\np = (4, 6)\nreturn [await mul(*p), await mul(4, **k), await mul(*[4], **{'m': 7}), await mul(await inc(4), **k)]",
    "spread arguments that do not fit": "k = {'z': 5}\ntry:\n    return await mul(4, **k)\nexcept TypeError:\n    return 'type'",
    "one of two": "x = await inc(4) if a > 3 else 7\ny = 1 if a > 3 else await inc(5)\nz = await inc(6) if a > 3 else await inc(7)\nreturn [x, y, z]",
    "and": "x = a > 3 and await inc(4)\ny = (await inc(a + 40)) > 50 and await inc(5)\nz = xs and await inc(6)\nreturn [x, y, z]",
    "or": "x = a > 3 or await inc(4)\ny = sa or await say('x')\nz = (await raw(a + 50)) or await inc(6)\nreturn [x, y, z]",
    "and in or": "x = a > 3 and await inc(4) or b > 3 and await inc(5) or await inc(6)\nreturn x",
    "both in their order": "return [await inc(4), await inc(5) if a > 3 else 0, await inc(6) and a and await inc(7)]",
    "what fails before": "try:\n    x = xs[90] and await inc(4)\nexcept IndexError:\n    return 'index'\nreturn x",
    "what fails in front of an await that is skipped": "try:\n    x = helper(xs[90], str(await inc(4) if a > 90 else 1))\nexcept IndexError:\n    return 'index'\nreturn x",
    "what fails in a branch": "try:\n    x = xs[90] if a > -90 else await inc(4)\nexcept IndexError:\n    return 'index'\nreturn x",
    "a step fails in a branch": "try:\n    x = await inc(3) if a > -90 else 5\nexcept Third as e:\n    return e.code\nreturn x",
    "a test that fails": "try:\n    x = await inc(5) if xs[90] else 5\nexcept IndexError:\n    return 'index'\nreturn x",
    "a chain": "return [1 < 2 < await inc(5), 9 < 3 < await inc(6), a < await inc(7) < await inc(8) < 5, await inc(9) == 10 != await inc(10)]",
    "a condition": "if a > 3 and await inc(4) > 2 or not await inc(6):\n    return 1\nelif b > 3 and await inc(5):\n    return 2\nreturn 3",
    "a while": "n = 0\nwhile n < 3 and (await inc(n + 4)) > 5 or n == 0:\n    n += 1\nreturn n",
    "nobody reads the value": "a > 3 and await inc(4)\na > 3 or await inc(5)\nawait inc(6) if a > 3 else await inc(7)\na > 2 and b > 2 and await inc(8)\nreturn 0",
    "a returned choice": "return await inc(4) if a > 3 else await inc(5) if b > 3 else xs",
    "a returned choice before finally": "try:\n    return await inc(4) if a > 3 else b\nfinally:\n    await inc(7)",
    "arguments": "return await mul(await inc(4) if a > 3 else 1, m=b > 3 and await inc(5))",
    "a float among whole numbers": "x = await share(4) if a > 3 else 5\nreturn f'{x} {await share(6) if a > 3 else await share(9)}'",
    "an f-string": "return f\"{a} {await inc(4) if a > 3 else 'none'} {await say('x') if sa else await say('y')}!\"",
    "in a loop": "out = []\nfor x in [1, 2, 4, 5]:\n    out.append(await inc(x) if x % 2 else x)\n    y = x > 1 and await inc(x)\n    out.append(y)\nreturn out",
    "a value of a former iteration": "out = []\nfor x in [4, 1, 5]:\n    y = x > 3 and await inc(x)\n    out.append([y, x > 4 and await inc(x + 1)])\nreturn out",
    "in gather": "x, y = await gather(inc(await inc(4) if a > 3 else 5), inc(6))\nreturn [x, y]",
    "a filter": "return [x for x in xs if await inc(x + 40) > 50]",
    "a filter and a test": "return [x + 1 for x in [4, 5, 6, 7] if x % 2 if await inc(x) > 6 if x < 9]",
    "an element": "return [(await inc(x)) * 2 + a for x in [4, 5]]",
    "elements with two awaits": "return [[await inc(x), await mul(x, 3)] for x in [4, 5]]",
    "two loops": "return [x * y for x in [4, 5] for y in [x, await inc(x)]]",
    "two loops with tests": "return [await mul(x, y) for x in [4, 5, 6] if x != 5 for y in range(x - 3) if y]",
    "an object": "return {str(x): await inc(x) for x in [4, 5, 4]}",
    "an object with awaits in keys": "return {await say(str(x)): await inc(x) for x in [4, 5, 4] if await inc(x + 3)}",
    "items of pairs": "return [k + str(await inc(v)) for k, v in [('p', 4), ('q', 5)]]",
    "a comprehension in an expression": "return sum([await inc(x) for x in [4, 5] if await inc(x)]) + len({str(x): await inc(x) for x in xs if x > 500})",
    "a name of a comprehension": "x = 9\ny = [x for x in [4, 5] if await inc(x)]\nreturn [x, y, [await inc(x) + x for x in [4, 5]], x]",
    "a comprehension fails": "try:\n    y = [xs[x] for x in [90, 91] if await inc(x - 86)]\nexcept IndexError:\n    return 'index'\nreturn y",
    "a comprehension whose step fails": "out = []\nfor x in [1, 2]:\n    try:\n        out.append([y for y in [4, x + 2] if await inc(y)])\n    except NodeError as e:\n        out.append(e.code)\nreturn out",
    "a comprehension for nothing": "[inc_ for inc_ in [4, 5] if await inc(inc_)]\n[await inc(x) + 1 for x in [4]]\nreturn 0",
    "a comprehension in a comprehension": "return [[await inc(y) + x for y in [4, 5]] for x in [1, 2]]",
    "a choice in a comprehension": "return [await inc(x) if x > 4 else 0 for x in [4, 5, 6]]",
}  # fmt: skip
