"""Small programs with the names of asyncio, each around one thing that a compiler can get wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PARTS: Final = """\
@part
async def slow(n: int) -> int:
    m = await inc(n)
    await asyncio.sleep(0.05)
    return m

async def undecorated(gate: Any, n: int) -> int:
    async with gate:
        return await slow(n)

@part
async def guarded(gate: Any, n: int, more: int = 0) -> int:
    async with gate:
        m = await inc(n + more)
        await asyncio.sleep(n / 100)
    return m

@part
async def early(n: int) -> str:
    async with asyncio.timeout(0.03):
        if n > 4:
            return await say("more")
        await asyncio.sleep(n / 100)
    return "in time"

"""
CASES: Final[Mapping[str, str]] = {
    "sleep": "await asyncio.sleep(0.5)\nawait asyncio.sleep(0)\nawait asyncio.sleep(a - 90)\nreturn await inc(a)",
    "a sleep that is computed of what has no type": "v = u if isinstance(u, int) else 3\nawait sleep(v % 30 * 0.91 + 1 / 3)\nawait sleep(1 + v / 2)\nreturn await inc(a)",
    "gather": "x, y = await asyncio.gather(inc(4), inc(5))\nzs = await asyncio.gather(*[inc(i) for i in [4, 5]])\nreturn [x, y, zs]",
    "wait_for in time": "return [await asyncio.wait_for(inc(a + 40), 0.05), await asyncio.wait_for(slow(4), timeout=9)]",
    "wait_for that is late": "try:\n    x = await asyncio.wait_for(slow(4), 0.02)\nexcept TimeoutError as e:\n    return ['late', str(e)]\nreturn x",
    "a late wait_for is no failure of a node": "try:\n    try:\n        x = await asyncio.wait_for(slow(4), 0.02)\n    except NodeError:\n        return 'node'\nexcept TimeoutError:\n    return 'late'\nreturn x",
    "wait_for of what fails": "try:\n    x = await asyncio.wait_for(inc(3), 1)\nexcept TimeoutError:\n    return 'late'\nexcept Third as e:\n    return e.code\nreturn x",
    "wait_for of what fails late": "try:\n    x = await asyncio.wait_for(slow(14), 0.01)\nexcept NodeError as e:\n    return e.code\nexcept Exception:\n    return 'late'\nreturn x",
    "a late wait_for, uncaught": "return await asyncio.wait_for(sleep(1), 0.5)",
    "wait_for without a limit": "return await asyncio.wait_for(inc(4), None)",
    "wait_for in gather": "x, y = await asyncio.gather(asyncio.wait_for(inc(4), 1), asyncio.wait_for(slow(5), 1))\nreturn [x, y]",
    "wait_for of gather": "x, y = await asyncio.wait_for(gather(inc(4), slow(5)), 0.02)\nreturn [x, y]",
    "wait_for of a message": "try:\n    m = await asyncio.wait_for(receive('paid', where=lambda m: m.n > 5), 0.015)\nexcept TimeoutError:\n    m = await receive('loose')\nreturn m.n",
    "timeout in time": "async with asyncio.timeout(0.05):\n    x = await inc(a + 40)\n    await asyncio.sleep(0.01)\nreturn x",
    "timeout that is late": "x = 1\ntry:\n    async with asyncio.timeout(0.05):\n        await inc(4)\n        await asyncio.sleep(1)\n        await inc(5)\nexcept TimeoutError:\n    return 'late'\nreturn x",
    "timeouts in a loop": "out = []\nfor i in [1, 2, 3, 4]:\n    if i == 3:\n        continue\n    try:\n        async with asyncio.timeout(0.025):\n            y = await inc(i + 40)\n            if i == 1:\n                continue\n            await asyncio.sleep(i / 100)\n            if i == 2:\n                break\n    except TimeoutError:\n        out.append(i)\n    else:\n        out.append(y)\nreturn out",
    "a break out of a timeout": "out = []\nfor i in [1, 2, 3, 4]:\n    async with asyncio.timeout(0.09):\n        await inc(i + 40)\n        if i == 2:\n            break\n        if i == 1:\n            continue\n    out.append(i)\nreturn out",
    "return out of a timeout": "async with asyncio.timeout(0.05):\n    for i in [5, 6]:\n        x = await inc(i)\n        if x > a - 90:\n            return [i, x]\nreturn 0",
    "a failure inside of a timeout": "try:\n    async with asyncio.timeout(0.05):\n        x = await inc(3)\nexcept TimeoutError:\n    return 'late'\nexcept NodeError as e:\n    return e.code\nreturn x",
    "an expression fails inside of a timeout": "try:\n    async with asyncio.timeout(0.05):\n        x = xs[90]\nexcept IndexError:\n    return 'index'\nexcept TimeoutError:\n    return 'late'\nreturn x",
    "a timeout in a timeout": "try:\n    async with asyncio.timeout(0.05):\n        try:\n            async with asyncio.timeout(0.02):\n                await asyncio.sleep(0.03)\n        except TimeoutError:\n            await inc(4)\n        await asyncio.sleep(0.04)\nexcept TimeoutError:\n    return 'outer'\nreturn 'none'",
    "the outer timeout is first": "try:\n    async with asyncio.timeout(0.02):\n        try:\n            async with asyncio.timeout(0.05):\n                await asyncio.sleep(0.03)\n        except TimeoutError:\n            await inc(4)\nexcept TimeoutError:\n    return 'outer'\nreturn 'none'",
    "parts with timeouts": "return [await early(1), await early(7)]",
    "a part that is late": "try:\n    return await early(4)\nexcept TimeoutError:\n    return 'late'",
    "a timeout around a message": "try:\n    async with asyncio.timeout(0.015):\n        m = await receive('paid', where=lambda m: m.n > 5)\nexcept TimeoutError:\n    return 'late'\nreturn m.n",
    "failures among results": "got = await gather(inc(4), inc(3), mul(1, 3), return_exceptions=True)\nout = []\nfor g in got:\n    if isinstance(g, Third):\n        out.append(['third', g.code])\n    elif isinstance(g, ValueError):\n        out.append(['value', str(g)])\n    elif isinstance(g, Exception):\n        out.append(str(g))\n    else:\n        out.append(g)\nreturn out",
    "a failure among results is returned": "return await gather(inc(4), inc(3), return_exceptions=True)",
    "failures of a comprehension": "got = await asyncio.gather(*[inc(i) for i in [4, 3, 5]], return_exceptions=True)\nreturn [len(got), [g for g in got if not isinstance(g, BaseException)], got[0]]",
    "models among results": "got = await gather(line_of('a', 2), line_of('b', 6), share(4), return_exceptions=True)\nreturn [got[0].sku, got[0].price, isinstance(got[1], Odd), got[2], f'{got[2]}']",
    "no failures among results": "x, y = await gather(inc(4), inc(5), return_exceptions=False)\nreturn [x, y]",
    "a late branch among results": "got = await gather(asyncio.wait_for(slow(4), 0.01), inc(5), return_exceptions=True)\nreturn [isinstance(got[0], TimeoutError), isinstance(got[0], NodeError), got[1]]",
    "a group": "async with asyncio.TaskGroup() as tg:\n    t = tg.create_task(inc(4))\n    u = tg.create_task(slow(5))\nreturn [t.result(), u.result(), t.result() + 1]",
    "a group of one": "async with asyncio.TaskGroup() as tg:\n    t = tg.create_task(inc(4))\nreturn await t",
    "a group that fails": "try:\n    async with asyncio.TaskGroup() as tg:\n        t = tg.create_task(slow(4))\n        u = tg.create_task(inc(3))\nexcept NodeError:\n    return 'node'\nexcept ExceptionGroup as e:\n    await sleep('1s')\n    return str(e)\nreturn t.result()",
    "a group that fails, uncaught": "async with asyncio.TaskGroup() as tg:\n    tg.create_task(slow(4))\n    tg.create_task(inc(3))\nreturn 1",
    "a group of many": "async with asyncio.TaskGroup() as tg:\n    tasks = [tg.create_task(inc(i)) for i in [4, 5, 6] if i != 5]\nout = []\nfor t in tasks:\n    out.append(t.result())\nreturn [out, [t.result() + 1 for t in tasks], tasks[0].result(), len(tasks)]",
    "a group of many fails": "try:\n    async with asyncio.TaskGroup() as tg:\n        for i in [4, 3, 5]:\n            tg.create_task(inc(i))\nexcept ExceptionGroup:\n    return 'group'\nreturn 'none'",
    "two groups of one name": "async with asyncio.TaskGroup() as tg:\n    t = tg.create_task(inc(4))\nasync with asyncio.TaskGroup() as tg:\n    u = tg.create_task(inc(t.result()))\nreturn u.result()",
    "a group in a loop": "out = []\nfor i in [4, 5]:\n    async with asyncio.TaskGroup() as tg:\n        t = tg.create_task(inc(i))\n        u = tg.create_task(sleep('3ms'))\n    out.append(t.result())\nreturn out",
    "tasks beside the workflow": "t = asyncio.create_task(slow(4))\nu = asyncio.create_task(inc(5))\nx = await inc(6)\ny = await u\nreturn [x, y, await t]",
    "a task that fails": "t = asyncio.create_task(inc(3))\nx = await inc(6)\nreturn [x, await t]",
    "a task and a message": "t = asyncio.create_task(sleep('40ms'))\nm = await receive('paid', timeout='15ms')\nawait t\nreturn m.n",
    "tasks in a loop": "out = []\nfor i in [4, 5]:\n    t = asyncio.create_task(slow(i))\n    out.append(await inc(i + 2))\n    out.append(await t)\nreturn out",
    "gathered tasks": "t = asyncio.create_task(slow(4))\nu = asyncio.create_task(inc(5))\nx, y = await asyncio.gather(t, u)\nreturn [x, y]",
    "a list of tasks": "ts = [asyncio.create_task(inc(i)) for i in [4, 5]]\nn = len(xs)\nreturn [n, await asyncio.gather(*ts)]",
    "calls that are collected": "calls = []\nfor i in [4, 5, 6]:\n    calls.append(inc(i))\nreturn await asyncio.gather(*calls)",
    "calls of two kinds that are collected": "calls = []\nfor i in [4, 5, 6, 3]:\n    if i > 4:\n        calls.append(inc(i))\n    else:\n        calls.append(mul(i, a))\n        await inc(7)\ntry:\n    return [len(calls), await asyncio.gather(*calls)]\nexcept NodeError as e:\n    return e.code",
    "calls that are collected, and one more": "calls = [inc(i) for i in [4, 5, 6]]\ncalls.append(say('last'))\nresults = await asyncio.gather(*calls, return_exceptions=True)\n*items, last = results\nreturn [items, last]",
    "calls in batches": "out = []\nbatch: list = []\nfor i in [4, 5, 6, 7, 8]:\n    batch.append(slow(i + a))\n    if len(batch) == 2:\n        out.extend(await asyncio.gather(*batch))\n        batch = []\nif batch:\n    out += await asyncio.gather(*batch)\nreturn out",
    "tasks that are collected in two loops, behind a limit": "limit = asyncio.Semaphore(2)\nasync def one(n, k):\n    async with limit:\n        await asyncio.sleep(n / 100)\n        return [await inc(n + k), order.id]\ntasks = []\nfor x in [4, 6]:\n    for y in [1, 2]:\n        tasks.append(asyncio.create_task(one(x, k=y)))\nreturn await asyncio.gather(*tasks)",
    "calls of models that are collected": "calls = []\nfor line in order.lines:\n    calls.append(line_of(line.sku, line.qty))\n    if line.qty > 3:\n        calls.append(line_of('more', 1))\ngot = await asyncio.gather(*calls, return_exceptions=True)\nreturn [len(got), [g.sku for g in got if isinstance(g, Line)]]",
    "calls of models that are collected, each with its method": "calls = []\nfor line in order.lines:\n    if line.qty > 2:\n        calls.append(line_of(line.sku, qty=2))\n    else:\n        calls.append(line_of(sku='more', qty=1))\ngot = await asyncio.gather(*calls)\nreturn [(g.sku, isinstance(g, Line)) for g in got]",
    "calls that take what a loop changes": "calls = []\nn = 4\nfor i in [1, 2, 3]:\n    n += i\n    calls.append(inc(n))\n    calls.append(share(i))\nn = 0\nreturn [n, await gather(*calls)]",
    "calls that are extended": "calls = [inc(4)]\ncalls.extend([slow(i) for i in [5, 6]])\ncalls += [say('x'), inc(7)]\nreturn await asyncio.gather(*calls)",
    "calls without arguments": "async def none():\n    return await inc(4)\ncalls = []\nfor i in [1, 2, 3]:\n    calls.append(none())\nreturn await asyncio.gather(*calls)",
    "the first that ends": "done, pending = await asyncio.wait([slow(4), sleep('20ms')], return_when=asyncio.FIRST_COMPLETED)\nfor p in pending:\n    p.cancel()\nreturn [len(done), len(pending), done.pop().result()]",
    "the first that ends fails": "t = asyncio.create_task(inc(3))\nu = asyncio.create_task(sleep('20ms'))\ndone, pending = await asyncio.wait({t, u}, return_when=asyncio.FIRST_COMPLETED)\nu.cancel()\ntry:\n    if t in done:\n        return t.result()\nexcept Third as e:\n    return e.code\nreturn 'late'",
    "the first that ends of tasks with one name": "async def primary():\n    await sleep('9ms')\n    return await inc(4)\nasync def backup():\n    await sleep('2ms')\n    return await inc(5)\ntasks = {asyncio.create_task(primary()), asyncio.create_task(backup())}\ndone, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)\nfor t in pending:\n    t.cancel()\nreturn done.pop().result()",
    "each that has ended": "done, _ = await asyncio.wait([inc(4), sleep('20ms')], return_when=asyncio.FIRST_COMPLETED)\nout = []\nfor t in done:\n    out.append(t.result())\nreturn [out, [t.result() for t in done]]",
    "the one that has ended": "t = asyncio.create_task(sleep('30ms'))\nu = asyncio.create_task(slow(4))\ndone, pending = await asyncio.wait([t, u], return_when=asyncio.FIRST_COMPLETED)\nw = done.pop()\nif w is t:\n    return 'slept'\nreturn w.result()",
    "a limit of calls": "limit = asyncio.Semaphore(2)\nasync def one(n):\n    async with limit:\n        await inc(n)\n        await asyncio.sleep(n / 100)\n        return await inc(n + 1)\nreturn await asyncio.gather(*[one(i) for i in [6, 4, 5, 7]])",
    "a limit of calls that are written one by one": "limit = asyncio.Semaphore(2)\nasync def one(n):\n    async with limit:\n        await inc(n)\n        await asyncio.sleep(n / 100)\n        return await inc(n + 1)\nx, y, z = await gather(one(6), one(4), one(n=5))\nreturn [x, y, z]",
    "a limit of calls, which is late": "limit = asyncio.Semaphore(2)\nasync def one(n):\n    async with limit:\n        await inc(n)\n        await asyncio.sleep(n / 100)\n        return await inc(n + 1)\ntry:\n    async with asyncio.timeout(0.1):\n        return await asyncio.gather(*(one(i) for i in [6, 4, 5, 7]))\nexcept TimeoutError:\n    return 'late'",
    "a limit of calls that fail": "limit = asyncio.Semaphore(2)\nasync def one(n):\n    async with limit:\n        await inc(n)\n        await asyncio.sleep(n / 100)\n        return await inc(n + 1)\ntry:\n    return await asyncio.gather(*[one(i) for i in [4, 3, 5, 2, 6, 14]])\nexcept NodeError as e:\n    return [e.code, await inc(7)]",
    "a limit of calls that fail, uncaught": "limit = asyncio.Semaphore(2)\nasync def one(n):\n    async with limit:\n        await inc(n)\n        await asyncio.sleep(n / 100)\n        return await inc(n + 1)\ngot = await asyncio.gather(*[one(i) for i in [4, 5, 3, 6]])\nreturn len(got)",
    "a limit of calls whose failures are results": "limit = asyncio.Semaphore(2)\nasync def one(n):\n    async with limit:\n        await inc(n)\n        await asyncio.sleep(n / 100)\n        return await inc(n + 1)\ngot = await asyncio.gather(*[one(i) for i in [4, 3, 5, 2]], return_exceptions=True)\nreturn [g for g in got if not isinstance(g, Exception)]",
    "a limit of calls, and one without others": "limit = asyncio.Semaphore(2)\nasync def one(n):\n    async with limit:\n        await inc(n)\n        await asyncio.sleep(n / 100)\n        return await inc(n + 1)\nx = await one(4)\nys = await asyncio.gather(*[one(i) for i in [5, 6, 7]])\nzs = await asyncio.gather(*[one(i) for i in [7, 6, 5]])\nreturn [x, ys, zs]",
    "a limit of tasks": "limit = asyncio.Semaphore(2)\nasync def one(n):\n    async with limit:\n        await inc(n)\n        await asyncio.sleep(n / 100)\n        return await inc(n + 1)\ntasks = [asyncio.create_task(one(i)) for i in [6, 4, 5]]\nreturn await asyncio.gather(*tasks)",
    "a limit in a loop": "out = []\nfor k in [1, 2]:\n    gate = asyncio.BoundedSemaphore(value=2)\n    async def one(n):\n        async with gate:\n            m = await inc(n)\n            await sleep('7ms')\n        return {'m': m, 'k': k}\n    got = await asyncio.gather(*[one(i) for i in [6, 4, 5]])\n    out.append([g['m'] + g['k'] for g in got])\nreturn out",
    "a lock": "lock = asyncio.Lock()\nasync def one(n):\n    async with lock:\n        if n == 4:\n            return 0\n        await inc(n)\n        await asyncio.sleep(0.01)\n    return n\nreturn await gather(*[one(i) for i in [6, 4, 5]])",
    "a limit of a part": "limit = asyncio.Semaphore(2)\nreturn await asyncio.gather(*[guarded(limit, i, 1) for i in [6, 4, 5, 7]])",
    "a limit of a coroutine of the module": "gate = asyncio.Semaphore(2)\ngot = await asyncio.gather(*[undecorated(gate, i) for i in [6, 4, 3]], return_exceptions=True)\nreturn got[:2]",
    "finally around a timeout": "try:\n    async with asyncio.timeout(0.015):\n        await asyncio.sleep(1)\nfinally:\n    await inc(5)\nreturn 1",
}  # fmt: skip
