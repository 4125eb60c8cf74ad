"""Validates one operation against a copy of the state, and collects its effects.

Edges are validated when the operation ends: until then an operation may tie blocks that it moves only later.
"""

from __future__ import annotations

from itertools import count

from stepless.drafts.rules.budget import Budget
from stepless.drafts.rules.effects import Delete, Effect, Put, Rename, Set, Splice, Unset, Write
from stepless.drafts.rules.fold import after, apply
from stepless.drafts.rules.fractional_index import spread
from stepless.drafts.rules.pins import pin_fault
from stepless.drafts.rules.references import readers, renaming, rewritten, sees
from stepless.drafts.rules.requests import DropCode, RefusalCode
from stepless.drafts.rules.shapes import HANGING, REPLACED, fits
from stepless.drafts.rules.state import Layer, State, children_of, ends_at, mentions, named_in, prefix_of, tail_of, tie_of
from stepless.drafts.rules.values import Object, at, same
from stepless.limits import MAX_DRAFT_BLOCKS, MAX_DRAFT_DEPTH, MAX_ID_CHARACTERS, MAX_ORDER_CHARACTERS
from stepless.model.json import JSON


class Refused(Exception):
    """The whole operation is refused."""

    def __init__(self, code: RefusalCode, key: str) -> None:
        super().__init__(code, key)
        self.code: RefusalCode = code
        self.key = key


class Validation:
    """`effects` and `layer` are what the operation does; `dropped` are its writes that do nothing, by code and the key that
    decides; `withdrawn` are edges that were put and taken back."""

    def __init__(self, state: State, budget: Budget) -> None:
        self.layer = Layer(state)
        self._budget = budget
        self.effects: list[Effect] = []
        self.dropped: dict[tuple[DropCode, str], set[int]] = {}
        self.withdrawn: list[Write] = []
        self._unforeseen: list[Write] = []
        self._edges: dict[str, int] = {}  # those put, with their place in the operation
        self._added: list[str] = []
        self._moved: dict[str, None] = {}
        self._called: dict[str, str] = {}  # blocks that could not keep the name that the operation gave them, with that name
        self._renamed: dict[str, tuple[str, set[str]]] = {}  # block: its former name, and the entities whose texts meant it

    def drop(self, place: int, code: DropCode, key: str) -> None:
        self.dropped.setdefault((code, key), set()).add(place)

    def unforeseen(self) -> list[Write]:
        """Returns the splices, since the last call, that the client did not ask for."""
        made, self._unforeseen = self._unforeseen, []
        return made

    def validate(self, place: int, write: Write, *, cause: Write | None = None) -> bool:
        """Does a write or drops it; whether it was done. `cause` is the write that it was derived from. Raises `Refused`."""
        if not fits(write):
            raise Refused("not_allowed", write.key)
        if cause is not None:
            return self._derived(write, cause)
        if isinstance(write, Put):
            return self._put(place, write)
        if write.key not in self.layer:
            self.drop(place, "gone", write.key)
            return False
        match write:
            case Rename(key=key, id=name, expanded=expanded):
                return self._rename(key, name, expanded)
            case Delete(key=key):
                return self._delete(key)
        if prefix_of(write.key) == "block" and write.path in (("id",), ("parent",), ("order",)):
            assert isinstance(write, Set)
            return self._set_field(place, write)
        return self._change(place, write)

    def finish(self) -> None:
        """Validates what only the whole operation decides."""
        self._follow_names()
        self._untie()
        self._weigh_pins()

    def _weigh_pins(self) -> None:
        changed = dict.fromkeys(effect.key for effect in self.effects if prefix_of(effect.key) == "pin")
        held = [key for key in changed if key in self.layer]
        fault = pin_fault(self.layer, held) if held else None
        if fault is not None:
            raise Refused(*fault)

    # -- additions ---------------------------------------------------------------------------------------------------

    def _put(self, place: int, write: Put) -> bool:
        prefix, tail = prefix_of(write.key), tail_of(write.key)
        held = self.layer.get(write.key)
        if held is not None and (prefix not in REPLACED or same(held, write.entity)):
            if same(held, write.entity):
                return True
            self.drop(place, "already_there", write.key)
            return False
        if prefix in HANGING and f"block/{tail}" not in self.layer:
            self.drop(place, "gone", f"block/{tail}")
            return False
        if prefix == "block":
            return self._put_block(place, write)
        if prefix == "edge":
            if any(other != write.key for other in self.layer.found(tie_of(write.entity))):
                self.drop(place, "already_there", self.layer.found(tie_of(write.entity))[0])
                return False
            self._edges[write.key] = place
        self._take(write)
        self._added.append(write.key)
        return True

    def _put_block(self, place: int, write: Put) -> bool:
        parent = write.entity["parent"]
        if parent is not None and f"block/{parent}" not in self.layer:
            self.drop(place, "gone", f"block/{parent}")
            return False
        if self.layer.blocks >= MAX_DRAFT_BLOCKS:
            raise Refused("too_many_blocks", write.key)
        if self._depth(parent) > MAX_DRAFT_DEPTH:
            raise Refused("too_deep", write.key)
        asked = write.entity["id"]
        free = self._free_name(parent, asked, write.key)
        if free != asked:
            self._called[write.key] = asked
        self._take(Put(write.key, {**write.entity, "id": free}))
        self._added.append(write.key)
        return True

    def _free_name(self, body: JSON, asked: str, key: str) -> str:
        if not self.layer.found(named_in(body, asked)):
            return asked
        for number in count(2):
            end = f"_{number}"
            name = asked[:MAX_ID_CHARACTERS - len(end)] + end
            if not self.layer.found(named_in(body, name)):
                self._budget.tried(number, key)
                return name
        raise AssertionError("count never ends")

    def _follow_names(self) -> None:
        """References among what the operation added mean the block that it added, under the name that this got."""
        added = set(self._added)
        for key, asked in self._called.items():
            block = self.layer.get(key)
            if block is None:
                continue
            name, parent = block["id"], block["parent"]
            among = [one for one in self.layer.found(mentions(asked)) if one in added and sees(self.layer, one, parent)]
            for splice in list(rewritten(self.layer, among, asked, name)):
                self._take(splice)
                self._unforeseen.append(splice)

    # -- removals ----------------------------------------------------------------------------------------------------

    def _delete(self, key: str) -> bool:
        if prefix_of(key) == "subflow" and self.layer.found(children_of(tail_of(key))):
            raise Refused("not_allowed", key)
        for gone in self._hanging(key):
            self._take(Delete(gone))
        return True

    def _hanging(self, key: str) -> list[str]:
        """What goes with an entity, itself last: for each child the same, innermost first."""
        if prefix_of(key) != "block":
            return [key]
        found: dict[str, None] = {}
        opened: list[tuple[str, bool]] = [(key, False)]
        while opened:
            block, entered = opened.pop()
            tail = tail_of(block)
            if entered:
                found.update(dict.fromkeys(self.layer.found(ends_at(tail))))
                found.update((one, None) for one in (f"{prefix}/{tail}" for prefix in HANGING) if one in self.layer)
                found[block] = None
            else:
                opened.append((block, True))
                opened.extend((child, False) for child in reversed(self.layer.found(children_of(tail))))
        return list(found)

    def _untie(self) -> None:
        """Edges hold only between two blocks of one body."""
        for key, place in self._edges.items():
            edge = self.layer.get(key)
            code, decides = self._untied(edge) if edge is not None else (None, key)
            if code is not None:
                self.drop(place, code, decides)
                self.withdrawn.append(Put(key, {}))
                self._withdraw(key)
        for block in self._moved:
            for key in self.layer.found(ends_at(tail_of(block))):
                edge = self.layer.get(key)
                if edge is not None and self._untied(edge)[0] is not None:
                    self._take(Delete(key))

    def _untied(self, edge: Object) -> tuple[DropCode | None, str]:
        ends = [f"block/{edge[end]}" for end in ("source", "target")]
        gone = next((end for end in ends if end not in self.layer), None)
        if gone is not None:
            return "gone", gone
        source, target = (self.layer.get(end) or {} for end in ends)
        return ("other_body" if source.get("parent") != target.get("parent") else None), ends[1]

    def _withdraw(self, key: str) -> None:
        """Takes back an entity that the operation itself added, with whatever it then did to it."""
        last = max(place for place, effect in enumerate(self.effects) if effect.key == key and isinstance(effect, Put))
        self.effects = [effect for place, effect in enumerate(self.effects) if effect.key != key or place < last]
        self.layer.put(key, None)

    # -- changes -----------------------------------------------------------------------------------------------------

    def _rename(self, key: str, name: str, expanded: bool) -> bool:
        block = self.layer.get(key) or {}
        former = block.get("id")
        if former == name:
            return True
        if any(other != key for other in self.layer.found(named_in(block.get("parent"), name))):
            raise Refused("name_taken", self.layer.found(named_in(block.get("parent"), name))[0])
        self._renamed[key] = (str(former), set(readers(self.layer, key)))
        if expanded:
            self._take(Set(key, ("id",), name))
            return True
        for effect in list(renaming(self.layer, key, name)):
            self._take(effect)
            if isinstance(effect, Splice):
                self._unforeseen.append(effect)
        return True

    def _derived(self, write: Write, cause: Write) -> bool:
        """A write that the client derived. Deletions are derived anew, and a rename sets the id itself; a reference is rewritten
        as far as it still means the block."""
        if not isinstance(write, Splice) or not isinstance(cause, Rename):
            return not isinstance(write, Splice)
        former, meant = self._renamed.get(cause.key, ("", set()))
        text = at(self.layer.get(write.key), write.path)
        if write.key not in meant or not former or write.text != cause.id or not isinstance(text, str):
            return False
        end = write.start + write.removed
        begins = text[:write.start].endswith("<")
        stands = text[write.start:end] == former and begins and text.startswith((".", ">", "[", "!>"), end)
        if stands:
            self._take(write)
        return stands

    def _set_field(self, place: int, write: Set) -> bool:
        block = self.layer.get(write.key) or {}
        value = write.value
        if same(block.get(write.path[0]), value):
            return True
        if write.path == ("id",):
            return self._rename(write.key, value, expanded=True)
        if write.path == ("parent",):
            return self._move(place, write, block)
        self._take(write)
        if len(value) > MAX_ORDER_CHARACTERS:
            self._reorder(block.get("parent"))
        return True

    def _move(self, place: int, write: Set, block: Object) -> bool:
        above = write.value
        if above is not None and f"block/{above}" not in self.layer:
            self.drop(place, "gone", f"block/{above}")
            return False
        while above is not None:
            if f"block/{above}" == write.key:
                raise Refused("parent_cycle", write.key)
            above = (self.layer.get(f"block/{above}") or {}).get("parent")
        if write.value is not None and self._depth(write.value) + self._levels(write.key) > MAX_DRAFT_DEPTH:
            raise Refused("too_deep", write.key)
        free = self._free_name(write.value, block["id"], write.key)
        if free != block["id"]:
            self._take(Set(write.key, ("id",), free))
        self._take(write)
        self._moved[write.key] = None
        return True

    def _depth(self, body: JSON) -> int:
        """How many containers are around what is in a body."""
        depth = 0
        while body is not None:
            depth += 1
            body = (self.layer.get(f"block/{body}") or {}).get("parent")
        return depth

    def _levels(self, block: str) -> int:
        """How many levels of blocks are below a block."""
        levels, row = -1, [block]
        while row:
            levels += 1
            self._budget.looked_at(len(row), row[0])
            row = [child for one in row for child in self.layer.found(children_of(tail_of(one)))]
        return levels

    def _reorder(self, body: JSON) -> None:
        """Gives the blocks of a body short orders, in the order that they have."""
        blocks = sorted(self.layer.found(children_of(body)), key=lambda key: ((self.layer.get(key) or {}).get("order", ""), key))
        for key, order in zip(blocks, spread(len(blocks)), strict=True):
            self._take(Set(key, ("order",), order))

    def _change(self, place: int, write: Set | Unset | Splice | Delete | Rename) -> bool:
        assert isinstance(write, Set | Unset | Splice)
        entity = self.layer.get(write.key) or {}
        if isinstance(write, Splice):
            text = at(entity, write.path)
            if not isinstance(text, str):
                self.drop(place, "superseded", write.key)
                return False
            start = min(write.start, len(text))
            write = write._replace(start=start, removed=min(write.removed, len(text) - start))
            if text[start:start + write.removed] == write.text:
                return True
        if isinstance(write, Set):
            if not same(at(after(entity, write), write.path), write.value):  # a step of its path is no object any more
                self.drop(place, "superseded", write.key)
                return False
            if prefix_of(write.key) == "edge" and self._same_tie(write, entity):
                self.drop(place, "already_there", write.key)
                return False
        if same(after(entity, write), entity):
            return True
        self._take(write)
        return True

    def _same_tie(self, write: Set, edge: Object) -> bool:
        made = after(edge, write) or {}
        return tie_of(made) != tie_of(edge) and bool(self.layer.found(tie_of(made)))

    def _take(self, effect: Effect) -> None:
        self._budget.took(effect, self.layer.get(effect.key))
        self.effects.append(effect)
        apply(self.layer, (effect,))


