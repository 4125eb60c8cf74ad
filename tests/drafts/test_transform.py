"""Crossing: both orders meet in one text, no typed character is lost, and the inverse restores."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from inverse import inverse

from stepless.drafts.rules.effects import Delete, Effect, Put, Rename, Set, Splice, Unset, Write
from stepless.drafts.rules.fold import fold
from stepless.drafts.rules.state import Entities
from stepless.drafts.rules.transform import transform

KEY, PATH = "block/a", ("with", "prompt")
PAIRS = 4_000


def typed(rng: Random, text: str, letters: Iterator[str]) -> tuple[list[Write], str]:
    made: list[Write] = []
    for _ in range(rng.randrange(1, 5)):
        start = rng.randrange(len(text) + 1)
        removed = rng.choice((0, 0, rng.randrange(len(text) - start + 1)))
        new = "".join(next(letters) for _ in range(rng.randrange(4)))
        made.append(Splice(KEY, PATH, start, removed, new))
        text = text[:start] + new + text[start + removed:]
    return made, text


def effects(writes: list[Write]) -> list[Effect]:
    return [write for write in writes if not isinstance(write, Rename)]


def pair(seed: int) -> None:
    rng = Random(seed)
    base = "".join(rng.choice("ab\N{GRINNING FACE}\u00e9") for _ in range(rng.randrange(10)))
    state = Entities({KEY: {"with": {"prompt": base}}})
    mine, mine_text = typed(rng, base, map(chr, range(0x1000, 0x1FFF)))
    theirs, their_text = typed(rng, base, map(chr, range(0x20000, 0x20FFF)))
    mine_after, theirs_after = transform(mine, theirs)
    one = fold(fold(state, effects(theirs)), effects(mine_after)).get(KEY)
    assert one == fold(fold(state, effects(mine)), effects(theirs_after)).get(KEY), seed
    assert one is not None
    text = one["with"]["prompt"]
    assert set(mine_text + their_text) - set(base) <= set(text), seed
    undo = inverse(state, effects(mine))
    assert fold(fold(state, effects(mine)), effects(list(undo.writes))).get(KEY) == state.get(KEY), seed


def test_two_lists_of_splices_meet_in_both_orders_and_lose_no_letter() -> None:
    for seed in range(PAIRS):
        pair(seed)


def test_of_other_pairs_the_later_one_stands() -> None:
    kinds: list[Write] = [
        Put(KEY, {"with": {"prompt": "p"}}), Delete(KEY), Set(KEY, PATH, "s"), Set(KEY, ("with",), {}), Unset(KEY, PATH),
        Set(KEY, ("x",), 1),
    ]
    for early in kinds:
        for late in kinds:
            late_after, early_after = transform([late], [early])
            assert late_after == [late]
            covered = (isinstance(early, Set | Unset) and (
                isinstance(late, Put | Delete) or (isinstance(late, Set | Unset) and early.path[:len(late.path)] == late.path)
            )) or (isinstance(early, Put) and isinstance(late, Put))
            assert (early_after == []) == covered, (early, late)


def test_long_lists_about_different_entities_cost_their_length() -> None:
    mine: list[Write] = [Set(f"place/{number}", ("x",), 1) for number in range(50_000)]
    theirs: list[Write] = [Set(f"block/{number}", ("x",), 1) for number in range(50_000)]
    assert transform(mine, theirs) == (mine, theirs)
