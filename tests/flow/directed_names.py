"""Small programs whose names are spelled alike, and programs in which JSON may hold a whole number for a float. As those of
`directed`."""

from __future__ import annotations

from typing import Final

SPELLED: Final[dict[str, str]] = {
    "a comprehension has a name of its own": "x = 5\nys = [x for x in xs if x > 1] + [x]\nreturn [ys, x]",
    "a comprehension runs over its own name": "xs = [xs for xs in xs]\nreturn xs",
    "comprehensions inside of each other": "x = a\nreturn [[x + y for y in xs] for x in xs] + [x, sum(x for x in xs)]",
    "a comprehension is named as a parameter": "return [a for a in xs] + [a]",
    "a lambda has a name of its own": "x = a\nreturn sorted([x, 1], key=lambda x: -x) + sorted(xs, key=lambda b, x=x: b * x) + [b]",
    "a comprehension is named as the module": "ys = [LIMIT for LIMIT in xs]\nreturn [ys, LIMIT]",
    "a list of awaits has a name of its own": "x = a\nys = [await inc(x * 5) for x in [1, 2]]\nreturn [x, ys]",
    "names of the compiler": "why_1 = 1\nerror_1 = 2\nexit_1 = 3\nbroke_1 = 4\nvalue_1_ = 5\nfor x in xs:\n    try:\n        if x > 3:\n            break\n        if x == 1:\n            return 'one'\n    finally:\n        why_1 += 1\n        exit_1 += 1\n        error_1 += why_1\nelse:\n    broke_1 += 10\nreturn [why_1, error_1, exit_1, broke_1, value_1_]",
    "names of the compiler for values": "value_1_ = a\nvalue_2_ = b\nx = (await inc(5)) + value_1_ * (await inc(6))\nreturn [x, value_1_, value_2_]",
    "names of the compiler for jumps": "return_ = 3\nexit_1 = 4\nfor x in xs:\n    for y in [1, 2]:\n        return_ += y\n        exit_1 = x\n        if x > 5:\n            return [return_, exit_1]\nreturn [return_, exit_1, '-']",
    "names of other alphabets": "größe = a\nгод = 5\nгод += größe\nfor x in xs:\n    год += x\nreturn [größe, год]",
    "a long name": "x" + "y" * 80 + " = a\nx" + "y" * 80 + " += 1\nreturn x" + "y" * 80,
    "names of sandboxed code": "args = sorted(xs, key=lambda q: -q)\n_record = [3, 1]\n__given = [2]\nreturn [sorted([*args, a], key=lambda q: q), sorted(_record, key=lambda q: -q) + __given]",
    "a key that is named copy": "copy = 3\nys = [1, 2, 3, 4, 5]\nys[copy] = helper(1, sa)\nd = {}\nd[str(sorted([copy]))] = 1\nreturn [ys, d]",
    "an item that changes": "d = {'a': 1}\nd['a'] += a\nd['a'] *= 2\nys = [1, 2, 3]\nys[1] -= b\nfor x in xs:\n    d['a'] += x\n    ys[-1] += await inc(d['a'] * 5)\nreturn [d, ys]",
    "an item that is not there changes": "d = {'a': 1}\nd['b'] += a\nreturn d",
    "gather of a range": "return await gather(*[inc(i * 5) for i in range(3)]) + await gather(*[inc(i) for i in range(5, a)])",
    "gather inside of gather": "x, y = await gather(gather(inc(5), inc(6)), inc(a // 2 + 7))\nz = await gather(gather(inc(5)), gather(inc(6), gather(inc(8), inc(9))))\nreturn [x, y, z]",
    "awaits in slices and collections": "ys = [1, 2, 3, 4, 5, 6, 7, 8][await inc(0):await inc(5)]\nreturn ys + [x for x in await gather(inc(5), inc(6)) if x > 6]",
    "a tuple that grows": "t = (1,)\nt += (a, sa)\nt = (*t, b)\nreturn [list(t), t[0], len(t)]",
    "an annotation that is wrong": "x: str = a\ny: list[str] = xs\nreturn [f'{x}' + str(x), x == 1, f'{y}']",
    "an argument that does not fit": "try:\n    x = await inc(u)\nexcept NodeError as e:\n    return e.code\ntry:\n    return [x, await untyped(u), await exact(u)]\nexcept NodeError as e:\n    return e.code",
    "the class of an error": "out = []\nfor x in [3, 14, 5]:\n    try:\n        await inc(x)\n        await mul(2, 2)\n    except NodeError as e:\n        out.append([isinstance(e, Third), isinstance(e, Odd), isinstance(e, ValueError), type(e).__name__, e.message])\nreturn out",
    "an f-string of many pieces": "return f'" + "{a}-" * 60 + "'",
}  # fmt: skip

FLOATS: Final[dict[str, str]] = {
    "a float among whole numbers": "ys = [1, order.amount]\nzs = [1]\nzs.append(order.amount)\nd = {'x': order.amount, 'y': 1}\nd['z'] = order.amount\nreturn [f'{ys[1]} {ys} {zs[-1]} {zs}', f\"{d['x']} {d['z']} {d}\"]",
    "a float or something else": "x = order.amount if a > 3 else 0\ny = order.amount or 3\nz = 1\nif a > 4:\n    z = order.amount\nw = 'a'\nif b > 4:\n    w = order.amount\nreturn f'{x} {y} {z} {w}'",
    "a float that an if chooses": "n = 0.0\nm = 1.5\nif a > 3:\n    n = order.amount\nif b > 3:\n    m = order.amount\nelse:\n    m = order.amount + 1\nk = order.amount if a > 3 else 2.5\nk = k\nreturn f'{n} {m} {k} {[n, 1]}'",
    "a float that is one of several": "return f'{max(order.amount, 1)} {min([order.amount, 3])} {max([order.amount])} {order.amount if a > 3 else order.amount + 1}'",
    "a float by its other name": "x = order.amount\ny = x\nx = y + 1\nz, w = order.amount, 2\nreturn f'{y} {x} {z} {[y, 1]} {w}'",
    "floats of a loop": "out = []\nfor line in order.lines:\n    out.append(f'{line.price} {[line.price, 1]}')\nfor x in [line.price for line in order.lines]:\n    out.append(f'{x}')\nfor x in xs:\n    out.append(f'{x}')\nreturn out",
    "a float that leaves": "return {'x': order.amount, 'y': [order.amount], 'z': order.amount / 2}",
    "a float that is passed on untyped": "return [await untyped(order.amount), await untyped([order.amount]), await untyped({'x': order.amount})]",
}  # fmt: skip

AGAIN: Final[dict[str, str]] = {
    f"a part that returns from {what} {how}": body.replace("PART", part)
    for part, what in (("found", "a loop"), ("found_inside", "two loops"), ("found_or_else", "a loop with finally"), ("counted", "while"))
    for how, body in {
        "in a loop": "out = []\nfor x in [1, 5, 2, 1, 7, 4]:\n    out.append(await PART(x))\nreturn out",
        "in a list": "return [await PART(x) for x in [1, 5, 2, 7, 1, 4]]",
        "in gather in a loop": "out = []\nfor x in [1, 5, 2, 1, 7, 4]:\n    out.append(await gather(PART(x), inc(5), PART(x + 1)))\nreturn out",
        "in the test of a loop": "out = []\nn = 0\nwhile n < 5:\n    n += 1\n    if (await PART(n)) > 0:\n        continue\n    out.append(n)\nreturn out",
        "in a loop with finally": "out = []\nfor x in [1, 5, 3, 2, 1, 7, 4]:\n    try:\n        out.append(await PART(x))\n    finally:\n        out.append(x)\nreturn out",
    }.items()
}

WITH_PARTS: Final[dict[str, str]] = AGAIN | {
    "a part reads its module, not its caller": "LIMIT = 3\nmul = 4\nn_1_ = 5\nx = await limited(a)\nreturn [x, LIMIT, mul, n_1_]",
    "a part that puts out a float": "x = await amount(order)\ny = await kept(order.amount)\nreturn [f'{x} {await amount(order)} {y}', x]",
    "a part has names of its own in comprehensions": "n = 4\nreturn [await own_names(xs, n), n]",
}

PARTS: Final = """\
@part
async def found(n: int) -> int:
    for i in [1, 2, 3]:
        await inc(i + 4)
        if i == n:
            return i
    return 0

@part
async def found_inside(n: int) -> int:
    for i in [1, 2]:
        for j in [1, 2]:
            await inc(j + 4)
            if i * j == n:
                return i
    return 0

@part
async def found_or_else(n: int) -> int:
    for i in [1, 2]:
        try:
            if i == n:
                return i
            if n == 7:
                break
        finally:
            await inc(5)
    else:
        return -2
    return 0

@part
async def counted(n: int) -> int:
    while True:
        if n == 1:
            return 5
        if n > 4:
            break
        n += 1
        await inc(5)
    return n

@part
async def limited(n: int) -> int:
    return await mul(n, LIMIT)

@part
async def amount(given: Order):
    other = given
    return other.amount

@part
async def kept(x):
    y = x
    return f"{x} {y}"

@part
async def own_names(xs: list[int], n: int) -> list[int]:
    return [n for n in xs] + [n] + sorted(xs, key=lambda n: -n)

"""
