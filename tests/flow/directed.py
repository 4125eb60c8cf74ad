"""Small programs, each around one thing that a compiler can get wrong. Each takes `a`, `b`, `xs`, `order`, `sa` and `u`."""

from __future__ import annotations

from typing import Final

import directed_names

HEAD: Final = "async def program(a: int, b: int, xs: list[int], order: Order, sa: str, u: Any):\n"

DIRECTED: Final[dict[str, str]] = {
    "a handler of a loop outside": "out = []\ntry:\n    for x in xs:\n        await inc(x)\n        out.append(x)\nexcept NodeError as e:\n    out.append(e.code)\nreturn out",
    "what a failed loop wrote": "n = 0\ntry:\n    for x in [1, 2, 3]:\n        n += x\n        await inc(x)\nexcept NodeError as e:\n    return [n, e.code]\nreturn n",
    "a number that no item has": "return xs[a + 50]",
    "equality of booleans": "n = 1\nt = a > -100\nreturn [t == n, u == n, [t] == [n], n in [t]]",
    "a return that finally stops": "out = []\nfor x in [1, 2]:\n    try:\n        for y in [5]:\n            if x == 1:\n                return 9\n        await inc(x * 5)\n        out.append(x)\n    finally:\n        continue\nreturn out",
    "a return that a failure in finally stops": "out = []\nfor x in [1, 2]:\n    try:\n        try:\n            for y in [5]:\n                if x == 1:\n                    return 9\n            out.append(x)\n        finally:\n            await inc(x + 2)\n    except NodeError:\n        pass\nreturn out",
    "a break that finally stops": "out = []\nfor x in [1, 2, 3]:\n    try:\n        if x == 1:\n            break\n        out.append(x)\n    finally:\n        if x == 1:\n            continue\n        await inc(x * 5)\nreturn out",
    "a loop runs again whose finally broke it": "out = []\nfor x in [1, 2]:\n    for y in [3, 4]:\n        try:\n            if x == 1:\n                break\n            out.append(y)\n        finally:\n            await inc(y + 1)\nreturn out",
    "a failure after finally that a handler in the loop takes": "out = []\nfor x in [3, 5, 6]:\n    try:\n        try:\n            await inc(x)\n        finally:\n            await inc(8)\n    except NodeError:\n        out.append(x)\nreturn out",
    "continue at the end of a turn": "out = []\nfor x in [1, 2, 3]:\n    if x > 1:\n        try:\n            if x == 2:\n                continue\n            out.append(x)\n        finally:\n            await inc(x * 5)\nreturn out",
    "continue before the end of a turn": "out = []\nfor x in [1, 2, 3]:\n    try:\n        if x == 2:\n            continue\n    finally:\n        await inc(x * 5)\n    out.append(x)\nreturn out",
    "a first value that a loop writes again": "out = []\nfor x in [1, 2]:\n    n = 0\n    for y in [3, 4]:\n        n += y\n    out.append(n)\nreturn out",
    "first values in branches": "if a > 2:\n    n = 1\nelif b > 2:\n    n = 2\nelse:\n    n = await inc(5)\nm = n\nn = 0\nreturn [m, n]",
    "a first value in a handler": "try:\n    await inc(3)\n    n = a\nexcept NodeError:\n    n = 7\nm = n\nn += 1\nreturn [m, n]",
    "a swap of a swap": "x, y = a, b\nx, y = y, x + y\nx, y = y, x\nz = x\nz += y\nreturn [x, y, z]",
    "a value that fails and is written over": "n = a\ntry:\n    n = xs[90]\n    n = 1\nexcept Exception:\n    n += 5\nreturn n",
    "a write that fails behind one whose failure is handled": "n = 0\nm = 0\ntry:\n    n = xs[0]\nexcept Exception:\n    return 'h'\nm = xs[90]\nreturn [m, n]",
    "a return that fails in the else of a try": "n = 0\ntry:\n    n = xs[0] - xs[0]\nexcept Exception:\n    return 'h'\nelse:\n    return [xs[n + 90], n]",
    "a return of a copy through finally": "out = [1]\ntry:\n    return list(out)\nfinally:\n    out.append(2)\n    await inc(len(out) + 3)",
    "finally at the beginning of a turn": "n = 0\nfor x in [1, 2]:\n    try:\n        y = x\n    finally:\n        n += 1\n        await inc(5)\n    await inc(y + 5)\nreturn n",
    "continue at the beginning of a turn": "n = 0\nfor x in [1, 2]:\n    try:\n        continue\n    except Exception as e:\n        n = 9\n    finally:\n        n += 1\n        await inc(5)\nreturn n",
    "guards in a row": "out = []\nfor x in xs:\n    if x == 5:\n        continue\n    if x == 8:\n        break\n    if helper(x, sa) == 3:\n        return x\n    if (await inc(x * 5)) > 40:\n        return out\n    if x > 6:\n        out.append(x)\n        n = 1\n    else:\n        n = 2\n    out.append(n)\nreturn out",
    "two ifs that both are true": "if a > -100:\n    await inc(1)\nif b > -100:\n    await inc(2)\nreturn 0",
    "guards whose tests fail": "if a > 500:\n    return 1\nif xs[90] > 2:\n    return 2\nif a < 0:\n    return 3\nreturn 4",
    "guards whose tests fail under a handler": "try:\n    if a > 500:\n        return 1\n    if xs[90] > 2:\n        return 2\nexcept IndexError:\n    return 'index'\nreturn 4",
    "a handler that asks for nothing": "try:\n    x, y = await gather(inc(5), inc(3))\n    await gather(inc(6), inc(14))\nexcept NodeError:\n    await inc(10)\n    return 'failed'\nreturn x + y",
    "a handler that asks for nothing in a loop": "out = []\nfor x in [3, 5, 14]:\n    try:\n        await inc(x)\n    except NodeError:\n        continue\n    try:\n        await inc(x - 2)\n    except NodeError:\n        pass\n    out.append(x)\nreturn out",
    "gather and a step under one handler": "try:\n    await inc(b)\n    x, y = await gather(inc(14), inc(3))\n    await inc(6)\nexcept Third as e:\n    return ['third', e.code]\nexcept NodeError as e:\n    return e.code\nreturn x + y",
    "gather before finally": "try:\n    x, y = await gather(inc(14), inc(3))\nfinally:\n    await inc(5)\nreturn x + y",
    "an unmatched failure before finally": "try:\n    await inc(14)\nexcept Third as e:\n    return e.code\nfinally:\n    await inc(5)\nreturn 1",
    "a lifted value by its name": "top = sorted(xs)\ntop2 = sorted(xs, reverse=True)\nevens = [await inc(x * 5) for x in [1, 2]]\nfor x in [1, 2]:\n    top3 = sorted([x, *top])\n    await inc(top3[0] * 5)\nreturn [top, top2, evens]",
    "a handler inside of a loop": "out = []\nfor x in xs:\n    try:\n        for y in range(2):\n            if x == 3:\n                await inc(3)\n        out.append(x)\n    except NodeError as e:\n        out.append(-1)\nreturn out",
    "continue in a try": "out = []\nfor x in xs:\n    try:\n        if x % 2:\n            continue\n        await inc(x)\n    finally:\n        out.append(x)\nreturn out",
    "break through finally": "n = 0\nfor x in [1, 2, 3]:\n    try:\n        if x == 2:\n            break\n        n += x\n    finally:\n        await inc(5)\nelse:\n    n = 100\nreturn n",
    "else of a loop": "n = 0\nfor x in [1, 2]:\n    n += x\nelse:\n    n += 10\nreturn n",
    "return from two loops": "for x in [1, 2]:\n    for y in [3, 4]:\n        if x * y == 6:\n            return [x, y]\n        await inc(5)\nreturn None",
    "return through finally": "try:\n    return await inc(5)\nfinally:\n    await inc(6)",
    "raise through finally": "try:\n    raise Odd('no')\nfinally:\n    await inc(6)",
    "a subclass is caught by its base": "try:\n    await inc(3)\nexcept Odd as e:\n    return e.code\nreturn 0",
    "a base is not caught by its subclass": "try:\n    await inc(14)\nexcept Third as e:\n    return e.code\nreturn 0",
    "an expression is no NodeError": "try:\n    x = a // (a - a)\n    await inc(x)\nexcept NodeError:\n    return 'node'\nreturn x",
    "an expression in a loop is no NodeError": "n = 0\ntry:\n    for x in [1, 0]:\n        n += 6 // x\nexcept NodeError:\n    return 'node'\nreturn n",
    "an expression is an Exception": "try:\n    x = xs[90]\nexcept Exception:\n    return 'exception'\nreturn x",
    "the first of two arguments that fail, the second in Python": "try:\n    x = await mul([a, a][7], m=int('q' + str(a)))\nexcept LookupError:\n    return 'index'\nexcept ValueError:\n    return 'value'\nreturn x",
    "an index error by its class": "try:\n    x = xs[90]\nexcept KeyError:\n    return 'key'\nexcept IndexError as e:\n    return str(e)\nreturn x",
    "a helper raises a NodeError": "try:\n    x = helper(6, sa)\nexcept NodeError as e:\n    return e.code\nreturn x",
    "a helper raises an exception": "try:\n    x = helper(5, sa)\nexcept NodeError as e:\n    return e.code\nreturn x",
    "raise again": "try:\n    await inc(3)\nexcept NodeError as e:\n    await say(e.code)\n    raise",
    "a handled failure and another": "try:\n    await inc(3)\nexcept NodeError:\n    pass\nawait inc(14)",
    "an inner handler lets pass": "try:\n    try:\n        await inc(14)\n    except Third:\n        return 'inner'\nexcept Odd:\n    return 'outer'",
    "gather fails under a handler": "try:\n    x, y = await gather(inc(14), inc(3))\nexcept NodeError as e:\n    return e.code\nreturn x + y",
    "gather fails in its second": "try:\n    x, y = await gather(inc(5), inc(3))\n    await inc(6)\nexcept NodeError as e:\n    return e.code\nreturn x + y",
    "gather without a handler": "x, y = await gather(inc(5), mul(1, 2))\nreturn [x, y]",
    "gather of a list": "r = await gather(*[inc(x) for x in [1, 2, 3]])\nreturn r",
    "gather of a list fails": "try:\n    r = await gather(*[inc(x) for x in [1, 14, 3]])\nexcept NodeError as e:\n    return e.code\nreturn r",
    "gather of a list evaluates its arguments first": "try:\n    r = await gather(*[inc([5, 6][x]) for x in [0, 1, 2]])\nexcept Exception:\n    return 'none began'\nreturn r",
    "gather of a list with two arguments": "r = await gather(*[mul(helper(x, sa), m=[8, 9][x % 2]) for x in [1, 2, 3] if x != a])\nreturn r",
    "gather of a list of calls without arguments that fit": "try:\n    r = await gather(*[inc(x + y) for x, y in [[1, 2], [1]]])\nexcept Exception:\n    return 'none began'\nreturn r",
    "lists of numbers have no second name": "d = {'a': 1}\nys = [await inc(d['a']) for x in xs]\nd['b'] = 2\nzs = [d['a'], d['b']]\nys.append(len(zs))\nd['a'] = 5\nreturn [d, ys, zs]",
    "awaits in order": "x = (await inc(1)) + (await inc(2)) * (await inc(3 - 1))\nreturn x",
    "what fails before an await": "x = xs[90] + (await inc(1))\nreturn x",
    "while with an await": "n = 0\nwhile (await inc(n)) < 4:\n    n += 1\nreturn n",
    "a swap": "x, y = a, b\nx, y = y, x + y\nx += 1\nreturn [x, y]",
    "one set for two": "x = 1\ny = x\nx = 5\ny += x\nreturn [x, y]",
    "truth and numbers": "return [u == 1, u == True, u == 0, u is None, not u, bool(u), u in [1, 2]]",
    "booleans count": "x = (a > 2) + (b > 2)\nreturn [x, -(a > 2), abs(a > 2)]",
    "missing is no null": "d = {'a': None}\nx = d['a']\nreturn [x, d.get('b'), d.get('b', 2), d['c']]",
    "texts as Python writes them": "return f'{u}|{order.amount}|{order.vip}|{order.note}|{xs}|{a}' + str(a / 2)",
    "a whole number that is called a float": "x = await share(a)\ny: float = 2\nz: float = order.amount\nzs = await shares(b)\nfor s in zs:\n    y += s\nreturn [f'{x} {y} {z} {zs[0]} {x + 1} {x * 2} {-x} {abs(x)} {zs[1]} {helper(x, sa)}', str(x), [f'{s}' for s in zs]]",
    "a step that takes a float is given a whole number": "return [await exact(a, [1, 2.5]), await exact(a / 2), await exact(await share(b))]",
    "an if that chooses a value": "n = 0\nfor x in xs:\n    if x > 3:\n        n += x\n    else:\n        n -= 1\nt = 'a'\nif n > 2:\n    t = sa\nif n > 8:\n    ys = [n]\nelse:\n    ys = [1, *xs]\nys.append(n)\nreturn [n, t, ys]",
    "an if whose value may fail": "n = 0\nif a > 5:\n    n = xs[90]\nif b != 0:\n    n += a // b\nreturn n",
    "an if whose test may fail": "n = 0\nif xs[0] > 0:\n    n = 5\nreturn n",
    "an if that changes a list under one name": "ys = [1]\nif a > 3:\n    ys += [a]\nif b > 3:\n    ys = [*ys, b]\nreturn ys",
    "texts with marks": "t = '<a>' + '${X}' + '{{ 1 }}' + \"it's\\\\\" + sa\nawait say(t)\nreturn [t, '<order.id>', f'<{sa}>']",
    "division": "return [a // 3, a % 3, -a // 2, a / 4, (a + 0.5) // 1]",
    "slices": "return [xs[1:], xs[:-1], sa[1:2], [*xs, 4][-1], [*xs, *xs]]",
    "a name in two loops": "n = 0\nfor i in xs:\n    n += i\nfor i in [5, 6]:\n    n += i\nreturn n",
    "a name after its loop": "i = 0\nfor i in [1, 2, 3]:\n    if i == 2:\n        break\nreturn i",
    "a range that changes": "n = 3\nk = 0\nfor i in range(n):\n    n += 1\n    k += i\nreturn [n, k]",
    "a start that changes": "n = 1\nk = []\nfor i in range(n, 4):\n    n += 1\n    k.append(i)\nreturn k",
    "objects": "d = {'a': 1}\nd['b'] = a\nd['a'] += 1 if False else 0\nreturn [d, {**d, 'c': 2}, list(d), 'b' in d]"
    .replace("d['a'] += 1 if False else 0\n", ""),
    "keys and items": "out = []\nfor k, v in {'x': 1, 'y': 2}.items():\n    out.append([k, v])\nfor k in {'z': 1}:\n    out.append(k)\nreturn out",
    "elif with an await": "if a > 50:\n    return 1\nelif (await inc(1)) == 2:\n    return 2\nelse:\n    return 3",
    "return None": "if a > -100:\n    await inc(1)\n    return\nreturn 5",
    "sleep and answers": "await sleep(0)\nx = await approval('ok?')\nif not x.approved:\n    return 'no'\nreturn x.decision",
    "a model's default": "return [order.vip, order.note, len(order.lines)]",
    "a finally that returns": "for x in [1, 2]:\n    try:\n        await inc(14)\n    except NodeError:\n        continue\n    finally:\n        if x == 2:\n            return x\nreturn 0",
    "a failure in a handler": "try:\n    try:\n        await inc(3)\n    except NodeError:\n        await inc(14)\nexcept NodeError as e:\n    return e.code",
}

PARTS: Final = """\
@part
async def early(n: int) -> int:
    if n > 3:
        return await inc(1)
    for i in [1, 2]:
        if i == n:
            return i
    return 0

@part
async def shown(x: float, y: float = 3) -> str:
    return f"{x} {y} {x + y}"

@part
async def never(n: int) -> int:
    raise Third("never")

@part
async def tidy(n: int) -> int:
    try:
        if n == 1:
            return 10
        n += 20
    finally:
        await inc(n)
    return n

@part
async def fails(n: int) -> int:
    try:
        x = await inc(n)
    except Third:
        return -1
    y = await mul(x)
    return x + y

"""

WITH_PARTS: Final[dict[str, str]] = {
    "a part that returns through finally in a loop": "out = []\nfor x in [1, 2, 3]:\n    out.append(await tidy(x))\nreturn out",
    "a part that is given a whole number for a float": "return [await shown(a), await shown(a / 2), await shown(order.amount), await shown(await share(b))]",
    "a part returns early": "return [await early(a), await early(1)]",
    "a part in gather": "try:\n    r = await gather(early(a), fails(5), fails(14))\nexcept NodeError as e:\n    return e.code\nreturn r",
    "a part in a list": "r = await gather(*[early(x) for x in [1, 2, 5]])\nreturn r",
    "a part in a loop": "out = []\nfor x in [3, 1, 2]:\n    out.append(await fails(x))\nreturn out",
    "a part that only raises": "try:\n    x = (await never(1)) + 1\nexcept NodeError as e:\n    return e.code\nreturn x",
    "a part that only raises in gather": "try:\n    x = await gather(never(1), early(1))\nexcept NodeError as e:\n    return e.code\nreturn x",
    "a part fails under a handler": "try:\n    x = await fails(14)\nexcept NodeError as e:\n    x = -5\nreturn x",
}


def sources() -> dict[str, str]:
    """The source of each program, by its name."""
    plain = {name: HEAD + _indented(body) for name, body in (DIRECTED | directed_names.SPELLED | directed_names.FLOATS).items()}
    own = {name: PARTS + HEAD + _indented(body) for name, body in WITH_PARTS.items()}
    return plain | own | {name: directed_names.PARTS + HEAD + _indented(body) for name, body in directed_names.WITH_PARTS.items()}


def _indented(body: str) -> str:
    return "".join(f"    {line}\n" for line in body.splitlines())
