"""`make bench` and `make bench-peers`: every measurement in a process of its own, then
docs/understand/measurements/benchmarks.md.

    python -m benchmarks                  our engine and the floors
    python -m benchmarks peers            the peers, and our engine once more beside them; --peers all also installs those that
                                          come with a server of some hundred megabytes
    python -m benchmarks cost             what runs cost, printed, and added to the document if the rest of it was measured
    python -m benchmarks report           the document again, from the results in benchmarks/results
    python -m benchmarks --only W1,W2     only these; prints, and does not change the document

The exit status says whether everything ran, not whether the targets were met.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import message_units, plan, report
from benchmarks.bars import bars
from benchmarks.peers.environments import chosen
from benchmarks.sample import Sample
from stepless.cli.verbs.cost import lines

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("own", "peers", "cost", "report"), default="own")
    parser.add_argument("--only", default="", help="cases, by commas")
    parser.add_argument("--peers", default="", help="peers, by commas, or all; without it, those that need no server")
    options = parser.parse_args()
    only = [case for case in options.only.split(",") if case]
    try:
        beside = chosen(options.peers)
    except ValueError as error:
        parser.error(str(error))
    samples: list[Sample] = []
    if options.what == "cost":
        return _costs()
    if options.what != "report":
        began, load = time.time(), os.getloadavg()[0]
        try:
            samples.extend(plan.own(only) if options.what == "own" else plan.peers(only, beside))
        except KeyboardInterrupt:
            print("stopped; the measurements so far are kept", file=sys.stderr)
        if only:
            return _failed(samples)
        versions = {peer.name: peer.version for peer in beside} if options.what == "peers" else {}
        facts = {"date": time.strftime("%Y-%m-%d %H:%M"), "machine": machine(), "load": f"{load:.1f}"}
        _keep(options.what, {**facts, "seconds": time.time() - began, "versions": own_versions() | versions}, samples)
    own, peers = _kept("own"), _kept("peers")
    if own is None:
        print("there are no results of the engine yet: run `make bench`", file=sys.stderr)
        return 2 if options.what == "report" else _failed(samples)
    report.write(own, peers)
    for bar in bars(own["samples"], peers["samples"] if peers else []):
        verdict = {True: "met", False: "MISSED", None: "-"}[bar.met]
        measured = f"{bar.measured:,.2f}" if bar.measured is not None else "-"
        print(f"{verdict:>7}  {measured:>9} {'≥' if bar.at_least else '≤'} {bar.limit:<6g} {bar.what}")
    return _failed(samples)


def _costs() -> int:
    """Prints the bills; if results of the engine are stored, replaces the former bills in them."""
    samples, kept = list(plan.own(["cost"])), _kept("own")
    for sample in samples:
        if sample.case == message_units.CASE:
            print(f"\n{sample.variant}: {sample.facts['write_units']:.2f} write and {sample.facts['read_units']:.2f} read units")
        else:
            print("\n".join([f"\n{sample.variant}", *lines(sample.facts["counted"])]) if not sample.error else sample.error)
    if kept is not None and not any(sample.error for sample in samples):
        others = [sample for sample in kept.pop("samples") if sample.case not in ("cost", message_units.CASE)]
        _keep("own", kept, [*others, *samples])
        report.write({**kept, "samples": [*others, *samples]}, _kept("peers"))
    return _failed(samples)


def machine() -> str:
    names = [line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = next((int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    system = f"{platform.system()} {platform.machine()}"
    return f"{os.cpu_count()} x {names[0] if names else platform.processor()}, {memory / 1e6:.0f} GB, {system}"


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def own_versions() -> dict[str, str]:
    return {"Python": platform.python_version(), "SQLite": sqlite3.sqlite_version, "stepless": version("stepless")}


def _keep(name: str, facts: Mapping[str, Any], samples: Sequence[Sample]) -> None:
    RESULTS.mkdir(exist_ok=True)
    kept = {**facts, "samples": [asdict(sample) for sample in samples]}
    (RESULTS / f"{name}.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")


def _kept(name: str) -> dict[str, Any] | None:
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return None
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {**kept, "samples": [Sample(**sample) for sample in kept["samples"]]}


def _failed(samples: Sequence[Sample]) -> int:
    return int(any(sample.error and plan.is_ours(sample) for sample in samples))


if __name__ == "__main__":
    sys.exit(main())
