"""Random programs: functions of whole numbers, texts, lists, objects and models, with every statement that a flow may have."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

FALLS = ("return", "break", "continue", "raise")


class Gen:
    """Writes one program. `forks`: it has steps side by side, so the order of effects is not fixed."""

    def __init__(self, seed: object, parts: int = 2) -> None:
        self.r = random.Random(str(seed))
        self.count = 0
        self.forks = False
        self.parts: list[str] = []
        self.head: list[str] = []
        self.inner = True
        for _ in range(self.r.randint(0, parts)):
            self._part()
        self.inner = False

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # -- expressions, by type ---------------------------------------------------------------------------------------

    def num(self, vs: list[str], d: int = 2) -> str:
        r, k = self.r, self.r.random()
        numbers = [v for v in vs if v[0] in "vitw"]
        if d <= 0 or k < 0.28:
            return r.choice([*numbers, str(r.randint(-3, 12)), "LIMIT"])
        if k < 0.52:
            return f"({self.num(vs, d - 1)} {r.choice('+-*')} {self.num(vs, d - 1)}) % 1000"
        if k < 0.58:
            return f"({self.num(vs, d - 1)} if {self.test(vs, d - 1)} else {self.num(vs, d - 1)})"
        if k < 0.63:
            return f"{r.choice(['max', 'min'])}({self.num(vs, d - 1)}, {self.num(vs, d - 1)})"
        if k < 0.68:
            return f"{self.num(vs, d - 1)} {r.choice(['//', '%'])} {r.choice(['2', '7', '(' + self.num(vs, 0) + ')'])}"
        if k < 0.73:
            return f"len({r.choice([self.text(vs, d - 1), self.nums(vs, d - 1), 'obj', 'order.lines'])})"
        if k < 0.78:
            return f"{self.nums(vs, 0)}[{r.choice(['0', '-1', '1', self.num(vs, 0)])}]"
        if k < 0.82:
            return f"obj{r.choice(['[%r]', '.get(%r, 3)'])}" % r.choice(["a", "b", "zz"])
        if k < 0.85:
            return f"order.lines[{r.choice(['0', '-1', self.num(vs, 0)])}].qty"
        if k < 0.88:
            return f"int({r.choice([self.test(vs, 0), 'order.amount', 'str(' + self.num(vs, 0) + ')'])})"
        if k < 0.91:
            return r.choice([f"sum({self.nums(vs, 0)})", "order.total()", f"sum(x * 2 for x in {self.nums(vs, 0)})", "abs(v0)"])
        if k < 0.94:
            return f"helper({self.num(vs, 0)}, {self.text(vs, 0)})"
        return f"round({self.num(vs, 0)} / 3)"

    def text(self, vs: list[str], d: int = 2) -> str:
        r, k = self.r, self.r.random()
        texts = [v for v in vs if v[0] == "s"]
        if d <= 0 or k < 0.3:
            return r.choice([*texts, repr(r.choice(["", "a", "<v0>", "x{{1}}", "${A}", "it's", "Ü\n"])), "order.id"])
        if k < 0.55:
            inner = r.choice([self.num(vs, 0), self.text(vs, 0), self.test(vs, 0), "order.amount", "order.note", "words", "u", "obj"])
            return f"f\"{r.choice(['', 'n ', '<'])}{{{_inner(inner)}}}{r.choice(['', '!', ' }}'])}\""
        if k < 0.62:
            return f"({self.text(vs, d - 1)} + {self.text(vs, d - 1)})[:8]"
        if k < 0.72:
            return f"{self.text(vs, 0)}.{r.choice(['upper()', 'lower()', 'strip()', 'title()', 'replace(chr(97), str(1))'])}"
        if k < 0.78:
            return f"({self.text(vs, d - 1)} if {self.test(vs, d - 1)} else {self.text(vs, d - 1)})"
        if k < 0.84:
            return f"str({r.choice([self.num(vs, 1), self.test(vs, 0), 'order.amount / 3', self.nums(vs, 0)])})"
        if k < 0.9:
            return f"','.join({r.choice(['words', '[' + self.text(vs, 0) + ']', f'[str(x) for x in {self.nums(vs, 0)}]'])})[:9]"
        if k < 0.95:
            return f"f\"{{{_inner(self.num(vs, 0))}:03d}}\""
        return f"{self.text(vs, 0)}[{r.choice(['0', '1:', ':2', '-1'])}]"

    def nums(self, vs: list[str], d: int = 1) -> str:
        r, k = self.r, self.r.random()
        if d <= 0 or k < 0.4:
            return r.choice(["ys", "xs", "ys[0:2]", f"[{self.num(vs, 0)}, {self.num(vs, 0)}]"])
        if k < 0.6:
            return f"[*ys, {self.num(vs, 0)}]"
        if k < 0.7:
            return f"sorted({self.nums(vs, 0)}{r.choice(['', ', reverse=True', ', key=lambda x: -x', ', key=lambda v0: v0 % 5'])})"
        if k < 0.8:
            x = r.choice(["x", "x", "v0", "LIMIT"])  # the last two are also names of the function, and of the module
            return f"[{x} + 1 for {x} in {self.nums(vs, 0)} if {x} % 2]"
        if k < 0.9:
            return "[line.qty for line in order.lines]"
        return f"list(range({r.randint(0, 3)}))"

    def test(self, vs: list[str], d: int = 2) -> str:
        r, k = self.r, self.r.random()
        if d <= 0 or k < 0.4:
            return f"{self.num(vs, d and d - 1)} {r.choice(['<', '<=', '==', '!=', '>'])} {self.num(vs, 0)}"
        if k < 0.65:
            return f"({self.test(vs, d - 1)} {r.choice(['and', 'or'])} {self.test(vs, d - 1)})"
        if k < 0.72:
            return f"not {self.test(vs, d - 1)}"
        return r.choice([
            f"{self.text(vs, 0)} == {self.text(vs, 0)}", f"{self.text(vs, 0)} in {self.text(vs, 0)}", "order.vip", "order.note is None",
            f"{self.num(vs, 0)} in {self.nums(vs, 0)}", "'a' in obj", "words == ['']", "u == 1", "u == True", "bool(obj)", "not ys",
            f"{self.text(vs, 0)}.startswith('a')", f"0 < {self.num(vs, 0)} < 9", "order.amount > 5", "xs == ys", "u is None",
            f"any(x > 3 for x in {self.nums(vs, 0)})", "order.vip == True", "u in (1, 'x')",
        ])

    def call(self, vs: list[str]) -> str:
        """A call whose result is a whole number."""
        k = self.r.random()
        if self.parts and k < 0.2 and not self.inner:
            return f"{self.r.choice(self.parts)}({self.num(vs, 1)}, {self.text(vs, 0)})"
        if k < 0.6:
            return f"inc({self.num(vs, 1)})"
        return f"mul({self.num(vs, 1)}{self.r.choice(['', ', ' + self.num(vs, 1), ', m=' + self.num(vs, 0)])})"

    # -- statements -------------------------------------------------------------------------------------------------

    def block(self, vs: list[str], depth: int, loop: bool, ind: int, size: int | None = None) -> list[str]:
        vs, out = list(vs), list[str]()
        for _ in range(size or self.r.randint(1, 3)):
            got = self.stmt(vs, depth, loop, ind)
            out += got
            if got[-1].strip().split()[0].rstrip(":") in FALLS:
                break
        return out

    def stmt(self, vs: list[str], depth: int, loop: bool, ind: int) -> list[str]:
        k = self.r.random()
        if depth == 0 or k < 0.42:
            return ["    " * ind + line for line in self.simple(vs, loop)]
        if k < 0.6:
            return self.if_(vs, depth, loop, ind)
        if k < 0.74:
            return self.for_(vs, depth, loop, ind)
        if k < 0.82:
            return self.while_(vs, depth, ind)
        return self.try_(vs, depth, loop, ind)

    def simple(self, vs: list[str], loop: bool) -> list[str]:
        r, k = self.r, self.r.random()
        muts, texts = [v for v in vs if v[0] == "v"], [v for v in vs if v[:2] == "sv"]
        if k < 0.10:
            return [f"{r.choice(muts)} = {self.num(vs)}"]
        if k < 0.17:
            return [f"{r.choice(texts)} {r.choice(['=', '='])} {self.text(vs)}"]
        if k < 0.23:
            return [f"{r.choice(muts)} += {self.num(vs, 1)}", f"ys.append({self.num(vs, 0)})"]
        if k < 0.27:
            return [f"obj[{r.choice(['chr(97)', repr('b'), repr('k')])}] = {self.num(vs, 1)}"]
        if k < 0.30:
            return [f"words.append({self.text(vs, 1)})"]
        if k < 0.42:
            return [f"{r.choice(muts)} = await {self.call(vs)}"]
        if k < 0.47:
            return [f"{r.choice(texts)} = await say({self.text(vs)})"]
        if k < 0.53:
            name, call = self.fresh("t"), self.call(vs)
            vs.append(name)
            return [f"{name} = await {call}"]
        if k < 0.56:
            name, value = self.fresh("t"), self.num(vs)
            vs.append(name)
            return [f"{name} = {value}"]
        if k < 0.58:
            name, value = self.fresh("s"), self.text(vs)
            vs.append(name)
            return [f"{name} = {value}"]
        if k < 0.62:
            one, other = r.sample(muts, 2)
            return [f"{one}, {other} = {self.num(vs, 1)}, {self.num(vs, 1)}"]
        if k < 0.65:
            return [f"await {r.choice([self.call(vs), 'say(' + self.text(vs, 1) + ')'])}"]
        if k < 0.70:
            return [f"{r.choice(muts)} = {r.choice(['', self.num(vs, 0) + ' + '])}(await {self.call(vs)}) + (await {self.call(vs)})"]
        if k < 0.73:
            line, qty = self.fresh("line"), self.num(vs, 0)
            return [f"{line} = await line_of({self.text(vs, 0)}, {qty})", f"{r.choice(muts)} = {line}.qty",
                    f"words.append(f\"{{{line}.sku}} {{{line}.price}}\")"]
        if k < 0.75:
            return [f"obj = await pack({self.nums(vs, 0)}, {self.text(vs, 0)})"]
        if k < 0.77 and r.random() < 0.5:
            return self.shared(vs)
        if k < 0.77:
            got = self.fresh("u")
            return [f"{got} = await raw({self.num(vs, 0)})", f"if {got} == {r.choice(['1', 'True', '0', 'None', repr('3')])}:",
                    f"    words.append(f\"{{{got}}}\")"]
        if k < 0.80 and loop:
            return [r.choice(["break", "continue"])]
        if k < 0.83:
            return [f"return {self.num(vs, 1)}" if self.inner else f"return [{self.num(vs, 1)}, {self.text(vs, 0)}]"]
        if k < 0.86:
            return [f"raise {r.choice(['Odd', 'Third'])}({self.text(vs, 1)})"]
        return self.forked(vs)

    def shared(self, vs: list[str]) -> list[str]:
        """A number of which only an annotation says that it is a `float`."""
        got = self.fresh("f")
        bound = self.r.choice([f"{got} = await share({self.num(vs, 0)})", f"{got}: float = {self.num(vs, 0)}",
                               f"{got} = (await shares({self.num(vs, 0)}))[{self.r.choice('01')}]"])
        texts = [got, f"[{got}, 1][0]", f"[order.amount, {got}, 1][{self.r.choice('01')}]", f"{got} + 1", f"{got} * 1.5", f"-{got}", f"round({got}, 1)", f"max({got}, 3)", f"{got} // 2", f"helper({got}, 'a')"]
        return [bound, f"words.append(f\"{{{self.r.choice(texts)}}} {{{self.r.choice(texts)}}}\")"]

    def forked(self, vs: list[str]) -> list[str]:
        r, k = self.r, self.r.random()
        item = self.fresh("i")
        if k < 0.4:
            self.forks = True
            one, other, first, second = self.fresh("t"), self.fresh("t"), self.call(vs), self.call(vs)
            vs += [one, other]
            return [f"{one}, {other} = await gather({first}, {second})"]
        if k < 0.7:
            self.forks = True
            return [f"ys = await gather(*[{self.call([*vs, item])} for {item} in ys[0:4]{r.choice(['', f' if {item} % 2 == 0'])}])"]
        return [f"ys = [await {self.call([*vs, item])} for {item} in ys[0:3]]"]

    def if_(self, vs: list[str], depth: int, loop: bool, ind: int) -> list[str]:
        p = "    " * ind
        out = [f"{p}if {self.test(vs)}:", *self.block(vs, depth - 1, loop, ind + 1)]
        if self.r.random() < 0.3:
            test = self.r.choice([self.test(vs), f"(await {self.call(vs)}) > 4"])
            out += [f"{p}elif {test}:", *self.block(vs, depth - 1, loop, ind + 1)]
        if self.r.random() < 0.6:
            out += [f"{p}else:", *self.block(vs, depth - 1, loop, ind + 1)]
        return out

    def for_(self, vs: list[str], depth: int, loop: bool, ind: int) -> list[str]:
        r, p = self.r, "    " * ind
        i = self.fresh("i")
        head = r.choice([
            f"{i} in xs", f"{i} in range({r.randint(0, 3)})", f"{i} in ys[0:3]", f"{i} in range({r.randint(0, 2)}, {r.randint(0, 4)})",
            f"{i} in range(v0 % 3, 4)", f"{i}, s{i} in enumerate(words[0:3])", f"s{i} in list(obj)", f"s{i}, {i} in list(obj.items())",
            f"{i} in range(3, 0, -1)", f"{i}, {i}x in zip(xs, ys[0:2])", f"s{i} in {self.text(vs, 0)}",
        ])
        names = [name for name in head.partition(" in ")[0].split(", ") if name[0] in "is"]
        out = [f"{p}for {head}:", *self.block([*vs, *names], depth - 1, True, ind + 1)]
        if r.random() < 0.25:
            out += [f"{p}else:", *self.block(vs, depth - 1, loop, ind + 1)]
        return out

    def while_(self, vs: list[str], depth: int, ind: int) -> list[str]:
        p, w = "    " * ind, self.fresh("w")
        test = self.r.choice([self.test(vs, 1), "True", f"(await {self.call(vs)}) < 50"])
        head = [f"{p}{w} = 0", f"{p}while {test}:", f"{p}    {w} += 1", f"{p}    if {w} > 3:", f"{p}        break"]
        return [*head, *self.block([*vs, w], depth - 1, True, ind + 1)]

    def try_(self, vs: list[str], depth: int, loop: bool, ind: int) -> list[str]:
        r, p = self.r, "    " * ind
        out = [f"{p}try:", *self.block(vs, depth - 1, loop, ind + 1)]
        final = r.random() < 0.35
        if not final or r.random() < 0.6:
            out += self.handlers(vs, depth, loop, ind)
        if final:
            out += [f"{p}finally:", f"{p}    v1 += 1", f"{p}    await inc({r.choice(['5', '6', 'v0'])})"]
        return out

    def handlers(self, vs: list[str], depth: int, loop: bool, ind: int) -> list[str]:
        r, p = self.r, "    " * ind
        out: list[str] = []
        e = self.fresh("e")
        if r.random() < 0.35:
            kind = r.choice(["Third", "Odd", "ValueError", "ZeroDivisionError", "IndexError", "KeyError", "LookupError"])
            out += [f"{p}except {kind}{r.choice(['', f' as {e}'])}:", f"{p}    ys.append({self.num(vs, 0)})",
                    *self.block(vs, depth - 1, loop, ind + 1)]
            e = r.choice([e, self.fresh("e")])
        k = r.random()
        if k < 0.7:
            out += [f"{p}except NodeError as {e}:", f"{p}    words.append({e}.code)", *self.block(vs, depth - 1, loop, ind + 1)]
        elif k < 0.85:
            out += [f"{p}except Exception:", *self.block(vs, depth - 1, loop, ind + 1)]
        else:
            out += [f"{p}except Exception as {e}:", f"{p}    words.append(str({e}))", *self.block(vs, depth - 1, loop, ind + 1)]
        if r.random() < 0.2 and out[-1].strip().split()[0] not in FALLS:
            out += [f"{p}    raise"]
        if r.random() < 0.3:
            out += [f"{p}else:", *self.block(vs, depth - 1, loop, ind + 1)]
        return out

    # -- the whole --------------------------------------------------------------------------------------------------

    def _part(self) -> None:
        name = self.fresh("piece")
        body = [*_START, *self._search(), *self.block(["v0", "v1", "v2", "sv0", "sv1", "sa"], 2, False, 1, 3)]
        falls = body[-1].strip().split()[0] in FALLS and not body[-1].startswith("     ")
        self.head += ["@part", f"async def {name}(a: int, sa: str) -> int:", *_PART, *body, *([] if falls else ["    return v0 + len(ys)"]), ""]
        self.parts.append(name)

    def _search(self) -> list[str]:
        """A loop that a part may return from; what runs the part goes on."""
        r = self.r
        if r.random() < 0.5:
            return []
        vs, i, deep = ["v0", "v1", "sa"], self.fresh("i"), r.random() < 0.4
        p = "    " * (3 if deep else 2)
        out = [f"    for {i} in {r.choice(['[1, 2, 3]', 'range(a % 3, 4)', 'ys[0:3]'])}:"]
        if deep:
            out += [r.choice([f"        for {self.fresh('i')} in [1, 2]:", "        try:"])]
        out += [f"{p}{r.choice(['v0 += 1', 'v1 = await inc(5)', 'pass'])}", f"{p}if {self.test([*vs, i], 1)}:", f"{p}    return {self.num([*vs, i], 1)}"]
        return [*out, "        finally:", "            v1 += 1"] if deep and out[1].endswith("try:") else out

    def program(self) -> str:
        names = ["v0", "v1", "v2", "sv0", "sv1"]
        body = self.block(names, 3, False, 1, 5)
        end = "    return {'v': [v0, v1, v2], 's': [sv0, sv1], 'ys': ys, 'words': words, 'obj': obj}"
        return "\n".join([*self.head, "async def program(a: int, b: int, xs: list[int], order: Order, sa: str, u: Any):", *_START,
                          "    sv1 = sa", *body, end]) + "\n"


_START = [
    "    v0 = a", "    v1 = 1", "    v2 = 0", "    ys = [a, 4]", "    words = ['']", "    obj = {'a': 1}", "    sv0 = 'q'", "    sv1 = sa",
    "    v0 += 0", "    v1 += 0", "    v2 += 0",
]
_PART = ["    order = Order(id=sa, amount=2)", "    xs = [a, 2]", "    u = 1"]


def _inner(source: str) -> str:
    """An expression that can stand in double quotes."""
    return source.replace('"', "'") if '"' not in source and "\\" not in source and "{" not in source else "v0"


def inputs(seed: object, number: int) -> Mapping[str, Any]:
    r = random.Random(f"{seed}/{number}")
    lines = [{"sku": r.choice(["a", "bc"]), "qty": r.randint(0, 9), "price": r.choice([1, 2.5])} for _ in range(r.randint(0, 3))]
    order = {"id": r.choice(["o1", "a", "<x>"]), "amount": r.choice([5, 7.25, 0, -2]), "lines": lines}
    order |= {"vip": True} if r.random() < 0.4 else {}
    order |= {"note": r.choice(["hey", None])} if r.random() < 0.5 else {}
    return {
        "a": r.randint(-3, 12), "b": r.randint(-3, 12), "xs": [r.randint(-3, 12) for _ in range(r.randint(0, 3))], "order": order,
        "sa": r.choice(["", "ab", "Abc", "a,b"]), "u": r.choice([1, True, None, "x", 0, [1, None], {"a": None}, 1.0]),
    }
