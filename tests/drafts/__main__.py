"""Plays worlds of editors: `python tests/drafts SEEDS --from N`. A seed that fails is printed, and plays the same way again. In
one of ten worlds the draft is kept in a store, with checkpoints and replacements."""

from __future__ import annotations

import argparse
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter

from kept_world import kept_episode
from world import episode


def play(seed: int) -> tuple[int, int, str]:
    """The seed, how many items its log has, and the error if there was one."""
    try:
        made = kept_episode(seed) if seed % 10 == 9 else episode(seed)
        return seed, len(made.log.items), ""
    except Exception:
        return seed, 0, traceback.format_exc(limit=-3)


def main() -> int:
    parser = argparse.ArgumentParser(description="Simulates people who edit one draft at once.")
    parser.add_argument("seeds", type=int)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    begun, items, failed = perf_counter(), 0, 0
    seeds = range(given.first, given.first + given.seeds)
    with ProcessPoolExecutor(given.jobs) as pool:
        for seed, count, error in pool.map(play, seeds, chunksize=8):
            items += count
            if error:
                failed += 1
                sys.stdout.write(f"seed {seed}:\n{error}\n")
    sys.stdout.write(f"{given.seeds} worlds, {items} items, in {perf_counter() - begun:.1f} s, {failed} failed\n")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
