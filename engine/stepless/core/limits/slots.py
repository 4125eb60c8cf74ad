"""Divides the slots of one concurrency limit for one key: who holds how many, and who may take how many more.

The slots are one stored value, changed by compare-and-set. A holder is a run, with the epoch and the end of the lease under which
it took its slots. Its slots count while the run has the lease of this epoch. The stored end of the lease may be out of date,
since a renewal does not change it; the caller then finds out from the run's header which holders are dead. So renewals cost
nothing, and the slots of a dead runner are free as soon as its lease is.

`change` keeps these invariants, whichever processes die or race; a test tries them over drawn cells:

* *Safety.* The numbers of all holders add up to at most `max`, unless the limit was lowered; then none is added. A change that
  was computed over a value that another process has replaced is not stored.
* *No waste.* Afterwards fewer slots are free than the heaviest use that a run waits for. So whoever gives slots back has to serve
  the line in the same write: a process that died between two writes would leave slots free and runs asleep.
* *Whole uses.* Slots are given in multiples of `weight`. Two runs that need two of two slots and got one each would wait for each
  other.
* *Order.* A heavy use at the head of the line is not overtaken by light ones, which would keep it waiting for ever.
* *Ownership.* An entry under a later epoch shows that this process has lost the run: it changes nothing. Slots that are granted
  to a run in line have the epoch GRANTED, which no lease has, and an end, so that they lapse if the run never comes.

A run that does not know its weight must take all that is kept for it (`all_kept`). One that gave back a part of a use joined the
line for the rest, and two such runs passed the only use to each other without end.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from stepless.core.lease_ends import is_over
from stepless.model.stored.packing import dump, pack, unpack

_POSITION: Final = re.compile(r"\d{15,}#\d{1,9}#\d{1,9}#[^#]*#.+")
GRANTED: Final = 0
"""The epoch of slots that are kept for a run that was in line and has no lease now."""


class Holder(NamedTuple):
    """`number` slots, taken under the lease of this epoch, which ended at `until_ms` when they were taken."""

    epoch: int
    number: int
    until_ms: int


Holders = Mapping[str, Holder]
"""By run id."""


def encode_holders(holders: Holders) -> bytes:
    return pack(dump({run_id: list(holder) for run_id, holder in holders.items()}))


def decode_holders(data: bytes | None) -> dict[str, Holder]:
    """Ignores further facts of a holder, which a later release may store. Raises an error of any type for damaged bytes."""
    if data is None:
        return {}
    holders = {run_id: Holder(*facts[:3]) for run_id, facts in unpack(data).items()}
    if any(type(fact) is not int for holder in holders.values() for fact in holder):
        raise ValueError("a fact of a holder is no integer")
    return holders


def doubtful(holders: Holders, me: str, now_ms: int) -> Sequence[str]:
    """Returns the other holders whose lease has ended, as far as is stored: the longest ended first."""
    ended = [run_id for run_id, holder in holders.items() if run_id != me and is_over(holder.until_ms, now_ms)]
    return sorted(ended, key=lambda run_id: (holders[run_id].until_ms, run_id))


def still_there(holders: Holders, dead: Holders) -> list[str]:
    """Returns those of the dead holders that are as they were: a run that has taken slots under another lease meanwhile is
    alive."""
    return [run_id for run_id, holder in dead.items() if holders.get(run_id) == holder]


def without(holders: Holders, dead: Collection[str]) -> dict[str, Holder]:
    return {run_id: holder for run_id, holder in holders.items() if run_id not in dead}


class Asked(NamedTuple):
    """A request of a run that keeps the slots in its own entry: `want` more, in uses of `weight` each. With `gone`, the run no
    longer waits: a use that was granted to it in line is free. With `parks`, what it holds is kept for it without a lease. With
    `all_kept`, it takes everything that is kept for it: it does not know its weight, and one that gave back a part of a use
    would wait for the use again."""

    want: int = 0
    weight: int = 1
    gone: bool = False
    parks: bool = False
    all_kept: bool = False


class Changed(NamedTuple):
    """The new holders, how many slots the run was granted, and the positions in line that were served. `short` means that a run
    still lacks slots: a caller that finds dead holders should try again without them."""

    holders: Mapping[str, Holder]
    granted: int
    served: Sequence[str]
    short: bool


@dataclass(slots=True)
class _Hungry:
    """A run that lacks slots. `has` are those that it holds, `gets` those that it is given now."""

    position: str
    weight: int
    want: int
    has: int
    gets: int = 0

    def give(self, most: int) -> int:
        """Gives at most `most` slots, in whole uses; returns how many."""
        number = min(self.want - self.gets, most)
        number -= number % self.weight
        self.gets += number
        return number


def fair_share(max_slots: int, runs: int) -> int:
    """Returns how many slots a run may hold while other runs wait, if `runs` hold or wait for them: an equal share, rounded
    up."""
    return -(-max_slots // runs)


def kept_share(max_slots: int, runs: int, weight: int, line: Sequence[str], *, had_turn: bool) -> int:
    """Returns how many slots a run, whose uses are of `weight`, keeps while the runs in `line` wait. During its turn these are
    its fair share, at least one use. After its turn they are its share rounded down, so that the rest goes round the line; and
    none if that is too few for a use of some run in line, so that it gets its turn too."""
    if not had_turn:
        share = max(fair_share(max_slots, runs), weight)
    else:
        share = max_slots // runs
        if any(weight_in_line(position) > share for position in line):
            return 0
    return share - share % weight


def change(
    holders: Holders, run_id: str, mine: Holder, held: int, max_slots: int, asked: Asked, line: Sequence[str], until_ms: int
) -> Changed:
    """Sets what a run holds under its lease from `held` to `mine`, and divides what is free among those that wait.

    First come slots that are kept for this run, or that it held under an earlier lease. Then come the runs in line, in order,
    this run at its position in line or at the end: each gets uses up to its fair share. What then is left is divided among them
    again, so that no slot is free while a run waits for it. What others get is kept for them until `until_ms` (GRANTED). A use is
    never split, and a heavy one is not overtaken. An entry of the run under an earlier lease is replaced: nothing runs under it
    any more. An entry under a later lease means that this one is lost: nothing changes.
    """
    entry = holders.get(run_id)
    if entry is not None and entry.epoch > mine.epoch:
        return Changed(holders, 0, (), False)
    others = without(holders, (run_id,))
    free = max_slots - mine.number - sum(holder.number for holder in others.values())
    kept = 0 if asked.gone else max(0, min(free, _kept_for(entry, mine, 0 if asked.parks else held)))
    own = kept if asked.all_kept else min(asked.want, kept) - min(asked.want, kept) % asked.weight
    free -= own if asked.want else kept

    me = _Hungry("", asked.weight, max(0, asked.want - own), mine.number + own)
    hungry = _hungry(others, run_id, me, line)
    runs = len({*others, *map(run_in_line, line)} | ({run_id} if mine.number or asked.want else set()))
    _divide(hungry, free, fair_share(max_slots, max(1, runs)))

    served = [one.position for one in hungry if one is not me and one.gets]
    for one in hungry:
        if one is not me and one.gets:
            others[run_in_line(one.position)] = _granted(others.get(run_in_line(one.position)), one.gets, until_ms)
    granted = own + me.gets
    number = mine.number + granted + (0 if asked.want else kept)
    short = any(one.gets < min(one.want, one.weight) for one in hungry) or granted < asked.want
    entry = mine._replace(number=number) if mine.number or granted else Holder(GRANTED, number, until_ms)
    return Changed({**others, run_id: entry} if number else others, granted, served, short)


def _kept_for(entry: Holder | None, mine: Holder, held: int) -> int:
    """What the entry of a run has beyond what the run knows of: slots that were granted to it in line, or that it held under an
    earlier lease."""
    if entry is None:
        return 0
    return entry.number - held if entry.epoch == mine.epoch else entry.number


def _hungry(others: Holders, run_id: str, me: _Hungry, line: Sequence[str]) -> list[_Hungry]:
    """Those that lack slots, in order. A run for which slots are kept already has been served."""
    found: list[_Hungry] = []
    seen: set[str] = set()
    for position in line:
        name = run_in_line(position)
        if name in seen:
            continue
        seen.add(name)
        if name == run_id:
            found.append(me)
            continue
        holder = others.get(name)
        if holder is None or holder.epoch != GRANTED:
            held = holder.number if holder is not None else 0
            found.append(_Hungry(position, weight_in_line(position), want_in_line(position), held))
    if me.want and run_id not in seen:
        found.append(me)
    return found


def _divide(hungry: Sequence[_Hungry], free: int, share: int) -> None:
    """Divides `free` slots: first up to the fair share of each, then what is left among those that still lack slots."""
    for one in hungry:
        most = max(share, one.weight) - one.has
        if one.want and most >= one.weight:
            if free < one.weight:
                return
            free -= one.give(min(most, free))
    while lacking := [one for one in hungry if one.want - one.gets >= one.weight]:
        each = fair_share(free, len(lacking))
        for one in lacking:
            if free < one.weight:
                return
            free -= one.give(min(max(each, one.weight), free))


def _granted(entry: Holder | None, number: int, until_ms: int) -> Holder:
    """An entry with further slots, for a run that is not asking now. If it holds slots under a lease, they are added to them; the
    run takes them over when it asks next, or drops them."""
    if entry is None or entry.epoch == GRANTED:
        return Holder(GRANTED, number, until_ms)
    return entry._replace(number=entry.number + number)


# -- the line ---------------------------------------------------------------------------------------------------------


def position_in_line(since_ms: int, weight: int, want: int, run_id: str, token: str = "") -> str:
    """Returns a position in the line of the runs that wait: sorts by an instant. The run wants `want` slots, in uses of `weight`.
    `token` makes it another position than any the run has had before."""
    return f"{since_ms:015d}#{weight}#{want}#{token}#{run_id}"


def intact_positions(line: Sequence[str]) -> Sequence[str]:
    """Returns the positions of a line that are not damaged."""
    return [position for position in line if _POSITION.fullmatch(position)]


def run_in_line(position: str) -> str:
    return position.split("#", 4)[4]


def since_in_line(position: str) -> int:
    return int(position.split("#", 1)[0])


def weight_in_line(position: str) -> int:
    return int(position.split("#", 2)[1])


def want_in_line(position: str) -> int:
    return int(position.split("#", 3)[2])
