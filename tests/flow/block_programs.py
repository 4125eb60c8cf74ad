"""Random programs with the statements that only Python can evaluate: they are lifted in blocks, between awaits and jumps."""

from __future__ import annotations

from programs import FALLS, Gen

_HEAD = ["    seen = set()", "    pairs = []", "    table = {}", "    when = datetime(2024, 1, 2, tzinfo=UTC)", "    money = Decimal('1.10')"]
KINDS = ["ValueError", "KeyError", "LookupError", "(IndexError, KeyError)", "(Odd, ValueError)", "Exception", "ZeroDivisionError", "TypeError"]


class Blocks(Gen):
    """As `Gen`; a third of the simple statements are of these."""

    def __init__(self, seed: object) -> None:
        super().__init__(f"blocks {seed}")

    def simple(self, vs: list[str], loop: bool) -> list[str]:
        r = self.r
        if self.inner or r.random() < 0.5:
            return super().simple(vs, loop)
        return r.choice([
            self._sets, self._lists, self._objects, self._dates, self._with, self._def, self._walrus, self._targets, self._match,
            self._raise, self._try, self._loop, self._models, self._reads, self._maybe, self._pulled, self._exits, self._exits,
        ])(vs, loop)  # fmt: skip

    def stmt(self, vs: list[str], depth: int, loop: bool, ind: int) -> list[str]:
        if depth and not self.inner and self.r.random() < 0.12:
            return self._matching(vs, depth, loop, ind)
        return super().stmt(vs, depth, loop, ind)

    def _any(self, vs: list[str]) -> str:
        return self.r.choice(["seen", "pairs", "table", "when", "money", self.num(vs, 0), self.text(vs, 0)])

    def _sets(self, vs: list[str], loop: bool) -> list[str]:
        r = self.r
        return [r.choice([
            f"seen.add({self.num(vs, 0)})", f"seen.discard({self.num(vs, 0)})", f"seen.update({self.nums(vs, 0)})", f"seen |= {{{self.num(vs, 0)}}}",
            f"seen = seen - {{{self.num(vs, 0)}}}", f"seen.remove({self.num(vs, 0)})", f"seen.add((v0, {self.num(vs, 0)}))",
        ])]  # fmt: skip

    def _lists(self, vs: list[str], loop: bool) -> list[str]:
        r = self.r
        return [r.choice([
            f"ys.extend({self.nums(vs, 0)})", f"ys.insert(0, {self.num(vs, 0)})", "ys.sort()", "ys.reverse()", f"v1 = ys.pop({r.choice(['', '0', '-1'])})",
            f"ys.remove({self.num(vs, 0)})", "ys.clear()", f"ys[0:1] = [{self.num(vs, 0)}, 1]", "del ys[0]", f"pairs.append(({self.num(vs, 0)}, {self.text(vs, 0)}))",
            "pairs.sort(key=str)", f"ys[0] += {self.num(vs, 0)}", "heapq.heapify(ys)", f"heapq.heappush(ys, {self.num(vs, 0)})",
        ])]  # fmt: skip

    def _objects(self, vs: list[str], loop: bool) -> list[str]:
        r = self.r
        return [r.choice([
            f"obj.update({{'b': {self.num(vs, 0)}}})", f"v0 = obj.pop('b', {self.num(vs, 0)})", "del obj['a']", f"v1 = obj.setdefault('k', {self.num(vs, 0)})",
            f"table[{self.num(vs, 0)}] = {self.num(vs, 0)}", f"table.setdefault({self.text(vs, 0)}, []).append({self.num(vs, 0)})", f"table[v0, 'a'] = {self.text(vs, 0)}",
            "obj.popitem()", "obj.clear()", f"obj |= {{'z': {self.num(vs, 0)}}}", f"words.append(str(table.get({self.num(vs, 0)})))",
        ])]  # fmt: skip

    def _dates(self, vs: list[str], loop: bool) -> list[str]:
        r = self.r
        return [r.choice([
            f"when = when + timedelta(days={self.num(vs, 0)} % 9)", f"money = money * ({self.num(vs, 0)} % 5) + Decimal('0.1')", "words.append(when.isoformat()[:9])",
            "words.append(f'{money}')", "v0 = int((when - datetime(2024, 1, 1, tzinfo=UTC)).days)", "v1 = int(money)", "words.append(str(when.date()))",
        ])]  # fmt: skip

    def _with(self, vs: list[str], loop: bool) -> list[str]:
        inner = self.simple(vs, loop)
        inner = inner if "await" not in "".join(inner) else ["v1 += 1"]
        return [f"with suppress({self.r.choice(['KeyError', 'ValueError', 'LookupError'])}):", *(f"    {line}" for line in inner)]

    def _def(self, vs: list[str], loop: bool) -> list[str]:
        name = self.fresh("g")
        r = self.r
        body = [f"def {name}(n):", r.choice([f"    return n + {self.num(vs, 0)}", "    ys.append(n)", "    seen.add(n)"])]
        return [*body, r.choice([f"v0 = int({name}({self.num(vs, 0)}) or 0)", f"ys = [int({name}(n) or 0) for n in ys[0:2]]", f"{name}({self.num(vs, 0)})"])]

    def _walrus(self, vs: list[str], loop: bool) -> list[str]:
        name, r = self.fresh("t"), self.r
        inner = r.choice([f"v1 = {name}", f"await inc({name})", f"ys.append({name})"])
        return [f"if ({name} := {self.num(vs, 1)}) {r.choice(['>', '<'])} {self.num(vs, 0)}:", f"    {inner}", f"v0 += {name}"]

    def _targets(self, vs: list[str], loop: bool) -> list[str]:
        r = self.r
        one, other, rest = self.fresh("t"), self.fresh("t"), self.fresh("rest")
        return r.choice([
            [f"{one}, *{rest} = {self.nums(vs, 0)}", f"v0 = {one} + len({rest})"], [f"{one} = {other} = {self.num(vs, 0)}", f"v1 = {one} + {other}"],
            [f"({one}, {other}), v2 = ({self.num(vs, 0)}, 3), {self.num(vs, 0)}", f"v0 = {one} * {other} % 99"],
            [f"*{rest}, {one} = await pack({self.nums(vs, 0)}, 'ab')", f"words.append({one})"],
        ])  # fmt: skip

    def _match(self, vs: list[str], loop: bool) -> list[str]:
        r = self.r
        return [f"match {r.choice(['u', self.num(vs, 0), 'words', '[ys, obj]', 'order'])}:",
                f"    case {r.choice([str(r.randint(0, 9)), 'True', 'None'])}:", "        v0 = 7",
                f"    case {r.choice(['str(text)', '[first, *_]', 'Order(id=text)', '{**text}'])}:", f"        v1 = {r.choice(['2', 'len(words)'])}",
                "    case _:", f"        {r.choice(['pass', 'v2 += 1', 'ys.append(3)'])}"]

    def _raise(self, vs: list[str], loop: bool) -> list[str]:
        r = self.r
        return [f"if {self.test(vs, 1)}:", f"    raise {r.choice(['ValueError', 'KeyError', 'LookupError', 'RuntimeError', 'TypeError'])}({self.text(vs, 0)})"] if r.random() < 0.6 else [
            f"assert {self.test(vs, 1)}, {self.text(vs, 0)}"]

    def _try(self, vs: list[str], loop: bool) -> list[str]:
        r = self.r
        inner = self.simple(vs, False)
        inner = inner if "await" not in "".join(inner) else [f"v0 = {self.nums(vs, 0)}[{self.num(vs, 0)}]"]
        return ["try:", *(f"    {line}" for line in inner), f"    v1 = int({self.text(vs, 0)})", f"except {r.choice(KINDS)}{r.choice([' as err', ''])}:",
                f"    {r.choice(['v0 += 1', 'words.append(chr(98))', 'seen.add(0)'])}", *(["finally:", "    v2 += 1"] if r.random() < 0.3 else [])]

    def _loop(self, vs: list[str], loop: bool) -> list[str]:
        i, r = self.fresh("i"), self.r
        inner = self.simple([*vs, i], True)
        inner = inner if "await" not in "".join(inner) else [f"seen.add({i})"]
        return [f"for {i} in {r.choice(['xs', 'ys[0:3]', 'range(3)', 'list(range(len(table)))', 'ys[1:3]'])}:", *(f"    {line}" for line in inner),
                f"    v1 = {self.num(vs, 0)}"] if not inner[-1].startswith(FALLS) else [f"for {i} in xs:", f"    seen.add({i})", f"    {inner[-1]}"]

    def _models(self, vs: list[str], loop: bool) -> list[str]:
        r = self.r
        return [r.choice([f"order.amount = {r.choice(['2.5', self.num(vs, 0)])}", f"order.lines.append(Line(sku='k', qty={self.num(vs, 0)}))", f"order.id = {self.text(vs, 0)}",
                          "order.vip = not order.vip", "order.lines.clear()", "order.lines[0].qty += 1", "del order.lines[0]"])]

    def _reads(self, vs: list[str], loop: bool) -> list[str]:
        r = self.r
        if r.random() < 0.2:
            return [f"if {self.num(vs, 0)} in seen:", f"    {r.choice(['v1 += 1', 'await inc(5)', 'seen.clear()'])}"]
        return [r.choice([
            "v0 = len(seen)", "v1 = len(pairs) + len(table)", "words.append(str(sorted(map(str, seen))))", "v2 = int(sum(one[0] for one in pairs)) % 100",
            "words.append(str(sorted(map(str, table.items()))))", "v0 = await inc(len(seen) * 5)", "v1 += order.total() + int(order.amount)",
            "ys = [v for v in ys if v not in seen]", "v1 = 1 if v0 in seen or (v0, 'a') in pairs else 2",
        ])]  # fmt: skip

    def _maybe(self, vs: list[str], loop: bool) -> list[str]:
        """A name that may have no value where it is read."""
        name, r = self.fresh("m"), self.r
        return [f"if {self.test(vs, 1)}:", f"    {name} = {self.num(vs, 0)}", r.choice([f"v0 = {name}", f"v1 = await inc({name})", f"seen.add({name})"])]

    def _pulled(self, vs: list[str], loop: bool) -> list[str]:
        return [self.r.choice([f"seen.add(await {self.call(vs)})", f"ys.insert(0, await {self.call(vs)})", f"table[v0] = await {self.call(vs)}",
                               f"pairs.append((await {self.call(vs)}, 'p'))", f"order.amount = await {self.call(vs)}",
                               f"v1 = await inc(ys.pop({self.r.choice(['', '0'])}) + {self.num(vs, 0)})", "await inc(obj.pop('b', 5) * 5)",
                               f"ys.append(await inc(obj.setdefault('k', {self.num(vs, 0)}) + len(obj)))"])]

    def _exits(self, vs: list[str], loop: bool) -> list[str]:
        """A block with several exits."""
        r = self.r
        jump = r.choice(["break", "continue"]) if loop and r.random() < 0.7 else "return [v0, sorted(map(str, seen))]"
        first = r.choice(["seen.add(v0)", "ys.extend([1])", f"v1, *_ = [{self.num(vs, 0)}, 2]", f"v0 = {self.num(vs, 0)}"])
        return [f"with suppress(KeyError){r.choice([', suppress(IndexError)', ''])}:", f"    {first}", f"    if {self.test(vs, 1)}:", f"        {jump}",
                f"    {r.choice(['v2 += 1', 'seen.discard(3)', 'obj.pop(chr(97))', 'v1 = ys[v0]'])}"]

    def _matching(self, vs: list[str], depth: int, loop: bool, ind: int) -> list[str]:
        """A `match` with awaits and jumps in its cases."""
        r, p = self.r, "    " * ind
        n = self.fresh("n")
        first = r.choice([("u", "{'a': " + self.fresh("n") + "}"), ("u", f"str({self.fresh('n')})"), (self.num(vs, 0), "0 | 3 | 5"), (self.text(vs, 0), "'a' | ''"), ("ys", f"[{n}, *_]"), ("order", f"Order(amount={n}) if {n} > 5")])
        bound = [n] if n in first[1] and first[0] == "ys" else []
        out = [f"{p}match {first[0]}:", f"{p}    case {first[1]}:", *self.block([*vs, *bound], depth - 1, loop, ind + 2)]
        if bound:
            out += [f"{p}        v0 = int({n})"] if out[-1].strip().split()[0].rstrip(":") not in FALLS else []
        if r.random() < 0.5:
            out += [f"{p}    case None | 1 | 'x':", *self.block(vs, depth - 1, loop, ind + 2)]
        if r.random() < 0.6:
            out += [f"{p}    case _:", *self.block(vs, depth - 1, loop, ind + 2)]
        return out

    def program(self) -> str:
        head, marker, rest = super().program().rpartition("async def program")
        start, end, body = rest.partition("    v2 += 0\n")
        body = body.replace("'obj': obj}", "'obj': obj, 'z': [len(seen), str(pairs), f'{money} {when}']}")
        return head + marker + start + end + "\n".join(_HEAD) + "\n" + body
