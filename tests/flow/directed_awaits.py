"""Small programs with awaits that Python may skip, each around one thing that a compiler can get wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CASES: Final[Mapping[str, str]] = {
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
