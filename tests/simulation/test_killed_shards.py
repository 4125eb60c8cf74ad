"""A real process with shards is killed, by SIGKILL and by one of its items, and another one goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import sharded_server
from sharded_server import POISONED

ITEMS = 600
AT_RISK = 12 + 3 * 10  # of the three shards in progress, at one death: their lanes, and a chunk of each
KILLS = 3
LIVES = 20  # processes, at most


def test_items_survive_the_deaths_of_their_processes(tmp_path: Path) -> None:
    path, lives, killed = tmp_path / "runs.db", 0, 0
    effects = Path(f"{path}.effects")
    while True:
        lives += 1
        assert lives < LIVES, "it never ends"
        process = subprocess.Popen([sys.executable, sharded_server.__file__, str(path), str(ITEMS)], stdout=subprocess.PIPE)
        if killed < KILLS and lives > 5:  # the item that kills its process has been found
            had = len(effects.read_text().splitlines())
            while process.poll() is None and len(effects.read_text().splitlines()) < had + 100:
                continue
            process.kill()
            killed += 1
        told, _ = process.communicate()
        if process.returncode == 0:
            break
    output = json.loads(told)
    assert output["failed"] == 1 and output["failures"][0]["error"]["code"] == "item_poisoned"
    assert [output["results"][number] for number in range(ITEMS) if number != POISONED] == [
        number * number for number in range(ITEMS) if number != POISONED
    ]
    counts = Counter(map(int, effects.read_text().splitlines()))
    assert sum(number - 1 for number in counts.values()) <= AT_RISK * (lives - 1)
    assert set(counts) == set(range(ITEMS))
