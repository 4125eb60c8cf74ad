"""`make check-mutants MUTANTS=60 FROM=0`: changes the engine in random places, and counts the changes that a test notices.

    python tests/tools/mutation MUTANTS [--from SEED] [--floor PERCENT] [--workers N]

Each seed stands for one mutant. It is written into a copy of the project, so the checkout stays as it is; there are N copies,
each with one mutant at a time. The tests that are the likeliest to notice it run first (relevance.py), and the first failure ends
its search. Only a mutant that the tests of its own room do not notice costs all tests of `make test`; these mutants come last.

The house rules are left out: they read the text of the engine, and not what it does. What no test notices is printed. The exit
status is 1 if fewer than PERCENT were noticed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import TypeAlias

from relevance import order
from source_mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[3]
LEFT_OUT = ("engine/stepless/cli/project/", "engine/stepless/limits.py", "engine/stepless/codes")  # data, not decisions
PATIENCE_S = 3_600  # after which a mutant is taken to make a test hang, which is noticed, too
QUICK = "not check and not nightly"
STAGES = {  # in this order: the files of relevance.py, and which of their tests
    "nearest": ("nearest", QUICK),
    "room": ("room", QUICK),
    "short": ("reaching", f"{QUICK} and not long and not browser"),
    "rest": ("reaching", f"{QUICK} and (long or browser)"),
}
NEAR, FAR = ("nearest", "room"), ("short", "rest")
NOTICED = {1, 2, 3}  # a failed test, or a suite that could not even start
ALL_PASSED, NO_TESTS = 0, 5
Drawn: TypeAlias = dict[int, tuple[Path, Mutant]]  # by the seed


def copied(folder: Path) -> Path:
    """The committed files and those that are about to be."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for name in (".venv", ".tools", "console/node_modules"):
        if (ROOT / name).exists():
            (folder / name).symlink_to(ROOT / name)
    git = ["git", "-c", "user.name=tests", "-c", "user.email=tests@localhost"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "A copy"]):  # tests ask git for the files of the project
        subprocess.run([*git, *words], cwd=folder, check=True)
    return folder


def chosen(seed: int) -> tuple[Path, Mutant]:
    """The mutant of a seed, and its file from the root of the project: a line of code is as likely as any other."""
    drawn = random.Random(seed)
    paths = [path for path in sorted((ROOT / "engine").rglob("*.py")) if not str(path.relative_to(ROOT)).startswith(LEFT_OUT)]
    weights = [len(path.read_text().splitlines()) for path in paths]
    while True:
        path = drawn.choices(paths, weights)[0]
        if found := mutants(path.read_text()):
            return path.relative_to(ROOT), drawn.choice(found)


class Copies:
    """Folders in which one mutant at a time is tested."""

    def __init__(self, folder: Path, count: int) -> None:
        self._free: SimpleQueue[Path] = SimpleQueue()
        for number in range(count):
            made = folder / str(number)
            made.mkdir()
            self._free.put(copied(made))

    @contextmanager
    def one(self) -> Iterator[Path]:
        folder = self._free.get()
        try:
            yield folder
        finally:
            self._free.put(folder)


def noticed_by(folder: Path, name: Path, mutant: Mutant | None, stages: Iterable[str]) -> str:
    """The stage whose tests notice the mutant of a file in a copy, with ` (hangs)` if they did not end; "" if none does."""
    place = folder / name
    original, tests = place.read_text(), order(folder, place)
    try:
        if mutant is not None:
            place.write_text(mutant.source)
        for stage in stages:
            part, chosen_by = STAGES[stage]
            files = [str(one.relative_to(folder)) for one in getattr(tests, part)]
            try:
                if files and is_noticed(folder, chosen_by, files):
                    return stage
            except subprocess.TimeoutExpired:
                return f"{stage} (hangs)"
        return ""
    finally:
        place.write_text(original)


def is_noticed(folder: Path, chosen_by: str, files: list[str]) -> bool:
    """Runs the files in their order, up to the first failure. Raises TimeoutExpired after PATIENCE_S."""
    python = str(ROOT / ".venv/bin/python")
    command = [python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-n", "0", "-m", chosen_by]
    done = subprocess.run([*command, *files], cwd=folder, capture_output=True, timeout=PATIENCE_S, check=False)
    if done.returncode not in NOTICED | {ALL_PASSED, NO_TESTS}:
        raise SystemExit(f"pytest ended with status {done.returncode}: {' '.join(command)}")
    return done.returncode in NOTICED


def search(copies: Copies, drawn: Drawn, stages: Iterable[str], workers: int, missed: str) -> Drawn:
    """Tests the mutants of the seeds, several at once, and prints a line for each. Returns those that no stage notices."""

    def each(seed: int) -> bool:
        name, mutant = drawn[seed]
        began = time.monotonic()
        with copies.one() as folder:
            stage = noticed_by(folder, name, mutant, stages)
        what = f"{seed} {name}:{mutant.line}: {mutant.before} -> {mutant.after}"
        sys.stdout.write(f"{f'noticed by {stage}:' if stage else missed} {what} ({time.monotonic() - began:.0f} s)\n")
        sys.stdout.flush()
        return bool(stage)

    with ThreadPoolExecutor(workers) as pool:
        return {seed: drawn[seed] for seed, found in zip(drawn, pool.map(each, drawn), strict=True) if not found}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("mutants", type=int)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--floor", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    drawn = {seed: chosen(seed) for seed in range(given.first, given.first + given.mutants)}
    with tempfile.TemporaryDirectory() as made:
        copies = Copies(Path(made), given.workers)
        with copies.one() as folder:
            if noticed_by(folder, Path("engine/stepless/core/fold.py"), None, NEAR):
                raise SystemExit("tests fail without a mutant")
        left = search(copies, drawn, NEAR, given.workers, "not noticed in its room:")
        survivors = search(copies, left, FAR, given.workers, "SURVIVED")
    share = 100 * (given.mutants - len(survivors)) / given.mutants
    sys.stdout.write(f"{share:.0f} % of {given.mutants} mutants were noticed; the floor is {given.floor} %\n")
    return 0 if share >= given.floor else 1


if __name__ == "__main__":
    sys.exit(main())
