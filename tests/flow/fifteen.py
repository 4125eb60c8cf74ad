'Fifteen workflows in plain Python, and their fakes.'
from __future__ import annotations

from pydantic import BaseModel

from stepless.flow import NodeError, approval, gather, step, workflow
from stepless.flow import sleep as pause

LOG: list = []


def log(*a):
    LOG.append(a)


class CardDeclined(NodeError):
    ...


class OddNumber(Exception):
    ...


class CardExpired(CardDeclined):
    ...


class Line(BaseModel):
    sku: str
    qty: int


class Order(BaseModel):
    id: str
    amount: float
    lines: list[Line] = []
    vip: bool = False

    def total(self) -> int:
        return sum(row.qty for row in self.lines)


class Risk(BaseModel):
    risk: float


class Receipt(BaseModel):
    receipt: str


def effect(name, *args, fail=None):
    log(name, *args)
    if fail:
        raise fail


@step('fifteen.score')
async def score(amount: float) -> Risk:
    effect('score', amount)
    return Risk(risk=amount / 1000)


@step('fifteen.pay')
async def pay(order_id: str) -> Receipt:
    effect('pay', order_id, fail=CardExpired('old card') if 'x' in order_id else ValueError('odd') if 'y' in order_id else None)
    return Receipt(receipt='r-' + order_id)


@step('fifteen.alert')
async def alert(message: str) -> None:
    effect('alert', message)


@step('fifteen.ship')
async def ship(line: Line) -> str:
    effect('ship', line.sku, fail=RuntimeError('no stock') if line.qty == 7 else None)
    return f'{line.sku}/{line.qty}'


@step('fifteen.unship')
async def unship(what: str) -> None:
    effect('unship', what)


@step('fifteen.add')
async def add(line: Line, total: int) -> int:
    effect('add', line.sku, total)
    return total + line.qty


@step('fifteen.draft')
async def draft(topic: str, feedback: str) -> str:
    effect('draft', topic, feedback)
    return f'{topic}+{feedback}'


@step('fifteen.check')
async def check(n: int) -> dict:
    effect('check', n)
    return {'done': n >= 3, 'n': n}


@step('fifteen.half')
def half(n: int) -> int:
    effect('half', n, fail=OddNumber('odd') if n % 2 else None)
    return n // 2


@step('fifteen.note')
async def note(text: str) -> str:
    effect('note', text)
    return text.upper()


def helper(order: Order, factor: int) -> float:
    return order.amount * factor + len(order.lines)


@workflow('refund')
async def refund(order: Order):
    """Pays an order back."""
    risk = await score(order.amount)
    if risk.risk < 0.2 and order.amount < 100:
        decision = 'auto'
    else:
        answer = await approval(f'Refund {order.id}?', timeout='1h')
        if not answer.approved:
            return {'status': 'denied'}
        decision = 'human'
    try:
        receipt = await pay.with_(retry={'attempts': 2, 'backoff_ms': 1, 'retry_on': ['rate_limit']})(order.id)
    except NodeError as e:
        await alert(e.message)
        raise
    total = 0
    results = await gather(*[ship(row) for row in order.lines])
    for line in order.lines:
        total = await add(line, total)
    return {'receipt': receipt, 'shipped': results, 'total': total, 'by': decision}


@workflow('saga')
async def saga(order: Order):
    done = []
    try:
        for line in order.lines:
            sent = await ship(line)
            done.append(sent)
        await pay(order.id)
    except NodeError as e:
        for d in done[0:]:
            await unship(d)
        return {'status': 'undone', 'why': e.code, 'count': len(done)}
    return {'status': 'ok', 'sent': done}


@workflow('agent')
async def agent(topic: str, rounds: int=4):
    approved = False
    feedback, text, n = ('', '', 0)
    while not approved and n < rounds:
        text = await draft(topic, feedback)
        answer = await approval(f'Good? {text}')
        approved = answer.approved
        feedback = feedback + '!'
        n += 1
    return {'text': text, 'approved': approved, 'rounds': n}


@workflow('fanout')
async def fanout(order: Order):
    try:
        big = await gather(*[ship(row) for row in order.lines if row.qty > 1])
    except NodeError as e:
        return f'failed: {e.code}'
    finally:
        await note('end')
    return {'big': big, 'n': len(big)}


@workflow('nested')
async def nested(rows: list[list[int]], stop: int):
    total, seen = (0, 0)
    for row in rows:
        for i, v in enumerate(row):
            if v == stop:
                break
            if v < 0:
                continue
            total += v * (i + 1)
        else:
            seen += 1
        if total > 50:
            return {'early': total}
    return {'total': total, 'full': seen}


@workflow('early')
async def early(order: Order):
    if order.amount <= 0:
        return 'nothing'
    elif order.vip:
        await note('vip')
        if order.amount > 500:
            return 'vip-big'
    elif order.amount > 500:
        await note('big')
        return 'big'
    await note('rest')
    return 'rest'


@workflow('declined')
async def declined(order: Order):
    try:
        r = await pay(order.id)
    except CardDeclined as e:
        return {'card': e.message}
    except NodeError as e:
        return {'other': e.code}
    else:
        await note('paid')
    return r.receipt


@workflow('branches')
async def branches(order: Order):
    try:
        risk, text = await gather(score(order.amount), note(order.id))
        paid, n = await gather(pay(order.id), half(len(order.lines)))
    except NodeError:
        return 'one failed'
    return [risk.risk, text, paid.receipt, n]


@workflow('polling')
async def polling(start: int):
    n = start
    while True:
        s = await check(n)
        if s['done']:
            break
        n += 1
        await pause('1ms')
    return s['n']


@workflow('polling-2')
async def polling2(n: int):
    while not (await check(n))['done']:
        n += 1
    return n


@workflow('cleanup')
async def cleanup(ns: list[int]):
    out = []
    for n in ns:
        try:
            if n == 0:
                continue
            if n == 99:
                break
            if n == 50:
                return {'at': n, 'out': out}
            h = await half(n)
            out.append(h)
        finally:
            await note(f'after {n}')
    return out


@workflow('nested-try')
async def nested_try(a: int, b: int):
    try:
        try:
            x = await half(a)
        except NodeError:
            if b == 0:
                raise CardExpired('from inside')
            x = -1
        y = await half(b)
    except CardDeclined as e:
        return {'card': e.message}
    except NodeError as e:
        return {'node': e.code}
    return x + y


@workflow('lifted')
async def lifted(order: Order, names: list[str]):
    top = sorted(names, key=len, reverse=True)
    skus = {row.sku: row.qty for row in order.lines}
    t = order.total()
    f = helper(order, 3)
    label = f"{order.amount:.2f} {('VIP' if order.vip else 'std')}"
    names2 = [n.upper() for n in names if n]
    await note(label)
    return {'top': top, 'skus': skus, 't': t, 'f': f, 'n': names2, 'first': names[0].lower() if names else None}


@workflow('pure')
async def pure(a: int, b: int, s: str, d: dict):
    q = a // b if b != 0 else 0
    x, y = (a, b)
    x, y = (y, x + y)
    t = s.strip().upper() + '<a>' + '${X}' + '{{ 1 }}'
    if a > b or s in ['p', 'q']:
        t += '!'
    elif not s:
        t = 'empty'
    d['k'] = t
    return {'q': q, 'x': x, 'y': y, 't': t, 'neg': -a, 'g': d.get('z', 5), 'k': d.keys(), 'r': round(a / 3, 2), 'in': 'p' in s, 'cut': s[1:3], 'none': d.get('w') is None}


@workflow('collect')
async def collect(ns: list[int]):
    evens = [await half(n) for n in ns]
    total = 0
    for i in range(1, len(evens) + 1):
        total += evens[i - 1] * i
    try:
        for n in ns:
            for m in evens:
                if n + m == 10:
                    raise NodeError(f'{n} and {m}', code='ten')
                await half(m)
    except NodeError as e:
        return [e.code, e.message, total]
    return total
ALL = [refund, saga, agent, fanout, nested, early, declined, branches, polling, polling2, cleanup, nested_try, lifted, pure, collect]


def order(r):
    return {'id': r.choice(['a', 'b', 'x1', 'y2']), 'amount': r.choice([-1, 5, 50, 150, 250, 600.5]), 'vip': r.random() < 0.4, 'lines': [{'sku': f's{i}', 'qty': r.choice([1, 2, 3, 4, 7] if r.random() < 0.5 else [1, 2, 4])} for i in range(r.randint(0, 4))]}


def ints(r, n, pool):
    return [r.choice(pool) for _ in range(r.randint(0, n))]

INPUTS = {'refund': lambda r: {'order': order(r)}, 'saga': lambda r: {'order': order(r)}, 'agent': lambda r: {'topic': 't', 'rounds': r.randint(0, 4)}, 'fanout': lambda r: {'order': order(r)}, 'nested': lambda r: {'rows': [ints(r, 4, [-1, 1, 3, 9, 20]) for _ in range(r.randint(0, 4))], 'stop': r.choice([3, 20, 5])}, 'early': lambda r: {'order': order(r)}, 'declined': lambda r: {'order': order(r)}, 'branches': lambda r: {'order': order(r)}, 'polling': lambda r: {'start': r.randint(0, 4)}, 'polling-2': lambda r: {'n': r.randint(0, 4)}, 'cleanup': lambda r: {'ns': ints(r, 5, [0, 2, 4, 6, 50, 99, 3, 8])}, 'nested-try': lambda r: {'a': r.randint(0, 3), 'b': r.randint(0, 3)}, 'lifted': lambda r: {'order': order(r), 'names': ints(r, 4, ['bob', 'al', 'Christa', 'é'])}, 'pure': lambda r: {'a': r.randint(-3, 9), 'b': r.randint(-1, 3), 's': r.choice(['', 'p', '  pq ', 'xyz']), 'd': r.choice([{}, {'z': 1}, {'z': None, 'w': 2}])}, 'collect': lambda r: {'ns': ints(r, 4, [0, 2, 4, 6, 8, 8, 3])}}
