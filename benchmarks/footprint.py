"""The storage that a run uses: bytes per node in a SQLite file.

    python -m benchmarks.footprint        prints one line of JSON
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from pathlib import Path

from benchmarks import shapes, workloads
from benchmarks.engine import Engine
from benchmarks.growth import stored
from benchmarks.sample import Sample
from benchmarks.workloads import RESULT_BYTES

NODES = 1_000


def bytes_per_node(nodes: int = NODES) -> Sample:
    """A chain whose nodes all return half a kilobyte."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        Engine(workloads.graph(shapes.chain(nodes), "benchmark.result"), path).close()
        empty = used(path)
        engine, sample = Engine(None, path), Sample("bytes per node", "SQLite NORMAL", nodes, nodes)
        sample.wall.append(engine.run_once())
        engine.close()
        sample.facts["result_bytes"] = RESULT_BYTES
        sample.facts["file_bytes"] = (used(path) - empty) / nodes
        sample.facts["log_bytes"] = stored(path)[0] / nodes
        return sample


def used(path: Path) -> int:
    """Bytes of the pages in use: a new file has a few free ones."""
    connection = sqlite3.connect(path)
    try:
        facts = ("page_count", "freelist_count", "page_size")
        pages, free, size = (connection.execute(f"PRAGMA {fact}").fetchone()[0] for fact in facts)
        return int((pages - free) * size)
    finally:
        connection.close()


def main() -> int:
    print(bytes_per_node().line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
