"""Compares random programs with their documents: `make compare-flows SEEDS=n FROM=n`. A failing seed is printed, and replays."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter

from comparing import Program, block_program, compare, compare_wide, differ, plainly, program, wide_program
from killing import survives
from programs import inputs
from racing import compare_racing, racing_program
from sharing_programs import sharing_program
from simulating import simulated

from stepless.flow import FlowRefused

LOADED = ("log", "snapshot")
REPORTED = 100  # programs between two lines of progress


def forgotten(made: Program) -> str:
    """Runs a program in the simulator, once loaded from its log after every decision and once from a snapshot."""
    given = inputs(made.seed, 0)
    document = made.flow.compile().document
    plain, effects = plainly(made.flow, given)
    found = []
    for reload in LOADED:
        outcome, others = simulated(document, given, reload)
        found.append(differ(plain, outcome, effects, others, forks=made.forks))
    return "\n".join(filter(None, found))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("seeds", type=int)
    parser.add_argument("--from", dest="start", type=int, default=0)
    parser.add_argument("--inputs", type=int, default=5)
    parser.add_argument("--kills", action="store_true", help="kill the process at every commit, with one input")
    parser.add_argument("--wide", action="store_true", help="programs that call workflows, ask, and repeat attempts")
    parser.add_argument("--blocks", action="store_true", help="programs with statements that are lifted in blocks")
    parser.add_argument("--sharing", action="store_true", help="programs in which one list has several names")
    parser.add_argument("--racing", action="store_true", help="programs that wait for messages and race, in the simulator")
    parser.add_argument("--simulated", action="store_true", help="forget the run after every decision, with one input")
    parser.add_argument("--shown", type=int, default=3)
    arguments = parser.parse_args()
    began, kinds, shown, deaths = time.monotonic(), Counter[str](), 0, 0
    for seed in range(arguments.start, arguments.start + arguments.seeds):
        made = None
        try:
            ordinary = block_program if arguments.blocks else sharing_program if arguments.sharing else program
            made = (racing_program if arguments.racing else wide_program if arguments.wide else ordinary)(seed)
            comparing = compare_racing if arguments.racing else compare_wide if arguments.wide else compare
            if arguments.simulated:
                found, died = forgotten(made), 0
            else:
                found, died = survives(made) if arguments.kills else (comparing(made, arguments.inputs), 0)
            deaths += died
            kind = "differs" if found else "same"
        except FlowRefused as refused:
            kind, found = f"refused {refused.findings[0].code}", str(refused)
        except Exception:
            kind, found = "crash", traceback.format_exc()[-1500:]
        kinds[kind] += 1
        if seed % REPORTED == REPORTED - 1:
            sys.stderr.write(f"{dict(kinds)} up to seed {seed}, {time.monotonic() - began:.0f} s\n")
        if found and shown < arguments.shown:
            shown += 1
            sys.stdout.write(f"--- seed {seed}: {kind}\n{made.source if made else ''}{found}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{dict(kinds)} {arguments.seeds} programs, {deaths} kills, {time.monotonic() - began:.0f} s\n")
    return 1 if kinds.keys() - {"same"} else 0


if __name__ == "__main__":
    sys.exit(main())
