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
    "finally around a timeout": "try:\n    async with asyncio.timeout(0.015):\n        await asyncio.sleep(1)\nfinally:\n    await inc(5)\nreturn 1",
}  # fmt: skip
