"""The slots of one concurrency limit for one key: who holds how many, and who may take how many more.

The slots are one stored value, changed by compare-and-set. A holder is a run, with the epoch and the end of the lease under
which it took its slots. Its slots count while the run has the lease of this epoch. The stored end of the lease may be out of
date, since a renewal does not change it; the caller then finds out from the run's header which holders are dead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from stepless.model.packing import dump, pack, unpack

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
    """Ignores further facts of a holder, which a later release may store."""
    return {run_id: Holder(*facts[:3]) for run_id, facts in unpack(data).items()} if data else {}


def doubtful(holders: Holders, me: str, now_ms: int) -> Sequence[str]:
    """The other holders whose lease has ended, as far as is stored: the longest ended first."""
    ended = [run_id for run_id, holder in holders.items() if run_id != me and holder.until_ms <= now_ms]
    return sorted(ended, key=lambda run_id: (holders[run_id].until_ms, run_id))


def without(holders: Holders, dead: Collection[str]) -> dict[str, Holder]:
    return {run_id: holder for run_id, holder in holders.items() if run_id not in dead}


class Asked(NamedTuple):
    """A request of a run that keeps the slots in its own entry: `want` more, in uses of `weight` each."""

    want: int = 0
    weight: int = 1


class Changed(NamedTuple):
    """The new holders, how many slots the run was granted, and the places in line that were served. `short` means that somebody
    still lacks slots: a caller that finds dead holders should try again without them."""

    holders: Mapping[str, Holder]
    granted: int
    served: Sequence[str]
    short: bool


def change(
    holders: Holders, run_id: str, mine: Holder, held: int, max_slots: int, asked: Asked, line: Sequence[str], until_ms: int
) -> Changed:
    """Sets what a run holds under its lease from `held` to `mine`, serves the line, and grants what the run asks for as far as
    there is room.

    First come slots that are kept for this run, or that it held under an earlier lease. Then come those that have waited longer,
    whether or not they are at work now: each gets a use, which is kept for it until `until_ms` (GRANTED). What is left is
    divided among this run and those behind it, rounded up, so that runs with equal work begin equally many attempts. A use is
    never split. An entry of the run under an earlier lease is replaced: nothing runs under it any more. An entry under a later
    lease means that this one is lost: nothing changes.
    """
    entry = holders.get(run_id)
    if entry is not None and entry.epoch > mine.epoch:
        return Changed(holders, 0, (), False)
    others = without(holders, (run_id,))
    place = next((place for place in line if run_in_line(place) == run_id), None)
    waiting = [place for place in line if run_in_line(place) != run_id]
    ahead = [other for other in waiting if not asked.want or place is None or other < place]
    room = max_slots - mine.number - sum(holder.number for holder in others.values())
    kept = max(0, min(room, _kept_for(entry, mine, held)))
    own = min(asked.want, kept) - min(asked.want, kept) % asked.weight
    room -= own if asked.want else kept
    served: list[str] = []
    for other in ahead:
        weight = weight_in_line(other)
        if room < weight:
            break
        room -= weight
        served.append(other)
        others[run_in_line(other)] = _granted(others.get(run_in_line(other)), weight, until_ms)
    behind = len(waiting) - len(ahead)
    rest = asked._replace(want=asked.want - own)
    granted = own + (_share(room, behind, rest) if len(served) == len(ahead) else 0)
    number = mine.number + granted + (0 if asked.want else kept)
    short = granted < asked.want or len(served) < len(ahead)
    entry = mine._replace(number=number) if mine.number or granted else Holder(GRANTED, number, until_ms)
    return Changed({**others, run_id: entry} if number else others, granted, served, short)


def _kept_for(entry: Holder | None, mine: Holder, held: int) -> int:
    """What the entry of a run has beyond what the run knows of: slots that were granted to it in line, or that it held under an
    earlier lease."""
    if entry is None:
        return 0
    return entry.number - held if entry.epoch == mine.epoch else entry.number


def _share(room: int, behind: int, asked: Asked) -> int:
    if not asked.want or room < asked.weight:
        return 0
    granted = min(asked.want, max(-(-room // (1 + behind)), asked.weight), room)
    return granted - granted % asked.weight


def _granted(entry: Holder | None, weight: int, until_ms: int) -> Holder:
    """An entry with the slots of one more use, for a run that is not asking now. If it holds slots under a lease, the use is
    added to them; the run takes it over when it asks next, or drops it."""
    if entry is None or entry.epoch == GRANTED:
        return Holder(GRANTED, weight, until_ms)
    return entry._replace(number=entry.number + weight)


# -- the line ---------------------------------------------------------------------------------------------------------


def place_in_line(since_ms: int, weight: int, run_id: str) -> str:
    """A place in the line of the runs that wait: sorts by an instant."""
    return f"{since_ms:015d}#{weight}#{run_id}"


def run_in_line(place: str) -> str:
    return place.split("#", 2)[2]


def weight_in_line(place: str) -> int:
    return int(place.split("#", 2)[1])
