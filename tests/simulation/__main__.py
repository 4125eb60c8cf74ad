"""`make simulate SEEDS=10000`: so many seeds from 0. `make simulate SEEDS=1 FROM=123`: seed 123 again, in full."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from os import cpu_count

from episode import Episode, Failed


def one(number: int) -> tuple[int, str, str | None]:
    """A seed, what it ran, and what went wrong."""
    episode = Episode(number)
    shape = str(episode.scenario.document["id"])
    try:
        episode.go()
    except Failed as failure:
        return number, shape, str(failure)
    return number, shape, None


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("seeds", type=int, nargs="?", default=1_000, help="how many")
    arguments.add_argument("--from", type=int, default=0, dest="first", help="the first seed")
    arguments.add_argument("--keep-going", action="store_true", help="do not stop at the first seed that fails")
    arguments.add_argument("--workers", type=int, default=cpu_count() or 1)
    given = arguments.parse_args()
    numbers, began, failed = range(given.first, given.first + given.seeds), time.monotonic(), list[int]()
    shapes: Counter[str] = Counter()
    with ProcessPoolExecutor(given.workers, get_context("fork")) as pool:  # others would look for `one` in a module
        for number, shape, fault in pool.map(one, numbers, chunksize=min(50, max(1, given.seeds // 8))):
            shapes[shape] += 1
            if fault is None:
                continue
            failed.append(number)
            sys.stdout.write(f"{fault if not given.keep_going else fault.splitlines()[0]}\n")
            if not given.keep_going:
                pool.shutdown(cancel_futures=True)
                break
    took = time.monotonic() - began
    sys.stdout.write(f"{sum(shapes.values())} seeds in {took:.1f} s, {len(failed)} failed {failed[:20]}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
