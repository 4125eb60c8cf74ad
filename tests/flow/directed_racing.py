"""Small programs that wait for messages and race, each around one thing that a compiler can get wrong; and what is sent to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PAID: Final = {"name": "paid", "data": {"n": 4, "text": "ab", "share": 2}}
PARTS: Final = """\
@part
async def late(n: int) -> int:
    try:
        await sleep("5ms")
        return await inc(n)
    finally:
        await inc(8)

@part
async def waits(n: int) -> str:
    for i in [1, 2]:
        m = await receive("loose", where=lambda m: m.n > i * n, timeout="40ms")
        if m.n > 7:
            return "early"
    return await say("both")

"""
CASES: Final[Mapping[str, str]] = {
    "a message before its receiver": "await sleep('50ms')\nm = await receive('paid')\nreturn [m.n, m.text, m.share, f'{m.share}']",
    "a message after its receiver": "m = await receive('paid', timeout='1m')\nreturn m",
    "the oldest that fits": "await sleep('50ms')\nm = await receive('loose', where=lambda m: m.n > 2)\nk = await receive('loose')\nreturn [m.n, k.n, k.message.name, k.message.at]",
    "no message in time": "try:\n    m = await receive('gone', timeout='20ms')\nexcept NodeError as e:\n    return e.code\nreturn m.n",
    "no message in time, uncaught": "m = await receive('gone', where=lambda m: m.n > 90, timeout='20ms')\nreturn m.n",
    "a message and a timeout at one instant": "m = await receive('paid', timeout='10ms')\nreturn m.n",
    "a where that reads a variable": "n = 0\nfor x in [1, 2]:\n    n += x\nawait sleep('50ms')\nm = await receive('loose', where=lambda m: m.n > n or m.n <= xs[0] - 90)\nreturn m.n",
    "a where that fails": "try:\n    m = await receive('loose', where=lambda m: m.none > 3, timeout='60ms')\nexcept NodeError:\n    return 'node'\nexcept Exception:\n    return 'expression'\nreturn m",
    "a model that says more": "await sleep('50ms')\nm = await receive('checked')\nreturn [m, m.text, m.message]",
    "a key": "m = await receive('paid', key=order.id, timeout='1m')\nreturn m.n",
    "the first message": "r = await race(a=receive('gone'), b=receive('paid'), c=sleep('9ms'))\nreturn r",
    "a sleep before a message": "r = await race(a=receive('paid'), b=sleep('9ms'))\nm = await receive('paid')\nreturn [r.name, r.value, m.n]",
    "a message at the instant of a sleep": "r = await race(a=sleep('10ms'), b=receive('paid'))\nreturn r.name",
    "two sleeps at one instant": "r = await race(a=sleep('9ms'), b=sleep('9ms'))\nreturn r.name",
    "two messages that are there": "await sleep('50ms')\nr = await race(a=receive('paid'), b=receive('loose'))\nm = await receive('paid', timeout='1ms')\nreturn [r.name, m.n]",
    "a branch that fails loses": "r = await race(a=inc(3), b=sleep('5ms'))\nreturn r.name",
    "all fail, caught": "try:\n    r = await race(a=inc(14), b=inc(3))\nexcept Third as e:\n    return 'third'\nexcept NodeError as e:\n    return e.code\nreturn r.name",
    "all fail, the last by place first": "try:\n    r = await race(a=late(14), b=inc(3))\nexcept NodeError as e:\n    return e.code\nreturn r.name",
    "all fail, uncaught": "r = await race(a=receive('gone', where=lambda m: m.n > 9, timeout='5ms'), b=inc(14))\nreturn r.name",
    "all fail before finally": "try:\n    r = await race(a=inc(14), b=inc(3))\nfinally:\n    await inc(9)\nreturn r.name",
    "an expression fails in a branch": "r = await race(a=receive('loose', where=lambda m: m.none > 3), b=sleep('60ms'))\nreturn r.name",
    "only expressions fail": "try:\n    r = await race(a=receive('loose', where=lambda m: m.none > 3))\nexcept NodeError:\n    return 'node'\nexcept Exception:\n    return 'expression'\nreturn r.name",
    "a loser does nothing more": "r = await race(a=late(5), b=sleep('3ms'))\nawait sleep('9ms')\nreturn r.name",
    "a part wins": "r = await race(a=late(5), b=sleep('9ms'), c=waits(a + 50))\nreturn [r.name, r.value]",
    "a part that receives twice": "r = await race(a=waits(0), b=sleep('90ms'))\nreturn [r.name, r.value]",
    "a race in a loop": "out = []\nfor x in [5, 1, 9]:\n    r = await race(a=sleep(x / 1000), b=sleep('4ms'), c=receive('gone'))\n    out.append(r.name)\nreturn out",
    "a race in gather": "x, y = await gather(waits(0), late(5))\nr = await race(a=sleep('1ms'))\nreturn [x, y, r.name]",
    "a message for the longest waiting": "x, y = await gather(receive('loose', timeout='1m'), receive('loose', where=lambda m: m.n > 2, timeout='1m'))\nreturn [x.n, y.n]",
    "the value in an expression": "r = await race(a=receive('loose'), b=inc(3))\nreturn [helper(r.value.n, r.name), r.value.n + 1]",
    "arguments are evaluated first": "try:\n    r = await race(a=inc(xs[90]), b=sleep('5ms'))\nexcept Exception:\n    return 'none began'\nreturn r.name",
    "a start": "run = await start(other, a, share=order.amount, key=order.id, delay='5m')\nreturn [run, f'{run}']",
    "a start of a model": "return await start(whole, Paid(n=a, text='x', share=2.0), at=9)",
    "a start by id": "return [await start('racing-other', n=await inc(4)), await start('racing-other', [a]), await start('racing-other')]",
    "a start with a key that is taken": "try:\n    run = await start(other, 1, key='a')\nexcept NodeError as e:\n    return e.code\nreturn run",
    "a start with a key that is none": "try:\n    run = await start(other, 1, key='')\nexcept NodeError as e:\n    return e.code\nreturn run",
    "a start whose key cannot be computed": "try:\n    run = await start(other, 1, key=xs[90])\nexcept NodeError:\n    return 'node'\nexcept Exception:\n    return 'expression'\nreturn run",
    "a number as a key": "return await start(other, 1, key=a + 0.5)",
    "a message to a run": "run = await start(other, 1)\nreturn await send('gone', {'n': 1, 'run': run}, to=run)",
    "a message by key": "to = await send('loose', data=[a, order.id], workflow=other, key=7, keep='1h')\nreturn [to, len(to), to[0].upper()]",
    "a message that starts": "return await send('loose', {'n': 1}, workflow=other, key='a', start=True, inputs={'n': a})",
    "a message to nobody": "try:\n    await send('loose', workflow=other, key='a')\nexcept NodeError as e:\n    return e.code",
    "messages in order": "for x in xs:\n    await send('loose', x, workflow=other, key=x)\n    await start(other, x)\nreturn len(xs)",
    "sent side by side": "x, y = await gather(send('loose', 1, workflow=other, key='a'), start(other, 2))\nreturn [x, y]",
    "a race of what is passed on": "r = await race(a=send('loose', 1, workflow=other, key='a'), b=start(other, 2), c=sleep('9ms'))\nreturn [r.name, r.value]",
    "arguments in their order": "return await start(other, await inc(4), key=await say('k'), text=await say('t'))",
    "a sum of seconds": "await sleep(a * 0 + 0.02)\nm = await receive('loose', where=lambda m: m.n > 2, timeout='9ms')\nk = await receive('loose', timeout='4ms')\nreturn [m.n, k.n]",
    "a sum in a race": "r = await race(a=sleep(a * 0 + 0.025), b=receive('gone'))\nreturn r.name",
    "a computed sleep": "r = await race(a=sleep(a * 0.0137 + 0.0005), b=sleep('90s'))\nreturn r.name",
}  # fmt: skip
SENT: Final = [
    {"name": "loose", "data": {"n": 1}, "at": 10}, {**PAID, "at": 10}, {"name": "loose", "data": {"n": 5}, "at": 20},
    {"name": "checked", "data": {"n": 2}, "at": 20}, {"name": "gone", "data": {"n": 3}, "at": 30},
    {"name": "paid", "data": {"n": 6, "text": "", "share": 1.5}, "at": 300}, {"name": "loose", "data": {"n": 8}, "at": 30},
]  # fmt: skip
