"""Plays the properties of transformation and of undo over many seeds: `python tests/drafts/properties.py PAIRS SESSIONS --from
N`. A seed that fails is printed, and plays the same way again."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable
from time import perf_counter

from test_transform import pair
from test_undo import one_text, session


def played(name: str, play: Callable[[int], None], seeds: range) -> int:
    """How many seeds failed."""
    begun, failed = perf_counter(), 0
    for seed in seeds:
        try:
            play(seed)
        except Exception:
            failed += 1
            sys.stdout.write(f"{name}, seed {seed}:\n{traceback.format_exc(limit=-3)}\n")
    sys.stdout.write(f"{len(seeds)} {name}, in {perf_counter() - begun:.1f} s, {failed} failed\n")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description="Plays the properties of crossing and of undo.")
    parser.add_argument("pairs", type=int)
    parser.add_argument("sessions", type=int)
    parser.add_argument("--from", dest="first", type=int, default=0)
    given = parser.parse_args()
    sessions = range(given.first, given.first + given.sessions)
    failed = played("pairs of lists of splices", pair, range(given.first, given.first + given.pairs))
    failed += played("sessions undone", session, sessions) + played("sessions undone in one text", one_text, sessions)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
