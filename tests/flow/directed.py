"""Small programs, each around one thing that a compiler can get wrong. Each takes `a`, `b`, `xs`, `order`, `sa` and `u`."""

from __future__ import annotations

from typing import Final

HEAD: Final = "async def program(a: int, b: int, xs: list[int], order: Order, sa: str, u: Any):\n"

DIRECTED: Final[dict[str, str]] = {
    "a handler of a loop outside": "out = []\ntry:\n    for x in xs:\n        await inc(x)\n        out.append(x)\nexcept NodeError as e:\n    out.append(e.code)\nreturn out",
    "what a failed loop wrote": "n = 0\ntry:\n    for x in [1, 2, 3]:\n        n += x\n        await inc(x)\nexcept NodeError as e:\n    return [n, e.code]\nreturn n",
    "a number that no item has": "return xs[a + 50]",
    "equality of booleans": "n = 1\nt = a > -100\nreturn [t == n, u == n, [t] == [n], n in [t]]",
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
async def fails(n: int) -> int:
    try:
        x = await inc(n)
    except Third:
        return -1
    y = await mul(x)
    return x + y

"""

WITH_PARTS: Final[dict[str, str]] = {
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
    plain = {name: HEAD + _indented(body) for name, body in DIRECTED.items()}
    return plain | {name: PARTS + HEAD + _indented(body) for name, body in WITH_PARTS.items()}


def _indented(body: str) -> str:
    return "".join(f"    {line}\n" for line in body.splitlines())
