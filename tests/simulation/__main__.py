"""`make simulate SEEDS=10000`: 10,000 seeds from 0, every tenth also on the adapters of AWS and of SQLite, and
with a clock that is set ahead by hours and back.
`make simulate SEEDS=1 FROM=123 GROUND=cloud`: seed 123 again on one ground, in full.
`make simulate ERASES=1`: worlds in which runs are erased, expire and are rerun.
`make simulate MESSAGES=1`: worlds in which people talk to runs, by keys and messages."""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from os import cpu_count

from embedded import OnFile
from episode import Episode, Failed, Parts
from grounds import OnCloud
from talking import MessagesEpisode
from weathers import draw_cloud_weather, stepped

GROUNDS = {
    "memory": Parts(),
    "cloud": Parts(OnCloud, weather=draw_cloud_weather),
    "file": Parts(OnFile),
    "stepped": Parts(weather=stepped),
}
EVERY = 10


def one(job: tuple[str, int, str]) -> tuple[int, str | None]:
    """A seed on a ground, in a world of a kind, and what went wrong."""
    ground, number, kind = job
    world = MessagesEpisode if kind == "MESSAGES" else Episode
    try:
        world(number, replace(GROUNDS[ground], erases=kind == "ERASES")).go()
    except Failed as failure:
        return number, f"{failure}{f' {kind}=1' if kind else ''}"  # its last line says how to replay it
    return number, None


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("seeds", type=int, nargs="?", default=1_000, help="how many")
    arguments.add_argument("--from", type=int, default=0, dest="first", help="the first seed")
    arguments.add_argument("--ground", choices=["", *GROUNDS], default="", help="only on this one")
    arguments.add_argument("--erases", action="store_true", help="erase runs as well")
    arguments.add_argument("--messages", action="store_true", help="worlds of keys and messages")
    arguments.add_argument("--keep-going", action="store_true", help="do not stop at the first seed that fails")
    arguments.add_argument("--workers", type=int, default=cpu_count() or 1)
    given = arguments.parse_args()
    numbers, began, failed = range(given.first, given.first + given.seeds), time.monotonic(), list[int]()
    kind = "ERASES" if given.erases else "MESSAGES" if given.messages else ""
    jobs = [(given.ground or "memory", number, kind) for number in numbers]
    if not given.ground:
        others = [ground for ground in GROUNDS if ground != "memory" and not (ground == "stepped" and kind)]
        jobs += [(ground, number, kind) for ground in others for number in numbers if number % EVERY == 0]
    done = 0
    with ProcessPoolExecutor(given.workers, get_context("fork")) as pool:  # others would look for `one` in a module
        for number, fault in pool.map(one, jobs, chunksize=min(20, max(1, len(jobs) // 8))):
            done += 1
            if fault is None:
                continue
            failed.append(number)
            sys.stdout.write(f"{fault if not given.keep_going else fault.splitlines()[0]}\n")
            if not given.keep_going:
                pool.shutdown(cancel_futures=True)
                break
    took = time.monotonic() - began
    sys.stdout.write(f"{done} episodes in {took:.1f} s, {len(failed)} failed {failed[:20]}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
