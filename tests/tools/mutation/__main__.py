"""`make check-mutants MUTANTS=60 FROM=0`: changes the engine in random places, and counts the changes that a test notices.

    python tests/tools/mutation MUTANTS [--from SEED] [--floor PERCENT] [--workers N]

Each seed stands for one mutant. It is written into a copy of the project, so the checkout stays as it is. First run the tests
that name the changed module, then all those of `make test`. The house rules are left out: they read the text of the engine, and
not what it does. What no test notices is printed. The exit status is 1 if fewer than PERCENT were noticed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from source_mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[3]
LEFT_OUT = ("engine/stepless/cli/project/", "engine/stepless/limits.py", "engine/stepless/codes")  # data, not decisions
NEAR_S, WHOLE_S = 240, 1_200  # after which a mutant is taken to make a test hang, which is noticed, too
QUICK = ["-m", "not check and not nightly"]
NOTICED = {1, 2, 3}  # a failed test, or a suite that could not even start
ALL_PASSED, NO_TESTS = 0, 5


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
    """The mutant of a seed: a line of code is as likely as any other."""
    drawn = random.Random(seed)
    paths = [path for path in sorted((ROOT / "engine").rglob("*.py")) if not str(path.relative_to(ROOT)).startswith(LEFT_OUT)]
    weights = [len(path.read_text().splitlines()) for path in paths]
    while True:
        path = drawn.choices(paths, weights)[0]
        if found := mutants(path.read_text()):
            return path, drawn.choice(found)


def near(folder: Path, path: Path) -> list[str]:
    """The tests that name the module, or mirror its folder."""
    module = ".".join(path.relative_to(ROOT / "engine").with_suffix("").parts).removesuffix(".__init__")
    parent, _, name = module.rpartition(".")
    words = (f"from {module} ", f"import {module}", f"from {parent} import {name}")
    tests = [one for one in sorted(folder.glob("tests/*/**/test_*.py")) if any(word in one.read_text() for word in words)]
    units, room = folder / "tests/unit", path.relative_to(ROOT / "engine/stepless").parent
    mirrors = [units / one for one in (room, *room.parents) if (units / one).is_dir()]
    tests += [mirrors[0]] if mirrors[0] != units else []
    return [str(one) for one in tests if "house" not in one.parts]


def noticed(folder: Path, patience_s: float, arguments: list[str]) -> bool:
    python = str(ROOT / ".venv/bin/python")
    command = [python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *QUICK, "--ignore=tests/house", *arguments]
    try:
        status = subprocess.run(command, cwd=folder, capture_output=True, timeout=patience_s, check=False).returncode
    except subprocess.TimeoutExpired:
        return True
    if status not in NOTICED | {ALL_PASSED, NO_TESTS}:
        raise SystemExit(f"pytest ended with status {status}: {' '.join(command)}")
    return status in NOTICED


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("mutants", type=int)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--floor", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    spread = ["-n", str(given.workers), "--dist", "loadfile", "--no-loadscope-reorder"]
    survivors: list[str] = []
    with tempfile.TemporaryDirectory() as made:
        folder = copied(Path(made))
        if noticed(folder, WHOLE_S, ["-n", "0", "tests/unit/core"]):
            raise SystemExit("tests fail without a mutant")
        for seed in range(given.first, given.first + given.mutants):
            path, mutant = chosen(seed)
            place = folder / path.relative_to(ROOT)
            place.write_text(mutant.source)
            began = time.monotonic()
            closest = near(folder, path)
            found = bool(closest) and noticed(folder, NEAR_S, ["-n", "0", *closest])
            found = found or noticed(folder, WHOLE_S, spread)
            place.write_text(path.read_text())
            what = f"{path.relative_to(ROOT)}:{mutant.line}: {mutant.before} -> {mutant.after}"
            sys.stdout.write(f"{'noticed ' if found else 'SURVIVED'} {seed} {what} ({time.monotonic() - began:.0f} s)\n")
            sys.stdout.flush()
            survivors += [] if found else [what]
    share = 100 * (given.mutants - len(survivors)) / given.mutants
    sys.stdout.write(f"{share:.0f} % of {given.mutants} mutants were noticed; the floor is {given.floor} %\n")
    return 0 if share >= given.floor else 1


if __name__ == "__main__":
    sys.exit(main())
